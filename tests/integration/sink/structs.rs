//! Records from Rust types through serde.

use std::collections::{BTreeMap, HashMap};

use pgsluice::{ErrorKind, RowKind};
use serde::{Serialize, Serializer};

use super::bed::{Bed, MARKER, modes, shows_no_value};

const TABLE: &str = "
    create type mood as enum ('ok', 'so so');
    create type point2 as (x int, y numeric);
    create table t (
        id int primary key, name text default 'd', v int default 7, doc jsonb, docs jsonb, list int[], grid int[], m mood,
        kind text, day date, big numeric, bytes bytea, u uuid, c \"char\", flag bool, at timestamptz, pos point2,
        f4 float4, words text[]
    )";

/// With the columns in one array of rows, and each in an array of its own.
const BESIDE: [&str; 2] = ["", "; alter table t add beside money"];

#[derive(Serialize)]
struct Id(i32);

#[derive(Serialize)]
enum Mood {
    #[serde(rename = "ok")]
    Ok,
    #[serde(rename = "so so")]
    SoSo,
}

#[derive(Serialize)]
struct Inner<'a> {
    text: &'a str,
    list: Vec<Option<i32>>,
    map: BTreeMap<u8, f64>,
}

fn as_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

#[derive(Serialize)]
struct Whole<'a> {
    id: Id,
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<i32>,
    doc: Inner<'a>,
    docs: Vec<Inner<'a>>,
    list: Vec<Option<i64>>,
    grid: [[u8; 2]; 2],
    m: Mood,
    kind: Mood,
    day: &'a str,
    big: i128,
    #[serde(serialize_with = "as_bytes")]
    bytes: &'a [u8],
    u: String,
    c: char,
    flag: bool,
    at: &'a str,
    pos: Position,
    f4: f32,
    words: (&'a str, String),
}

#[derive(Serialize)]
struct Position {
    x: i32,
    y: f64,
}

fn whole<'a>(id: i32, name: Option<&'a str>, v: Option<i32>) -> Whole<'a> {
    let inner = || Inner { text: "a\"b\\", list: vec![Some(1), None], map: BTreeMap::from([(7, 1.5)]) };
    Whole {
        id: Id(id),
        name,
        v,
        doc: inner(),
        docs: vec![inner()],
        list: vec![Some(-1), None],
        grid: [[1, 2], [3, 4]],
        m: Mood::SoSo,
        kind: Mood::Ok,
        day: "2024-02-29",
        big: i128::MIN,
        bytes: b"\0\xff",
        u: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11".to_owned(),
        c: 'x',
        flag: true,
        at: "2024-03-10T02:30:00+00:00",
        pos: Position { x: 1, y: 0.1 },
        f4: 0.1,
        words: ("a,b", "c\"d".to_owned()),
    }
}

