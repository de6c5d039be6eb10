//! Date and time columns from values, and date and time values as text.

use super::lexer::out_of_range;
use super::{interval, push_date, push_time, push_timestamp, push_timetz};
use crate::encode::codec::misfit;
use crate::encode::{Codec, EncodeContext, EncodeError};
use crate::record::{Date, Interval, MICROS_PER_SECOND, Time, TimeTz, Timestamp, Value};

/// The server's bound of an offset, exclusive.
const OFFSET_LIMIT: i32 = 16 * 3600;

/// The body of a date or time column for a value, by the server's assignment casts where they lose nothing.
pub(in crate::encode) fn from_value(
    codec: &Codec,
    value: &Value<'_>,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match codec {
        Codec::Date => push_date(date(value, cx)?, out),
        Codec::Time(precision) => match *value {
            Value::Time(time) => return push_time(checked_time(time)?, *precision, out),
            _ => return Err(misfit(value, "time")),
        },
        Codec::TimeTz(precision) => return push_timetz(timetz(value, cx)?, *precision, out),
        Codec::Timestamp(precision) => return push_timestamp(timestamp(value, cx)?, *precision, out),
        Codec::TimestampTz(precision) => return push_timestamp(instant(value, cx)?, *precision, out),
        Codec::Interval(typmod) => {
            let interval = match *value {
                Value::Interval(interval) => interval,
                Value::Time(time) => Interval::new(0, 0, checked_time(time)?.0),
                _ => return Err(misfit(value, "interval")),
            };
            interval::push(interval, *typmod, out)?;
        }
        _ => return Err(misfit(value, "a type that is no date or time")),
    }
    Ok(())
}

fn date(value: &Value<'_>, cx: &EncodeContext) -> Result<Date, EncodeError> {
    let moment = match *value {
        Value::Date(date) => return checked_date(date),
        Value::Timestamp(moment) => checked_moment(moment)?,
        Value::TimestampTz(moment) => local(checked_moment(moment)?, cx)?,
        _ => return Err(misfit(value, "date")),
    };
    match (moment, moment.date_and_time()) {
        (Timestamp::INFINITY, _) => Ok(Date::INFINITY),
        (Timestamp::NEG_INFINITY, _) => Ok(Date::NEG_INFINITY),
        (_, Some((date, Time::MIDNIGHT))) => Ok(date),
        _ => Err(EncodeError::new("22008", "a time of day does not fit date")),
    }
}

fn timetz(value: &Value<'_>, cx: &EncodeContext) -> Result<TimeTz, EncodeError> {
    match *value {
        Value::TimeTz(time) if time.west <= -OFFSET_LIMIT || time.west >= OFFSET_LIMIT => {
            Err(EncodeError::new("22009", "an offset from UTC out of range"))
        }
        Value::TimeTz(time) => checked_time(Time(time.micros)).map(|_| time),
        Value::Time(time) => match cx.zone.fixed() {
            Some(east) => Ok(TimeTz::new(checked_time(time)?, east)),
            None => Err(misfit(value, "timetz: its offset would be today's")),
        },
        _ => Err(misfit(value, "timetz")),
    }
}

fn timestamp(value: &Value<'_>, cx: &EncodeContext) -> Result<Timestamp, EncodeError> {
    match *value {
        Value::Timestamp(moment) => checked_moment(moment),
        Value::Date(date) => midnight(date),
        Value::TimestampTz(moment) => local(checked_moment(moment)?, cx),
        _ => Err(misfit(value, "timestamp")),
    }
}

fn instant(value: &Value<'_>, cx: &EncodeContext) -> Result<Timestamp, EncodeError> {
    let local = match *value {
        Value::TimestampTz(moment) => return checked_moment(moment),
        Value::Timestamp(moment) => checked_moment(moment)?,
        Value::Date(date) => midnight(date)?,
        _ => return Err(misfit(value, "timestamptz")),
    };
    if !local.is_finite() {
        return Ok(local);
    }
    let east = cx.zone.offset_of_local(local.0.div_euclid(MICROS_PER_SECOND));
    Timestamp::from_micros(local.0 - i64::from(east) * MICROS_PER_SECOND).ok_or_else(out_of_range)
}

/// An instant in the local time of the context's zone.
fn local(moment: Timestamp, cx: &EncodeContext) -> Result<Timestamp, EncodeError> {
    if !moment.is_finite() {
        return Ok(moment);
    }
    let east = cx.zone.offset_at(moment.0.div_euclid(MICROS_PER_SECOND));
    Timestamp::from_micros(moment.0 + i64::from(east) * MICROS_PER_SECOND).ok_or_else(out_of_range)
}

fn midnight(date: Date) -> Result<Timestamp, EncodeError> {
    Timestamp::new(checked_date(date)?, Time::MIDNIGHT).ok_or_else(out_of_range)
}

fn checked_date(date: Date) -> Result<Date, EncodeError> {
    if date.is_finite() { Date::from_days(date.0.into()).ok_or_else(out_of_range) } else { Ok(date) }
}

fn checked_moment(moment: Timestamp) -> Result<Timestamp, EncodeError> {
    if moment.is_finite() { Timestamp::from_micros(moment.0).ok_or_else(out_of_range) } else { Ok(moment) }
}

fn checked_time(time: Time) -> Result<Time, EncodeError> {
    if (Time::MIDNIGHT..=Time::MAX).contains(&time) { Ok(time) } else { Err(out_of_range()) }
}

/// A date or time value as the server prints it with DateStyle ISO, an instant in UTC; `None` for other kinds.
pub(in crate::encode) fn text(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Date(date) => date.to_string(),
        Value::Time(time) => time.to_string(),
        Value::TimeTz(time) => time.to_string(),
        Value::Timestamp(moment) => moment.to_string(),
        Value::TimestampTz(moment) => {
            let mut text = String::new();
            moment.write_with_offset(&mut text, "+00").ok()?;
            text
        }
        Value::Interval(interval) => interval.to_string(),
        _ => return None,
    })
}
