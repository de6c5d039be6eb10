//! Dates and times as the integers that the server holds, infinities included.

use std::fmt;

use super::calendar::{civil_from_days, days_from_civil, days_in_month};

pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(crate) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// 1970-01-01 in days since 2000-01-01.
pub(crate) const UNIX_EPOCH_DAYS: i32 = -10_957;
const UNIX_EPOCH_MICROS: i64 = UNIX_EPOCH_DAYS as i64 * MICROS_PER_DAY;

/// Days since 2000-01-01; `i32::MAX` is infinity, `i32::MIN` is -infinity.
///
/// ```
/// use pgsluice::record::Date;
///
/// assert_eq!(Date::from_ymd(-43, 3, 15).unwrap().to_string(), "0044-03-15 BC");
/// assert_eq!(Date::from_ymd(2023, 2, 29), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

impl Date {
    /// After all other days.
    pub const INFINITY: Self = Self(i32::MAX);
    /// Before all other days.
    pub const NEG_INFINITY: Self = Self(i32::MIN);
    /// The first day that the server holds: 4714-11-24 BC.
    pub const MIN: Self = Self(-2_451_545);
    /// The last day that the server holds: 5874897-12-31.
    pub const MAX: Self = Self(2_145_031_948);

    /// The day of a proleptic Gregorian year (0 is 1 BC), month and day of the month; `None` where there is no such
    /// day or the server does not hold it.
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Self> {
        let year = i64::from(year);
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        Self::from_days(days_from_civil(year, month, day))
    }

    /// The day that is so many days after 1970-01-01; `None` beyond the server's range.
    pub fn from_unix_days(days: i64) -> Option<Self> {
        Self::from_days(days.checked_add(i64::from(UNIX_EPOCH_DAYS))?)
    }

    pub(crate) fn from_days(days: i64) -> Option<Self> {
        i32::try_from(days).ok().map(Self).filter(|date| (Self::MIN..=Self::MAX).contains(date))
    }

    /// Year (0 is 1 BC), month and day of the month; `None` for the infinities.
    pub fn ymd(self) -> Option<(i32, u32, u32)> {
        let (year, month, day) = civil_from_days(i64::from(self.0));
        self.is_finite().then(|| i32::try_from(year).ok().map(|year| (year, month, day))).flatten()
    }

    /// False for the two infinities.
    pub fn is_finite(self) -> bool {
        self != Self::INFINITY && self != Self::NEG_INFINITY
    }
}

/// Microseconds since midnight, up to 24:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// 00:00:00.
    pub const MIDNIGHT: Self = Self(0);
    /// 24:00:00, the last time that the server holds.
    pub const MAX: Self = Self(MICROS_PER_DAY);

    /// A time of day to the microsecond; `None` beyond 23:59:59.999999, but 24:00:00 is one.
    pub fn from_hms_micro(hour: u32, minute: u32, second: u32, micro: u32) -> Option<Self> {
        if hour > 24 || minute > 59 || second > 59 || micro > 999_999 {
            return None;
        }
        let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        Some(Self(seconds * MICROS_PER_SECOND + i64::from(micro))).filter(|time| *time <= Self::MAX)
    }
}

/// A time of day with the seconds *west* of UTC, as the server holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeTz {
    /// Microseconds since midnight, local.
    pub micros: i64,
    /// Seconds west of UTC.
    pub west: i32,
}

impl TimeTz {
    /// A local time at an offset of so many seconds *east* of UTC, as it is written (`+02` is 7200).
    pub fn new(time: Time, east: i32) -> Self {
        Self { micros: time.0, west: -east }
    }
}

