//! `real` and `double precision`: IEEE 754, big-endian, rounded as `strtod` rounds.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::EncodeError;
use super::codec::misfit;
use super::white::trim;
use crate::record::Value;

/// A number's text on the stack.
pub(super) struct ShortText {
    bytes: [u8; 64],
    length: usize,
}

impl ShortText {
    fn new() -> Self {
        Self { bytes: [0; 64], length: 0 }
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// An integer's digits.
    pub(super) fn integer(value: i128) -> Self {
        let mut text = Self::new();
        // Forty characters at most: it cannot fail.
        let _ = write!(text, "{value}");
        text
    }

    /// The decimal of the fewest digits that lies inside the float's rounding interval, nearest to it, of two the even
    /// one, as the server chooses it: `1.5e20`; `NaN`, `inf`, `-inf`. A decimal exactly on the interval's bound is none.
    pub(super) fn exponent_form<T: fmt::LowerExp + FromStr + PartialEq>(value: T) -> Self {
        let mut shortest = Self::new();
        // Seventeen digits and a three-digit exponent at most: it cannot fail, here and below.
        let _ = write!(shortest, "{value:e}");
        let Some((mantissa, _)) = shortest.as_str().split_once('e') else { return shortest };
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
        let rounded = |precision: usize| {
            let mut text = Self::new();
            let _ = write!(text, "{value:.precision$e}");
            text
        };
        let even = rounded(digits - 1);
        if even.is_inside(&value) {
            return even;
        }
        if shortest.is_inside(&value) {
            return shortest;
        }
        (digits..17).map(rounded).find(|text| text.is_inside(&value)).unwrap_or(shortest)
    }

    /// True where the next decimals on both sides read back as the float, too.
    fn is_inside<T: FromStr + PartialEq>(&self, value: &T) -> bool {
        let Some((mantissa, exponent)) = self.as_str().split_once('e') else { return false };
        let Some((head, last)) = mantissa.split_at_checked(mantissa.len() - 1) else { return false };
        let point = if mantissa.contains('.') { "" } else { "." };
        let reads_back = |digits: fmt::Arguments<'_>| {
            let mut text = Self::new();
            write!(text, "{head}{digits}e{exponent}").is_ok()
                && text.as_str().parse::<T>().is_ok_and(|read| read == *value)
        };
        // A last 0 is no digit more: the decimal was looked at without it.
        let Some(below) = last.parse::<u8>().ok().and_then(|last| last.checked_sub(1)) else { return false };
        reads_back(format_args!("{last}{point}000000000000000000000000000001"))
            && reads_back(format_args!("{below}{point}999999999999999999999999999999"))
    }

    /// The same digits laid out as the server prints a float: with an exponent below 1e-4 and from `10^digits` on.
    fn server_form<T: fmt::LowerExp + FromStr + PartialEq>(value: T, digits: i32) -> Self {
        let source = Self::exponent_form(value);
        let mut text = Self::new();
        // A positional form has at most fifteen digits before the point and twenty-one after it: it cannot fail.
        let _ = text.lay_out(source.as_str(), digits);
        text
    }

