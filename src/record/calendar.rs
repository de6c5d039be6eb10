//! The proleptic Gregorian calendar in integers, as the server counts it. Year 0 is 1 BC.

/// Days from 0000-03-01, the first day of a leap cycle, to 2000-01-01.
const EPOCH: i64 = 730_425;
const DAYS_PER_CYCLE: i64 = 146_097;
const YEARS_PER_CYCLE: i64 = 400;

/// Days since 2000-01-01. The month is 1–12; a day beyond the month's end counts into the next month.
#[inline]
pub(crate) fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    // Years that start in March have their leap day at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month <= 2 { month + 9 } else { month - 3 };
    let cycle = year.div_euclid(YEARS_PER_CYCLE);
    let year = year.rem_euclid(YEARS_PER_CYCLE);
    let day_of_year = i64::from((153 * month + 2) / 5 + day) - 1;
    cycle * DAYS_PER_CYCLE + year * 365 + year / 4 - year / 100 + day_of_year - EPOCH
}

/// Year, month and day of a count of days since 2000-01-01.
pub(crate) fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + EPOCH;
    let cycle = days.div_euclid(DAYS_PER_CYCLE);
    let day = days.rem_euclid(DAYS_PER_CYCLE);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = cycle * YEARS_PER_CYCLE + year + i64::from(month <= 2);
    (year, u32::try_from(month).unwrap_or_default(), u32::try_from(day_of_month).unwrap_or_default())
}

/// The number of days in a month, which is 1–12.
#[inline]
pub(crate) fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_of_the_servers_range_follows_the_day_before() {
        // Both ends of the server's range, the turn of the eras, and two leap cycles around the epoch.
        for (first, last) in [
            (-2_451_545, -2_300_000),
            (-735_000, -725_000),
            (-150_000, 150_000),
            (2_147_483_494 - 2_451_545 - 150_000, 2_147_483_494 - 2_451_545),
        ] {
            let (mut year, mut month, mut day) = civil_from_days(first);
            for days in first + 1..=last {
                if day < days_in_month(year, month) {
                    day += 1;
                } else if month < 12 {
                    (month, day) = (month + 1, 1);
                } else {
                    (year, month, day) = (year + 1, 1, 1);
                }
                assert_eq!(civil_from_days(days), (year, month, day));
                assert_eq!(days_from_civil(year, month, day), days);
            }
        }
    }

    #[test]
    fn known_days() {
        assert_eq!(days_from_civil(2000, 1, 1), 0);
        assert_eq!(days_from_civil(1970, 1, 1), -10_957);
        assert_eq!(days_from_civil(-4713, 11, 24), -2_451_545);
        assert_eq!(days_from_civil(5_874_897, 12, 31), 2_147_483_493 - 2_451_545);
    }
}