/// Microseconds since 2000-01-01 00:00; `i64::MAX` is infinity, `i64::MIN` is -infinity. In UTC for an instant.
///
/// ```
/// use pgsluice::record::Timestamp;
///
/// let moment = Timestamp::from_unix_micros(-1).unwrap();
/// assert_eq!(moment.to_string(), "1969-12-31 23:59:59.999999");
/// assert_eq!(moment.unix_micros(), Some(-1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// After all other moments.
    pub const INFINITY: Self = Self(i64::MAX);
    /// Before all other moments.
    pub const NEG_INFINITY: Self = Self(i64::MIN);
    /// The first moment that the server holds: 4714-11-24 00:00:00 BC.
    pub const MIN: Self = Self(-211_813_488_000_000_000);
    /// The last moment that the server holds: 294276-12-31 23:59:59.999999.
    pub const MAX: Self = Self(9_223_371_331_199_999_999);

    /// A day and a time of it (24:00 is the next midnight); the infinities of a day are those of its moments. `None`
    /// beyond the server's range.
    pub fn new(date: Date, time: Time) -> Option<Self> {
        match date {
            Date::INFINITY => Some(Self::INFINITY),
            Date::NEG_INFINITY => Some(Self::NEG_INFINITY),
            _ => Self::from_micros(i64::from(date.0).checked_mul(MICROS_PER_DAY)?.checked_add(time.0)?),
        }
    }

    /// So many microseconds after 1970-01-01 00:00; `None` beyond the server's range.
    pub fn from_unix_micros(micros: i64) -> Option<Self> {
        Self::from_micros(micros.checked_add(UNIX_EPOCH_MICROS)?)
    }

    pub(crate) fn from_micros(micros: i64) -> Option<Self> {
        Some(Self(micros)).filter(|moment| (Self::MIN..=Self::MAX).contains(moment))
    }

    /// Microseconds since 1970-01-01 00:00; `None` for the infinities and beyond 64 bits.
    pub fn unix_micros(self) -> Option<i64> {
        self.is_finite().then(|| self.0.checked_sub(UNIX_EPOCH_MICROS)).flatten()
    }

    /// The day, and the time of it; `None` for the infinities.
    pub fn date_and_time(self) -> Option<(Date, Time)> {
        let date = i32::try_from(self.0.div_euclid(MICROS_PER_DAY)).ok().map(Date)?;
        self.is_finite().then_some((date, Time(self.0.rem_euclid(MICROS_PER_DAY))))
    }

    /// False for the two infinities.
    pub fn is_finite(self) -> bool {
        self != Self::INFINITY && self != Self::NEG_INFINITY
    }

    /// The server's ISO text with `offset` between the time and the era.
    pub(crate) fn write_with_offset(self, f: &mut impl fmt::Write, offset: &str) -> fmt::Result {
        let Some((date, time)) = self.date_and_time() else {
            return write_infinity(f, self == Self::INFINITY);
        };
        let before_christ = write_date(f, date)?;
        write!(f, " {time}{offset}{}", era(before_christ))
    }
}

/// An interval's three parts, which are not normalised into each other.
///
/// ```
/// use pgsluice::record::Interval;
///
/// assert_eq!(Interval::new(14, -3, 14_706_789_000).to_string(), "1 year 2 mons -3 days +04:05:06.789");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Microseconds.
    pub micros: i64,
    /// Days.
    pub days: i32,
    /// Months.
    pub months: i32,
}

impl Interval {
    /// Longer than all others. PostgreSQL 17 and later; before, an ordinary interval of some 178 million years.
    pub const INFINITY: Self = Self { micros: i64::MAX, days: i32::MAX, months: i32::MAX };
    /// Shorter than all others. PostgreSQL 17 and later; before, an ordinary interval.
    pub const NEG_INFINITY: Self = Self { micros: i64::MIN, days: i32::MIN, months: i32::MIN };

    /// So many months, days and microseconds.
    pub fn new(months: i32, days: i32, micros: i64) -> Self {
        Self { micros, days, months }
    }
}

fn write_infinity(f: &mut impl fmt::Write, positive: bool) -> fmt::Result {
    f.write_str(if positive { "infinity" } else { "-infinity" })
}

/// Writes year, month and day; true where the era has to follow.
fn write_date(f: &mut impl fmt::Write, date: Date) -> Result<bool, fmt::Error> {
    let (year, month, day) = civil_from_days(i64::from(date.0));
    let before_christ = year <= 0;
    write!(f, "{:04}-{month:02}-{day:02}", if before_christ { 1 - year } else { year })?;
    Ok(before_christ)
}

fn era(before_christ: bool) -> &'static str {
    if before_christ { " BC" } else { "" }
}

