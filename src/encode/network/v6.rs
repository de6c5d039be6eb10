//! IPv6 addresses and networks.

use super::Network;
use crate::encode::bytea::hex_digit;

/// Decimal without leading zeros up to `limit`, to the end of `digits`.
fn plain_decimal(digits: &[u8], limit: u16) -> Option<u8> {
    if digits.is_empty() || (digits.len() > 1 && digits[0] == b'0') {
        return None;
    }
    let mut value = 0_u16;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| u16::from(digit - b'0'))?;
        value = value * 10 + digit;
        if value > limit {
            return None;
        }
    }
    u8::try_from(value).ok()
}

/// Up to four octets at the end of an address, with the width that may follow. Octets may be empty (0) before a point
/// and before the slash, as the server has it; missing ones are 0.
fn embedded_v4(text: &[u8]) -> Option<([u8; 4], Option<u8>)> {
    let (octets, width) = match text.iter().position(|byte| *byte == b'/') {
        Some(at) => (&text[..at], Some(plain_decimal(&text[at + 1..], 128)?)),
        None => (text, None),
    };
    let mut address = [0; 4];
    let mut parts = octets.split(|byte| *byte == b'.').enumerate().peekable();
    while let Some((at, part)) = parts.next() {
        let last_without_width = parts.peek().is_none() && width.is_none();
        let value = if part.is_empty() && !last_without_width { 0 } else { plain_decimal(part, 255)? };
        *address.get_mut(at)? = value;
    }
    Some((address, width))
}

/// Groups of four hex digits, one `::`, an IPv4 tail and a width.
pub(super) fn read(text: &[u8]) -> Option<Network> {
    let mut address = [0_u8; 16];
    let mut filled = 0;
    let mut gap = None;
    let mut group: Option<u16> = None;
    let mut digits = 0;
    let mut bits = 128;
    let mut at = 0;
    if text.first() == Some(&b':') {
        at = 1;
        if text.get(1) != Some(&b':') {
            return None;
        }
    }
    let mut token = at;
    while let Some(byte) = text.get(at) {
        at += 1;
        if let Some(digit) = hex_digit(*byte) {
            digits += 1;
            if digits > 4 {
                return None;
            }
            group = Some(group.unwrap_or(0) << 4 | u16::from(digit));
            continue;
        }
        match byte {
            b':' => {
                token = at;
                match group.take() {
                    None if gap.is_some() => return None,
                    None => gap = Some(filled),
                    Some(_) if at == text.len() => return None,
                    Some(value) => {
                        address.get_mut(filled..filled + 2)?.copy_from_slice(&value.to_be_bytes());
                        filled += 2;
                        digits = 0;
                    }
                }
            }
            b'.' => {
                let (tail, width) = embedded_v4(&text[token..])?;
                address.get_mut(filled..filled + 4)?.copy_from_slice(&tail);
                filled += 4;
                bits = width.unwrap_or(bits);
                group = None;
                break;
            }
            b'/' => {
                bits = plain_decimal(&text[at..], 128)?;
                break;
            }
            _ => return None,
        }
    }
    if let Some(value) = group {
        address.get_mut(filled..filled + 2)?.copy_from_slice(&value.to_be_bytes());
        filled += 2;
    }
    if let Some(gap) = gap {
        if filled == 16 {
            return None;
        }
        address.copy_within(gap..filled, gap + 16 - filled);
        address[gap..gap + 16 - filled].fill(0);
    } else if filled != 16 {
        return None;
    }
    Some(Network { address, bytes: 16, bits })
}
