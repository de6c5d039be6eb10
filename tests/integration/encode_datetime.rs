//! Dates, times and intervals, text and value, against the server's own input and output functions.

mod intervals;
mod values;

use pgsluice::encode::{Codec, EncodeContext, Zone};
use proptest::prelude::*;

use crate::encode_oracle::{Oracle, field, samples, with_typos};

const ZONES: [&str; 6] =
    ["UTC", "America/Los_Angeles", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe", "<+03>-3"];

/// Forms that must be read here, not left to the server, as dates and as timestamps.
const MOMENTS: &[&str] = &[
    "2024-03-10",
    "20240310",
    "2024-3-1",
    "2024-03-10 02:30",
    "2024-03-10 02:30:00",
    "2024-03-10T02:30:00",
    "2024-03-10t02:30:00z",
    "2024-03-10T02:30:00Z",
    "2024-03-10T02:30:00+00",
    "2024-03-10 02:30:00 Z",
    "2024-03-10 02:30:00 utc",
    "2024-11-03T01:30:00-07",
    "2024-11-03T01:30:00-07:30",
    "2024-11-03T01:30:00+0530",
    "2024-11-03T01:30:00-07:52:58",
    "2024-11-03 01:30:00+8",
    "2024-11-03 01:30:00 +800",
    "2024-11-03 01:30",
    "2024-03-31 02:30",
    "2024-10-27 02:30",
    "2024-10-06 02:15",
    "2024-04-07 01:45",
    "20240310T023000",
    "20240310T023000Z",
    "20240310 023000.25+01",
    "2024-03-10T0230",
    "2024-03-10 24:00:00",
    "2024-12-31 23:59:60",
    "2024-12-31 23:59:59.9999999",
    "2024-12-31 23:59:59.999999499999",
    "2024-12-31 23:59:59.0000005",
    "2024-12-31 23:59:59.0000015",
    "2024-12-31 23:59:59.123456789012345678901234567890",
    "2024-12-31 10:30.5",
    "  2024-03-10   02:30:00\t",
    "1969-12-31 23:59:59.999999",
    "1970-01-01",
    "1900-01-01",
    "1883-11-18 12:00:00",
    "1582-10-10",
    "0001-01-01",
    "0001-01-01 BC",
    "0005-02-29 00:00:00 BC",
    "0044-03-15 BC",
    "0044-03-15 10:00:00+01 BC",
    "0044-03-15 bc 10:00",
    "0044-03-15 AD",
    "4713-01-01 BC",
    "4714-11-24 BC",
    "4714-11-24 00:00:00+00 BC",
    "10000-01-01",
    "12345-06-07 08:09:10.5",
    "99999-07-01 00:00",
    "294276-12-31",
    "294276-12-31 23:59:59.999999+00",
    "2400-07-01 12:00",
    "2800-01-01 00:00",
    "3200-02-29 12:00",
    "9999-12-31 23:59:59",
    "infinity",
    "-infinity",
    "Infinity",
    "epoch",
    "J2451187",
    "j0",
];

/// Forms that the server refuses.
const NO_MOMENTS: &[&str] = &[
    "",
    "  ",
    "2024-13-01",
    "2024-00-10",
    "2024-02-30",
    "2023-02-29",
    "1900-02-29",
    "2024-04-31",
    "2024-01-32",
    "2024-01-00",
    "0000-01-01",
    "0000-01-01 BC",
    "2024-01-01 25:00",
    "2024-01-01 24:00:01",
    "2024-01-01 10:60",
    "2024-01-01 10:00:61",
    "2024-01-01 23:59:60.5",
    "2024-01-01 10:00+16",
    "2024-01-01 10:00+080",
    "2024-01-01 10:00+01:60",
    "20240102030405",
    "4714-11-23 BC",
    "5874898-01-01",
    "2147483648-01-01",
    "99999999999-01-01",
    "10:00",
];

/// Forms that only a live server reads, or that hang on its settings: never guessed here.
const SERVER_FORMS: &[&str] = &[
    "01/02/2024",
    "1.2.2024",
    "2024/01/02",
    "24-01-02",
    "01-02-2024",
    "now",
    "today",
    "tomorrow",
    "yesterday",
    "now ",
    "Jan 2 2024",
    "2-Jan-2024",
    "January 2, 2024",
    "2024-01-02 10:00 PST",
    "2024-01-02 10:00 America/New_York",
    "2024-01-02 10:00 PM",
    "2024.123",
    "2024-123",
    "Tue 2024-01-02",
    "noon",
    "allballs",
    "2024-01-02 +infinity",
    "+infinity",
    "2024-01-02 10:00:00.",
    "2024-01-02 10:",
    "240102",
    "y2024m01d02",
    "2024-01-02 040506-08",
    "99990102030405",
    "\u{a0}2024-01-02",
    "२०२४-01-02",
];

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn all_moments() -> Vec<String> {
    strings(&[MOMENTS, NO_MOMENTS, SERVER_FORMS].concat())
}

fn moment_types() -> [(Codec, &'static str, &'static str); 7] {
    [
        (Codec::Date, "date", "date"),
        (Codec::Timestamp(6), "timestamp", "timestamp"),
        (Codec::TimestampTz(6), "timestamptz", "timestamptz"),
        (Codec::Timestamp(0), "timestamp", "timestamp(0)"),
        (Codec::Timestamp(3), "timestamp", "timestamp(3)"),
        (Codec::TimestampTz(2), "timestamptz", "timestamptz(2)"),
        (Codec::TimestampTz(0), "timestamptz", "timestamptz(0)"),
    ]
}

fn year() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (1900..2100_u32).prop_map(|year| year.to_string()),
        2 => (0..10_000_u32).prop_map(|year| format!("{year:04}")),
        1 => (9_990..300_000_u32).prop_map(|year| year.to_string()),
        1 => (5_874_890..5_874_900_u32).prop_map(|year| year.to_string()),
    ]
}

