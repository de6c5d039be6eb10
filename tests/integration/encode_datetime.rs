use pgsluice::Value;
use pgsluice::encode::{Codec, EncodeContext, Zone};
use pgsluice::record::{Date, Interval, Time, TimeTz, Timestamp};
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

#[tokio::test]
async fn local_times_around_every_change_of_clocks_are_the_servers() {
    let oracle = Oracle::new().await;
    let zones = [
        "America/Los_Angeles",
        "Europe/Berlin",
        "Europe/Dublin",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "America/Sao_Paulo",
        "Pacific/Apia",
        "Asia/Tehran",
        "Europe/Moscow",
        "America/Caracas",
        "Asia/Manila",
        "EST5EDT",
    ];
    for zone in zones {
        let moments = samples(
            &(
                prop_oneof![1 => 1840..1900_u32, 6 => 1900..2045_u32, 1 => 2390..2820_u32, 1 => 9990..10010_u32, 1 => 10_000..294_000_u32],
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

const INTERVALS: &[&str] = &[
    "1 day 02:03:04.5",
    "1 mon",
    "1 day",
    "-1 day",
    "@ 1 day",
    "@ 1 day ago",
    "1 day ago",
    "1 year 2 mons 3 days 4:05:06",
    "1-2",
    "-1-2",
    "+1-2",
    "1-2 3 4:05:06",
    "1-2 -3 -4:05:06",
    "1 2:03:04",
    "1 -2:03:04",
    "1",
    "1.5",
    "-1.5",
    "+1.5",
    ".5",
    "7.5 3h",
    "0",
    "02:03",
    "02:03.5",
    "-02:03:04.5",
    "100:00:00",
    "24:00:60",
    "1.5 days",
    "1.5 months",
    "1.5 years",
    "1.5 weeks",
    "0.7 months",
    "1.05 years",
    "2 weeks",
    "1 decade",
    "1.25 decades",
    "1 century",
    "1.1 centuries",
    "1 millennium",
    "1 ms",
    "1.5 us",
    "0.5 us",
    "1500 microseconds",
    "1.5 milliseconds",
    "1 hour 30 min 15.25 sec",
    "P1Y2M3DT4H5M6S",
    "P1Y",
    "P-1Y2M",
    "PT0.5S",
    "PT-6.7S",
    "P1W",
    "P1.5D",
    "P0.5M",
    "PT36H",
    "P1DT1H",
    "P1Y2M3W4D",
    "1 day 1 hour",
    "1hour",
    "3d2h",
    "1 yr 1 mon 1 d",
    "1 y 2 mon",
    "-1 days +02:03",
    "1 day -00:00:01",
    "2147483647 days",
    "-2147483648 days",
    "178956970 years 7 mons",
    "9223372036854 secs",
    "2562047788:00:54.775807",
    "1000000 hours",
    "1.123456789 s",
    "1 day 12.0000005 s",
    "1.9999999 s",
    "1 week 3.5 days",
];

const NO_INTERVALS: &[&str] = &[
    "",
    " ",
    "P",
    "1 day 2 days",
    "2147483648 days",
    "-2147483649 days",
    "178956971 years",
    "99999999999 years",
    "10:60",
    "10:00:61",
    "1-12",
    "2562047788:00:54.775808",
    "9223372036855 secs",
    "9223372036854775808 us",
    "day",
    "1000000000000000000000 days",
    "3000000000 weeks",
    "1 2 3",
    "1 ago",
    "ago",
];

const SERVER_INTERVALS: &[&str] = &[
    "infinity",
    "-infinity",
    "P0001-02-03T04:05:06",
    "P00010203",
    "1 quarter",
    "p1d",
    " P1D",
    "1 fortnight",
    "1,5 days",
    "1 day 2:",
    "1. day",
    "1e3 days",
    "epoch",
    "1:00 2:00",
    "1 day foo",
    "- 1 day",
    "-.5 day",
    "1 day, 2 hours",
    "T1H",
];

#[tokio::test]
async fn intervals_are_the_servers() {
    let oracle = Oracle::new().await;
    let number = || {
        prop_oneof![
            4 => "[+-]?[0-9]{1,4}",
            2 => "[+-]?[0-9]{1,3}\\.[0-9]{1,9}",
            1 => "[+-]?[0-9]{5,14}",
            1 => "-?\\.[0-9]{1,7}",
        ]
    };
    let unit = prop::sample::select(vec![
        "us",
        "ms",
        "s",
        "sec",
        "seconds",
        "m",
        "min",
        "minute",
        "h",
        "hour",
        "hours",
        "d",
        "day",
        "days",
        "w",
        "week",
        "mon",
        "mons",
        "months",
        "y",
        "year",
        "years",
        "dec",
        "decade",
        "century",
        "c",
        "mil",
        "millennium",
        "milliseconds",
    ]);
    let clock = "[+-]?[0-9]{1,3}:[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,8})?)?";
    let traditional = (
        prop::collection::vec((number(), unit).prop_map(|(number, unit)| format!("{number} {unit}")), 0..4),
        prop_oneof![2 => Just(String::new()), 1 => clock],
        prop_oneof![6 => Just(""), 1 => Just(" ago")],
        prop_oneof![6 => Just(""), 1 => Just("@ ")],
    )
        .prop_map(|(parts, clock, ago, at)| format!("{at}{} {clock}{ago}", parts.join(" ")));
    let iso = "P(-?[0-9]{1,3}(\\.[0-9]{1,3})?Y)?(-?[0-9]{1,3}(\\.[0-9]{1,4})?M)?(-?[0-9]{1,3}W)?(-?[0-9]{1,4}(\\.[0-9]{1,7})?D)?(T(-?[0-9]{1,3}(\\.[0-9]{1,3})?H)?(-?[0-9]{1,3}M)?(-?[0-9]{1,3}(\\.[0-9]{1,8})?S)?)?";
    let sql = "[+-]?[0-9]{1,4}-[0-9]{1,2}( [+-]?[0-9]{1,4})?( [+-]?[0-9]{1,3}:[0-5][0-9](:[0-5][0-9])?)?";
    let random = with_typos(
        samples(&prop_oneof![4 => traditional, 3 => iso, 1 => sql], 6000),
        "0123456789-:. +dhmsyPTDHMS",
    );
    let texts = [strings(&[INTERVALS, NO_INTERVALS, SERVER_INTERVALS].concat()), random].concat();
    for (codec, declared) in [
        (Codec::Interval(-1), "interval"),
        (Codec::Interval(0x7FFF_0000), "interval(0)"),
        (Codec::Interval(0x7FFF_0003), "interval(3)"),
    ] {
        let read = oracle.compare_random(&codec, ("interval", declared), "UTC", &texts).await;
        assert!(read > texts.len() / 3, "{declared}: only {read} of {}", texts.len());
    }
}

#[test]
fn interval_forms_are_read_here_refused_or_left_to_the_server() {
    let mut cx = EncodeContext::new(Zone::utc());
    let codec = Codec::Interval(-1);
    for text in INTERVALS {
        assert!(field(&codec, text, &mut cx).is_ok(), "{text:?}");
    }
    for text in NO_INTERVALS {
        assert!(!field(&codec, text, &mut cx).unwrap_err().server_might_read, "{text:?}");
    }
    for text in SERVER_INTERVALS {
        assert!(field(&codec, text, &mut cx).unwrap_err().server_might_read, "{text:?}");
    }
}

#[tokio::test]
async fn intervals_of_certain_fields_are_cut_as_the_server_does() {
    let oracle = Oracle::new().await;
    oracle
        .client
        .batch_execute(
            "create table i (a interval year, b interval month, c interval year to month, d interval day, e interval hour,
             f interval day to hour, g interval minute, h interval day to minute, i interval second(2), j interval day to second(1),
             k interval minute to second, l interval(4), m interval hour to minute)",
        )
        .await
        .unwrap();
    let columns = oracle
        .client
        .query(
            "select attname::text, atttypmod, format_type(atttypid, atttypmod) from pg_attribute
             where attrelid = 'i'::regclass and attnum > 0",
            &[],
        )
        .await
        .unwrap();
    let values = samples(
        &(-30..30_i32, -100..100_i32, -200_000_000_000..200_000_000_000_i64)
            .prop_map(|(months, days, micros)| Interval::new(months, days, micros)),
        200,
    );
    let mut cx = EncodeContext::new(Zone::utc());
    for column in columns {
        let (typmod, declared): (i32, String) = (column.get(1), column.get(2));
        let texts: Vec<_> = values.iter().map(Interval::to_string).collect();
        let mut bodies = Vec::new();
        for value in &values {
            let mut out = Vec::new();
            Codec::Interval(typmod).encode_value(&Value::Interval(*value), &mut cx, &mut out).unwrap();
            bodies.push(out);
        }
        let printed = oracle.prints("interval", &bodies).await;
        assert_eq!(printed, oracle.reads(&format!("interval::{declared}"), &texts).await, "{declared}");
    }
}

#[tokio::test]
async fn values_print_as_the_server_prints_them() {
    let oracle = Oracle::new().await;
    oracle.client.batch_execute("set timezone = 'UTC'").await.unwrap();
    let mut cx = EncodeContext::new(Zone::utc());
    let mut encode = |codec: &Codec, value: Value<'_>| {
        let mut out = Vec::new();
        codec.encode_value(&value, &mut cx, &mut out).unwrap();
        out
    };
    let mut dates: Vec<_> = samples(&(Date::MIN.0..=Date::MAX.0).prop_map(Date), 2000);
    dates.extend([
        Date::MIN,
        Date::MAX,
        Date::INFINITY,
        Date::NEG_INFINITY,
        Date(0),
        Date(-730_120),
        Date(-730_119),
    ]);
    let bodies: Vec<_> = dates.iter().map(|&date| encode(&Codec::Date, Value::Date(date))).collect();
    let printed = oracle.prints("date", &bodies).await;
    for (date, printed) in dates.iter().zip(printed) {
        assert_eq!(date.to_string(), printed);
        assert_eq!(printed.parse::<Date>().unwrap(), *date);
    }

    let mut moments: Vec<_> = samples(
        &prop_oneof![Timestamp::MIN.0..=Timestamp::MAX.0, -1_000_000_000_000_000..1_000_000_000_000_000_i64]
            .prop_map(Timestamp),
        3000,
    );
    moments.extend([
        Timestamp::MIN,
        Timestamp::MAX,
        Timestamp::INFINITY,
        Timestamp::NEG_INFINITY,
        Timestamp(0),
        Timestamp(-1),
    ]);
    let bodies: Vec<_> =
        moments.iter().map(|&moment| encode(&Codec::Timestamp(6), Value::Timestamp(moment))).collect();
    let printed = oracle.prints("timestamp", &bodies).await;
    for (moment, printed) in moments.iter().zip(printed) {
        assert_eq!(moment.to_string(), printed);
        assert_eq!(printed.parse::<Timestamp>().unwrap(), *moment);
    }

    let times: Vec<_> = samples(
        &(0..=Time::MAX.0, -57_599..57_600_i32).prop_map(|(micros, east)| TimeTz::new(Time(micros), east)),
        1000,
    );
    let bodies: Vec<_> = times.iter().map(|&time| encode(&Codec::TimeTz(6), Value::TimeTz(time))).collect();
    for (time, printed) in times.iter().zip(oracle.prints("timetz", &bodies).await) {
        assert_eq!(time.to_string(), printed);
        assert_eq!(printed.parse::<TimeTz>().unwrap(), *time);
    }

    let mut intervals: Vec<_> = samples(
        &(
            prop_oneof![-40..40_i32, any::<i32>()],
            prop_oneof![-3..3_i32, any::<i32>()],
            prop_oneof![-90_000_000..90_000_000_i64, Just(0), any::<i64>()],
        )
            .prop_map(|(months, days, micros)| Interval::new(months, days, micros)),
        3000,
    );
    intervals.extend([
        Interval::new(0, 0, 0),
        Interval::new(-1, 1, -1),
        Interval::new(i32::MIN, 0, i64::MIN),
    ]);
    let bodies: Vec<_> =
        intervals.iter().map(|&interval| encode(&Codec::Interval(-1), Value::Interval(interval))).collect();
    for (interval, printed) in intervals.iter().zip(oracle.prints("interval", &bodies).await) {
        assert_eq!(interval.to_string(), printed);
        // Beyond 2^63 microseconds below zero the server does not read what it prints.
        if interval.micros != i64::MIN {
            assert_eq!(printed.parse::<Interval>().unwrap(), *interval, "{printed}");
        }
    }
}

#[tokio::test]
async fn values_are_assigned_between_kinds_as_the_server_casts_them() {
    let oracle = Oracle::new().await;
    let moments = samples(&(-4_000_000_000_000_000..4_000_000_000_000_000_i64), 2000);
    for zone in ZONES {
        oracle.client.batch_execute(&format!("set timezone = '{zone}'")).await.unwrap();
        let mut cx = EncodeContext::new(Zone::named(zone).unwrap());
        let midnight = |moment: i64| Date(i32::try_from(moment / 86_400_000_000).unwrap());
        type Make<'m> = &'m dyn Fn(i64) -> Value<'static>;
        let cases: [(Make<'_>, &str, &str, Codec); 4] = [
            (&|m| Value::Timestamp(Timestamp(m)), "timestamp", "timestamptz", Codec::TimestampTz(6)),
            (&|m| Value::TimestampTz(Timestamp(m)), "timestamptz", "timestamp", Codec::Timestamp(6)),
            (&|m| Value::Date(midnight(m)), "date", "timestamp", Codec::Timestamp(6)),
            (&|m| Value::Date(midnight(m)), "date", "timestamptz", Codec::TimestampTz(6)),
        ];
        for (make, from, to, codec) in cases {
            let texts: Vec<String> = moments
                .iter()
                .map(|&moment| match make(moment) {
                    Value::Date(date) => date.to_string(),
                    Value::TimestampTz(moment) => format!("{moment}+00"),
                    Value::Timestamp(moment) => moment.to_string(),
                    _ => unreachable!(),
                })
                .collect();
            let bodies: Vec<_> = moments
                .iter()
                .map(|&moment| {
                    let mut out = Vec::new();
                    codec.encode_value(&make(moment), &mut cx, &mut out).unwrap();
                    out
                })
                .collect();
            let theirs = oracle.reads(&format!("{from}::{to}"), &texts).await;
            assert_eq!(oracle.prints(to, &bodies).await, theirs, "{from} to {to} in {zone}");
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let mut cx = EncodeContext::new(Zone::named("Europe/Berlin").unwrap());
    let noon = Value::Timestamp(Timestamp(43_200_000_000));
    let cases = [
        (Codec::Date, Value::Int(1), "42804"),
        (Codec::Date, noon.clone(), "22008"),
        (Codec::Date, Value::Date(Date(i32::MAX - 1)), "22008"),
        (Codec::Date, Value::Json("1".into()), "42804"),
        (Codec::Date, Value::Json("\"2024-13-01\"".into()), "22008"),
        (Codec::Time(6), Value::Time(Time(-1)), "22008"),
        (Codec::Time(6), Value::Time(Time(86_400_000_001)), "22008"),
        (Codec::Time(6), noon.clone(), "42804"),
        (Codec::TimeTz(6), Value::Time(Time(0)), "42804"),
        (Codec::TimeTz(6), Value::TimeTz(TimeTz { micros: 0, west: 57_600 }), "22009"),
        (Codec::Timestamp(6), Value::Timestamp(Timestamp(i64::MAX - 1)), "22008"),
        (Codec::Timestamp(6), Value::Date(Date::MAX), "22008"),
        (Codec::Timestamp(0), Value::Timestamp(Timestamp::MAX), "22008"),
        (Codec::TimestampTz(6), Value::Timestamp(Timestamp::MIN), "22008"),
        (Codec::TimestampTz(6), Value::Bool(true), "42804"),
        (Codec::Interval(-1), noon, "42804"),
    ];
    for (codec, value, code) in cases {
        let mut out = vec![1];
        let error = codec.encode_value(&value, &mut cx, &mut out).unwrap_err();
        assert_eq!(error.sqlstate, code, "{codec:?} {value:?}: {error}");
        assert_eq!(out, [1]);
    }
    let mut out = Vec::new();
    Codec::Date.encode_value(&Value::Json(" \"2000-01-02\"".into()), &mut cx, &mut out).unwrap();
    assert_eq!(out, [0, 0, 0, 4, 0, 0, 0, 1]);
}

#[tokio::test]
async fn keys_are_equal_and_ordered_as_on_the_server() {
    let oracle = Oracle::new().await;
    oracle.client.batch_execute("set timezone = 'UTC'").await.unwrap();
    let mut cx = EncodeContext::new(Zone::utc());
    let timetz = [
        "12:00+00",
        "13:00+01",
        "12:00+01",
        "00:00-15",
        "24:00+15",
        "12:00:00.000001+00",
        "11:00-01",
        "23:00+11",
    ];
    let interval = [
        "1 day",
        "24:00",
        "30 days",
        "1 mon",
        "-1 mon",
        "-30 days",
        "29 days 24:00",
        "0",
        "00:00:00.000001",
        "1 year",
        "360 days",
        "365 days",
        "178956970 years",
        "-178956970 years",
        "2147483647 days",
        "1 day -24:00",
    ];
    for (codec, type_name, texts) in [
        (Codec::TimeTz(6), "timetz", timetz.as_slice()),
        (Codec::Interval(-1), "interval", interval.as_slice()),
    ] {
        let keys: Vec<Vec<u8>> = texts
            .iter()
            .map(|text| {
                let mut key = Vec::new();
                codec.push_key(&field(&codec, text, &mut cx).unwrap()[4..], &mut key);
                key
            })
            .collect();
        for (left, left_key) in texts.iter().zip(&keys) {
            for (right, right_key) in texts.iter().zip(&keys) {
                let sql =
                    format!("select '{left}'::{type_name} < '{right}', '{left}'::{type_name} = '{right}'");
                let row = oracle.client.query_one(&sql, &[]).await.unwrap();
                assert_eq!(left_key < right_key, row.get::<_, bool>(0), "{left} < {right}");
                assert_eq!(left_key == right_key, row.get::<_, bool>(1), "{left} = {right}");
            }
        }
    }
}
