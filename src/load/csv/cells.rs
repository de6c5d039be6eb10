//! The cells of one record: where they are, and what they say.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2};

use super::Dialect;

/// How a cell is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// Not at all: the null string may stand here.
    None,
    /// A quote at either end and none within.
    Whole,
    /// Quotes in the middle, doubled or escaped ones.
    Mixed,
}

/// A cell's place in its record.
#[derive(Debug, Clone)]
pub(in crate::load) struct Cell {
    span: Range<usize>,
    quoting: Quoting,
}

/// The cells of one record, kept between records for its memory.
#[derive(Debug, Default)]
pub(in crate::load) struct Cells(Vec<Cell>);

impl Cells {
    /// Finds the cells of a record's body. `quotes` says that some quote stands in it.
    pub(in crate::load) fn split(&mut self, body: &[u8], quotes: bool, dialect: &Dialect) -> &[Cell] {
        self.0.clear();
        let mut start = 0;
        if !quotes {
            for end in memchr_iter(dialect.delimiter, body) {
                self.0.push(Cell { span: start..end, quoting: Quoting::None });
                start = end + 1;
            }
            self.0.push(Cell { span: start..body.len(), quoting: Quoting::None });
            return &self.0;
        }
        loop {
            let (end, quoting) = cell_end(body, start, dialect);
            self.0.push(Cell { span: start..end, quoting });
            if end == body.len() {
                return &self.0;
            }
            start = end + 1;
        }
    }
}

fn cell_end(body: &[u8], start: usize, dialect: &Dialect) -> (usize, Quoting) {
    let mut at = start;
    let mut quoting = Quoting::None;
    loop {
        let Some(offset) = memchr2(dialect.delimiter, dialect.quote, &body[at..]) else {
            return (body.len(), mixed_unless_none(quoting));
        };
        at += offset;
        if body[at] == dialect.delimiter {
            return (at, mixed_unless_none(quoting));
        }
        let (behind, plain) = quote_end(body, at + 1, dialect);
        let whole = plain && at == start && body.get(behind).is_none_or(|&next| next == dialect.delimiter);
        if whole {
            return (behind, Quoting::Whole);
        }
        quoting = Quoting::Mixed;
        at = behind;
    }
}

fn mixed_unless_none(quoting: Quoting) -> Quoting {
    if quoting == Quoting::None { Quoting::None } else { Quoting::Mixed }
}

/// From behind an opening quote to behind the closing one; true where nothing between was escaped.
fn quote_end(body: &[u8], mut at: usize, dialect: &Dialect) -> (usize, bool) {
    let mut plain = true;
    loop {
        let found = match dialect.own_escape() {
            None => memchr(dialect.quote, &body[at..]),
            Some(escape) => memchr2(dialect.quote, escape, &body[at..]),
        };
        let Some(offset) = found else {
            return (body.len(), false);
        };
        at += offset;
        let guarded = body[at] == dialect.escape
            && body.get(at + 1).is_some_and(|&next| next == dialect.quote || next == dialect.escape);
        if guarded {
            plain = false;
            at += 2;
        } else if body[at] == dialect.quote {
            return (at + 1, plain);
        } else {
            at += 1;
        }
    }
}

impl Cell {
    /// The cell as it stands in `record`, quotes and all.
    pub(in crate::load) fn raw<'a>(&self, record: &'a str) -> &'a str {
        &record[self.span.clone()]
    }

    /// What the cell says; `None` is NULL: the null string without quotes.
    pub(in crate::load) fn text<'a>(&self, record: &'a str, dialect: &Dialect) -> Option<Cow<'a, str>> {
        let raw = self.raw(record);
        match self.quoting {
            Quoting::None => (raw != dialect.null).then_some(Cow::Borrowed(raw)),
            Quoting::Whole => Some(Cow::Borrowed(&raw[1..raw.len() - 1])),
            Quoting::Mixed => Some(Cow::Owned(unquote(raw, dialect))),
        }
    }
}

fn unquote(raw: &str, dialect: &Dialect) -> String {
    let (quote, escape) = (char::from(dialect.quote), char::from(dialect.escape));
    let mut out = String::with_capacity(raw.len());
    let mut quoted = false;
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        if quoted
            && character == escape
            && let Some(next) = characters.next_if(|&next| next == quote || next == escape)
        {
            out.push(next);
        } else if character == quote {
            quoted = !quoted;
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(body: &str, dialect: &Dialect) -> Vec<Option<String>> {
        let mut cells = Cells::default();
        let quotes = body.as_bytes().contains(&dialect.quote);
        let cells = cells.split(body.as_bytes(), quotes, dialect);
        cells.iter().map(|cell| cell.text(body, dialect).map(Cow::into_owned)).collect()
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn nothing_is_null_and_empty_quotes_are_an_empty_text() {
        let csv = Dialect::default();
        assert_eq!(read("", &csv), [None]);
        assert_eq!(read(",\"\",x,", &csv), [None, Some(String::new()), Some("x".into()), None]);
        assert_eq!(read("\"\"", &csv), some(&[""]));
    }

    #[test]
    fn quotes_may_open_in_mid_cell() {
        let csv = Dialect::default();
        assert_eq!(read("a\"b,c\"d,e", &csv), some(&["ab,cd", "e"]));
        assert_eq!(read("\"a\"\"b\",\"c\"d,\"\"\"\"", &csv), some(&["a\"b", "cd", "\""]));
        assert_eq!(read("a\"\",b", &csv), some(&["a", "b"]));
    }

    #[test]
    fn the_null_string_counts_without_quotes_only() {
        let csv = Dialect::new(',', '"', None, "NULL").unwrap();
        assert_eq!(
            read("NULL,\"NULL\",,\"\"", &csv),
            [None, Some("NULL".into()), Some(String::new()), Some(String::new())]
        );
        let csv = Dialect::new(',', '"', None, "\\N").unwrap();
        assert_eq!(read("\\N,\\\\N", &csv), [None, Some("\\\\N".into())]);
    }

    #[test]
    fn an_escape_of_its_own() {
        let csv = Dialect::new(';', '\'', Some('\\'), "").unwrap();
        assert_eq!(read("'a\\'b;c';'\\\\';'x\\y';a\\'b;'", &csv), some(&["a'b;c", "\\", "x\\y", "a\\b;"]));
    }

    #[test]
    fn marks_that_copy_refuses_are_refused() {
        for (delimiter, quote, escape, null) in [
            ('"', '"', None, ""),
            ('\n', '"', None, ""),
            ('é', '"', None, ""),
            (',', '\r', None, ""),
            (',', '"', Some('→'), ""),
            (',', '"', None, "a,b"),
            (',', '"', None, "\"\""),
            (',', '"', None, "\n"),
        ] {
            assert!(
                Dialect::new(delimiter, quote, escape, null).is_err(),
                "{delimiter:?} {quote:?} {null:?}"
            );
        }
    }
}
