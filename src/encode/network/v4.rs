//! IPv4 addresses and networks.

use super::{Fault, Network};

/// Octets as they are read.
struct Octets {
    address: [u8; 16],
    count: usize,
}

impl Octets {
    fn new() -> Self {
        Self { address: [0; 16], count: 0 }
    }

    fn push(&mut self, octet: u8) -> Result<(), Fault> {
        if self.count == 4 {
            return Err(Fault::Syntax);
        }
        self.address[self.count] = octet;
        self.count += 1;
        Ok(())
    }

    fn with(self, bits: u8) -> Network {
        Network { address: self.address, bytes: 4, bits }
    }
}

/// Leading digits as an octet, leading zeros allowed, and what follows.
fn octet(text: &[u8]) -> Result<(u8, &[u8]), Fault> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let mut value = 0_u8;
    for digit in &text[..end] {
        value =
            value.checked_mul(10).and_then(|value| value.checked_add(digit - b'0')).ok_or(Fault::Syntax)?;
    }
    if end == 0 { Err(Fault::Syntax) } else { Ok((value, &text[end..])) }
}

/// The width after a slash: decimal, to the end, at most 32.
fn width(digits: &[u8]) -> Result<u8, Fault> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Syntax);
    }
    let value =
        digits.iter().fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add((digit - b'0').into()));
    match u8::try_from(value) {
        Ok(bits) if bits <= 32 => Ok(bits),
        _ if value > i32::MAX as u64 => Err(Fault::ServerOnly),
        _ => Err(Fault::Syntax),
    }
}

/// An address; with a width it may leave out the octets that the width does not reach.
pub(super) fn read_inet(text: &[u8]) -> Result<Network, Fault> {
    let mut octets = Octets::new();
    let mut rest = text;
    while rest.first().is_some_and(u8::is_ascii_digit) {
        let (value, after) = octet(rest)?;
        octets.push(value)?;
        rest = after;
        match after {
            [b'.', after @ ..] => rest = after,
            _ => break,
        }
    }
    let bits = match rest {
        [b'/', digits @ ..] if octets.count > 0 => width(digits)?,
        [] if octets.count == 4 => 32,
        _ => return Err(Fault::Syntax),
    };
    if usize::from(bits / 8) > octets.count {
        return Err(Fault::Syntax);
    }
    Ok(octets.with(bits))
}

/// Digits of a hex network, two to an octet; an odd one counts as the upper half.
fn hex_octets(digits: &[u8], octets: &mut Octets) -> Result<(), Fault> {
    for pair in digits.chunks(2) {
        let digit = |at: usize| pair.get(at).map_or(Some(0), |byte| super::super::bytea::hex_digit(*byte));
        octets.push(digit(0).ok_or(Fault::Syntax)? << 4 | digit(1).ok_or(Fault::Syntax)?)?;
    }
    Ok(())
}

/// A network: octets from the left, decimal or `0x…`; without a width that of the address's old class, or of what is
/// there.
pub(super) fn read_cidr(text: &[u8]) -> Result<Network, Fault> {
    let mut octets = Octets::new();
    let mut rest;
    if let [b'0', b'x' | b'X', digits @ ..] = text
        && digits.first().is_some_and(u8::is_ascii_hexdigit)
    {
        let end = digits.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(digits.len());
        hex_octets(&digits[..end], &mut octets)?;
        rest = &digits[end..];
    } else {
        rest = text;
        loop {
            let (value, after) = octet(rest)?;
            octets.push(value)?;
            rest = after;
            match after {
                [b'.', after @ ..] => rest = after,
                _ => break,
            }
        }
    }
    let bits = match rest {
        [b'/', digits @ ..] => width(digits)?,
        [] => class_width(octets.address[0], octets.count),
        _ => return Err(Fault::Syntax),
    };
    Ok(octets.with(bits))
}

fn class_width(first: u8, octets: usize) -> u8 {
    let class = match first {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    };
    let there = (octets * 8) as u8;
    match class.max(there) {
        8 if first == 224 => 4,
        bits => bits,
    }
}
