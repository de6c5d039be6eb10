//! Dates and times as the integers that the server holds, infinities included.

/// Days since 2000-01-01; `i32::MAX` is infinity, `i32::MIN` is -infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

/// Microseconds since midnight, up to 24:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// A time of day with the seconds *west* of UTC, as the server holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeTz {
    /// Microseconds since midnight, local.
    pub micros: i64,
    /// Seconds west of UTC.
    pub west: i32,
}

/// Microseconds since 2000-01-01 00:00; `i64::MAX` is infinity, `i64::MIN` is -infinity. In UTC for an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// An interval's three parts, which are not normalised into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Microseconds.
    pub micros: i64,
    /// Days.
    pub days: i32,
    /// Months.
    pub months: i32,
}