    fn lay_out(&mut self, source: &str, limit: i32) -> fmt::Result {
        let Some((mantissa, exponent)) = source.split_once('e') else {
            return self.write_str(match source {
                "inf" => "Infinity",
                "-inf" => "-Infinity",
                _ => "NaN",
            });
        };
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if exponent < -4 || exponent >= limit {
            return write!(self, "{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        }
        let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
        self.write_str(sign)?;
        let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if exponent < 0 {
            self.write_str("0.")?;
            for _ in 1..-exponent {
                self.write_str("0")?;
            }
            self.write_str(first)?;
            return self.write_str(rest);
        }
        self.write_str(first)?;
        let whole = exponent as usize;
        if rest.len() > whole {
            return write!(self, "{}.{}", &rest[..whole], &rest[whole..]);
        }
        self.write_str(rest)?;
        for _ in rest.len()..whole {
            self.write_str("0")?;
        }
        Ok(())
    }

    pub(super) fn float4(value: f32) -> Self {
        Self::server_form(value, 6)
    }

    pub(super) fn float8(value: f64) -> Self {
        Self::server_form(value, 15)
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let end = self.length + part.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn out_of_range(type_name: &str) -> EncodeError {
    EncodeError::new("22003", format!("the number is out of range for type {type_name}"))
}

/// The C library behind the server also reads `0x1p3` and `nan(1)`.
#[cold]
fn no_float(text: &[u8], type_name: &str) -> EncodeError {
    let reason = format!("the text is no {type_name}");
    let unsigned = match text {
        [b'+' | b'-', rest @ ..] => rest,
        _ => text,
    };
    let library_form = match unsigned {
        [b'0', b'x' | b'X', ..] => true,
        [b'n' | b'N', b'a' | b'A', b'n' | b'N', b'(', ..] => unsigned.ends_with(b")"),
        _ => false,
    };
    if library_form { EncodeError::server_only("22P02", reason) } else { EncodeError::new("22P02", reason) }
}

/// True where a text that was read as 0 holds another digit than 0 before its exponent: an underflow.
fn has_digits(text: &[u8]) -> bool {
    text.iter().take_while(|byte| !matches!(byte, b'e' | b'E')).any(|byte| matches!(byte, b'1'..=b'9'))
}

/// True where a text that was read as an infinity names one; numbers have digits.
fn is_word(text: &[u8]) -> bool {
    !text.iter().any(u8::is_ascii_digit)
}

#[inline]
fn parse<T: FromStr>(text: &[u8]) -> Option<T> {
    str::from_utf8(text).ok()?.parse().ok()
}

macro_rules! read {
    ($name:ident, $float:ty, $type_name:literal) => {
        #[inline]
        fn $name(source: &str) -> Result<$float, EncodeError> {
            let text = trim(source.as_bytes());
            let value: $float = parse(text).ok_or_else(|| no_float(text, $type_name))?;
            if (value == 0.0 && has_digits(text)) || (value.is_infinite() && !is_word(text)) {
                return Err(out_of_range($type_name));
            }
            Ok(value)
        }
    };
}

read!(read_float4, f32, "real");
read!(read_float8, f64, "double precision");

#[inline]
pub(super) fn float4_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&read_float4(source)?.to_be_bytes());
    Ok(())
}

#[inline]
pub(super) fn float8_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&read_float8(source)?.to_be_bytes());
    Ok(())
}

/// A double is rounded to the nearest as by assignment; an integer has to fit exactly.
pub(super) fn float4_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let float = match value {
        Value::Float4(float) => *float,
        Value::Float8(float) => {
            let narrow = *float as f32;
            if (narrow.is_infinite() && float.is_finite()) || (narrow == 0.0 && *float != 0.0) {
                return Err(out_of_range("real"));
            }
            narrow
        }
        Value::Int(number) => {
            let float = *number as f32;
            if is_inexact(f64::from(float), *number) {
                return Err(out_of_range("real"));
            }
            float
        }
        Value::Numeric(number) => read_float4(&number.to_string())?,
        _ => return Err(misfit(value, "real")),
    };
    out.extend_from_slice(&float.to_be_bytes());
    Ok(())
}

/// An integer has to fit exactly; a decimal is rounded to the nearest as by assignment.
pub(super) fn float8_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let float = match value {
        Value::Float4(float) => f64::from(*float),
        Value::Float8(float) => *float,
        Value::Int(number) => {
            let float = *number as f64;
            if is_inexact(float, *number) {
                return Err(out_of_range("double precision"));
            }
            float
        }
        Value::Numeric(number) => read_float8(&number.to_string())?,
        _ => return Err(misfit(value, "double precision")),
    };
    out.extend_from_slice(&float.to_be_bytes());
    Ok(())
}

/// The cast back saturates, so the largest numbers need the second look.
fn is_inexact(float: f64, number: i128) -> bool {
    float as i128 != number || float >= 2_f64.powi(127)
}

/// −0 is 0, every NaN is one and the largest; then the order of bytes is that of the numbers.
#[inline]
pub(super) fn float4_push_key(body: &[u8], out: &mut Vec<u8>) {
    let Ok(bytes) = body.try_into() else { return out.extend_from_slice(body) };
    let float = f32::from_be_bytes(bytes);
    let bits = if float == 0.0 {
        0
    } else if float.is_nan() {
        f32::NAN.to_bits() & (u32::MAX >> 1)
    } else {
        float.to_bits()
    };
    let key = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    out.extend_from_slice(&key.to_be_bytes());
}

/// As [`float4_push_key`].
#[inline]
pub(super) fn float8_push_key(body: &[u8], out: &mut Vec<u8>) {
    let Ok(bytes) = body.try_into() else { return out.extend_from_slice(body) };
    let float = f64::from_be_bytes(bytes);
    let bits = if float == 0.0 {
        0
    } else if float.is_nan() {
        f64::NAN.to_bits() & (u64::MAX >> 1)
    } else {
        float.to_bits()
    };
    let key = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&key.to_be_bytes());
}