fn date_text() -> impl Strategy<Value = String> {
    let month = prop_oneof![20 => 1..=12_u32, 1 => 0..=14_u32];
    let day = prop_oneof![20 => 1..=28_u32, 3 => 28..=32_u32, 1 => 0..=1_u32];
    (year(), month, day, 0..12_u8).prop_map(|(year, month, day, form)| match form {
        0 => format!("{year}{month:02}{day:02}"),
        1 => format!("{year}-{month}-{day}"),
        _ => format!("{year}-{month:02}-{day:02}"),
    })
}

fn time_text() -> impl Strategy<Value = String> {
    let fraction = prop_oneof![2 => Just(String::new()), 2 => "\\.[0-9]{1,6}", 1 => "\\.[0-9]{7,20}", 1 => "\\.[0-9]{3}[05][09]{0,6}"];
    let hour = prop_oneof![20 => 0..=23_u32, 1 => 23..=25_u32];
    let sixty = || prop_oneof![20 => 0..=59_u32, 1 => 58..=61_u32];
    (hour, sixty(), sixty(), fraction, 0..12_u8).prop_map(|(hour, minute, second, fraction, form)| match form
    {
        0 => format!("{hour:02}:{minute:02}"),
        1 => format!("{hour:02}{minute:02}{second:02}{fraction}"),
        2 => format!("{hour}:{minute}:{second}{fraction}"),
        _ => format!("{hour:02}:{minute:02}:{second:02}{fraction}"),
    })
}

fn offset_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => Just("Z".to_owned()),
        1 => Just(" UTC".to_owned()),
        2 => "[+-](0[0-9]|1[0-6])",
        2 => "[+-](0[0-9]|1[0-6]):?[0-6][0-9]",
        1 => "[+-]0[0-9]:[0-5][0-9]:[0-5][0-9]",
        1 => " ?[+-][0-9]{1,5}",
    ]
}

fn moment_text() -> impl Strategy<Value = String> {
    let joint = prop_oneof![4 => Just(" "), 4 => Just("T"), 1 => Just("  "), 1 => Just("t"), 1 => Just(" T "), 1 => Just("")];
    let era = prop_oneof![10 => Just(""), 1 => Just(" BC"), 1 => Just(" ad")];
    (date_text(), joint, time_text(), offset_text(), era, 0..10_u8).prop_map(
        |(date, joint, time, offset, era, form)| match form {
            0 => format!("{date}{era}"),
            1 => format!("{date}{offset}{era}"),
            2 => format!("{date}{era}{joint}{time}{offset}"),
            _ => format!("{date}{joint}{time}{offset}{era}"),
        },
    )
}

#[tokio::test]
async fn known_moments_are_the_servers_in_every_zone() {
    let oracle = Oracle::new().await;
    for zone in ZONES {
        for (codec, type_name, declared) in moment_types() {
            oracle.compare(&codec, (type_name, declared), zone, &all_moments()).await;
        }
    }
}

#[test]
fn iso_forms_are_read_here_and_other_forms_left_to_the_server() {
    let mut cx = EncodeContext::new(Zone::named("Europe/Berlin").unwrap());
    for text in MOMENTS {
        for codec in [Codec::Date, Codec::Timestamp(6), Codec::TimestampTz(6)] {
            // The first midnight of all is before the first instant in a zone east of UTC.
            let too_early = codec == Codec::TimestampTz(6) && *text == "4714-11-24 BC" || *text == "j0";
            assert!(too_early || field(&codec, text, &mut cx).is_ok(), "{codec:?} {text:?}");
        }
    }
    for text in SERVER_FORMS {
        for codec in [Codec::Date, Codec::Timestamp(6), Codec::TimestampTz(6)] {
            let error = field(&codec, text, &mut cx).unwrap_err();
            assert_eq!((error.sqlstate, error.server_might_read), ("22007", true), "{codec:?} {text:?}");
        }
    }
    for text in NO_MOMENTS {
        let error = field(&Codec::Timestamp(6), text, &mut cx).unwrap_err();
        assert!(!error.server_might_read, "{text:?}");
    }
    let error = field(&Codec::Timestamp(6), "294277-01-01", &mut cx).unwrap_err();
    assert_eq!((error.sqlstate, error.server_might_read), ("22008", false));
    assert!(field(&Codec::Date, "294277-01-01", &mut cx).is_ok());
}

