//! Reads the date and time forms whose meaning hangs neither on DateStyle nor on the clock, as the server reads them.

use super::lexer::{Token, fraction_micros, malformed, out_of_range, tokens, unreadable};
use crate::encode::EncodeError;
use crate::record::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil, days_in_month};

/// 2000-01-01 as a Julian day.
const JULIAN_EPOCH: i64 = 2_451_545;
/// The server's buffer for such a text is a little larger.
const TEXT_LIMIT: usize = 128;
/// The server's bound for the hours of an offset.
const OFFSET_HOURS: i32 = 15;

/// What a text says; a part that it does not name is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    /// Days since 2000-01-01, not yet checked against any type's range.
    pub(super) days: Option<i64>,
    /// Microseconds since midnight, up to 24:00.
    pub(super) micros: Option<i64>,
    /// Seconds east of UTC.
    pub(super) east: Option<i32>,
}

/// A text as a date with or without a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Fields(Fields),
    /// 1970-01-01 00:00 UTC.
    Epoch,
    Infinity,
    NegativeInfinity,
}

/// Reads a text for `date`, `timestamp` and `timestamptz`; the fields have a date.
pub(super) fn read(source: &str) -> Result<Reading, EncodeError> {
    let tokens = tokens(source, TEXT_LIMIT, "jt")?;
    if let Some(special) = special(tokens.as_slice())? {
        return Ok(special);
    }
    let (date, rest) = date(tokens.as_slice())?;
    let (era, rest) = era(rest);
    let (micros, rest) = match rest {
        [Token::Word(label), rest @ ..] if label.eq_ignore_ascii_case("t") => match time(rest)? {
            (None, _) => return Err(unreadable()),
            found => found,
        },
        _ => time(rest)?,
    };
    let (east, rest) = offset(rest)?;
    let (era, rest) = if era.is_some() { (era, rest) } else { self::era(rest) };
    if !rest.is_empty() {
        return Err(unreadable());
    }
    Ok(Reading::Fields(Fields {
        days: Some(date.days(era)?),
        micros: micros.map(checked_time).transpose()?,
        east,
    }))
}

/// Reads a text for `time` and `timetz`; the fields have a time.
pub(super) fn read_time(source: &str) -> Result<Fields, EncodeError> {
    let tokens = tokens(source, TEXT_LIMIT, "")?;
    let fields = tokens.as_slice();
    if special(fields)?.is_some() {
        return Err(malformed());
    }
    let (days, rest) = match fields {
        [Token::Dashed(_), Token::Clock(_), ..] => {
            let (date, rest) = date(fields)?;
            (Some(date.days(None)?), rest)
        }
        _ => (None, fields),
    };
    let (micros, rest) = time(rest)?;
    let (east, rest) = offset(rest)?;
    match (micros, rest) {
        (Some(micros), []) => Ok(Fields { days, micros: Some(checked_time(micros)?), east }),
        _ => Err(unreadable()),
    }
}

fn special(tokens: &[Token<'_>]) -> Result<Option<Reading>, EncodeError> {
    Ok(Some(match tokens {
        [] => return Err(malformed()),
        [Token::Word(word)] if word.eq_ignore_ascii_case("epoch") => Reading::Epoch,
        [Token::Word(word)] if word.eq_ignore_ascii_case("infinity") => Reading::Infinity,
        [Token::SignedWord(word)] if word.eq_ignore_ascii_case("-infinity") => Reading::NegativeInfinity,
        _ => return Ok(None),
    }))
}

/// A day as written.
enum Written {
    Civil { year: i64, month: u32, day: u32 },
    Julian(i64),
}

impl Written {
    fn days(self, era: Option<Era>) -> Result<i64, EncodeError> {
        let (year, month, day) = match self {
            Self::Civil { year, month, day } => (year, month, day),
            Self::Julian(day) if era.is_none() => return Ok(day - JULIAN_EPOCH),
            Self::Julian(_) => return Err(unreadable()),
        };
        if year <= 0 {
            return Err(out_of_range());
        }
        let year = if era == Some(Era::BeforeChrist) { 1 - year } else { year };
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return Err(out_of_range());
        }
        Ok(days_from_civil(year, month, day))
    }
}

fn date<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<(Written, &'t [Token<'a>]), EncodeError> {
    match tokens {
        [Token::Dashed(text), rest @ ..] => {
            let mut parts = text.split('-');
            let (Some(year), Some(month), Some(day), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(unreadable());
            };
            // A shorter first number is a year, month or day by DateStyle; a longer second one a day of the year.
            if year.len() < 3 || !(1..=2).contains(&month.len()) || !(1..=2).contains(&day.len()) {
                return Err(unreadable());
            }
            let year = i64::from(integer(year)?);
            Ok((Written::Civil { year, month: small(month)?, day: small(day)? }, rest))
        }
        [Token::Number(text), rest @ ..] if text.len() >= 7 && !text.contains('.') => {
            let (start, day) = text.split_at(text.len() - 2);
            let (year, month) = start.split_at(start.len() - 2);
            let year = i64::from(year.parse::<i32>().map_err(|_| unreadable())?);
            Ok((Written::Civil { year, month: small(month)?, day: small(day)? }, rest))
        }
        [Token::Word(label), Token::Number(day), rest @ ..]
            if label.eq_ignore_ascii_case("j") && !day.contains('.') =>
        {
            Ok((Written::Julian(integer(day)?.into()), rest))
        }
        // A time alone is no date.
        [Token::Clock(_)] => Err(malformed()),
        _ => Err(unreadable()),
    }
}

