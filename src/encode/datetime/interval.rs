//! Intervals: the server's traditional, verbose, SQL-standard and ISO 8601 forms, read right to left as it does.

use super::lexer::{Token, fraction, fraction_micros, malformed, tokens, unreadable};
use super::{MICROSECONDS, round};
use crate::encode::EncodeError;
use crate::encode::white::is_white;
use crate::record::{Interval, MICROS_PER_DAY, MICROS_PER_SECOND};

/// The server's buffer for such a text is a little larger.
const TEXT_LIMIT: usize = 200;
const MICROS_PER_HOUR: i64 = 3600 * MICROS_PER_SECOND;
const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// What a fraction of a month is counted with.
const DAYS_PER_MONTH: i32 = 30;

/// The body of an `interval` column for a text.
pub(in crate::encode) fn from_text(source: &str, typmod: i32, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if has_certain_fields(typmod) {
        return Err(EncodeError::server_only(
            "22007",
            "texts for an interval of certain fields are the server's",
        ));
    }
    push(read(source)?, typmod, out)
}

/// True for `interval hour to minute` and its like. Such a column also changes what a number without unit means.
pub(in crate::encode) fn has_certain_fields(typmod: i32) -> bool {
    Declared::new(typmod).fields != ALL_FIELDS
}

/// Appends the body, cut and rounded to the column's typmod.
pub(super) fn push(interval: Interval, typmod: i32, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let interval = if typmod < 0 { interval } else { Declared::new(typmod).apply(interval)? };
    out.extend_from_slice(&interval.micros.to_be_bytes());
    out.extend_from_slice(&interval.days.to_be_bytes());
    out.extend_from_slice(&interval.months.to_be_bytes());
    Ok(())
}

const ALL_FIELDS: i32 = 0x7FFF;
const MONTH: i32 = 1 << 1;
const YEAR: i32 = 1 << 2;
const DAY: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND: i32 = 1 << 12;

/// The typmod of an interval: which fields, and the digits of the fraction.
struct Declared {
    fields: i32,
    precision: u8,
}

impl Declared {
    fn new(typmod: i32) -> Self {
        if typmod < 0 {
            return Self { fields: ALL_FIELDS, precision: MICROSECONDS };
        }
        Self { fields: (typmod >> 16) & ALL_FIELDS, precision: super::precision(typmod & 0xFFFF) }
    }

    /// What the server makes of a value that is assigned to such a column.
    fn apply(&self, interval: Interval) -> Result<Interval, EncodeError> {
        let Interval { months, days, micros } = interval;
        let whole = |unit: i64| micros / unit * unit;
        Ok(match self.fields {
            YEAR => Interval::new(months / 12 * 12, 0, 0),
            fields if fields & !(YEAR | MONTH) == 0 => Interval::new(months, 0, 0),
            DAY => Interval::new(months, days, 0),
            fields if fields & !(DAY | HOUR) == 0 => Interval::new(months, days, whole(MICROS_PER_HOUR)),
            fields if fields & !(DAY | HOUR | MINUTE) == 0 => {
                Interval::new(months, days, whole(MICROS_PER_MINUTE))
            }
            fields if fields == ALL_FIELDS || fields & SECOND != 0 => {
                // PostgreSQL 15 wraps here, 17 refuses.
                let wrapped = || EncodeError::server_only("22008", "an interval out of range");
                Interval::new(months, days, round(micros, self.precision).ok_or_else(wrapped)?)
            }
            _ => return Err(EncodeError::server_only("22007", "an interval column with unknown fields")),
        })
    }
}

fn overflow() -> EncodeError {
    EncodeError::new("22015", "an interval field out of range")
}

fn out_of_range() -> EncodeError {
    EncodeError::new("22008", "an interval out of range")
}

/// Reads a text with IntervalStyle postgres.
pub(super) fn read(source: &str) -> Result<Interval, EncodeError> {
    if source.bytes().all(is_white) {
        return Err(malformed());
    }
    if let Some(parts) = source.strip_prefix('P') {
        return iso(parts)?.interval();
    }
    let source = source.trim_start_matches(|c: char| c == '@' || c.is_ascii() && is_white(c as u8));
    traditional(tokens(source, TEXT_LIMIT, "dhmsy")?.as_slice())?.interval()
}