#[tokio::test]
async fn any_moment_text_is_the_servers_or_refused() {
    let oracle = Oracle::new().await;
    let texts = with_typos(samples(&moment_text(), 3000), "0123456789-:. +TZtzBCbcj/,");
    for (position, (codec, type_name, declared)) in moment_types().into_iter().enumerate() {
        for zone in [ZONES[position % ZONES.len()], ZONES[(position + 1) % ZONES.len()]] {
            let read = oracle.compare_random(&codec, (type_name, declared), zone, &texts).await;
            assert!(read > texts.len() / 3, "{declared}: only {read} of {}", texts.len());
        }
    }
}

/// Years whose rules no release of the zone database has changed lately: the server's may be another than ours.
#[tokio::test]
async fn local_times_around_every_change_of_clocks_are_the_servers() {
    let oracle = Oracle::new().await;
    let zones = [
        "America/Los_Angeles",
        "Europe/Berlin",
        "Europe/Dublin",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "Pacific/Apia",
        "Asia/Tehran",
        "Europe/Moscow",
        "America/Caracas",
        "Asia/Manila",
    ];
    for zone in zones {
        let moments = samples(
            &(
                prop_oneof![1 => 1700..1800_u32, 6 => 1970..2026_u32, 1 => 2026..2110_u32, 1 => 2390..2820_u32, 1 => 9990..10010_u32, 1 => 10_000..294_000_u32],
                1..=12_u32,
                1..=28_u32,
                0..=23_u32,
                0..=59_u32,
            ),
            4000,
        );
        let mut texts: Vec<_> = moments
            .iter()
            .map(|(year, month, day, hour, minute)| {
                format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
            })
            .collect();
        // Every quarter of an hour of the Sundays and month ends at which clocks change.
        for (year, month, days) in [
            (2024, 3, 8..=31),
            (2024, 10, 4..=31),
            (2024, 11, 1..=4),
            (2024, 4, 5..=8),
            (2011, 12, 29..=31),
            (2014, 10, 25..=27),
        ] {
            for day in days {
                for quarter in 0..96 {
                    texts.push(format!(
                        "{year}-{month:02}-{day:02} {:02}:{:02}",
                        quarter / 4,
                        quarter % 4 * 15
                    ));
                }
            }
        }
        let read = oracle.compare(&Codec::TimestampTz(6), ("timestamptz", "timestamptz"), zone, &texts).await;
        assert_eq!(read, texts.len());
    }
}

#[tokio::test]
async fn times_are_the_servers() {
    let oracle = Oracle::new().await;
    let known = [
        "10:00",
        "10:00:00",
        "10:00:00.5",
        "24:00:00",
        "24:00:01",
        "23:59:60",
        "23:59:59.9999999",
        "00:00",
        "040506",
        "040506.25",
        "0405",
        "4:5:6",
        " 10:00 ",
        "10:00Z",
        "10:00+01",
        "10:00 +0530",
        "10:00+15:59:59",
        "10:00+16",
        "2024-07-01 10:00",
        "2024-07-01 10:00:00+02",
        "2024-02-30 10:00",
        "2024-07-01T10:00",
        "T10:00",
        "allballs",
        "noon",
        "now",
        "infinity",
        "epoch",
        "",
        "25:00",
        "10",
        "10:00 PM",
        "10:61",
        "10:30.5",
        "2024-01-01",
        "1:2:3:4",
        "0044-07-01 10:00 BC",
        "4714-11-24 10:00",
    ];
    let random = with_typos(
        samples(
            &(time_text(), offset_text(), date_text(), 0..6_u8).prop_map(|(time, offset, date, form)| {
                match form {
                    0 => format!("{date} {time}{offset}"),
                    _ => format!("{time}{offset}"),
                }
            }),
            3000,
        ),
        "0123456789-:. +TZtz",
    );
    let texts = [strings(&known), random].concat();
    for zone in ["UTC", "America/Los_Angeles", "<+03>-3"] {
        for (codec, type_name, declared) in [
            (Codec::Time(6), "time", "time"),
            (Codec::Time(0), "time", "time(0)"),
            (Codec::Time(3), "time", "time(3)"),
            (Codec::TimeTz(6), "timetz", "timetz"),
            (Codec::TimeTz(1), "timetz", "timetz(1)"),
        ] {
            let read = oracle.compare_random(&codec, (type_name, declared), zone, &texts).await;
            assert!(read > texts.len() / 6, "{declared}: only {read} of {}", texts.len());
        }
    }
}
