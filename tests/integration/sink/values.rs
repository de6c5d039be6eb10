//! Values of every source kind into columns of every type: exact, or an error that names column, kind and type.

use pgsluice::record::{Date, Interval, Numeric, Time, TimeTz, Timestamp};
use pgsluice::{RowKind, Value};

use super::bed::{Bed, MARKER, modes, rejected, shows_no_value, skipping};

fn moment(year: i32, month: u32, day: u32, hour: u32, minute: u32) -> Timestamp {
    let time = Time::from_hms_micro(hour, minute, 6, 789_000).unwrap();
    Timestamp::new(Date::from_ymd(year, month, day).unwrap(), time).unwrap()
}

fn numeric(text: &str) -> Value<'static> {
    Value::Numeric(text.parse::<Numeric>().unwrap())
}

fn json(text: &'static str) -> Value<'static> {
    Value::Json(text.into())
}

/// A value, the column's type, and what is stored: an expression, or the SQLSTATE of the refusal.
fn cases() -> Vec<(Value<'static>, &'static str, Result<&'static str, &'static str>)> {
    let list = |values: Vec<Value<'static>>| Value::Array(values);
    let date = Date::from_ymd(2024, 2, 29).unwrap();
    let uuid = *b"\xa0\xee\xbc\x99\x9c\x0b\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\x0a\x11";
    let uuid_text = "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'";
    vec![
        // B11: an integer and a float into every number.
        (12.into(), "numeric", Ok("12")),
        (12.into(), "numeric(38,10)", Ok("12.0000000000")),
        (12.into(), "float8", Ok("12")),
        (12.into(), "float4", Ok("12")),
        (12.into(), "int2", Ok("12")),
        (12.into(), "int4", Ok("12")),
        (12.into(), "int8", Ok("12")),
        (12.into(), "oid", Ok("12")),
        (12.into(), "text", Ok("'12'")),
        (12.into(), "varchar(2)", Ok("'12'")),
        (123.into(), "varchar(2)", Err("22001")),
        (12.into(), "json", Ok("'12'")),
        (12.into(), "jsonb", Ok("'12'")),
        (12.into(), "money", Ok("12")),
        (1.into(), "bool", Err("42804")),
        (12.into(), "date", Err("42804")),
        (12.into(), "int[]", Err("42804")),
        (12.into(), "uuid", Err("42804")),
        (12.into(), "bytea", Err("42804")),
        (Value::Int(3_000_000_000), "int4", Err("22003")),
        (Value::Int(40_000), "int2", Err("22003")),
        (Value::Int(i128::from(u64::MAX)), "int8", Err("22003")),
        (Value::Int(i128::from(u64::MAX)), "numeric", Ok("18446744073709551615")),
        (Value::Int(i128::MIN), "numeric", Ok("-170141183460469231731687303715884105728")),
        (Value::Int(i128::MAX), "text", Ok("'170141183460469231731687303715884105727'")),
        (Value::Int(9_007_199_254_740_993), "float8", Err("22003")),
        (Value::Int(-1), "oid", Err("22003")),
        (12_222.0_f64.into(), "numeric(18,2)", Ok("12222.00")),
        (0.1_f64.into(), "numeric", Ok("0.1")),
        (0.1_f32.into(), "numeric", Ok("0.1")),
        (0.1_f32.into(), "float8", Ok("0.1::float4::float8")),
        (0.1_f64.into(), "float4", Ok("0.1::float4")),
        (0.1_f32.into(), "text", Ok("'0.1'")),
        (1e39_f64.into(), "float4", Err("22003")),
        (1e300_f64.into(), "numeric", Ok("1e300")),
        (f64::NAN.into(), "numeric", Ok("'NaN'")),
        (f64::NAN.into(), "float4", Ok("'NaN'")),
        (f64::NEG_INFINITY.into(), "float8", Ok("'-Infinity'")),
        (f64::INFINITY.into(), "numeric(5,2)", Err("22003")),
        (f64::NAN.into(), "jsonb", Err("22P02")),
        ((-0.0_f64).into(), "float8", Ok("'-0'")),
        (3.0_f64.into(), "int4", Ok("3")),
        (3.5_f64.into(), "int4", Err("22P02")),
        (1.5_f64.into(), "json", Ok("'1.5'")),
        (f64::NAN.into(), "int8", Err("22003")),
        (numeric("44.123456"), "numeric(38,10)", Ok("44.1234560000")),
        (numeric("44.1"), "float8", Ok("44.1")),
        (numeric("44.0"), "int4", Ok("44")),
        (numeric("44.10"), "text", Ok("'44.10'")),
        (numeric("44.10"), "json", Ok("'44.10'")),
        (numeric("123456789.5"), "numeric(6,2)", Err("22003")),
        (true.into(), "bool", Ok("true")),
        (true.into(), "text", Ok("'true'")),
        (true.into(), "jsonb", Ok("'true'")),
        (true.into(), "int4", Err("42804")),
        (true.into(), "numeric", Err("42804")),
        (vec![0_u8, 255].into(), "bytea", Ok("'\\x00ff'")),
        (uuid.to_vec().into(), "uuid", Ok(uuid_text)),
        (vec![1_u8].into(), "uuid", Err("22P03")),
        (b"abc".to_vec().into(), "text", Ok("'abc'")),
        (vec![0xff_u8].into(), "text", Err("22021")),
        (vec![1_u8].into(), "json", Err("42804")),
        (vec![1_u8].into(), "int4", Err("42804")),
        (Value::Uuid(uuid), "uuid", Ok(uuid_text)),
        (Value::Uuid(uuid), "text", Ok(uuid_text)),
        (Value::Date(date), "date", Ok("'2024-02-29'")),
        (Value::Date(date), "timestamp", Ok("'2024-02-29 00:00'")),
        (Value::Date(date), "timestamptz", Ok("'2024-02-29 00:00 Asia/Kolkata'")),
        (Value::Date(date), "text", Ok("'2024-02-29'")),
        (Value::Date(date), "jsonb", Ok("'\"2024-02-29\"'")),
        (Value::Date(date), "int4", Err("42804")),
        (Value::Timestamp(moment(2024, 2, 29, 4, 5)), "timestamp", Ok("'2024-02-29 04:05:06.789'")),
        (Value::Timestamp(moment(2024, 2, 29, 4, 5)), "timestamp(0)", Ok("'2024-02-29 04:05:07'")),
        (Value::Timestamp(moment(2024, 2, 29, 4, 5)), "date", Err("22008")),
        (
            Value::Timestamp(moment(2024, 2, 29, 4, 5)),
            "timestamptz",
            Ok("'2024-02-29 04:05:06.789 Asia/Kolkata'"),
        ),
        (Value::TimestampTz(moment(2024, 2, 29, 4, 5)), "timestamptz", Ok("'2024-02-29 04:05:06.789+00'")),
        (Value::TimestampTz(moment(2024, 2, 29, 4, 5)), "timestamp", Ok("'2024-02-29 09:35:06.789'")),
        (Value::TimestampTz(moment(-43, 3, 15, 4, 5)), "timestamptz", Ok("'0044-03-15 04:05:06.789+00 BC'")),
        (Value::Time(Time::from_hms_micro(4, 5, 6, 7).unwrap()), "time", Ok("'04:05:06.000007'")),
        (Value::TimeTz(TimeTz::new(Time::MAX, -3600)), "timetz", Ok("'24:00-01'")),
        (
            Value::Interval(Interval::new(14, -3, 1)),
            "interval",
            Ok("'1 year 2 mons -3 days 00:00:00.000001'"),
        ),
        (
            Value::Interval(Interval::new(-14, 3, -1)),
            "interval",
            Ok("'-1 year -2 mons +3 days -00:00:00.000001'"),
        ),
        // JSON.
        (json("1.10"), "numeric", Ok("1.10")),
        (json("12345678901234567890.123"), "numeric", Ok("12345678901234567890.123")),
        (json("1e2"), "int4", Ok("100")),
        (json("1.5"), "int4", Err("22P02")),
        (json("3000000000"), "int4", Err("22003")),
        (json("true"), "bool", Ok("true")),
        (json("1"), "bool", Err("42804")),
        (json("\"yes\""), "bool", Ok("true")),
        (json("\"a\\u00e9\\n\""), "text", Ok("E'aé\\n'")),
        (json("\"x\""), "json", Ok("'\"x\"'")),
        (json("\"x\""), "jsonb", Ok("'\"x\"'")),
        (json("null"), "jsonb", Ok("'null'")),
        (json("null"), "int4", Ok("null")),
        (json("null"), "money", Ok("null")),
        (json("{\"a\": 1}"), "json", Ok("'{\"a\": 1}'")),
        (json("{\"a\": 1}"), "text", Ok("'{\"a\": 1}'")),
        (json("{\"a\": 1}"), "int4", Err("42804")),
        (json("[1, null, \"2\"]"), "int[]", Ok("'{1,NULL,2}'")),
        (json("[[1,2],[3,4]]"), "int[]", Ok("'{{1,2},{3,4}}'")),
        (json("[[1,2],[3]]"), "int[]", Err("2202E")),
        (json("[1,2]"), "jsonb", Ok("'[1,2]'")),
        (json("[[1],{\"a\":2},\"x\",null]"), "jsonb[]", Ok("array['[1]','{\"a\":2}','\"x\"',null]::jsonb[]")),
        (json("[\"a,b\",\"c\\\"d\",\"\",\"NULL\"]"), "text[]", Ok("array['a,b','c\"d','','NULL']")),
        (json("\"{1,2}\""), "int[]", Ok("'{1,2}'")),
        (json("\"2024-01-01\""), "date", Ok("'2024-01-01'")),
        (json("\"(1,2)\""), "point", Ok("'(1,2)'")),
        (json("[\"(1,1),(0,0)\",\"(2,2),(1,1)\"]"), "box[]", Ok("'{(1,1),(0,0);(2,2),(1,1)}'")),
        (json("[1.5, \"2.5\"]"), "money[]", Ok("'{1.5,2.5}'")),
        (json("{\"a\":\"1\",\"b c\":null,\"d\":2}"), "hstore", Ok("'a=>1,\"b c\"=>NULL,d=>2'")),
        (
            json("{\"a\":1,\"B b\":\"x\\\"y,\",\"l\":[1,2]}"),
            "pair",
            Ok("row(1,'x\"y,','{1,2}'::int[])::pair"),
        ),
        (json("[1,\"x\",[]]"), "pair", Ok("row(1,'x','{}'::int[])::pair")),
        (json("[[1,\"x\",[5]],null]"), "pair[]", Ok("array[row(1,'x','{5}'::int[])::pair,null]")),
        (json("{\"z\":1}"), "pair", Err("22P02")),
        (json("{\"price\":\"2.5\",\"j\":\"s\"}"), "priced", Ok("row(null,2.5,'\"s\"')::priced")),
        (json("[[1,2,[3]]]"), "priced[]", Ok("array[row(1,2,'[3]')::priced]")),
        (json("\"[1,3)\""), "int4range", Ok("'[1,3)'")),
        // Lists.
        (list(vec![1.into(), Value::Null, 3.into()]), "int[]", Ok("'{1,NULL,3}'")),
        (list(vec!["3".into(), "4".into()]), "int[]", Ok("'{3,4}'")),
        (list(vec![]), "int[]", Ok("'{}'")),
        (list(vec![list(vec![1.into()]), list(vec![2.into()])]), "int8[]", Ok("'{{1},{2}}'")),
        (list(vec![true.into(), false.into()]), "bool[]", Ok("'{t,f}'")),
        (list(vec![1.5_f64.into()]), "int[]", Err("22P02")),
        (list(vec![vec![0_u8].into()]), "bytea[]", Ok("array['\\x00'::bytea]")),
        (
            list(vec![uuid.to_vec().into()]),
            "uuid[]",
            Ok("array['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid]"),
        ),
        (
            list(vec![Value::Date(date)]),
            "timestamptz[]",
            Ok("array['2024-02-29 00:00 Asia/Kolkata'::timestamptz]"),
        ),
        (list(vec![1.into(), "a".into()]), "jsonb", Ok("'[1,\"a\"]'")),
        (list(vec![json("{\"a\":1}"), json("\"s\"")]), "jsonb[]", Ok("array['{\"a\":1}','\"s\"']::jsonb[]")),
        (list(vec![1.into(), "x".into(), list(vec![2.into()])]), "pair", Ok("row(1,'x','{2}'::int[])::pair")),
        (list(vec![1.into()]), "text", Err("42804")),
        (list(vec![1.into()]), "int4", Err("42804")),
        // Texts into what is no text.
        ("3000000000".into(), "int4", Err("22003")),
        ("1e39".into(), "float4", Err("22003")),
        ("0".into(), "bit(5)", Err("22026")),
        ("0".into(), "varbit(6)", Ok("'0'")),
        ("2024-02-30".into(), "date", Err("22008")),
    ]
}

const SETUP: &str = "create extension hstore; create type pair as (a int, \"B b\" text, l int[]);
    create type priced as (n int, price money, j jsonb);";

/// What is stored does not depend on how the column travels.
#[tokio::test]
async fn values_into_columns_b11_h_m01_h_m03_h_m05_h_m09() {
    for options in modes() {
        for (text_values, beside) in [(false, ""), (true, ""), (false, ", beside money not null default 1")] {
            let bed = Bed::new(SETUP).await;
            let mut wrong = Vec::new();
            for (value, data_type, expected) in cases() {
                let what = format!("{} into {data_type}, {text_values}{beside}", value.kind());
                bed.run(&format!(
                    "drop table if exists t, e;
                     create table t (id int primary key, c {data_type}{beside}); create table e (c {data_type})"
                ))
                .await;
                let options = skipping(options.clone().text_values(text_values)).time_zone("Asia/Kolkata");
                let sink = bed.sink("t", options).await;
                let rejects = rejected(&sink, RowKind::Insert, &[("id", 1.into()), ("c", value)]).await;
                match (expected, &rejects[..]) {
                    (Ok(expected), []) => {
                        bed.run(&format!("insert into e values ({expected})")).await;
                        let (written, expected) =
                            (bed.one("select c from t").await, bed.one("select c from e").await);
                        if written != expected {
                            wrong.push(format!("{what}: {written} instead of {expected}"));
                        }
                    }
                    (Err(code), [reject])
                        if reject.sqlstate == code && reject.column.as_deref() == Some("c") => {}
                    _ => wrong.push(format!("{what}: {rejects:?} instead of {expected:?}")),
                }
            }
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    }
}

#[tokio::test]
async fn an_error_names_column_source_kind_and_type_and_no_value() {
    let bed = Bed::new(
        "create type mood as enum ('ok'); create domain amount as numeric(5,2);
         create table t (id int primary key, i int, v varchar(3), b bool, d date, u uuid, j jsonb, m mood, a int[],
            n amount, t timestamptz, r int4range, x bytea, o interval, p inet)",
    )
    .await;
    let text = || Value::from(MARKER);
    let bad = [
        ("i", text(), "text into integer"),
        ("v", text(), "text into character varying"),
        ("b", text(), "text into boolean"),
        ("d", text(), "text into date"),
        ("u", text(), "text into uuid"),
        ("j", text(), "text into jsonb"),
        ("m", text(), "text into public.mood"),
        ("a", text(), "text into integer[]"),
        ("a", Value::Array(vec![text()]), "array into integer[]"),
        ("a", Value::Json(format!("[\"{MARKER}\"]").into()), "json into integer[]"),
        ("n", text(), "text into public.amount"),
        ("t", text(), "text into timestamp with time zone"),
        ("r", text(), "text into int4range"),
        ("x", Value::from(format!("\\x{MARKER}")), "text into bytea"),
        ("o", text(), "text into interval"),
        ("p", text(), "text into inet"),
        ("i", Value::Json(format!("\"{MARKER}\"").into()), "json into integer"),
        ("i", Value::Json(format!("[{MARKER}").into()), "json into integer"),
        ("i", Value::from(MARKER.as_bytes()), "bytes into integer"),
        ("i", Value::from(2.5), "float8 into integer"),
        ("j", Value::Json(format!("{{\"{MARKER}\"").into()), "json into jsonb"),
    ];
    for options in modes() {
        for policy in [false, true] {
            let options = if policy { skipping(options.clone()) } else { options.clone() };
            let sink = bed.sink("t", options).await;
            for (column, value, words) in &bad {
                let fields = [("id", Value::from(1)), (*column, value.clone())];
                let result = sink.write_values(RowKind::Insert, &fields).await;
                if policy {
                    result.unwrap();
                    let reject = sink.take_rejects().remove(0);
                    assert_eq!(reject.column.as_deref(), Some(*column));
                    assert!(reject.reason.contains(words), "{reject} without {words}");
                    assert!(!format!("{reject} {reject:?}").contains(MARKER), "{reject:?}");
                } else {
                    let error = result.unwrap_err();
                    shows_no_value(&error);
                    assert_eq!(error.context("column"), Some(*column));
                    assert!(error.to_string().contains(words), "{error} without {words}");
                }
            }
            assert_eq!(bed.one("select count(*) from t").await, "0");
        }
    }
}

#[tokio::test]
async fn numeric_digits_b12() {
    let texts = [
        "44.123456",
        "5000000000.000001",
        "-5000000000.000001",
        "0.0001",
        "0.00001",
        "10000",
        "9999.9999",
        "100000000",
        "1e-10",
        "12345678901234567890.1234567890",
        "0",
        "-0.5",
    ];
    for options in modes() {
        let bed = Bed::new(
            "create table t (id int primary key, v numeric(38,10));
             create function given(text, int, int) returns text language plpgsql as $$
             declare result text;
             begin
                execute format('select %L::numeric(%s,%s)::text', $1, $2, $3) into result;
                return result;
             exception when numeric_value_out_of_range then return sqlstate;
             end $$",
        )
        .await;
        let sink = bed.sink("t", options.clone()).await;
        for (id, text) in (0..).zip(texts) {
            sink.write_values(RowKind::Insert, &[("id", Value::from(id)), ("v", text.into())]).await.unwrap();
            let fields = [("id", Value::from(id + 100)), ("v", numeric(text))];
            sink.write_values(RowKind::Insert, &fields).await.unwrap();
        }
        sink.close().await.unwrap();
        for (id, text) in texts.iter().enumerate() {
            let expected = bed.one(&format!("select '{text}'::numeric(38,10)::text")).await;
            let sql = format!("select v::text from t where id in ({id}, {id} + 100)");
            assert_eq!(bed.lines(&sql).await, [expected.clone(), expected]);
        }

        // Random pairs of precision and scale, a column each.
        let mut seed = 11_u64;
        let mut next = |limit: i32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i32::try_from((seed >> 33) % u64::try_from(limit).unwrap()).unwrap()
        };
        for table in 0..10 {
            let cases: Vec<(i32, i32, String)> = (0..100)
                .map(|_| {
                    let precision = 1 + next(40);
                    let scale = next(precision + 8) - 4;
                    let mut digits = |most: i32| -> String {
                        (0..next(most + 1))
                            .map(|_| char::from(b'0' + u8::try_from(next(10)).unwrap()))
                            .collect()
                    };
                    let whole = digits((precision - scale).max(0) + 1);
                    let fraction = digits(scale.max(0) + 3);
                    let sign = if next(2) == 0 { "-" } else { "" };
                    (precision, scale, format!("{sign}0{whole}.{fraction}0"))
                })
                .collect();
            let columns: Vec<String> =
                cases.iter().enumerate().map(|(n, (p, s, _))| format!("c{n} numeric({p},{s})")).collect();
            bed.run(&format!("create table r{table} (id int primary key, {})", columns.join(", "))).await;
            let asked: Vec<String> =
                cases.iter().map(|(p, s, text)| format!("('{text}', {p}, {s})")).collect();
            let expected = bed
                .lines(&format!("select given(v, p, s) from (values {}) x (v, p, s)", asked.join(", ")))
                .await;
            let sink = bed.sink(&format!("r{table}"), options.clone()).await;
            let mut row = [vec![("id", Value::from(1))], vec![("id", Value::from(2))]];
            let names: Vec<String> = (0..cases.len()).map(|n| format!("c{n}")).collect();
            for ((name, (_, _, text)), expected) in names.iter().zip(&cases).zip(&expected) {
                let values = [Value::from(text.as_str()), numeric(text)];
                for (row, value) in row.iter_mut().zip(values) {
                    if expected == "22003" {
                        let fields = [("id", 1.into()), (name.as_str(), value)];
                        let error = sink.write_values(RowKind::Insert, &fields).await.unwrap_err();
                        assert_eq!(error.sqlstate(), Some("22003"));
                        assert_eq!(error.context("column"), Some(name.as_str()));
                    } else {
                        row.push((name, value));
                    }
                }
            }
            for row in &row {
                sink.write_values(RowKind::Insert, row).await.unwrap();
            }
            sink.close().await.unwrap();
            for stored in bed.rows(&format!("select * from r{table}")).await {
                for ((stored, expected), case) in stored[1..].iter().zip(&expected).zip(&cases) {
                    let expected = if expected == "22003" { "∅" } else { expected };
                    assert_eq!(stored, expected, "{case:?}");
                }
            }
        }
    }
}
