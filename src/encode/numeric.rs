//! `numeric`: counts, sign and base-10000 digits, written from the text without a stop in between.

use super::EncodeError;
use super::codec::misfit;
use super::float::ShortText;
use crate::record::{Decimal, Literal, Numeric, NumericError, Sign, Value};

/// `numeric(precision, scale)`; the scale may be negative or larger than the precision (15+).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    pub(super) precision: u16,
    pub(super) scale: i16,
}

impl Declared {
    /// Splits a typmod: precision above, an eleven-bit signed scale below, and four added.
    pub(super) fn from_typmod(typmod: i32) -> Option<Self> {
        let packed = typmod.checked_sub(4).filter(|packed| *packed >= 0)?;
        let scale = (packed & 0x7FF) as i16;
        Some(Self { precision: (packed >> 16) as u16, scale: (scale ^ 1024) - 1024 })
    }
}

fn refused(error: NumericError) -> EncodeError {
    match error {
        NumericError::Syntax => EncodeError::new("22P02", "the text is no numeric"),
        NumericError::ServerOnly => {
            EncodeError::server_only("22P02", "only some server versions read this form of a numeric")
        }
        NumericError::Overflow => EncodeError::new("22003", "the number overflows the numeric format"),
        NumericError::Precision => EncodeError::new(
            "22003",
            "the number has more digits than the column's precision and scale allow",
        ),
    }
}

#[inline]
fn write(literal: &Literal<'_>, declared: Option<Declared>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match literal {
        Literal::Finite(decimal) => decimal
            .write_body(declared.map(|declared| (declared.precision, declared.scale)), out)
            .map_err(refused),
        Literal::Special(sign) => write_special(*sign, declared, out),
    }
}

/// NaN goes into every numeric column, an infinity only into one without a precision.
fn write_special(sign: Sign, declared: Option<Declared>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if declared.is_some() && sign != Sign::NaN {
        return Err(refused(NumericError::Precision));
    }
    for word in [0, 0, sign.word(), 0] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    Ok(())
}

#[inline]
pub(super) fn from_text(
    source: &str,
    declared: Option<Declared>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    write(&Literal::scan(source.as_bytes()).map_err(refused)?, declared, out)
}

/// Appends `unscaled · 10^-scale`: how Arrow and Parquet hold a decimal.
pub(super) fn from_scaled(
    unscaled: i128,
    scale: i32,
    declared: Option<Declared>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let text = ShortText::integer(unscaled);
    let digits = text.as_str().trim_start_matches('-').as_bytes();
    write(&Literal::Finite(Decimal::from_scaled(unscaled < 0, digits, scale)), declared, out)
}

/// A float gives its own shortest decimal.
pub(super) fn from_value(
    value: &Value<'_>,
    declared: Option<Declared>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match value {
        Value::Int(number) => from_scaled(*number, 0, declared, out),
        Value::Float4(float) => from_text(ShortText::exponent_form(*float).as_str(), declared, out),
        Value::Float8(float) => from_text(ShortText::exponent_form(*float).as_str(), declared, out),
        Value::Numeric(number) if !number.is_finite() => write_special(number.sign, declared, out),
        Value::Numeric(number) if declared.is_none() => {
            number.write_body(out);
            Ok(())
        }
        Value::Numeric(number) => from_text(&number.to_string(), declared, out),
        _ => Err(misfit(value, "numeric")),
    }
}

/// The class of a number, in the server's order.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Class {
    NegativeInfinity = 1,
    Negative,
    Zero,
    Positive,
    Infinity,
    NaN,
}

/// Class, weight and groups without trailing zeros, each group one higher so that 0 ends them; all of a negative
/// number's bytes inverted. The scale has no part: 1.0 = 1.00. The order of bytes is that of the numbers.
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) {
    let Some((sign, weight, groups)) = parts(body) else { return out.extend_from_slice(body) };
    let class = match sign {
        Sign::NaN => Class::NaN,
        Sign::Infinity => Class::Infinity,
        Sign::NegativeInfinity => Class::NegativeInfinity,
        _ if groups.is_empty() => Class::Zero,
        Sign::Positive => Class::Positive,
        Sign::Negative => Class::Negative,
    };
    out.push(class as u8);
    let flip = match class {
        Class::Positive => 0,
        Class::Negative => u16::MAX,
        _ => return,
    };
    out.extend_from_slice(&(weight.cast_unsigned() ^ 0x8000 ^ flip).to_be_bytes());
    for group in groups {
        out.extend_from_slice(&((u16::from_be_bytes(*group) + 1) ^ flip).to_be_bytes());
    }
    out.extend_from_slice(&flip.to_be_bytes());
}

/// Sign, weight and the groups from the first to the last that is not zero.
fn parts(body: &[u8]) -> Option<(Sign, i16, &[[u8; 2]])> {
    let ([_, weight, sign, _, groups @ ..], []) = body.as_chunks::<2>() else { return None };
    let sign = Sign::from_word(u16::from_be_bytes(*sign))?;
    let first = groups.iter().position(|group| *group != [0, 0]).unwrap_or(groups.len());
    let last = groups.iter().rposition(|group| *group != [0, 0]).map_or(first, |last| last + 1);
    let weight = i16::from_be_bytes(*weight).checked_sub_unsigned(u16::try_from(first).ok()?)?;
    Some((sign, weight, &groups[first..last]))
}

/// Reads a number's text into a value of its own.
pub(super) fn parse(source: &str) -> Result<Numeric, EncodeError> {
    source.parse().map_err(refused)
}
