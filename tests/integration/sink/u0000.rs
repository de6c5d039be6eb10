//! U+0000, which no text of the server holds, and texts that are too long.

use pgsluice::options::SinkOptions;
use pgsluice::{ErrorKind, RowKind, Value};

use super::bed::{Bed, MARKER, modes, rejected, shows_no_value, skipping};

const WITH_ZEROS: [&str; 5] =
    ["\u{0}123", "123\u{0}", "\u{0}1\u{0}23\u{0}", "1\u{0}\u{0}23", "1\u{0}2\u{0}3"];

/// The same with and without texts that the server reads, and with the columns in arrays of their own.
fn settings() -> impl Iterator<Item = (SinkOptions, &'static str)> {
    modes().flat_map(|options| {
        [(options.clone(), ""), (options.clone().text_values(true), ""), (options, ", beside money")]
    })
}

#[tokio::test]
async fn zeros_are_taken_out_of_texts_h_e01_b10() {
    for kind in ["text", "varchar(3)", "citext", "name"] {
        for (options, beside) in settings() {
            let bed = Bed::new(&format!(
                "create extension citext; create table t (id int primary key, name {kind}{beside})"
            ))
            .await;
            let sink = bed.sink("t", options).await;
            let mut columns = sink.columns(&["id", "name"]).unwrap();
            for (id, text) in WITH_ZEROS.iter().enumerate() {
                let id = id.to_string();
                columns.write_text(RowKind::Insert, &[Some(&id), Some(text)]).await.unwrap();
                let id = format!("1{id}");
                columns.write_text(RowKind::Insert, &[Some(&id), Some("123")]).await.unwrap();
            }
            let report = sink.close().await.unwrap();
            assert_eq!(report.stats.removed_u0000, 5);
            assert_eq!(bed.lines("select distinct name from t").await, ["123"], "{kind}{beside}");
        }
    }
}

#[tokio::test]
async fn bytes_keep_their_zeros_h_e02_b10() {
    for (options, beside) in settings() {
        let bed = Bed::new(&format!("create table t (id int primary key, b bytea, a bytea[]{beside})")).await;
        let sink = bed.sink("t", options).await;
        let bytes = || Value::from(vec![0_u8, 1, 2, 3]);
        let fields = [("id", 1.into()), ("b", bytes()), ("a", Value::Array(vec![bytes()]))];
        sink.write_values(RowKind::Insert, &fields).await.unwrap();
        let fields =
            [("id", 2.into()), ("b", "\\x00010203".into()), ("a", Value::from("{\"\\\\x00010203\"}"))];
        sink.write_values(RowKind::Insert, &fields).await.unwrap();
        assert_eq!(sink.close().await.unwrap().stats.removed_u0000, 0);
        let expected = "\\x00010203|{\"\\\\x00010203\"}";
        assert_eq!(bed.lines("select b, a from t").await, [expected, expected]);
    }
}

#[tokio::test]
async fn zeros_are_refused_where_the_removal_is_off_h_e03_f_a97_b10() {
    for (options, beside) in settings() {
        let bed = Bed::new(&format!("create table t (id int primary key, name text, j jsonb{beside})")).await;
        let sink = bed.sink("t", skipping(options.clone()).remove_u0000(false)).await;
        for (id, text) in [(1, "a".to_owned()), (2, format!("{MARKER}\0b")), (3, "c".to_owned())] {
            sink.write_values(RowKind::Insert, &[("id", id.into()), ("name", text.into())]).await.unwrap();
        }
        let report = sink.close().await.unwrap();
        assert_eq!(bed.lines("select id, name from t order by id").await, ["1|a", "3|c"]);
        let [reject] = &report.rejects[..] else { panic!("{:?}", report.rejects) };
        assert_eq!(
            (reject.position, &*reject.sqlstate, reject.column.as_deref()),
            (2, "22021", Some("name"))
        );
        assert!(reject.reason.contains("invalid byte sequence"), "{reject}");
        assert!(reject.reason.contains("text into text"), "{reject}");

        // Under fail the record stays the caller's.
        let sink = bed.sink("t", options.remove_u0000(false)).await;
        let fields = [("id", 4.into()), ("name", Value::from(format!("{MARKER}\0b")))];
        let error = sink.write_values(RowKind::Insert, &fields).await.unwrap_err();
        shows_no_value(&error);
        assert_eq!((error.kind(), error.context("column")), (ErrorKind::Data, Some("name")));
        assert_eq!(error.sqlstate(), Some("22021"));
        assert_eq!(sink.stats().accepted, 0);
    }
}

