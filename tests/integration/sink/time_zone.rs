//! Dates and times over their whole range, and instants that no zone of process or server moves.

use std::process::Command;

use pgsluice::record::{Date, Time, Timestamp};
use pgsluice::{RowKind, Value};

use super::bed::{Bed, modes, rejected, skipping};

const ACROSS_THE_RANGE: [&str; 10] = [
    "1969-12-31 23:59:59.999999",
    "1900-01-01",
    "1582-10-10",
    "1000-01-01",
    "0001-01-01",
    "0044-03-15 BC",
    "4713-01-01 BC",
    "294276-12-31",
    "infinity",
    "-infinity",
];

fn moment(year: i32, month: u32, day: u32, time: Time) -> Timestamp {
    Timestamp::new(Date::from_ymd(year, month, day).unwrap(), time).unwrap()
}

#[tokio::test]
async fn the_whole_range_of_dates_and_times_b13() {
    for options in modes() {
        for (text_values, beside) in [(false, ""), (true, ""), (false, ", beside money")] {
            let bed = Bed::new(&format!(
                "create table t (id int primary key, d date, ts timestamp, tz timestamptz, a timestamp[]{beside})"
            ))
            .await;
            bed.run("set timezone to 'UTC'").await;
            let sink = bed.sink("t", options.clone().text_values(text_values).time_zone("UTC")).await;
            for (id, text) in (0..).zip(ACROSS_THE_RANGE) {
                let date = if id == 0 { "1969-12-31" } else { text };
                for (id, json) in [(id, false), (id + 100, true)] {
                    let value = |text: &str| match json {
                        false => Value::from(text.to_owned()),
                        true => Value::Json(format!("\"{text}\"").into()),
                    };
                    let list = Value::Array(vec![value(text)]);
                    let fields = [
                        ("id", Value::from(id)),
                        ("d", value(date)),
                        ("ts", value(text)),
                        ("tz", value(text)),
                        ("a", list),
                    ];
                    sink.write_values(RowKind::Insert, &fields).await.unwrap();
                }
            }
            sink.flush().await.unwrap();
            for (id, text) in ACROSS_THE_RANGE.iter().enumerate() {
                let date = if id == 0 { "1969-12-31" } else { text };
                let sql = format!(
                    "select '{date}'::date, '{text}'::timestamp, '{text}'::timestamptz, array['{text}'::timestamp]"
                );
                let expected = bed.lines(&sql).await[0].clone();
                let written =
                    bed.lines(&format!("select d, ts, tz, a from t where id in ({id}, {id} + 100)")).await;
                assert_eq!(written, [expected.clone(), expected], "{text} {text_values}{beside}");
            }

            // The last day of a date, and the same as values.
            let date = Value::Date(Date::MAX);
            sink.write_values(RowKind::Insert, &[("id", 200.into()), ("d", date)]).await.unwrap();
            let last = Timestamp::MAX;
            let values = [
                moment(1969, 12, 31, Time(86_399_999_999)),
                moment(1582, 10, 10, Time::MIDNIGHT),
                moment(-43, 3, 15, Time::MIDNIGHT),
                Timestamp::MIN,
                last,
                Timestamp::INFINITY,
                Timestamp::NEG_INFINITY,
            ];
            for (id, value) in (201..).zip(values) {
                let fields = [
                    ("id", Value::from(id)),
                    ("ts", Value::Timestamp(value)),
                    ("tz", Value::TimestampTz(value)),
                ];
                sink.write_values(RowKind::Insert, &fields).await.unwrap();
            }
            sink.close().await.unwrap();
            assert_eq!(
                bed.lines("select d, ts, tz from t where id >= 200 order by id").await,
                [
                    "5874897-12-31|∅|∅",
                    "∅|1969-12-31 23:59:59.999999|1969-12-31 23:59:59.999999+00",
                    "∅|1582-10-10 00:00:00|1582-10-10 00:00:00+00",
                    "∅|0044-03-15 00:00:00 BC|0044-03-15 00:00:00+00 BC",
                    "∅|4714-11-24 00:00:00 BC|4714-11-24 00:00:00+00 BC",
                    "∅|294276-12-31 23:59:59.999999|294276-12-31 23:59:59.999999+00",
                    "∅|infinity|infinity",
                    "∅|-infinity|-infinity",
                ]
            );

            let sink = bed.sink("t", skipping(options.clone().text_values(text_values))).await;
            let beyond = [
                ("ts", "294277-01-01"),
                ("tz", "294277-01-01 00:00+00"),
                ("d", "5874898-01-01"),
                ("ts", "4714-11-23 BC"),
            ];
            for (column, text) in beyond {
                let rejects =
                    rejected(&sink, RowKind::Insert, &[("id", 999.into()), (column, text.into())]).await;
                let [reject] = &rejects[..] else { panic!("{text}: {rejects:?}") };
                assert_eq!(
                    (&*reject.sqlstate, reject.column.as_deref()),
                    ("22008", Some(column)),
                    "{text}{beside}"
                );
            }
        }
    }
}

