//! Hardware addresses of six and of eight bytes.

use crate::encode::EncodeError;
use crate::encode::bytea::hex_digit;
use crate::encode::white::{is_white, trim};

/// The separators of the six numbers in each form that the server tries, in its order, and the digits of a number.
const FORMS: [([&str; 5], usize); 7] = [
    ([":", ":", ":", ":", ":"], usize::MAX),
    (["-", "-", "-", "-", "-"], usize::MAX),
    (["", "", ":", "", ""], 2),
    (["", "", "-", "", ""], 2),
    (["", ".", "", ".", ""], 2),
    (["", "-", "", "-", ""], 2),
    (["", "", "", "", ""], 2),
];

/// More digits than these wrap in the server's `scanf`.
const EXACT_DIGITS: usize = 8;

/// Six numbers, of which each may be larger than a byte.
fn scan(text: &[u8], separators: &[&str; 5], most: usize) -> Option<[Option<u32>; 6]> {
    let mut rest = text;
    let mut numbers = [None; 6];
    for (at, number) in numbers.iter_mut().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(separators[at - 1].as_bytes())?;
        }
        let end = rest.iter().take(most).take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (digits, after) = rest.split_at(end);
        if digits.is_empty() {
            return None;
        }
        if digits.len() <= EXACT_DIGITS {
            let value = digits
                .iter()
                .filter_map(|digit| hex_digit(*digit))
                .fold(0, |sum, digit| sum << 4 | u32::from(digit));
            *number = Some(value);
        }
        rest = after;
    }
    rest.is_empty().then_some(numbers)
}

pub(in crate::encode) fn macaddr_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let text = trim(source.as_bytes());
    for (separators, most) in &FORMS {
        let Some(numbers) = scan(text, separators, *most) else { continue };
        for number in numbers {
            let Some(number) = number else {
                return Err(EncodeError::server_only("22003", "a number of the macaddr is out of range"));
            };
            let octet = u8::try_from(number)
                .map_err(|_| EncodeError::new("22003", "a number of the macaddr is out of range"))?;
            out.push(octet);
        }
        return Ok(());
    }
    let reason = "the text is no macaddr";
    // The server's `scanf` takes blanks, signs and `0x` before each number.
    if text.iter().any(|byte| is_white(*byte) || matches!(byte, b'+' | b'-' | b'x' | b'X')) {
        return Err(EncodeError::server_only("22P02", reason));
    }
    Err(EncodeError::new("22P02", reason))
}

/// Six or eight pairs of digits, each followed by the same separator or none; six get FF FE in the middle.
fn parse_eight(source: &str) -> Option<[u8; 8]> {
    let mut rest = super::super::white::trim_start(source.as_bytes());
    let mut bytes = [0; 8];
    let mut count = 0;
    let mut separator = None;
    // A single byte left over is passed by, as the server does.
    while let [high, low, after @ ..] = rest {
        *bytes.get_mut(count)? = hex_digit(*high)? << 4 | hex_digit(*low)?;
        count += 1;
        rest = after;
        if let [found @ (b':' | b'-' | b'.'), after @ ..] = rest {
            if *separator.get_or_insert(*found) != *found {
                return None;
            }
            rest = after;
        }
        if (count == 6 || count == 8) && rest.first().is_some_and(|byte| is_white(*byte)) {
            rest = super::super::white::trim_start(rest);
            if !rest.is_empty() {
                return None;
            }
        }
    }
    match (bytes, count) {
        ([a, b, c, d, e, f, ..], 6) => Some([a, b, c, 0xFF, 0xFE, d, e, f]),
        (bytes, 8) => Some(bytes),
        _ => None,
    }
}

pub(in crate::encode) fn macaddr8_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let bytes = parse_eight(source).ok_or_else(|| EncodeError::new("22P02", "the text is no macaddr8"))?;
    out.extend_from_slice(&bytes);
    Ok(())
}
