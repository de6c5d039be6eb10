//! An exact decimal of any length: the server's own base-10000 digits.

mod decimal;

use std::fmt;
use std::str::FromStr;

pub(crate) use decimal::{Decimal, Literal, is_newer_form};

/// A `numeric` as the server holds it: sign, weight of the first digit group, scale for display, digits in base 10000.
///
/// Equality is that of the representation: `1.0` and `1.00` differ here, and are one key for the server.
#[derive(Clone, PartialEq, Eq)]
pub struct Numeric {
    pub(crate) sign: Sign,
    /// The first group counts `10000^weight`.
    pub(crate) weight: i16,
    /// Decimal digits shown after the point.
    pub(crate) scale: u16,
    /// Groups of four decimal digits, without leading or trailing zero groups.
    pub(crate) digits: Vec<u16>,
}

/// The sign word of the binary form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Positive,
    Negative,
    NaN,
    Infinity,
    NegativeInfinity,
}

impl Sign {
    pub(crate) const fn word(self) -> u16 {
        match self {
            Self::Positive => 0x0000,
            Self::Negative => 0x4000,
            Self::NaN => 0xC000,
            Self::Infinity => 0xD000,
            Self::NegativeInfinity => 0xF000,
        }
    }

    pub(crate) const fn from_word(word: u16) -> Option<Self> {
        Some(match word {
            0x0000 => Self::Positive,
            0x4000 => Self::Negative,
            0xC000 => Self::NaN,
            0xD000 => Self::Infinity,
            0xF000 => Self::NegativeInfinity,
            _ => return None,
        })
    }
}

/// Why a text is no [`Numeric`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumericError {
    /// Not a number's text.
    #[error("the text is no number")]
    Syntax,
    /// A form that only some server versions read (`0x1F`, `1_000`, blanks inside an exponent).
    #[error("only some server versions read this form of a number")]
    ServerOnly,
    /// More than 131 072 digits before the point or 16 383 after it.
    #[error("the number overflows the numeric format")]
    Overflow,
    /// More digits before the point than the declared precision and scale leave; an infinity with a precision.
    #[error("the number has more digits than the declared precision")]
    Precision,
}

impl Numeric {
    /// Not a number.
    pub const NAN: Self = Self::special(Sign::NaN);
    /// Positive infinity (servers from 14 on).
    pub const INFINITY: Self = Self::special(Sign::Infinity);
    /// Negative infinity (servers from 14 on).
    pub const NEG_INFINITY: Self = Self::special(Sign::NegativeInfinity);

    const fn special(sign: Sign) -> Self {
        Self { sign, weight: 0, scale: 0, digits: Vec::new() }
    }

    fn from_decimal(decimal: &Decimal<'_>) -> Result<Self, NumericError> {
        let mut body = Vec::new();
        decimal.write_body(None, &mut body)?;
        Self::from_body(&body).ok_or(NumericError::Overflow)
    }

    /// The number `unscaled · 10^-scale`, shown with `scale` digits after the point (none where it is negative).
    ///
    /// # Errors
    /// [`NumericError::Overflow`]: the scale is beyond what the format holds.
    pub fn from_scaled(unscaled: i128, scale: i32) -> Result<Self, NumericError> {
        let text = unscaled.unsigned_abs().to_string();
        Self::from_decimal(&Decimal::from_scaled(unscaled < 0, text.as_bytes(), scale))
    }

    /// The shortest decimal that reads back as this very float; NaN and the infinities stay what they are.
    pub fn from_f64(value: f64) -> Self {
        // A float has at most 17 digits and an exponent within 324: it cannot fail.
        value.to_string().parse().unwrap_or(Self::NAN)
    }

    /// Neither NaN nor an infinity.
    pub fn is_finite(&self) -> bool {
        matches!(self.sign, Sign::Positive | Sign::Negative)
    }

