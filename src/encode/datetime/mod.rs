//! Dates, times and intervals: the server's integers from texts and from values.

mod fast;
mod from_str;
mod interval;
mod lexer;
mod text;
mod value;
mod zone;

pub(super) use interval::{
    from_text as interval_from_text, has_certain_fields, push_key as interval_push_key,
};
pub(super) use value::{from_value, text as value_text};
pub use zone::Zone;

use self::lexer::{malformed, out_of_range, unreadable};
use self::text::{Fields, Reading};
use super::{EncodeContext, EncodeError};
use crate::record::{Date, MICROS_PER_DAY, MICROS_PER_SECOND, Time, TimeTz, Timestamp, UNIX_EPOCH_DAYS};

/// The precision at which nothing is rounded.
const MICROSECONDS: u8 = 6;

/// The digits of the fraction that a column's typmod keeps.
pub(super) fn precision(typmod: i32) -> u8 {
    u8::try_from(typmod).map_or(MICROSECONDS, |digits| digits.min(MICROSECONDS))
}

/// Rounds to so many digits of the fraction, half away from zero, as the server does for a typmod; `None` where that
/// would not fit.
#[inline]
fn round(micros: i64, precision: u8) -> Option<i64> {
    if precision >= MICROSECONDS {
        return Some(micros);
    }
    let unit = 10_i64.pow(u32::from(MICROSECONDS - precision));
    let half = if micros < 0 { -unit / 2 } else { unit / 2 };
    micros.checked_add(half).map(|sum| sum / unit * unit)
}

/// The form of `date`: days since 2000-01-01.
#[inline]
pub(super) fn date_from_text(
    source: &str,
    _cx: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    push_date(read_date(source)?, out);
    Ok(())
}

/// The form of `time`: microseconds since midnight.
pub(super) fn time_from_text(
    source: &str,
    precision: u8,
    _cx: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    push_time(read_time(source)?, precision, out)
}

/// The form of `timetz`: microseconds since local midnight, and seconds west of UTC.
pub(super) fn timetz_from_text(
    source: &str,
    precision: u8,
    cx: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    push_timetz(read_timetz(source, &cx.zone)?, precision, out)
}

/// The form of `timestamp`: microseconds since 2000-01-01.
#[inline]
pub(super) fn timestamp_from_text(
    source: &str,
    precision: u8,
    _cx: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    push_timestamp(read_timestamp(source)?, precision, out)
}

/// The form of `timestamptz`: microseconds since 2000-01-01 UTC; a text without offset is read in the context's zone.
#[inline]
pub(super) fn timestamptz_from_text(
    source: &str,
    precision: u8,
    cx: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    push_timestamp(read_timestamptz(source, &cx.zone)?, precision, out)
}

#[inline]
fn read_date(source: &str) -> Result<Date, EncodeError> {
    let fields = match fast::read(source.as_bytes()) {
        Some(fields) => fields,
        None => match text::read(source)? {
            Reading::Fields(fields) => fields,
            Reading::Epoch => return Ok(Date(UNIX_EPOCH_DAYS)),
            Reading::Infinity => return Ok(Date::INFINITY),
            Reading::NegativeInfinity => return Ok(Date::NEG_INFINITY),
        },
    };
    Date::from_days(fields.days.ok_or_else(malformed)?).ok_or_else(out_of_range)
}

fn read_time(source: &str) -> Result<Time, EncodeError> {
    text::read_time(source)?.micros.map(Time).ok_or_else(malformed)
}

fn read_timetz(source: &str, zone: &Zone) -> Result<TimeTz, EncodeError> {
    let fields = text::read_time(source)?;
    let micros = fields.micros.ok_or_else(malformed)?;
    let east = match (fields.east, fields.days, zone.fixed()) {
        (Some(east), _, _) | (None, None, Some(east)) => east,
        (None, Some(days), _) if Date::from_days(days).is_some() => {
            zone.offset_of_local(seconds(days, micros))
        }
        // The offset of today: the server's clock has it.
        _ => return Err(unreadable()),
    };
    Ok(TimeTz::new(Time(micros), east))
}

