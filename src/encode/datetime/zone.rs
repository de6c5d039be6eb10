//! The zone of texts without an offset: its transitions in one table, resolved as the server resolves them.

use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::record::days_from_civil;

const SECONDS_PER_DAY: i64 = 86_400;
/// The calendar, and with it every recurring rule, repeats after 400 years.
const SECONDS_PER_CYCLE: i64 = 146_097 * SECONDS_PER_DAY;
/// The last year of the table's own; no zone has single transitions after it, only a recurring rule.
const CYCLE_FIRST_YEAR: i64 = 2400;
const UNIX_TO_2000: i64 = 10_957 * SECONDS_PER_DAY;

/// The zone of texts without an offset. Cheap to clone.
///
/// A local time that a clock change skips is read with the offset before the change; one that comes twice with the
/// offset after it: the server's rule. The rules of years after 9999 are those of the year 400 or more earlier.
///
/// ```
/// use pgsluice::encode::Zone;
///
/// assert!(Zone::named("America/Los_Angeles").is_some());
/// assert!(Zone::named("<+03>-3").is_some());
/// assert!(Zone::named("Mars/Olympus").is_none());
/// ```
#[derive(Clone)]
pub struct Zone {
    name: Arc<str>,
    /// Seconds east of UTC before the first transition.
    first: i32,
    /// Seconds since 2000-01-01 00:00 UTC, and the seconds east of UTC from then on.
    transitions: Arc<[(i64, i32)]>,
    /// Where the last 400 years of the table begin, for a zone with a recurring rule.
    cycle_start: Option<i64>,
}

impl Zone {
    /// UTC.
    pub fn utc() -> Self {
        Self { name: "UTC".into(), first: 0, transitions: Arc::new([]), cycle_start: None }
    }

    /// A zone by the name that the server's `TimeZone` setting has: an IANA name (`Europe/Berlin`, in any case), `UTC`,
    /// or a POSIX specification (`<+03>-3`). `None` where the zone database of this machine does not know it.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Self::utc());
        }
        let zone =
            TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok().filter(|zone| !zone.is_unknown())?;
        let cycle_start = days_from_civil(CYCLE_FIRST_YEAR, 1, 1) * SECONDS_PER_DAY;
        let end = cycle_start + SECONDS_PER_CYCLE + 8 * SECONDS_PER_DAY;
        let transitions: Vec<_> = zone
            .following(jiff::Timestamp::MIN)
            .map(|change| (change.timestamp().as_second() - UNIX_TO_2000, change.offset().seconds()))
            .take_while(|&(at, _)| at < end)
            .collect();
        let recurring = transitions.last().is_some_and(|&(at, _)| at > cycle_start);
        Some(Self {
            name: name.into(),
            first: zone.to_offset(jiff::Timestamp::MIN).seconds(),
            transitions: transitions.into(),
            cycle_start: recurring.then_some(cycle_start),
        })
    }

    /// The name that it was made from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds east of UTC, where they are the same at all times.
    pub(super) fn fixed(&self) -> Option<i32> {
        self.transitions.is_empty().then_some(self.first)
    }

    /// Seconds east of UTC at an instant (seconds since 2000-01-01 00:00 UTC).
    pub(super) fn offset_at(&self, instant: i64) -> i32 {
        let instant = self.within_table(instant);
        self.offset_before(self.transitions.partition_point(|&(at, _)| at <= instant))
    }

    /// Seconds east of UTC that the server gives a local time (seconds since 2000-01-01 00:00 local).
    pub(super) fn offset_of_local(&self, local: i64) -> i32 {
        let local = self.within_table(local);
        // Offsets are shorter than a day: the one change that may matter is the first after the day before.
        let next = self.transitions.partition_point(|&(at, _)| at <= local - SECONDS_PER_DAY);
        let before = self.offset_before(next);
        let Some(&(boundary, after)) = self.transitions.get(next) else {
            return before;
        };
        let by_before = local - i64::from(before);
        let by_after = local - i64::from(after);
        if by_before < boundary && by_after < boundary {
            before
        } else if by_before > boundary && by_after >= boundary {
            after
        } else if by_before > by_after {
            // Skipped: clocks went forward.
            before
        } else {
            after
        }
    }

    fn offset_before(&self, next: usize) -> i32 {
        next.checked_sub(1).and_then(|last| self.transitions.get(last)).map_or(self.first, |&(_, east)| east)
    }

    /// The second of the table's last 400 years whose rules are those of a later one.
    fn within_table(&self, second: i64) -> i64 {
        match self.cycle_start {
            Some(start) if second > start + SECONDS_PER_CYCLE => {
                start + (second - start).rem_euclid(SECONDS_PER_CYCLE)
            }
            _ => second,
        }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(year: i64, month: u32, day: u32, hour: i64, minute: i64) -> i64 {
        days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60
    }

    #[test]
    fn gaps_take_the_offset_before_and_folds_the_one_after() {
        let zone = Zone::named("America/Los_Angeles").unwrap();
        assert_eq!(zone.offset_of_local(local(2024, 3, 10, 1, 59)), -8 * 3600);
        assert_eq!(zone.offset_of_local(local(2024, 3, 10, 2, 30)), -8 * 3600);
        assert_eq!(zone.offset_of_local(local(2024, 3, 10, 3, 0)), -7 * 3600);
        assert_eq!(zone.offset_of_local(local(2024, 11, 3, 0, 59)), -7 * 3600);
        assert_eq!(zone.offset_of_local(local(2024, 11, 3, 1, 30)), -8 * 3600);
        assert_eq!(zone.offset_of_local(local(2024, 11, 3, 2, 0)), -8 * 3600);
    }

    #[test]
    fn far_years_have_the_local_mean_time_and_the_recurring_rule() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(zone.offset_of_local(local(-4700, 7, 1, 0, 0)), 3208);
        for year in [2024, 2399, 2400, 2799, 2800, 9999, 29_999, 294_276] {
            assert_eq!(zone.offset_of_local(local(year, 7, 1, 0, 0)), 7200, "{year}");
            assert_eq!(zone.offset_of_local(local(year, 12, 30, 0, 0)), 3600, "{year}");
            assert_eq!(zone.offset_at(local(year, 7, 1, 0, 0)), 7200, "{year}");
        }
    }

    #[test]
    fn zones_without_change_are_fixed() {
        assert_eq!(Zone::named("utc").unwrap().fixed(), Some(0));
        assert_eq!(Zone::named("<+03>-3").unwrap().fixed(), Some(10_800));
        assert_eq!(Zone::named("Etc/GMT+5").unwrap().fixed(), Some(-18_000));
        assert_eq!(format!("{:?}", Zone::named("Asia/Kolkata").unwrap()), "Zone(Asia/Kolkata)");
    }
}