/// A unit of the text forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
}

impl Unit {
    fn named(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "us" | "usec" | "usecs" | "useconds" | "microsecond" | "microseconds" => Self::Microsecond,
            "ms" | "msec" | "msecs" | "mseconds" | "millisecond" | "milliseconds" => Self::Millisecond,
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "week" | "weeks" => Self::Week,
            "mon" | "mons" | "month" | "months" => Self::Month,
            "y" | "yr" | "yrs" | "year" | "years" => Self::Year,
            "dec" | "decs" | "decade" | "decades" => Self::Decade,
            "c" | "cent" | "century" | "centuries" => Self::Century,
            "mil" | "mils" | "millennium" | "millennia" => Self::Millennium,
            _ => return None,
        })
    }

    /// The bits of the fields that a value of this unit fills; none may be filled twice. Seconds with a fraction fill
    /// those of the smaller units.
    fn mask(self, fractional: bool) -> u16 {
        match self {
            Self::Second if fractional => {
                Self::Second.mask(false) | Self::Millisecond.mask(false) | Self::Microsecond.mask(false)
            }
            _ => 1 << self as u16,
        }
    }
}

/// The sums of the fields.
#[derive(Default)]
struct Sum {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

impl Sum {
    fn interval(self) -> Result<Interval, EncodeError> {
        let months = i64::from(self.years) * 12 + i64::from(self.months);
        let months = i32::try_from(months).map_err(|_| out_of_range())?;
        let interval = Interval::new(months, self.days, self.micros);
        if interval == Interval::INFINITY || interval == Interval::NEG_INFINITY {
            return Err(out_of_range());
        }
        Ok(interval)
    }

    /// Adds `whole` and the `part` below one of it, which has its sign, in a unit.
    fn add(&mut self, unit: Unit, whole: i64, part: f64) -> Option<()> {
        match unit {
            Unit::Microsecond => self.add_micros(whole, part, 1),
            Unit::Millisecond => self.add_micros(whole, part, 1000),
            Unit::Second => self.add_micros(whole, part, MICROS_PER_SECOND),
            Unit::Minute => self.add_micros(whole, part, MICROS_PER_MINUTE),
            Unit::Hour => self.add_micros(whole, part, MICROS_PER_HOUR),
            Unit::Day => {
                self.add_days(whole, 1)?;
                self.add_part(part, MICROS_PER_DAY)
            }
            Unit::Week => {
                self.add_days(whole, 7)?;
                self.add_part_of_days(part, 7)
            }
            Unit::Month => {
                self.months = self.months.checked_add(i32::try_from(whole).ok()?)?;
                self.add_part_of_days(part, DAYS_PER_MONTH)
            }
            Unit::Year => self.add_years(whole, part, 1),
            Unit::Decade => self.add_years(whole, part, 10),
            Unit::Century => self.add_years(whole, part, 100),
            Unit::Millennium => self.add_years(whole, part, 1000),
        }
    }

    fn add_micros(&mut self, whole: i64, part: f64, unit: i64) -> Option<()> {
        self.micros = self.micros.checked_add(whole.checked_mul(unit)?)?;
        self.add_part(part, unit)
    }

    /// A part below one of `unit` microseconds, rounded half towards zero.
    fn add_part(&mut self, part: f64, unit: i64) -> Option<()> {
        #[expect(clippy::cast_precision_loss, reason = "units are exact in a double")]
        let micros = part * unit as f64;
        #[expect(clippy::cast_possible_truncation, reason = "the part is below one of a day")]
        let mut whole = micros as i64;
        let rest = micros - micros.trunc();
        if rest > 0.5 {
            whole += 1;
        } else if rest < -0.5 {
            whole -= 1;
        }
        self.micros = self.micros.checked_add(whole)?;
        Some(())
    }

    fn add_days(&mut self, whole: i64, unit: i32) -> Option<()> {
        self.days = self.days.checked_add(i32::try_from(whole).ok()?.checked_mul(unit)?)?;
        Some(())
    }

