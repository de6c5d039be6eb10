//! `bit(n)` and `bit varying(n)`: a count of bits, then the bits from the high end of each byte.

use super::EncodeError;
use super::bytea::hex_digit;

/// The binary digits of a text, or the hex digits after an `x`; the length is checked first, as by the server.
fn push(
    source: &str,
    check: impl FnOnce(usize) -> Result<(), EncodeError>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (digits, width) = match source.as_bytes() {
        [b'x' | b'X', digits @ ..] => (digits, 4),
        [b'b' | b'B', digits @ ..] => (digits, 1),
        digits => (digits, 1),
    };
    let bits = digits.len() * width;
    check(bits)?;
    let count = i32::try_from(bits).map_err(|_| EncodeError::new("54000", "the bit string is too long"))?;
    out.extend_from_slice(&count.to_be_bytes());
    let limit = 1 << width;
    for chunk in digits.chunks(8 / width) {
        let mut byte = 0;
        for (at, digit) in chunk.iter().enumerate() {
            let value = hex_digit(*digit).filter(|value| *value < limit).ok_or_else(|| {
                EncodeError::new("22P02", "the text holds an invalid binary or hexadecimal digit")
            })?;
            byte |= value << (8 - width * (at + 1));
        }
        out.push(byte);
    }
    Ok(())
}

pub(super) fn bit_from_text(source: &str, length: Option<u32>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let check = |bits| match length {
        Some(length) if bits != length as usize => Err(EncodeError::new(
            "22026",
            format!("a bit string of {bits} bits does not match type bit({length})"),
        )),
        _ => Ok(()),
    };
    push(source, check, out)
}

pub(super) fn varbit_from_text(
    source: &str,
    limit: Option<u32>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let check = |bits| match limit {
        Some(limit) if bits > limit as usize => Err(EncodeError::new(
            "22001",
            format!("the bit string is too long for type bit varying({limit})"),
        )),
        _ => Ok(()),
    };
    push(source, check, out)
}

/// The bytes, then the count: B'0' and B'00' have the same bytes.
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) {
    let (count, bytes) = body.split_at(body.len().min(4));
    super::text::push_escaped(bytes, out);
    out.extend_from_slice(count);
}