#[inline]
fn read_timestamp(source: &str) -> Result<Timestamp, EncodeError> {
    let fields = match fast::read(source.as_bytes()) {
        Some(fields) => fields,
        None => match moment(text::read(source)?) {
            Ok(moment) => return Ok(moment),
            Err(fields) => fields,
        },
    };
    combine(fields, 0)
}

#[inline]
fn read_timestamptz(source: &str, zone: &Zone) -> Result<Timestamp, EncodeError> {
    let fields = match fast::read(source.as_bytes()) {
        Some(fields) => fields,
        None => match moment(text::read(source)?) {
            Ok(moment) => return Ok(moment),
            Err(fields) => fields,
        },
    };
    let east = match fields.east {
        Some(east) => east,
        None => zone.offset_of_local(seconds(fields.days.ok_or_else(malformed)?, fields.micros.unwrap_or(0))),
    };
    combine(fields, east)
}

/// A word's moment, or the fields of a date and time.
fn moment(reading: Reading) -> Result<Timestamp, Fields> {
    match reading {
        Reading::Fields(fields) => Err(fields),
        Reading::Epoch => Ok(Timestamp(i64::from(UNIX_EPOCH_DAYS) * MICROS_PER_DAY)),
        Reading::Infinity => Ok(Timestamp::INFINITY),
        Reading::NegativeInfinity => Ok(Timestamp::NEG_INFINITY),
    }
}

#[inline]
fn combine(fields: Fields, east: i32) -> Result<Timestamp, EncodeError> {
    let days = fields.days.ok_or_else(malformed)?;
    days.checked_mul(MICROS_PER_DAY)
        .and_then(|midnight| midnight.checked_add(fields.micros.unwrap_or(0)))
        .and_then(|local| local.checked_sub(i64::from(east) * MICROS_PER_SECOND))
        .and_then(Timestamp::from_micros)
        .ok_or_else(out_of_range)
}

/// Seconds since 2000-01-01 of a day and a time of it.
fn seconds(days: i64, micros: i64) -> i64 {
    days * 86_400 + micros.div_euclid(MICROS_PER_SECOND)
}

#[inline]
fn push_date(date: Date, out: &mut Vec<u8>) {
    out.extend_from_slice(&date.0.to_be_bytes());
}

fn push_time(time: Time, precision: u8, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&round(time.0, precision).ok_or_else(out_of_range)?.to_be_bytes());
    Ok(())
}

fn push_timetz(time: TimeTz, precision: u8, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    push_time(Time(time.micros), precision, out)?;
    out.extend_from_slice(&time.west.to_be_bytes());
    Ok(())
}

#[inline]
fn push_timestamp(moment: Timestamp, precision: u8, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let moment = if precision < MICROSECONDS && moment.is_finite() {
        // The server rounds up to a value that it then neither receives in binary nor reads as text.
        round(moment.0, precision).and_then(Timestamp::from_micros).ok_or_else(|| {
            EncodeError::server_only("22008", "rounded to the column's precision, out of range")
        })?
    } else {
        moment
    };
    out.extend_from_slice(&moment.0.to_be_bytes());
    Ok(())
}

/// The server's equality of `timetz`: the same instant of the day *and* the same offset; in its order.
pub(super) fn timetz_push_key(body: &[u8], out: &mut Vec<u8>) {
    let Some((&micros, west)) = body.split_first_chunk::<8>() else { return };
    let Some(&west) = west.first_chunk::<4>() else { return };
    let west = i32::from_be_bytes(west);
    let instant = i64::from_be_bytes(micros) + i64::from(west) * MICROS_PER_SECOND;
    out.extend_from_slice(&(instant ^ i64::MIN).to_be_bytes());
    out.extend_from_slice(&(west ^ i32::MIN).to_be_bytes());
}
