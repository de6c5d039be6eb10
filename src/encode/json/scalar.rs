//! A JSON document as the source of a column that is not JSON.

use std::borrow::Cow;

use super::validate::{self, Rules};
use crate::encode::EncodeError;

/// What a JSON document is.
pub(in crate::encode) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// The number's own text.
    Number(&'a str),
    /// The string without quotes and escapes.
    String(Cow<'a, str>),
    /// The text of an object or array.
    Container(&'a str),
}

fn trim(source: &str) -> &str {
    source.trim_matches([' ', '\t', '\n', '\r'])
}

/// True for the document `null`.
pub(in crate::encode) fn is_null(source: &str) -> bool {
    trim(source) == "null"
}

/// Reads a document.
///
/// # Errors
/// It is no JSON, or a string holds half of a surrogate pair (22P02).
pub(in crate::encode) fn scalar(source: &str) -> Result<Scalar<'_>, EncodeError> {
    let text = trim(source);
    let is_string = text.starts_with('"');
    // A string must not hold half a pair; U+0000 in it is the target column's matter.
    validate::document(text.as_bytes(), Rules { jsonb: is_string, nul: is_string })?;
    if is_string {
        // U+0000 passes for white space there, and would hide the closing quote.
        let inside = text[1..].strip_suffix('"').ok_or_else(validate::invalid)?;
        return Ok(Scalar::String(unescape(inside)));
    }
    Ok(match text.as_bytes()[0] {
        b'n' => Scalar::Null,
        b't' => Scalar::Bool(true),
        b'f' => Scalar::Bool(false),
        b'{' | b'[' => Scalar::Container(text),
        _ => Scalar::Number(text),
    })
}

/// The characters of a valid string's inside.
fn unescape(inside: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', inside.as_bytes()) else { return Cow::Borrowed(inside) };
    let mut text = String::with_capacity(inside.len());
    text.push_str(&inside[..first]);
    let mut rest = inside[first..].chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match rest.next() {
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('u') => {
                let mut code = unit(&mut rest);
                if (0xD800..0xDC00).contains(&code) {
                    rest.by_ref().take(2).for_each(drop);
                    code = 0x10000 + ((code - 0xD800) << 10) + unit(&mut rest).wrapping_sub(0xDC00);
                }
                text.extend(char::from_u32(code));
            }
            other => text.extend(other),
        }
    }
    Cow::Owned(text)
}

fn unit(rest: &mut std::str::Chars<'_>) -> u32 {
    rest.by_ref().take(4).filter_map(|digit| digit.to_digit(16)).fold(0, |unit, digit| unit << 4 | digit)
}