fn integer(digits: &str) -> Result<i32, EncodeError> {
    digits.parse().map_err(|_| out_of_range())
}

fn small(digits: &str) -> Result<u32, EncodeError> {
    digits.parse().map_err(|_| out_of_range())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    BeforeChrist,
    AnnoDomini,
}

fn era<'t, 'a>(tokens: &'t [Token<'a>]) -> (Option<Era>, &'t [Token<'a>]) {
    match tokens {
        [Token::Word(word), rest @ ..] if word.eq_ignore_ascii_case("bc") => (Some(Era::BeforeChrist), rest),
        [Token::Word(word), rest @ ..] if word.eq_ignore_ascii_case("ad") => (Some(Era::AnnoDomini), rest),
        _ => (None, tokens),
    }
}

/// Hours, minutes, seconds and microseconds as written: a time that is too large is told from one that is no time.
struct Hms {
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
}

impl Hms {
    fn total(&self) -> Result<i64, EncodeError> {
        if self.hour > 24 || self.minute > 59 || self.second > 60 {
            return Err(out_of_range());
        }
        Ok(((self.hour * 60 + self.minute) * 60 + self.second) * MICROS_PER_SECOND + self.micros)
    }
}

fn time<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<(Option<i64>, &'t [Token<'a>]), EncodeError> {
    let (time, rest) = match tokens {
        [Token::Clock(text), rest @ ..] => (clock(text)?, rest),
        // A date takes such a time whatever its digits.
        [Token::Number(text), rest @ ..] => match run_together(text)?.total() {
            Ok(micros) if micros <= MICROS_PER_DAY => return Ok((Some(micros), rest)),
            _ => return Err(EncodeError::server_only("22008", "a time of day out of range")),
        },
        _ => return Ok((None, tokens)),
    };
    Ok((Some(time.total()?), rest))
}

/// `hh:mm`, `hh:mm:ss`, `hh:mm:ss.fraction`; and `mm:ss.fraction`, which the server reads so.
fn clock(text: &str) -> Result<Hms, EncodeError> {
    let (whole, micros) = split_fraction(text)?;
    let mut parts = whole.split(':').map(|part| if part.is_empty() { Err(unreadable()) } else { Ok(part) });
    let mut next =
        || parts.next().transpose()?.map(|part| part.parse().map_err(|_| out_of_range())).transpose();
    let (Some(first), Some(second), third, None) = (next()?, next()?, next()?, next()?) else {
        return Err(unreadable());
    };
    Ok(match (third, micros) {
        (Some(third), micros) => {
            Hms { hour: first, minute: second, second: third, micros: micros.unwrap_or(0) }
        }
        (None, None) => Hms { hour: first, minute: second, second: 0, micros: 0 },
        (None, Some(micros)) => Hms { hour: 0, minute: first, second, micros },
    })
}

/// `HHmm`, `HHmmss`, `HHmmss.fraction`.
fn run_together(text: &str) -> Result<Hms, EncodeError> {
    let (whole, micros) = split_fraction(text)?;
    let (second, micros) = match (whole.len(), micros) {
        (4, None) => (0, 0),
        (6, micros) => (small(&whole[4..])?.into(), micros.unwrap_or(0)),
        _ => return Err(unreadable()),
    };
    Ok(Hms { hour: small(&whole[..2])?.into(), minute: small(&whole[2..4])?.into(), second, micros })
}

fn split_fraction(text: &str) -> Result<(&str, Option<i64>), EncodeError> {
    match text.split_once('.') {
        None => Ok((text, None)),
        Some((whole, digits)) => Ok((whole, Some(fraction_micros(digits).ok_or_else(unreadable)?))),
    }
}

fn checked_time(micros: i64) -> Result<i64, EncodeError> {
    if micros > MICROS_PER_DAY { Err(out_of_range()) } else { Ok(micros) }
}

/// Seconds east of UTC of a numeric offset, or of a word that means UTC in every list of abbreviations.
fn offset<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<(Option<i32>, &'t [Token<'a>]), EncodeError> {
    match tokens {
        [Token::Signed(text), rest @ ..] => Ok((Some(numeric_offset(text)?), rest)),
        [Token::Word(word), rest @ ..]
            if ["z", "utc", "gmt"].iter().any(|known| word.eq_ignore_ascii_case(known)) =>
        {
            Ok((Some(0), rest))
        }
        _ => Ok((None, tokens)),
    }
}

/// `±h`, `±hh`, `±hmm`, `±hhmm`, `±hh:mm`, `±hh:mm:ss`.
fn numeric_offset(text: &str) -> Result<i32, EncodeError> {
    let displaced = || EncodeError::new("22009", "an offset from UTC out of range");
    let (sign, digits) = text.split_at(1);
    let mut parts = digits.split(':').map(|part| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true if !part.is_empty() => part.parse::<i32>().map_err(|_| displaced()),
        _ => Err(unreadable()),
    });
    let mut next = || parts.next().transpose();
    let (hours, minutes, seconds) = match (next()?, next()?, next()?, next()?) {
        (Some(joined), None, None, None) if digits.len() > 2 => (joined / 100, joined % 100, 0),
        (Some(hours), minutes, seconds, None) => (hours, minutes.unwrap_or(0), seconds.unwrap_or(0)),
        _ => return Err(unreadable()),
    };
    if hours > OFFSET_HOURS || minutes > 59 || seconds > 59 {
        return Err(displaced());
    }
    let east = (hours * 60 + minutes) * 60 + seconds;
    Ok(if sign == "-" { -east } else { east })
}