/// Hours, minutes, seconds, and the fraction without trailing zeros.
fn write_clock(f: &mut impl fmt::Write, micros: u64) -> fmt::Result {
    let seconds = micros / 1_000_000;
    write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    let mut fraction = micros % 1_000_000;
    if fraction == 0 {
        return Ok(());
    }
    let mut width = 6;
    while fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    write!(f, ".{fraction:0width$}")
}

/// As the server prints it with DateStyle ISO.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_finite() {
            return write_infinity(f, *self == Self::INFINITY);
        }
        let before_christ = write_date(f, *self)?;
        f.write_str(era(before_christ))
    }
}

/// As the server prints it.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_clock(f, self.0.unsigned_abs())
    }
}

/// As the server prints it.
impl fmt::Display for TimeTz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.west.unsigned_abs();
        let (hours, minutes, seconds) = (offset / 3600, offset / 60 % 60, offset % 60);
        write!(f, "{}{}{hours:02}", Time(self.micros), if self.west > 0 { '-' } else { '+' })?;
        if minutes != 0 || seconds != 0 {
            write!(f, ":{minutes:02}")?;
        }
        if seconds != 0 {
            write!(f, ":{seconds:02}")?;
        }
        Ok(())
    }
}

/// As the server prints a `timestamp` with DateStyle ISO: without an offset, also where it stands for an instant.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_with_offset(f, "")
    }
}

/// As the server prints it with IntervalStyle postgres.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut after_negative = false;
        for (count, unit) in [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")] {
            if count == 0 {
                continue;
            }
            let sign = if after_negative && count > 0 { "+" } else { "" };
            write!(f, "{separator}{sign}{count} {unit}{}", if count == 1 { "" } else { "s" })?;
            separator = " ";
            after_negative = count < 0;
        }
        if self.micros == 0 && !separator.is_empty() {
            return Ok(());
        }
        let sign = match (self.micros < 0, after_negative) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        write!(f, "{separator}{sign}")?;
        write_clock(f, self.micros.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(Date::MIN.to_string(), "4714-11-24 BC");
        assert_eq!(Date::MAX.to_string(), "5874897-12-31");
        assert_eq!(Date::from_ymd(5_874_898, 1, 1), None);
        assert_eq!(Timestamp::MIN.to_string(), "4714-11-24 00:00:00 BC");
        assert_eq!(Timestamp::MAX.to_string(), "294276-12-31 23:59:59.999999");
        assert_eq!(Timestamp::new(Date::MAX, Time::MIDNIGHT), None);
        assert_eq!(Timestamp::new(Date::INFINITY, Time::MIDNIGHT), Some(Timestamp::INFINITY));
        assert_eq!(Timestamp::INFINITY.unix_micros(), None);
        assert_eq!(Timestamp::NEG_INFINITY.to_string(), "-infinity");
    }

    #[test]
    fn days_and_times_that_are_none() {
        assert_eq!(Date::from_ymd(1900, 2, 29), None);
        assert_eq!(Date::from_ymd(2000, 2, 30), None);
        assert_eq!(Date::from_ymd(2000, 13, 1), None);
        assert_eq!(Date::from_ymd(2000, 1, 0), None);
        assert_eq!(Time::from_hms_micro(24, 0, 0, 1), None);
        assert_eq!(Time::from_hms_micro(24, 0, 0, 0), Some(Time::MAX));
        assert_eq!(Time::from_hms_micro(u32::MAX, 0, 0, 0), None);
    }

    #[test]
    fn accessors_give_back_what_went_in() {
        let date = Date::from_ymd(2024, 2, 29).unwrap();
        assert_eq!(date.ymd(), Some((2024, 2, 29)));
        let time = Time::from_hms_micro(23, 59, 59, 900_000).unwrap();
        let moment = Timestamp::new(date, time).unwrap();
        assert_eq!(moment.date_and_time(), Some((date, time)));
        assert_eq!(moment.to_string(), "2024-02-29 23:59:59.9");
        assert_eq!(TimeTz::new(time, -27_000).to_string(), "23:59:59.9-07:30");
    }
}