/// Runs itself in processes of other zones; the server's database has a third.
#[test]
fn no_zone_of_the_process_matters_b14() {
    if std::env::var_os("PGSLUICE_TEST_CHILD").is_none() {
        let program = std::env::current_exe().unwrap();
        for zone in ["America/Los_Angeles", "Asia/Kolkata"] {
            let name = "sink::time_zone::no_zone_of_the_process_matters_b14";
            let mut child = Command::new(&program);
            child.args(["--exact", name, "--nocapture"]).env("TZ", zone).env("PGSLUICE_TEST_CHILD", "1");
            let output = child.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{zone}: {text}");
        }
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(zones());
}

async fn zones() {
    for options in modes() {
        for text_values in [false, true] {
            let bed = Bed::new(
                "create table t (id int primary key, d date, ts timestamp, tz timestamptz, tz2 timestamptz, a timestamptz[]);
                 do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Pacific/Chatham'); end $$",
            )
            .await;
            // Connections made from now on have the database's zone.
            let write = async |id: i32, zone: Option<&str>, offset: bool| {
                let options = options.clone().text_values(text_values);
                let options = zone.map_or(options.clone(), |zone| options.time_zone(zone));
                let sink = bed.sink("t", options).await;
                let (tz, tz2) = match offset {
                    true => ("2024-03-10T02:30:00+00", "2024-11-03T01:30:00-07"),
                    false => ("2024-03-10 02:30:00", "2024-11-03 01:30:00"),
                };
                let fields = [
                    ("id", Value::from(id)),
                    ("d", "2024-03-10".into()),
                    ("ts", "2024-03-10 02:30".into()),
                    ("tz", tz.into()),
                    ("tz2", tz2.into()),
                    ("a", Value::Array(vec![tz.into()])),
                ];
                sink.write_values(RowKind::Insert, &fields).await.unwrap();
                sink.close().await.unwrap();
            };
            write(1, None, true).await;
            write(2, Some("Europe/Paris"), true).await;
            write(3, None, false).await;
            write(4, Some("Europe/Paris"), false).await;
            bed.run("set timezone to 'UTC'").await;
            let instants = "2024-03-10|2024-03-10 02:30:00|2024-03-10 02:30:00+00|2024-11-03 08:30:00+00|{\"2024-03-10 02:30:00+00\"}";
            let chatham = "2024-03-10|2024-03-10 02:30:00|2024-03-09 12:45:00+00|2024-11-02 11:45:00+00|{\"2024-03-09 12:45:00+00\"}";
            let paris = "2024-03-10|2024-03-10 02:30:00|2024-03-10 01:30:00+00|2024-11-03 00:30:00+00|{\"2024-03-10 01:30:00+00\"}";
            assert_eq!(
                bed.lines("select d, ts, tz, tz2, a from t order by id").await,
                [instants, instants, chatham, paris],
                "{text_values}"
            );
        }
    }
}

/// The forms of a timestamp's text: the server's own reading, or an error that names the column.
#[tokio::test]
async fn forms_of_a_timestamp_h_m06() {
    let mut texts = Vec::new();
    for clock in ["02:30:00", "02:30:00.5", "02:30:00.123456", "23:59:59.9999999"] {
        for separator in [" ", "T"] {
            for offset in ["", "+02", "-07:30", "Z", "+05:30", " +02"] {
                texts.push(format!("2024-03-10{separator}{clock}{offset}"));
            }
        }
    }
    texts.extend(
        ["20240310023000", "20240310T023000", "20240310 023000", "20240310T023000Z"].map(str::to_owned),
    );
    for options in modes() {
        for text_values in [false, true] {
            let bed = Bed::new(
                "create table t (id int primary key, ts timestamp, tz timestamptz);
                 create function given(text, text) returns text language plpgsql as $$
                 declare result text;
                 begin
                    execute format('select %L::%s::text', $1, $2) into result;
                    return result;
                 exception when data_exception then return null;
                 end $$",
            )
            .await;
            bed.run("set timezone to 'Asia/Kolkata'").await;
            let options = skipping(options.clone().text_values(text_values)).time_zone("Asia/Kolkata");
            let sink = bed.sink("t", options).await;
            for text in &texts {
                for (column, data_type) in [("ts", "timestamp"), ("tz", "timestamptz")] {
                    let fields = [("id", Value::from(1)), (column, text.as_str().into())];
                    let rejects = rejected(&sink, RowKind::Insert, &fields).await;
                    let expected = bed.one(&format!("select given('{text}', '{data_type}')")).await;
                    match &rejects[..] {
                        [] => {
                            assert_eq!(bed.one(&format!("select {column} from t")).await, expected, "{text}")
                        }
                        [reject] => {
                            assert_eq!(expected, "∅", "{text}: {reject}");
                            assert_eq!(reject.column.as_deref(), Some(column));
                        }
                        _ => panic!("{rejects:?}"),
                    }
                    bed.run("truncate t").await;
                }
            }
        }
    }
}