#[tokio::test]
async fn zero_escapes_in_json_h_e05_b10() {
    // The text, and what is left of it; a backslash before the escape makes it none.
    let cases = [
        (r#"{"k":"a\u0000b"}"#, r#"{"k":"ab"}"#, true),
        (r#"{"a\u0000b":1}"#, r#"{"ab":1}"#, true),
        (r#"{"k":[1,{"n":["x","\u0000"]}]}"#, r#"{"k":[1,{"n":["x",""]}]}"#, true),
        (r#"{"k":"a\\u0000b"}"#, r#"{"k":"a\\u0000b"}"#, false),
        (r#"{"k":"a\\\u0000b"}"#, r#"{"k":"a\\b"}"#, true),
        (r#""\u0000""#, r#""""#, true),
    ];
    for (options, beside) in settings() {
        let bed =
            Bed::new(&format!("create table t (id int primary key, b jsonb, j json, ba jsonb[]{beside})"))
                .await;
        let sink = bed.sink("t", options.clone()).await;
        for (id, (text, left, _)) in (0..).zip(cases) {
            let list = || Value::Array(vec![Value::Json(text.into())]);
            let row = [
                ("id", Value::from(id)),
                ("b", Value::Json(text.into())),
                ("j", Value::from(text)),
                ("ba", list()),
            ];
            sink.write_values(RowKind::Insert, &row).await.unwrap();
            sink.flush().await.unwrap();
            let same = format!(
                "select b = $x${left}$x$::jsonb, j::text = $x${left}$x$, ba = array[$x${left}$x$::jsonb] from t where id = {id}"
            );
            assert_eq!(bed.lines(&same).await, ["t|t|t"], "{text}{beside}");
        }
        let removed = cases.iter().filter(|case| case.2).count() as u64 * 3;
        assert_eq!(sink.close().await.unwrap().stats.removed_u0000, removed);

        bed.run("truncate t").await;
        let sink = bed.sink("t", skipping(options.clone()).remove_u0000(false)).await;
        for (id, (text, ..)) in (0..).zip(cases) {
            sink.write_values(RowKind::Insert, &[("id", id.into()), ("b", text.into())]).await.unwrap();
            // A json column takes the escape.
            let fields = [("id", Value::from(id + 100)), ("j", Value::from(text))];
            sink.write_values(RowKind::Insert, &fields).await.unwrap();
        }
        let rejects = sink.close().await.unwrap().rejects;
        let wrong: Vec<u64> = rejects.iter().map(|reject| reject.position).collect();
        assert_eq!(wrong, [1, 3, 5, 9, 11]);
        assert!(
            rejects.iter().all(|reject| reject.sqlstate == "22P05" && reject.column.as_deref() == Some("b"))
        );
        assert_eq!(bed.one("select count(*) from t where j is not null").await, "6");
    }
}

#[tokio::test]
async fn zeros_in_elements_h_e06() {
    for (options, beside) in settings() {
        let bed = Bed::new(&format!("create table t (id int primary key, a text[]{beside})")).await;
        let sink = bed.sink("t", options.clone()).await;
        let values = [
            Value::Array(vec!["a\0b".into(), Value::Null, "\0".into()]),
            Value::from("{\"a\0b\",NULL,\"\0\"}"),
            Value::Json(r#"["a\u0000b", null, "\u0000"]"#.into()),
        ];
        for (id, value) in (0..).zip(values) {
            sink.write_values(RowKind::Insert, &[("id", Value::from(id)), ("a", value)]).await.unwrap();
        }
        sink.close().await.unwrap();
        assert_eq!(bed.lines("select a from t").await, [r#"{ab,NULL,""}"#; 3], "{beside}");
        let sink = bed.sink("t", skipping(options).remove_u0000(false)).await;
        let value = Value::Array(vec![format!("{MARKER}\0").into()]);
        let rejects = rejected(&sink, RowKind::Insert, &[("id", 9.into()), ("a", value)]).await;
        assert_eq!((&*rejects[0].sqlstate, rejects[0].column.as_deref()), ("22021", Some("a")));
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_h_e08_h_e09() {
    for (options, beside) in settings() {
        let bed = Bed::new(&format!(
            "create table t (id int primary key, v varchar(2), w varchar(3), a varchar(3)[]{beside})"
        ))
        .await;
        let options = options.flush_interval(std::time::Duration::from_millis(100));
        let sink = bed.sink("t", options.clone()).await;
        let long = Value::from(format!("{MARKER}abcde"));
        let error = sink.write_values(RowKind::Insert, &[("id", 1.into()), ("v", long)]).await.unwrap_err();
        shows_no_value(&error);
        assert_eq!((error.sqlstate(), error.context("column")), (Some("22001"), Some("v")));
        sink.write_values(RowKind::Insert, &[("id", 1.into()), ("v", "ab".into())]).await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(bed.lines("select id, v from t").await, ["1|ab"]);

        let sink = bed.sink("t", skipping(options)).await;
        let texts = ["abc   ", "abcd", "🐘🐘🐘", "🐘🐘🐘🐘"];
        for (id, text) in (10..).zip(texts) {
            sink.write_values(RowKind::Insert, &[("id", Value::from(id)), ("w", text.into())]).await.unwrap();
            let list = Value::Array(vec![text.into()]);
            sink.write_values(RowKind::Insert, &[("id", Value::from(id + 10)), ("a", list)]).await.unwrap();
        }
        let rejects = sink.close().await.unwrap().rejects;
        let mut wrong: Vec<(u64, &str)> = rejects.iter().map(|r| (r.position, &*r.sqlstate)).collect();
        wrong.sort_unstable();
        assert_eq!(wrong, [(3, "22001"), (4, "22001"), (7, "22001"), (8, "22001")], "{beside}");
        assert_eq!(
            bed.lines("select w, a from t where id >= 10 order by id").await,
            ["abc|∅", "🐘🐘🐘|∅", "∅|{abc}", "∅|{🐘🐘🐘}"]
        );
    }
}
