use pgsluice::Value;
use pgsluice::encode::{Codec, EncodeContext, Zone};
use pgsluice::record::{Date, Interval, Time, TimeTz, Timestamp};
use proptest::prelude::*;

use super::ZONES;
use crate::encode_oracle::{Oracle, field, samples};

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
