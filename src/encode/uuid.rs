//! `uuid`: sixteen bytes.

use super::EncodeError;
use super::bytea::{hex_digit, push_hex};
use super::codec::misfit;
use crate::record::Value;

/// Thirty-two digits; braces around them and a hyphen after every four digits may be there.
fn parse(source: &str) -> Option<[u8; 16]> {
    let text = source.as_bytes();
    let mut rest = match text {
        [b'{', inner @ .., b'}'] => inner,
        _ => text,
    };
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let [high, low, after @ ..] = rest else { return None };
        *byte = hex_digit(*high)? << 4 | hex_digit(*low)?;
        rest = match after {
            [b'-', after @ ..] if at % 2 == 1 && at < 15 => after,
            _ => after,
        };
    }
    rest.is_empty().then_some(bytes)
}

/// The canonical text: groups of 8, 4, 4, 4 and 12 digits.
pub(super) fn text(bytes: &[u8; 16]) -> String {
    let mut text = Vec::with_capacity(36);
    for (at, range) in [0..4, 4..6, 6..8, 8..10, 10..16].into_iter().enumerate() {
        if at > 0 {
            text.push(b'-');
        }
        push_hex(&bytes[range], &mut text);
    }
    // Hex digits and hyphens.
    String::from_utf8(text).unwrap_or_default()
}

#[inline]
pub(super) fn from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&parse(source).ok_or_else(|| EncodeError::new("22P02", "the text is no uuid"))?);
    Ok(())
}

pub(super) fn from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match value {
        Value::Uuid(bytes) => out.extend_from_slice(bytes),
        Value::Bytes(bytes) if bytes.len() == 16 => out.extend_from_slice(bytes),
        Value::Bytes(_) => return Err(EncodeError::new("22P03", "a uuid has 16 bytes")),
        _ => return Err(misfit(value, "uuid")),
    }
    Ok(())
}
