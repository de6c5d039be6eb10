//! `sink.text-values`: what only the server reads, and what it refuses, record by record.

use pgsluice::{ErrorKind, RowKind, Value};

use super::bed::{Bed, MARKER, modes, rejected, skipping};

/// Texts that the client leaves to the server.
#[tokio::test]
async fn texts_that_only_the_server_reads() {
    let cases = [
        ("date", "10/03/2024"),
        ("date", "March 10, 2024"),
        ("timestamp", "10.03.2024 02:30"),
        ("timestamptz", "2024-03-10 02:30 America/New_York"),
        ("interval", "1-2"),
        ("numeric", "  1.5  "),
        ("oid", "010"),
        ("money", "$1.50"),
    ];
    for options in modes() {
        for (data_type, text) in cases {
            let bed =
                Bed::new(&format!("create table t (id int primary key, c {data_type}, e {data_type})")).await;
            let sink = bed.sink("t", options.clone().text_values(true)).await;
            sink.write_values(RowKind::Insert, &[("id", 1.into()), ("c", text.into())]).await.unwrap();
            sink.close().await.unwrap();
            bed.run(&format!("update t set e = '{text}'")).await;
            assert_eq!(bed.one("select c = e from t").await, "t", "{data_type} {text}");
        }
        let bed = Bed::new("create table t (id int primary key, c timestamptz)").await;
        let sink = bed.sink("t", skipping(options.clone())).await;
        let fields = [("id", 1.into()), ("c", Value::from("now"))];
        let rejects = rejected(&sink, RowKind::Insert, &fields).await;
        assert!(rejects[0].reason.contains("sink.text-values=true"), "{}", rejects[0]);
        let sink = bed.sink("t", options.text_values(true)).await;
        sink.write_values(RowKind::Insert, &fields).await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(bed.one("select now() - c < '1 minute' from t").await, "t");
    }
}

/// A text that its type refuses costs its own record alone, whatever code the type's input function gives, and the
/// column is named.
#[tokio::test]
async fn a_bad_text_costs_its_record_alone() {
    let cases: [(&str, &str, &str); 24] = [
        ("int", "1", MARKER),
        ("int[]", "{1}", "{m4rk3r}"),
        ("numeric(4,2)", "1", "m4rk3r"),
        ("date", "2024-01-01", MARKER),
        ("money", "1", MARKER),
        ("point", "(1,2)", MARKER),
        ("regclass", "pg_class", MARKER),
        ("regtype", "int", MARKER),
        ("regproc", "now", MARKER),
        ("regrole", "postgres", MARKER),
        ("aclitem", "postgres=r/postgres", "m4rk3r=r/m4rk3r"),
        ("tsvector", "a", "'m4rk3r"),
        ("tsquery", "a", "m4rk3r &&& !"),
        ("jsonpath", "$", "m4rk3r $ $"),
        ("hstore", "a=>1", "m4rk3r"),
        ("ltree", "a.b", "m4rk3r.."),
        ("lquery", "a.*", "m4rk3r.{"),
        ("cube", "(1)", MARKER),
        ("xml", "<a/>", "<m4rk3r>"),
        ("numrange", "[1,2]", "[2,1]"),
        ("jsonb", "1", "{m4rk3r"),
        ("flags", "010", "01010"),
        ("amount", "1.5", "-1.5"),
        ("pair", "(1,2)", "(m4rk3r,2)"),
    ];
    for options in modes() {
        for (data_type, good, bad) in cases {
            for (text_values, beside) in [(true, ""), (false, ""), (false, ", beside money")] {
                let what = format!("{data_type} {text_values}{beside}");
                let bed = Bed::new(&format!(
                    "create extension hstore; create extension ltree; create extension cube;
                     create domain flags as bit(3); create domain amount as numeric(6,2) check (value > 0);
                     create type pair as (a int, b int);
                     create table t (id int primary key, o text, c {data_type}{beside})"
                ))
                .await;
                let sink = bed.sink("t", skipping(options.clone().text_values(text_values))).await;
                for (id, text) in [(1, good), (2, bad), (3, good)] {
                    let fields = [("id", Value::from(id)), ("o", "x".into()), ("c", text.into())];
                    sink.write_values(RowKind::Insert, &fields).await.unwrap();
                }
                let report = sink.close().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                let [reject] = &report.rejects[..] else { panic!("{what}: {:?}", report.rejects) };
                assert_eq!((reject.position, reject.column.as_deref()), (2, Some("c")), "{what}: {reject}");
                assert!(!format!("{reject} {reject:?}").contains(MARKER), "{what}: {reject}");
                assert_eq!(bed.lines("select id from t order by id").await, ["1", "3"], "{what}");
            }
        }
    }
}

