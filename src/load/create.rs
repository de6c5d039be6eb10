//! `--create`: the table that fits what was seen. Types are inferred over the whole sample, never over a part of it.

use serde_json::value::RawValue;

/// The widest decimal that is taken for a `bigint`.
const BIGINT_DIGITS: usize = 19;

/// A set of types that a text could be of, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Types(u16);

impl Types {
    const NONE: Self = Self(0);
    const BIGINT: Self = Self(1);
    const NUMERIC: Self = Self(2);
    const BOOLEAN: Self = Self(4);
    const DATE: Self = Self(8);
    const TIMESTAMP: Self = Self(16);
    const TIMESTAMPTZ: Self = Self(32);
    const UUID: Self = Self(64);
    const JSONB: Self = Self(128);
    const ALL: Self = Self(255);

    /// The narrowest first.
    const NAMES: [(Self, &str); 8] = [
        (Self::BIGINT, "bigint"),
        (Self::NUMERIC, "numeric"),
        (Self::BOOLEAN, "boolean"),
        (Self::DATE, "date"),
        (Self::TIMESTAMP, "timestamp"),
        (Self::TIMESTAMPTZ, "timestamptz"),
        (Self::UUID, "uuid"),
        (Self::JSONB, "jsonb"),
    ];

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn is_empty(self) -> bool {
        self == Self::NONE
    }
}

/// One column's evidence.
#[derive(Debug, Clone)]
struct Seen {
    name: String,
    types: Types,
    /// Some value that is not NULL was seen.
    any: bool,
    /// Some JSON object or array was seen.
    nested: bool,
}

/// The columns that the sample shows, in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Inference {
    columns: Vec<Seen>,
}

impl Inference {
    /// The index of a column; it is added where it is new.
    pub(super) fn column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.columns.push(Seen { name: name.to_owned(), types: Types::ALL, any: false, nested: false });
            self.columns.len() - 1
        })
    }

    /// A text that is not NULL.
    pub(super) fn text(&mut self, column: usize, text: &str) {
        let seen = &mut self.columns[column];
        let types = types_of(text);
        seen.any = true;
        seen.nested |= types == Types::JSONB;
        seen.types = seen.types.and(types);
    }

    /// A JSON value; `null` says nothing.
    pub(super) fn json(&mut self, column: usize, value: &RawValue) {
        let text = value.get();
        let seen = &mut self.columns[column];
        let types = match text.as_bytes().first() {
            Some(b'n') => return,
            Some(b'{' | b'[') => {
                seen.nested = true;
                Types::JSONB
            }
            Some(b'"') => {
                let scalars = Types::BIGINT.or(Types::NUMERIC).or(Types::BOOLEAN);
                let text: String = serde_json::from_str(text).unwrap_or_default();
                types_of(&text).without(scalars).or(Types::JSONB)
            }
            Some(b't' | b'f') => Types::BOOLEAN.or(Types::JSONB),
            _ => match types_of(text) {
                Types::NONE => Types::NUMERIC,
                types => types,
            }
            .or(Types::JSONB),
        };
        seen.any = true;
        seen.types = seen.types.and(types);
    }

    /// Names and types, as a column list of CREATE TABLE has them; names are not quoted.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.columns.iter().map(|seen| {
            let types = if seen.nested { seen.types } else { seen.types.without(Types::JSONB) };
            let found = Types::NAMES.iter().find(|(bit, _)| seen.any && !types.and(*bit).is_empty());
            (seen.name.as_str(), found.map_or("text", |(_, name)| *name))
        })
    }
}

/// The types whose input function takes the text *and* gives it back without a loss that a reader would mind: digits
/// with leading zeros (post codes, telephone numbers) are texts, and so is a time finer than a microsecond.
fn types_of(text: &str) -> Types {
    match text.as_bytes().first() {
        Some(b'{' | b'[') => {
            if serde_json::from_str::<&RawValue>(text).is_ok() {
                Types::JSONB
            } else {
                Types::NONE
            }
        }
        Some(b'-' | b'0'..=b'9') => number(text).or(date_or_time(text)).or(uuid(text)),
        Some(b't' | b'T' | b'f' | b'F') => {
            let word = text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
            if word { Types::BOOLEAN } else { uuid(text) }
        }
        _ => uuid(text),
    }
}

fn number(text: &str) -> Types {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let parts = [Some(whole), fraction, exponent];
    if !parts.iter().flatten().all(|part| digits(part)) || (whole.len() > 1 && whole.starts_with('0')) {
        return Types::NONE;
    }
    // An exponent of more digits is beyond numeric's range.
    if exponent.is_some_and(|exponent| exponent.len() > 4) {
        return Types::NONE;
    }
    let integer = fraction.is_none() && exponent.is_none();
    if integer && whole.len() <= BIGINT_DIGITS && text.parse::<i64>().is_ok() {
        Types::BIGINT.or(Types::NUMERIC)
    } else {
        Types::NUMERIC
    }
}