    /// Finite and without digits other than zero after the point.
    pub fn is_whole(&self) -> bool {
        self.is_finite() && self.digits.len() as i64 <= i64::from(self.weight) + 1
    }

    /// The number where it is whole and fits.
    pub fn to_i128(&self) -> Option<i128> {
        if !self.is_whole() {
            return None;
        }
        let mut value = 0_i128;
        // Built below zero, where one more number fits.
        for position in 0..=i32::from(self.weight) {
            let group = self.digits.get(position as usize).copied().unwrap_or(0);
            value = value.checked_mul(10_000)?.checked_sub(i128::from(group))?;
        }
        if self.sign == Sign::Negative { Some(value) } else { value.checked_neg() }
    }

    /// Reads the binary form: counts, weight, sign word, scale, digit groups. `None` where it is damaged.
    pub fn from_body(body: &[u8]) -> Option<Self> {
        let (words, []) = body.as_chunks::<2>() else { return None };
        let mut words = words.iter().map(|word| u16::from_be_bytes(*word));
        let count = words.next()?;
        let weight = words.next()?.cast_signed();
        let sign = Sign::from_word(words.next()?)?;
        let scale = words.next()?;
        let digits: Vec<u16> = words.collect();
        (digits.len() == usize::from(count) && digits.iter().all(|group| *group < 10_000)).then_some(Self {
            sign,
            weight,
            scale,
            digits,
        })
    }

    /// Appends the binary form.
    pub fn write_body(&self, out: &mut Vec<u8>) {
        let words = [self.digits.len() as u16, self.weight.cast_unsigned(), self.sign.word(), self.scale];
        for word in words.iter().chain(&self.digits) {
            out.extend_from_slice(&word.to_be_bytes());
        }
    }
}

impl FromStr for Numeric {
    type Err = NumericError;

    /// Reads what the server's `numeric` reads: blanks around, `1e3`, `NaN`, `Infinity`, `-inf`.
    fn from_str(text: &str) -> Result<Self, NumericError> {
        match Literal::scan(text.as_bytes())? {
            Literal::Finite(decimal) => Self::from_decimal(&decimal),
            Literal::Special(sign) => Ok(Self::special(sign)),
        }
    }
}

impl From<i128> for Numeric {
    fn from(value: i128) -> Self {
        // Thirty-nine digits at most: always within the format.
        Self::from_scaled(value, 0).unwrap_or(Self::NAN)
    }
}

/// Digit for digit what the server prints.
impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sign {
            Sign::NaN => return f.write_str("NaN"),
            Sign::Infinity => return f.write_str("Infinity"),
            Sign::NegativeInfinity => return f.write_str("-Infinity"),
            Sign::Negative => f.write_str("-")?,
            Sign::Positive => {}
        }
        let group = |weight: i32| {
            let position = i32::from(self.weight) - weight;
            usize::try_from(position)
                .ok()
                .and_then(|position| self.digits.get(position))
                .copied()
                .unwrap_or(0)
        };
        if self.weight < 0 || self.digits.is_empty() {
            f.write_str("0")?;
        } else {
            write!(f, "{}", group(self.weight.into()))?;
            for weight in (0..i32::from(self.weight)).rev() {
                write!(f, "{:04}", group(weight))?;
            }
        }
        let mut left = usize::from(self.scale);
        if left > 0 {
            f.write_str(".")?;
        }
        let mut weight = -1;
        while left > 0 {
            let digits = group(weight);
            match left {
                1 => write!(f, "{:01}", digits / 1000)?,
                2 => write!(f, "{:02}", digits / 100)?,
                3 => write!(f, "{:03}", digits / 10)?,
                _ => write!(f, "{digits:04}")?,
            }
            left = left.saturating_sub(4);
            weight -= 1;
        }
        Ok(())
    }
}

/// Shows that it is a number and never which, so that no row reaches a log.
impl fmt::Debug for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Numeric")
    }
}
