//! `boolean`: one byte, 0 or 1.

use super::EncodeError;
use super::codec::misfit;
use super::white::trim;
use crate::record::Value;

/// True for `true`, `yes`, `on`, `1` and their prefixes that are unique, in any case, as the server reads them.
#[inline]
fn parse(source: &str) -> Option<bool> {
    let text = trim(source.as_bytes());
    let is_prefix = |word: &[u8], least: usize| {
        (least..=word.len()).contains(&text.len()) && word[..text.len()].eq_ignore_ascii_case(text)
    };
    match text.first()? {
        b't' | b'T' => is_prefix(b"true", 1).then_some(true),
        b'f' | b'F' => is_prefix(b"false", 1).then_some(false),
        b'y' | b'Y' => is_prefix(b"yes", 1).then_some(true),
        b'n' | b'N' => is_prefix(b"no", 1).then_some(false),
        b'o' | b'O' if is_prefix(b"on", 2) => Some(true),
        b'o' | b'O' => is_prefix(b"off", 2).then_some(false),
        b'1' => (text.len() == 1).then_some(true),
        b'0' => (text.len() == 1).then_some(false),
        _ => None,
    }
}

#[inline]
pub(super) fn from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let value = parse(source).ok_or_else(|| EncodeError::new("22P02", "the text is no boolean"))?;
    out.push(u8::from(value));
    Ok(())
}

/// Only a truth value: the server has no assignment from numbers to boolean.
pub(super) fn from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Value::Bool(truth) = value else { return Err(misfit(value, "boolean")) };
    out.push(u8::from(*truth));
    Ok(())
}
