//! Durations and sizes as option texts: `10s`, `1 h`, `64 kb`.

use std::time::Duration;

const NANOS: &[(u128, &[&str])] = &[
    (86_400_000_000_000, &["d", "day", "days"]),
    (3_600_000_000_000, &["h", "hour", "hours"]),
    (60_000_000_000, &["min", "m", "minute", "minutes"]),
    (1_000_000_000, &["s", "sec", "secs", "second", "seconds"]),
    (1_000_000, &["ms", "milli", "millis", "millisecond", "milliseconds"]),
    (1_000, &["us", "µs", "micro", "micros", "microsecond", "microseconds"]),
    (1, &["ns", "nano", "nanos", "nanosecond", "nanoseconds"]),
];

const BYTES: &[(u128, &[&str])] = &[
    (1 << 40, &["tb", "t", "tib"]),
    (1 << 30, &["gb", "g", "gib"]),
    (1 << 20, &["mb", "m", "mib"]),
    (1 << 10, &["kb", "k", "kib"]),
    (1, &["b", "byte", "bytes"]),
];

/// The longest time of a timer, 100 years: it must still be addable to an instant.
pub(super) const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What a number without a unit counts in a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    /// Nothing: only `0` needs no unit.
    Refused,
    /// Milliseconds: keys that end in `-ms`.
    Milliseconds,
    /// Seconds: keys that end in `-seconds`.
    Seconds,
    /// Minutes: keys that end in `-minutes`.
    Minutes,
}

impl Bare {
    fn nanos(self) -> Option<u128> {
        match self {
            Self::Refused => None,
            Self::Milliseconds => Some(1_000_000),
            Self::Seconds => Some(1_000_000_000),
            Self::Minutes => Some(60_000_000_000),
        }
    }
}

fn scaled(text: &str, units: &[(u128, &[&str])], bare: Option<u128>) -> Option<u128> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u128 = digits.parse().ok()?;
    let unit = unit.trim_start().to_lowercase();
    let factor = match unit.as_str() {
        "" if number == 0 => 1,
        "" => bare?,
        unit => units.iter().find(|(_, names)| names.contains(&unit))?.0,
    };
    number.checked_mul(factor)
}

/// A duration of zero or more; `None` where the text is none, or beyond what a timer can hold.
pub(super) fn parse_duration(text: &str, bare: Bare) -> Option<Duration> {
    let nanos = scaled(text, NANOS, bare.nanos())?;
    (nanos <= LONGEST.as_nanos())
        .then(|| Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32))
}

/// A number of bytes; units are powers of 1024, no unit is bytes.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    u64::try_from(scaled(text, BYTES, Some(1))?).ok()
}

fn display(amount: u128, units: &[(u128, &[&str])]) -> String {
    match units.iter().find(|(factor, _)| amount != 0 && amount.is_multiple_of(*factor)) {
        Some((factor, names)) => format!("{}{}", amount / factor, names[0]),
        None => amount.to_string(),
    }
}

/// The shortest text that gives the same duration.
pub(super) fn display_duration(duration: Duration) -> String {
    display(duration.as_nanos(), NANOS)
}

/// The shortest text that gives the same number of bytes.
pub(super) fn display_size(bytes: u64) -> String {
    display(u128::from(bytes), BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_in_every_documented_form() {
        let ms = |text| parse_duration(text, Bare::Refused).map(|d| d.as_millis());
        assert_eq!(ms("10s"), Some(10_000));
        assert_eq!(ms("100ms"), Some(100));
        assert_eq!(ms("7d"), Some(604_800_000));
        assert_eq!(ms("1 h"), Some(3_600_000));
        assert_eq!(ms("1day"), Some(86_400_000));
        assert_eq!(ms("10 min"), Some(600_000));
        assert_eq!(ms(" 2 S "), Some(2_000));
        assert_eq!(ms("0"), Some(0));
        for bad in
            ["10", "", "s", "-1", "-5s", "300 si", "1.5s", "1h 30min", "1 0s", "99999999999999999999999d"]
        {
            assert_eq!(ms(bad), None, "{bad}");
        }
        assert_eq!(parse_duration("250", Bare::Milliseconds), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("2s", Bare::Milliseconds), Some(Duration::from_secs(2)));
        assert_eq!(parse_duration("60", Bare::Seconds), Some(Duration::from_secs(60)));
        assert_eq!(parse_duration("60", Bare::Minutes), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn sizes_in_every_documented_form() {
        assert_eq!(parse_size("2mb"), Some(2 << 20));
        assert_eq!(parse_size("64 kb"), Some(64 << 10));
        assert_eq!(parse_size("1b"), Some(1));
        assert_eq!(parse_size("4096"), Some(4096));
        assert_eq!(parse_size("1 GiB"), Some(1 << 30));
        for bad in ["", "mb", "-1", "1.5mb", "2 xb", "99999999999999999999tb", "17000000tb"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_displayed_duration_parses_to_itself(nanos in 0..=LONGEST.as_nanos() as u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&display_duration(duration), Bare::Refused), Some(duration));
        }

        #[test]
        fn a_whole_duration_parses_to_itself(number in 0u64..=36_500, unit in 0usize..7) {
            let duration = Duration::from_nanos(number * NANOS[unit].0 as u64);
            prop_assert_eq!(parse_duration(&display_duration(duration), Bare::Refused), Some(duration));
        }

        #[test]
        fn a_displayed_size_parses_to_itself(bytes in any::<u64>(), shift in 0u32..50) {
            let bytes = bytes >> shift << (shift / 2);
            prop_assert_eq!(parse_size(&display_size(bytes)), Some(bytes));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = (parse_duration(&text, Bare::Milliseconds), parse_size(&text));
        }
    }
}
