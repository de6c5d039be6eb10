//! `bytea`: the hex form, the older escape form, and bytes as they are.

use super::EncodeError;
use super::codec::misfit;
use crate::record::Value;

/// The value of a hex digit; 255 for any other byte.
const HEX: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

/// The value of a hex digit.
#[inline]
pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    let value = HEX[usize::from(byte)];
    (value < 16).then_some(value)
}

/// Appends bytes as two hex digits each.
pub(super) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        let digits = b"0123456789abcdef";
        out.extend_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    }
}

/// Pairs of digits; blanks, tabs and line ends may stand between pairs.
fn from_hex(mut digits: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.reserve(digits.len() / 2);
    while let [first, rest @ ..] = digits {
        if matches!(first, b' ' | b'\n' | b'\t' | b'\r') {
            digits = rest;
            continue;
        }
        let high = hex_digit(*first).ok_or_else(|| EncodeError::new("22023", "invalid hexadecimal digit"))?;
        let [second, rest @ ..] = rest else {
            return Err(EncodeError::new("22023", "odd number of hexadecimal digits"));
        };
        let low = hex_digit(*second).ok_or_else(|| EncodeError::new("22023", "invalid hexadecimal digit"))?;
        out.push(high << 4 | low);
        digits = rest;
    }
    Ok(())
}

/// `\\` is a backslash, `\ooo` a byte, all else itself.
fn from_escapes(mut text: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if memchr::memchr(0, text).is_some() {
        return Err(EncodeError::new("22021", "invalid byte sequence for encoding \"UTF8\": 0x00"));
    }
    while let Some(at) = memchr::memchr(b'\\', text) {
        out.extend_from_slice(&text[..at]);
        text = match &text[at + 1..] {
            [b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            _ => return Err(EncodeError::new("22P02", "the text is no bytea")),
        };
    }
    out.extend_from_slice(text);
    Ok(())
}

pub(super) fn from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match source.strip_prefix("\\x") {
        Some(digits) => from_hex(digits.as_bytes(), out),
        None => from_escapes(source.as_bytes(), out),
    }
}

pub(super) fn from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Value::Bytes(bytes) = value else { return Err(misfit(value, "bytea")) };
    out.extend_from_slice(bytes);
    Ok(())
}
