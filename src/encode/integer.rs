//! `smallint`, `integer`, `bigint` and `oid`: big-endian two's complement.

use super::EncodeError;
use super::codec::misfit;
use super::white::{is_blank, trim, trim_start};
use crate::record::{Value, is_newer_form};

fn out_of_range(type_name: &str) -> EncodeError {
    EncodeError::new("22003", format!("the number is out of range for type {type_name}"))
}

/// Newer servers read `0x1F`, `0o17`, `0b101` and `1_000`, older ones refuse them.
#[cold]
fn no_integer(unsigned: &[u8], type_name: &str) -> EncodeError {
    let reason = format!("the text is no {type_name}");
    if is_newer_form(unsigned) {
        EncodeError::server_only("22P02", reason)
    } else {
        EncodeError::new("22P02", reason)
    }
}

/// Leading digits and what follows them; `None` where they pass 64 bits.
#[inline]
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // Nineteen digits always fit.
        value = if at < 19 {
            value.wrapping_mul(10).wrapping_add(u64::from(digit))
        } else {
            value.checked_mul(10)?.checked_add(u64::from(digit))?
        };
        at += 1;
    }
    Some((value, &text[at..]))
}

#[inline]
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// A signed number of at most `limit` below zero, and of one less above.
#[inline]
fn read(source: &str, limit: u64, type_name: &str) -> Result<i64, EncodeError> {
    let (negative, text) = split_sign(trim_start(source.as_bytes()));
    let (magnitude, rest) = digits(text).ok_or_else(|| out_of_range(type_name))?;
    if magnitude > limit {
        return Err(out_of_range(type_name));
    }
    if rest.len() == text.len() || !(rest.is_empty() || is_blank(rest)) {
        return Err(no_integer(text, type_name));
    }
    match negative {
        true => Ok(0_i64.wrapping_sub_unsigned(magnitude)),
        false if magnitude == limit => Err(out_of_range(type_name)),
        false => Ok(magnitude.cast_signed()),
    }
}

/// The whole number of a value, whatever its kind; never rounded.
fn whole(value: &Value<'_>, type_name: &str) -> Result<i128, EncodeError> {
    let fraction = || EncodeError::new("22P02", format!("a number with a fraction does not fit {type_name}"));
    let from_float = |float: f64| {
        if !float.is_finite() || float.abs() >= 1e38 {
            Err(out_of_range(type_name))
        } else if float.fract() != 0.0 {
            Err(fraction())
        } else {
            Ok(float as i128)
        }
    };
    match value {
        Value::Int(number) => Ok(*number),
        Value::Float4(float) => from_float(f64::from(*float)),
        Value::Float8(float) => from_float(*float),
        Value::Numeric(number) if !number.is_finite() => Err(out_of_range(type_name)),
        Value::Numeric(number) if !number.is_whole() => Err(fraction()),
        Value::Numeric(number) => number.to_i128().ok_or_else(|| out_of_range(type_name)),
        _ => Err(misfit(value, type_name)),
    }
}

fn narrow<T: TryFrom<i128>>(value: &Value<'_>, type_name: &str) -> Result<T, EncodeError> {
    T::try_from(whole(value, type_name)?).map_err(|_| out_of_range(type_name))
}

#[inline]
pub(super) fn int2_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let value = read(source, 1 << 15, "smallint")?;
    out.extend_from_slice(&(value as i16).to_be_bytes());
    Ok(())
}

#[inline]
pub(super) fn int4_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let value = read(source, 1 << 31, "integer")?;
    out.extend_from_slice(&(value as i32).to_be_bytes());
    Ok(())
}

#[inline]
pub(super) fn int8_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let value = read(source, 1 << 63, "bigint")?;
    out.extend_from_slice(&value.to_be_bytes());
    Ok(())
}

/// As the server: `strtoul`, then what fits 32 bits unsigned or, sign-extended, signed.
pub(super) fn oid_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let (negative, text) = split_sign(trim_start(source.as_bytes()));
    let (magnitude, rest) = digits(text).ok_or_else(|| out_of_range("oid"))?;
    if rest.len() == text.len() || !is_blank(rest) {
        return Err(no_integer(text, "oid"));
    }
    // From 16 on a leading zero means octal.
    if text[0] == b'0' && trim(text).len() > 1 {
        return Err(EncodeError::server_only("22P02", "an oid with a leading zero has two readings"));
    }
    let wide = if negative { magnitude.wrapping_neg() } else { magnitude };
    let value = wide as u32;
    if wide != u64::from(value) && wide != i64::from(value.cast_signed()).cast_unsigned() {
        return Err(out_of_range("oid"));
    }
    out.extend_from_slice(&value.to_be_bytes());
    Ok(())
}

pub(super) fn int2_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&narrow::<i16>(value, "smallint")?.to_be_bytes());
    Ok(())
}

pub(super) fn int4_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&narrow::<i32>(value, "integer")?.to_be_bytes());
    Ok(())
}

pub(super) fn int8_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&narrow::<i64>(value, "bigint")?.to_be_bytes());
    Ok(())
}

pub(super) fn oid_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&narrow::<u32>(value, "oid")?.to_be_bytes());
    Ok(())
}

/// The sign bit flipped: the order of bytes is then that of the numbers.
#[inline]
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) {
    if let [first, rest @ ..] = body {
        out.push(first ^ 0x80);
        out.extend_from_slice(rest);
    }
}
