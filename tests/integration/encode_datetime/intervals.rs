use pgsluice::Value;
use pgsluice::encode::{Codec, EncodeContext, Zone};
use pgsluice::record::Interval;
use proptest::prelude::*;

use super::strings;
use crate::encode_oracle::{Oracle, field, samples, with_typos};

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