fn date_or_time(text: &str) -> Types {
    let Some((date, rest)) = text.split_at_checked(10) else {
        return Types::NONE;
    };
    if date.parse::<jiff::civil::Date>().is_err() || date.as_bytes()[4] != b'-' || date.starts_with("0000") {
        return Types::NONE;
    }
    if rest.is_empty() {
        return Types::DATE.or(Types::TIMESTAMP);
    }
    let Some(time) = rest.strip_prefix([' ', 'T']) else {
        return Types::NONE;
    };
    let (time, zoned) = match time.find(['Z', '+', '-']) {
        Some(at) if offset(&time[at..]) => (time[..at].trim_end(), true),
        Some(_) => return Types::NONE,
        None => (time, false),
    };
    if !clock(time) {
        Types::NONE
    } else if zoned {
        Types::TIMESTAMPTZ
    } else {
        Types::TIMESTAMP
    }
}

/// `hh:mm[:ss[.ffffff]]`
fn clock(time: &str) -> bool {
    let (time, fraction) =
        time.split_once('.').map_or((time, None), |(time, fraction)| (time, Some(fraction)));
    let parts: Vec<&str> = time.split(':').collect();
    let limits = [23, 59, 59];
    let in_range = parts.iter().zip(limits).all(|(part, limit)| two_digits(part).is_some_and(|n| n <= limit));
    in_range
        && (2..=3).contains(&parts.len())
        && fraction.is_none_or(|fraction| parts.len() == 3 && fraction.len() <= 6 && digits(fraction))
}

/// `Z`, `±hh`, `±hhmm`, `±hh:mm`
fn offset(text: &str) -> bool {
    if text == "Z" {
        return true;
    }
    let text = &text[1..];
    let (hours, minutes) = match text.len() {
        2 => (text, "00"),
        4 if text.is_ascii() => text.split_at(2),
        5 => text.split_once(':').unwrap_or(("", "")),
        _ => return false,
    };
    two_digits(hours).is_some_and(|hours| hours <= 15)
        && two_digits(minutes).is_some_and(|minutes| minutes <= 59)
}

fn two_digits(text: &str) -> Option<u32> {
    (text.len() == 2 && digits(text)).then(|| text.parse().ok())?
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Eight, four, four, four and twelve hexadecimal digits.
fn uuid(text: &str) -> Types {
    let right = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if right { Types::UUID } else { Types::NONE }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> &'static str {
        let mut inference = Inference::default();
        let column = inference.column("c");
        for text in texts {
            inference.text(column, text);
        }
        inference.columns().next().unwrap().1
    }

    fn of_json(values: &[&str]) -> &'static str {
        let mut inference = Inference::default();
        let column = inference.column("c");
        for value in values {
            inference.json(column, &RawValue::from_string((*value).to_owned()).unwrap());
        }
        inference.columns().next().unwrap().1
    }

    #[test]
    fn the_narrowest_type_that_takes_the_whole_sample() {
        for (texts, name) in [
            (&["1", "-20", "0", "9223372036854775807"][..], "bigint"),
            (&["1", "9223372036854775808"], "numeric"),
            (&["1", "2.50", "1e-3"], "numeric"),
            (&["true", "FALSE"], "boolean"),
            (&["t", "f"], "text"),
            (&["2024-02-29"], "date"),
            (&["2024-02-29", "2024-02-29 10:00"], "timestamp"),
            (&["2024-02-29T10:00:00.123456"], "timestamp"),
            (
                &["2024-02-29 10:00:00+02", "2024-02-29T10:00:00Z", "2024-02-29 10:00:00.5-05:30"],
                "timestamptz",
            ),
            (&["2024-02-29 10:00:00+02", "2024-02-29 10:00:00"], "text"),
            (&["8a6e0804-2bd0-4672-b79d-d97027f9071a"], "uuid"),
            (&["{\"a\":1}", "[1, 2]"], "jsonb"),
            (&["a", "1"], "text"),
            (&["", "1"], "text"),
            (&[], "text"),
        ] {
            assert_eq!(of(texts), name, "{texts:?}");
        }
    }

    #[test]
    fn what_a_type_would_change_or_refuse_stays_text() {
        for text in [
            "007",
            "-01.5",
            "+4930123",
            "1.",
            ".5",
            "1e",
            "1e99999",
            "--1",
            "2023-02-29",
            "2024-13-01",
            "0000-01-01",
            "2024-02-29 24:01",
            "2024-02-29 10",
            "2024-02-29 10:00:00.1234567",
            "2024-02-29 10:00+99",
            "2024-02-29 10:00 Europe/Paris",
            "{1,2}",
            "{",
            "infinity",
            "NaN",
            "é",
            "2024-02-2é",
            "8a6e0804-2bd0-4672-b79d-d97027f9071g",
            "1 ",
        ] {
            assert_eq!(of(&[text]), "text", "{text:?}");
        }
    }

    #[test]
    fn json_values_have_kinds() {
        for (values, name) in [
            (&["1", "null", "-5"][..], "bigint"),
            (&["1", "1.5E10"], "numeric"),
            (&["\"1\""], "text"),
            (&["true", "false"], "boolean"),
            (&["\"2024-01-01T00:00:00Z\""], "timestamptz"),
            (&["{\"a\":1}", "[]", "1", "\"x\""], "jsonb"),
            (&["1", "\"x\""], "text"),
            (&["null"], "text"),
        ] {
            assert_eq!(of_json(values), name, "{values:?}");
        }
    }

    #[test]
    fn columns_keep_the_order_of_their_first_appearance() {
        let mut inference = Inference::default();
        assert_eq!((inference.column("b"), inference.column("a"), inference.column("b")), (0, 1, 0));
        assert_eq!(inference.columns().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
    }
}
