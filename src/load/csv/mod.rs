//! CSV and TSV by the rules of the server's `COPY … (FORMAT csv)`.
//!
//! The splitter is ours. simd-csv (the fastest reader that keeps the quotes of a cell) drops blank lines and with them
//! the count of lines, takes a lone CR for data, knows no ESCAPE other than the quote, and ends an unterminated quote
//! silently; COPY differs in each of these. What COPY does is a small automaton over three bytes, and memchr finds them.
//!
//! One rule is not COPY's: a line `\.` is data.

mod cells;
mod records;

pub(super) use cells::{Cell, Cells};
pub(super) use records::{Fault, RawRecord, Records, Unreadable};

use crate::{Error, ErrorKind, Result};

/// The marks of a CSV file. Each is one ASCII character, as in COPY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialect {
    delimiter: u8,
    quote: u8,
    escape: u8,
    null: String,
}

impl Dialect {
    /// A dialect by its marks; `null` is the text that stands unquoted for NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] where COPY refuses the same: a mark that is no single ASCII character, a line end as a
    /// mark, delimiter and quote alike, or a null string that holds a line end, the delimiter or the quote.
    pub(super) fn new(delimiter: char, quote: char, escape: Option<char>, null: &str) -> Result<Self> {
        let delimiter = mark("delimiter", delimiter)?;
        let quote = mark("quote", quote)?;
        let escape = escape.map_or(Ok(quote), |escape| mark("escape", escape))?;
        if delimiter == quote {
            return Err(config("the delimiter and the quote are the same character".into()));
        }
        for byte in [delimiter, quote, b'\n', b'\r'] {
            if null.as_bytes().contains(&byte) {
                return Err(config("the null string holds a line end, the delimiter or the quote".into()));
            }
        }
        Ok(Self { delimiter, quote, escape, null: null.to_owned() })
    }

    /// The text that stands unquoted for NULL.
    pub(super) fn null(&self) -> &str {
        &self.null
    }

    /// The escape, where it is another character than the quote.
    fn own_escape(&self) -> Option<u8> {
        (self.escape != self.quote).then_some(self.escape)
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', escape: b'"', null: String::new() }
    }
}

fn mark(name: &str, character: char) -> Result<u8> {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Ok(byte),
        _ => Err(config(format!("the {name} must be one ASCII character and no line end"))),
    }
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, "read CSV options", message)
}