/// What is no fault of a record is none of its rejects: the table went away, or a column.
#[tokio::test]
async fn a_lost_table_is_no_data_error() {
    for options in modes() {
        for change in ["drop table t", "alter table t drop c", "alter table t drop constraint t_pkey"] {
            let bed = Bed::new("create table t (id int primary key, c regclass)").await;
            let sink = bed.sink("t", skipping(options.clone().text_values(true))).await;
            bed.run(change).await;
            sink.write_values(RowKind::Insert, &[("id", 1.into()), ("c", "pg_class".into())]).await.unwrap();
            let error = sink.flush().await.unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Rejected, "{change}: {error}");
            assert_eq!(sink.stats().rejected, 0);
        }
    }
}

/// An explicit cast to a domain would cut.
#[tokio::test]
async fn nothing_is_cut_on_its_way_into_a_domain() {
    let cases = [
        ("bit(3)", "01010", "22026"),
        ("varbit(3)", "01010", "22001"),
        ("varchar(3)[]", "{abcd}", "22001"),
        ("char(3)[]", "{abcd}", "22001"),
        ("bit(3)[]", "{0101}", "22026"),
        ("\"char\"[]", "{ab}", "22001"),
        ("name[]", "{a0123456789012345678901234567890123456789012345678901234567890123}", "42622"),
    ];
    for options in modes() {
        for (data_type, text, code) in cases {
            for beside in ["", ", beside money"] {
                for text_values in [false, true] {
                    let what = format!("{data_type}{beside} {text_values}");
                    let bed = Bed::new(&format!(
                        "create domain d as {data_type}; create domain dd as d;
                         create table t (id int primary key, c d, e dd{beside})"
                    ))
                    .await;
                    let sink = bed.sink("t", skipping(options.clone().text_values(text_values))).await;
                    for column in ["c", "e"] {
                        let rejects =
                            rejected(&sink, RowKind::Insert, &[("id", 1.into()), (column, text.into())])
                                .await;
                        let [reject] = &rejects[..] else {
                            panic!("{what}: stored as {:?}", bed.lines("select * from t").await);
                        };
                        assert_eq!(
                            (&*reject.sqlstate, reject.column.as_deref()),
                            (code, Some(column)),
                            "{what}"
                        );
                    }
                }
            }
        }
    }
}

/// The fields of an interval column say what a number without unit means.
#[tokio::test]
async fn intervals_of_certain_fields() {
    for options in modes() {
        for (data_type, text) in [
            ("interval year", "7"),
            ("interval year", "30 mons"),
            ("interval hour to minute", "7"),
            ("interval hour to minute", "3 days 04:05:06"),
            ("years", "7"),
        ] {
            for (text_values, beside) in [(true, ""), (false, ""), (false, ", beside needed default 1")] {
                let bed = Bed::new(&format!(
                    "create domain years as interval year; create domain needed as int not null;
                     create table t (c {data_type} primary key, v int{beside}); create table e (c {data_type});
                     insert into e values ('{text}')"
                ))
                .await;
                let sink = bed.sink("t", options.clone().text_values(text_values)).await;
                for kind in [RowKind::Insert, RowKind::Insert, RowKind::Delete] {
                    sink.write_values(kind, &[("c", text.into()), ("v", 1.into())]).await.unwrap();
                    sink.flush().await.unwrap();
                    let expected =
                        if kind == RowKind::Delete { vec![] } else { bed.lines("select c from e").await };
                    assert_eq!(bed.lines("select c from t").await, expected, "{data_type} {text}{beside}");
                }
                // A value has its units, and is cut to the fields.
                let value = Value::Interval(pgsluice::record::Interval::new(30, 1, 3_600_000_000));
                sink.write_values(RowKind::Insert, &[("c", value)]).await.unwrap();
                sink.close().await.unwrap();
                let sql = format!(
                    "select c = '30 mons 1 day 01:00'::interval::{} from t",
                    if data_type == "years" { "interval year" } else { data_type }
                );
                assert_eq!(bed.one(&sql).await, "t", "{data_type}{beside}");
            }
        }
        let bed = Bed::new("create table t (id int primary key, a interval year[])").await;
        let sink = bed.sink("t", skipping(options.text_values(true))).await;
        let rejects = rejected(&sink, RowKind::Insert, &[("id", 1.into()), ("a", "{7}".into())]).await;
        assert_eq!((rejects.len(), rejects[0].column.as_deref()), (1, Some("a")));
    }
}
