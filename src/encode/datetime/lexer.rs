//! Cuts a date or time text into the fields that the server's input functions see.

use crate::encode::EncodeError;
use crate::encode::white::is_white;

/// One field of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Digits, with or without a fraction.
    Number(&'a str),
    /// Digits joined by `-`, which stands behind the first of them.
    Dashed(&'a str),
    /// Digits, then digits, colons and points.
    Clock(&'a str),
    /// A sign, then digits and the like.
    Signed(&'a str),
    /// A sign, then letters.
    SignedWord(&'a str),
    /// Letters.
    Word(&'a str),
}

/// More fields than any form that is read here has.
pub(super) const FIELDS: usize = 25;

/// The fields of one text, without an allocation.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    list: [Token<'a>; FIELDS],
    length: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn as_slice(&self) -> &[Token<'a>] {
        &self.list[..self.length]
    }
}

/// The fields of a text of at most `limit` bytes. A word that runs into digits or punctuation is a name that the
/// server looks up, except the labels in `labels`.
pub(super) fn tokens<'a>(source: &'a str, limit: usize, labels: &str) -> Result<Tokens<'a>, EncodeError> {
    let bytes = source.as_bytes();
    if bytes.len() > limit {
        return Err(unreadable());
    }
    let mut tokens = Tokens { list: [Token::Word(""); FIELDS], length: 0 };
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        if is_white(first) {
            at += 1;
            continue;
        }
        let run = |from: usize, of: fn(u8) -> bool| {
            from + bytes[from..].iter().take_while(|&&byte| of(byte)).count()
        };
        let digits = |from| run(from, |byte| byte.is_ascii_digit());
        let start = at;
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let make: fn(&'a str) -> Token<'a> = match first {
            b'0'..=b'9' => {
                at = digits(at);
                match byte(at) {
                    b':' => {
                        at = run(at, |byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
                        Token::Clock
                    }
                    b'-' if byte(at + 1).is_ascii_digit() => {
                        at = run(at, |byte| byte.is_ascii_digit() || byte == b'-');
                        Token::Dashed
                    }
                    b'.' if byte(at + 1).is_ascii_digit() => {
                        at = digits(at + 1);
                        Token::Number
                    }
                    b'-' | b'.' | b'/' => return Err(unreadable()),
                    _ => Token::Number,
                }
            }
            b'.' if byte(at + 1).is_ascii_digit() => {
                at = digits(at + 1);
                Token::Number
            }
            b'+' | b'-' if byte(at + 1).is_ascii_digit() => {
                at = run(at + 1, |byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-'));
                Token::Signed
            }
            b'+' | b'-' if byte(at + 1).is_ascii_alphabetic() => {
                at = run(at + 1, |byte| byte.is_ascii_alphabetic());
                Token::SignedWord
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                at = run(at, |byte| byte.is_ascii_alphabetic());
                let label = at == start + 1 && labels.contains(first.to_ascii_lowercase() as char);
                let joined = matches!(byte(at), b'-' | b'/' | b'.' | b'+' | b'0'..=b'9');
                if joined && !(label && byte(at).is_ascii_digit()) {
                    return Err(unreadable());
                }
                Token::Word
            }
            _ => return Err(unreadable()),
        };
        let slot = tokens.list.get_mut(tokens.length).ok_or_else(unreadable)?;
        *slot = make(&source[start..at]);
        tokens.length += 1;
    }
    Ok(tokens)
}

/// A text that is none of the forms read here; whether the server reads it hangs on its settings, its clock or its
/// lists of names.
pub(super) fn unreadable() -> EncodeError {
    EncodeError::server_only("22007", "a form of date or time that only the server can read")
}

/// A text that the server refuses, whatever its settings.
pub(super) fn malformed() -> EncodeError {
    EncodeError::new("22007", "not a date or time")
}

/// A field, or the whole, beyond what the type holds.
pub(super) fn out_of_range() -> EncodeError {
    EncodeError::new("22008", "a date or time out of range")
}

/// The digits behind a point as microseconds, rounded by way of a double as the server does; 1,000,000 is possible.
/// `digits` are digits only.
pub(super) fn fraction_micros(digits: &str) -> Option<i64> {
    if let 1..=6 = digits.len() {
        let value: i64 = digits.parse().ok()?;
        return Some(value * 10_i64.pow(6 - u32::try_from(digits.len()).ok()?));
    }
    #[expect(clippy::cast_possible_truncation, reason = "0 to 1,000,000")]
    Some((fraction(digits)? * 1e6).round_ties_even() as i64)
}

/// The digits behind a point as a double below 1.
pub(super) fn fraction(digits: &str) -> Option<f64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("0.{digits}").parse().ok()
}