    fn add_part_of_days(&mut self, part: f64, unit: i32) -> Option<()> {
        let days = part * f64::from(unit);
        #[expect(clippy::cast_possible_truncation, reason = "the part is below one of a month")]
        let whole = days as i32;
        self.days = self.days.checked_add(whole)?;
        self.add_part(days - f64::from(whole), MICROS_PER_DAY)
    }

    fn add_years(&mut self, whole: i64, part: f64, unit: i32) -> Option<()> {
        self.years = self.years.checked_add(i32::try_from(whole).ok()?.checked_mul(unit)?)?;
        #[expect(clippy::cast_possible_truncation, reason = "the part is below one of 1000 years")]
        let months = (part * f64::from(unit) * 12.0).round_ties_even() as i32;
        self.months = self.months.checked_add(months)?;
        Some(())
    }

    fn negated(self) -> Option<Self> {
        Some(Self {
            years: self.years.checked_neg()?,
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }
}

/// `1 day 02:03:04.5`, `1-2 3 4:05:06`, `@ 1 mon -2 days ago`.
fn traditional(tokens: &[Token<'_>]) -> Result<Sum, EncodeError> {
    const CLOCK: u16 = 1 << Unit::Hour as u16 | 1 << Unit::Minute as u16;
    let (tokens, ago) = match tokens {
        [tokens @ .., Token::Word(word)] if word.eq_ignore_ascii_case("ago") => (tokens, true),
        _ => (tokens, false),
    };
    let mut sum = Sum::default();
    // A last number without a unit is seconds, one before a time or hours days; else it has the unit to its right.
    let mut unit = if ago { None } else { Some(Unit::Second) };
    let mut dangling = false;
    let mut filled = 0;
    for token in tokens.iter().rev() {
        let mask = match *token {
            Token::Word(word) => {
                // PostgreSQL 15 takes a unit without a number, later ones do not.
                if dangling {
                    return Err(unreadable());
                }
                unit = Some(Unit::named(word).ok_or_else(unreadable)?);
                dangling = true;
                continue;
            }
            Token::SignedWord(_) => return Err(unreadable()),
            Token::Clock(text) | Token::Signed(text) if text.contains(':') => {
                // The server forgets what smaller fields to the right of a time gave: left to it.
                if filled != 0 {
                    return Err(unreadable());
                }
                sum.micros = clock(text)?;
                unit = Some(Unit::Day);
                CLOCK | Unit::Second.mask(true)
            }
            Token::Number(text) | Token::Signed(text) | Token::Dashed(text) | Token::Clock(text) => {
                let (negative, digits) = signed(text);
                if let Some((years, months)) = digits.split_once('-') {
                    unit = Some(Unit::Month);
                    let months = years_and_months(years, months)?;
                    sum.add(Unit::Month, if negative { -months } else { months }, 0.0)
                        .ok_or_else(overflow)?;
                    Unit::Month.mask(false)
                } else {
                    let (whole, part) = match digits.split_once('.') {
                        Some((whole, digits)) => (whole, fraction(digits).ok_or_else(unreadable)?),
                        None => (digits, 0.0),
                    };
                    // The sign goes along, so that the least integer is one.
                    let whole = match whole {
                        "" => 0,
                        _ => {
                            text[..text.len() - digits.len() + whole.len()].parse().map_err(|_| overflow())?
                        }
                    };
                    let own = unit.ok_or_else(malformed)?;
                    if own == Unit::Hour {
                        unit = Some(Unit::Day);
                    }
                    sum.add(own, whole, if negative { -part } else { part }).ok_or_else(overflow)?;
                    own.mask(part != 0.0)
                }
            }
        };
        if filled & mask != 0 {
            return Err(malformed());
        }
        filled |= mask;
        dangling = false;
    }
    if filled == 0 {
        return Err(malformed());
    }
    if dangling {
        return Err(unreadable());
    }
    if ago { sum.negated().ok_or_else(overflow) } else { Ok(sum) }
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// `1-2`: a year and two months.
fn years_and_months(years: &str, months: &str) -> Result<i64, EncodeError> {
    if ![years, months].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(unreadable());
    }
    let years: i64 = years.parse().map_err(|_| overflow())?;
    let months: i64 = months.parse().map_err(|_| overflow())?;
    if months > 11 {
        return Err(overflow());
    }
    years.checked_mul(12).and_then(|years| years.checked_add(months)).ok_or_else(overflow)
}

/// `[±]hh:mm[:ss[.fraction]]`, with any number of hours; and `mm:ss.fraction`.
fn clock(text: &str) -> Result<i64, EncodeError> {
    let (negative, text) = signed(text);
    let (whole, micros) = match text.split_once('.') {
        Some((whole, digits)) => (whole, Some(fraction_micros(digits).ok_or_else(unreadable)?)),
        None => (text, None),
    };
    let mut parts = whole.split(':').map(|part| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true if !part.is_empty() => part.parse::<i64>().map_err(|_| overflow()),
        _ => Err(unreadable()),
    });
    let mut next = || parts.next().transpose();
    let (hours, minutes, seconds) = match (next()?, next()?, next()?, next()?) {
        (Some(minutes), Some(seconds), None, None) if micros.is_some() => (0, minutes, seconds),
        (Some(hours), Some(minutes), seconds, None) => (hours, minutes, seconds.unwrap_or(0)),
        _ => return Err(unreadable()),
    };
    if minutes > 59 || seconds > 60 {
        return Err(overflow());
    }
    let rest = (minutes * 60 + seconds) * MICROS_PER_SECOND + micros.unwrap_or(0);
    let total =
        hours.checked_mul(MICROS_PER_HOUR).and_then(|hours| hours.checked_add(rest)).ok_or_else(overflow)?;
    Ok(if negative { -total } else { total })
}

/// `P1Y2M3W4DT5H6M7.8S` behind the `P`: units in this order, each at most once, each value with its own sign.
fn iso(source: &str) -> Result<Sum, EncodeError> {
    const DATE: [(char, Unit); 4] =
        [('Y', Unit::Year), ('M', Unit::Month), ('W', Unit::Week), ('D', Unit::Day)];
    const TIME: [(char, Unit); 3] = [('H', Unit::Hour), ('M', Unit::Minute), ('S', Unit::Second)];
    let (date, time) = match source.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (source, None),
    };
    if date.is_empty() && time.is_none_or(str::is_empty) {
        return if time.is_some() { Err(unreadable()) } else { Err(malformed()) };
    }
    let mut sum = Sum::default();
    iso_part(date, &DATE, &mut sum)?;
    iso_part(time.unwrap_or_default(), &TIME, &mut sum)?;
    Ok(sum)
}

fn iso_part(mut source: &str, mut units: &[(char, Unit)], sum: &mut Sum) -> Result<(), EncodeError> {
    while !source.is_empty() {
        let length =
            source.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')).count();
        let (number, rest) = source.split_at(length);
        let digits = number.strip_prefix('-').unwrap_or(number);
        if !digits.starts_with(|first: char| first.is_ascii_digit())
            || digits.ends_with('.')
            || digits.contains('-')
        {
            return Err(unreadable());
        }
        let letter = rest.chars().next().ok_or_else(unreadable)?;
        let position = units.iter().position(|(known, _)| *known == letter).ok_or_else(unreadable)?;
        // The server reads the number as one double.
        let value: f64 = number.parse().map_err(|_| unreadable())?;
        if value.abs() > 1e15 {
            return Err(overflow());
        }
        #[expect(clippy::cast_possible_truncation, reason = "within 1e15")]
        sum.add(units[position].1, value.trunc() as i64, value - value.trunc()).ok_or_else(overflow)?;
        units = &units[position + 1..];
        source = &rest[letter.len_utf8()..];
    }
    Ok(())
}

/// The server's equality of `interval`, in its order: months of 30 days, days of 24 hours.
pub(in crate::encode) fn push_key(body: &[u8], out: &mut Vec<u8>) {
    let Some((&micros, rest)) = body.split_first_chunk::<8>() else { return };
    let Some((&days, rest)) = rest.split_first_chunk::<4>() else { return };
    let Some(&months) = rest.first_chunk::<4>() else { return };
    let days = i128::from(i32::from_be_bytes(months)) * i128::from(DAYS_PER_MONTH)
        + i128::from(i32::from_be_bytes(days));
    let span = days * i128::from(MICROS_PER_DAY) + i128::from(i64::from_be_bytes(micros));
    out.extend_from_slice(&(span ^ i128::MIN).to_be_bytes());
}