#[tokio::test]
async fn a_struct_gives_every_column_its_field() {
    for options in modes() {
        for beside in BESIDE {
            for text_values in [false, true] {
                let bed = Bed::new(&format!("{TABLE}{beside}")).await;
                let sink = bed.sink("t", options.clone().text_values(text_values)).await;
                sink.upsert(&whole(1, Some("n"), None)).await.unwrap();
                sink.upsert(&whole(2, None, Some(5))).await.unwrap();
                sink.close().await.unwrap();
                bed.run("set timezone to 'UTC'").await;
                let inner = r#"{"map": {"7": 1.5}, "list": [1, null], "text": "a\"b\\"}"#;
                let rest = format!(
                    "{inner}|[{inner}]|{{-1,NULL}}|{{{{1,2}},{{3,4}}}}|so so|ok|2024-02-29\
                     |-170141183460469231731687303715884105728|\\x00ff|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|x|t\
                     |2024-03-10 02:30:00+00|(1,0.1)|0.1|{{\"a,b\",\"c\\\"d\"}}"
                );
                let sql = "select id, name, v, doc, docs, list, grid, m, kind, day, big, bytes, u, c, flag, at, pos, f4, words
                     from t order by id";
                assert_eq!(
                    bed.lines(sql).await,
                    [format!("1|n|7|{rest}"), format!("2|∅|5|{rest}")],
                    "{beside} {text_values}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_skipped_field_is_absent_and_none_is_null() {
    #[derive(Serialize)]
    struct Short {
        id: i32,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Option<&'static str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        v: Option<Option<i32>>,
    }
    for options in modes() {
        for beside in BESIDE {
            let bed = Bed::new(&format!("{TABLE}{beside}")).await;
            let sink = bed.sink("t", options.clone()).await;
            let rows = [
                Short { id: 1, name: None, v: None },
                Short { id: 2, name: Some(None), v: Some(None) },
                Short { id: 3, name: Some(Some("x")), v: None },
                // Changes the column that it gives.
                Short { id: 1, name: None, v: Some(Some(1)) },
                Short { id: 3, name: None, v: Some(None) },
            ];
            for row in &rows {
                sink.upsert(row).await.unwrap();
            }
            sink.close().await.unwrap();
            assert_eq!(bed.lines("select id, name, v from t order by id").await, ["1|d|1", "2|∅|∅", "3|x|∅"]);
        }
    }
}

#[tokio::test]
async fn maps_and_json_objects_are_records() {
    for options in modes() {
        let bed = Bed::new(TABLE).await;
        let sink = bed.sink("t", options).await;
        sink.upsert(&HashMap::from([("id", 1), ("v", 2)])).await.unwrap();
        sink.upsert(&BTreeMap::from([("id".to_owned(), Some("2")), ("name".to_owned(), None)]))
            .await
            .unwrap();
        let object = serde_json::json!({
            "id": 3, "name": "n", "doc": {"a": [1, null]}, "docs": [1, {"b": "c"}], "list": [1, null, 3], "m": "ok",
            "big": u64::MAX, "flag": false, "pos": {"y": 2.5, "x": null}, "words": ["a", "NULL", null, ""],
        });
        sink.upsert(&object).await.unwrap();
        sink.write(RowKind::Delete, &serde_json::json!({"id": 1, "v": 8})).await.unwrap();
        sink.close().await.unwrap();
        let sql = "select id, name, v, doc, docs, list, m, big, flag, pos, words from t order by id";
        assert_eq!(
            bed.lines(sql).await,
            [
                "2|∅|7|∅|∅|∅|∅|∅|∅|∅|∅".to_owned(),
                format!(
                    r#"3|n|7|{{"a": [1, null]}}|[1, {{"b": "c"}}]|{{1,NULL,3}}|ok|{}|f|(,2.5)|{{a,"NULL",NULL,""}}"#,
                    u64::MAX
                ),
            ]
        );
    }
}

#[tokio::test]
async fn big_integers_are_exact_or_refused() {
    #[derive(Serialize)]
    struct Big {
        id: i32,
        big: u128,
        v: u64,
    }
    let bed = Bed::new(TABLE).await;
    let sink = bed.sink("t", modes().next().unwrap()).await;
    sink.upsert(&Big { id: 1, big: u128::MAX, v: 1 }).await.unwrap();
    let error = sink.upsert(&Big { id: 2, big: 0, v: u64::MAX }).await.unwrap_err();
    assert_eq!((error.sqlstate(), error.context("column")), (Some("22003"), Some("v")));
    sink.close().await.unwrap();
    assert_eq!(bed.lines("select id, big from t").await, [format!("1|{}", u128::MAX)]);
}

#[tokio::test]
async fn what_is_no_record_is_refused_with_words_that_say_so() {
    let bed = Bed::new(TABLE).await;
    for options in modes() {
        let sink = bed.sink("t", options).await;
        let number = sink.upsert(&7).await.unwrap_err();
        let text = sink.upsert(MARKER).await.unwrap_err();
        let list = sink.upsert(&vec![HashMap::from([("id", MARKER)])]).await.unwrap_err();
        let tuple = sink.upsert(&(1, MARKER)).await.unwrap_err();
        let unit = sink.upsert(&()).await.unwrap_err();
        let none = sink.upsert(&None::<Position>).await.unwrap_err();
        let variant = sink.upsert(&Mood::Ok).await.unwrap_err();
        for error in [number, text, list, tuple, unit, none, variant] {
            shows_no_value(&error);
            assert_eq!(error.kind(), ErrorKind::Data);
            assert!(error.to_string().contains("a record must be a struct or a map"), "{error}");
            assert_eq!(error.context("table"), Some("\"public\".\"t\""));
        }
        assert_eq!(sink.stats().accepted, 0);
        sink.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_field_that_fails_is_named_without_its_value() {
    /// A type whose own `Serialize` fails, with the value in its words.
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom(format!("cannot write {MARKER}")))
        }
    }
    #[derive(Serialize)]
    struct Row<T> {
        id: i32,
        doc: T,
    }
    let bed = Bed::new(TABLE).await;
    let sink = bed.sink("t", modes().next().unwrap()).await;
    let bytes_map = HashMap::from([((1, 2), MARKER)]);
    let errors = [
        sink.upsert(&Row { id: 1, doc: Broken }).await.unwrap_err(),
        sink.upsert(&Row { id: 1, doc: vec![Broken] }).await.unwrap_err(),
        sink.upsert(&Row { id: 1, doc: HashMap::from([("k", Broken)]) }).await.unwrap_err(),
        sink.upsert(&Row { id: 1, doc: bytes_map }).await.unwrap_err(),
    ];
    for error in errors {
        shows_no_value(&error);
        assert_eq!((error.kind(), error.context("column")), (ErrorKind::Data, Some("doc")), "{error}");
    }
    sink.upsert(&serde_json::json!({"id": 1, "nothing": 2})).await.unwrap_err();
    assert_eq!(sink.close().await.unwrap().stats.accepted, 0);
}
