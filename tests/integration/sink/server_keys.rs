//! Keys whose equality only the server knows, and tables whose columns travel each in an array of its own.

use pgsluice::options::{ConflictAction, DeleteStrategy, SinkOptions};
use pgsluice::{RowKind, Value};

use super::bed::{Bed, modes, skipping};

const SETUP: &str = "
    create extension citext;
    create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create schema s; create collation s.\"Ci\" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create domain folded as citext; create domain ci_text as text collate ci;
    create type pair as (a int, b text);";

/// A key type, spellings of one key, and another key.
const KEYS: [(&str, [&str; 3], &str); 9] = [
    ("citext", ["abc", "ABC", "Abc"], "d"),
    ("folded", ["abc", "ABC", "Abc"], "d"),
    ("text collate ci", ["abc", "ABC", "Abc"], "d"),
    ("varchar(3) collate s.\"Ci\"", ["abc", "ABC  ", "Abc"], "d"),
    ("ci_text", ["abc", "ABC", "Abc"], "d"),
    ("jsonb", ["{\"a\":1.0,\"b\":2}", "{\"b\":2.0,\"a\":1}", "{\"a\":1, \"b\":2, \"b\":2}"], "\"x\""),
    ("numrange", ["[1,2]", "[1.0,2.00]", "[ 1,2]"], "empty"),
    ("pair", ["(1,a)", "(01,a)", "( 1,a)"], "(1,b)"),
    ("int[]", ["{1,2}", "{ 1, 2 }", "[1:2]={1,2}"], "{}"),
];

/// The same key with all columns in an array of rows, as texts, and each in an array of its own.
fn settings() -> impl Iterator<Item = (SinkOptions, &'static str)> {
    modes().flat_map(|options| {
        [
            (options.clone(), ""),
            (options.clone().text_values(true), ""),
            (options.clone(), ", beside money"),
            (options, ", beside needed default 3"),
        ]
    })
}

const NEEDED: &str = "create domain needed as int not null check (value > 0);";

#[tokio::test]
async fn several_spellings_of_one_key_in_one_batch() {
    for (sql, same, other) in KEYS {
        for (options, beside) in settings() {
            for composite in [false, true] {
                for fold in [false, true] {
                    let what = format!("{sql}{beside}, text {}, {composite} {fold}", options.text_values);
                    let key = if composite { "n, k" } else { "k" };
                    let bed = Bed::new(&format!(
                        "{SETUP}{NEEDED} create table t (k {sql}, n int default 5, v int, w int default 7{beside},
                            primary key ({key}))"
                    ))
                    .await;
                    let sink = bed.sink("t", options.clone().deduplication(fold)).await;
                    let write = async |kind: RowKind, key: &str, v: Option<i32>| {
                        let mut fields = vec![("k", Value::from(key.to_owned())), ("n", Value::from(1))];
                        fields.extend(v.map(|v| ("v", Value::from(v))));
                        sink.write_values(kind, &fields).await.unwrap();
                    };
                    let state = async || bed.lines("select v, w from t order by v").await;
                    write(RowKind::Insert, same[0], Some(1)).await;
                    write(RowKind::Insert, other, Some(5)).await;
                    write(RowKind::Insert, same[1], Some(2)).await;
                    write(RowKind::Insert, same[2], Some(3)).await;
                    sink.flush().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    assert_eq!(state().await, ["3|7", "5|7"], "{what}");
                    // Another spelling deletes, and what comes after it is a new row.
                    write(RowKind::Delete, same[2], None).await;
                    write(RowKind::Delete, other, None).await;
                    write(RowKind::Insert, same[1], Some(4)).await;
                    sink.flush().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    assert_eq!(state().await, ["4|7"], "{what}");
                    write(RowKind::Insert, same[2], Some(6)).await;
                    write(RowKind::Delete, same[0], None).await;
                    sink.close().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    assert_eq!(state().await, [""; 0], "{what}");
                }
            }
        }
    }
}

/// A key that is no value of its column is refused alone; the others keep their order.
#[tokio::test]
async fn a_key_that_is_no_value_is_refused_alone() {
    for (sql, good, bad) in
        [("int", ["1", "01"], "x"), ("jsonb", ["{}", " {}"], "{"), ("inet", ["10.1.1.1", "10.1.1.1/32"], "y")]
    {
        for (options, beside) in settings() {
            let bed =
                Bed::new(&format!("{SETUP}{NEEDED} create table t (k {sql} primary key, v int{beside})"))
                    .await;
            let sink = bed.sink("t", skipping(options)).await;
            for (key, v) in [(good[0], 1), (bad, 2), (good[1], 3), (bad, 4)] {
                let fields = [("k", Value::from(key)), ("v", v.into())];
                sink.write_values(RowKind::Insert, &fields).await.unwrap();
            }
            sink.write_values(RowKind::Delete, &[("k", bad.into())]).await.unwrap();
            let report = sink.close().await.unwrap();
            let mut wrong: Vec<u64> = report.rejects.iter().map(|reject| reject.position).collect();
            wrong.sort_unstable();
            assert_eq!(wrong, [2, 4, 5], "{sql}{beside}");
            assert!(report.rejects.iter().all(|r| r.sqlstate == "22P02" && r.column.as_deref() == Some("k")));
            assert_eq!(bed.lines("select v from t").await, ["3"], "{sql}{beside}");
        }
    }
}

/// Tables where only arrays of columns are possible: every policy and strategy, beside arrays and composites.
#[tokio::test]
async fn tables_of_column_arrays() {
    let tables = [
        "create table t (a int, b text, m money, l int[], c pair, p point[], d int default 7, primary key (a, b))",
        "create table t (a int, b text, m needed default 1, l int[], c pair, p point[], d int default 7, primary key (a, b))",
        "create table t (a int[], b pair, m money, l int[], c pair, p point[], d int default 7, primary key (a, b))",
    ];
    for table in tables {
        let keys = if table.contains("a int[]") {
            [["{1}", "(1,x)"], ["{1,2}", "(,)"]]
        } else {
            [["1", "x"], ["2", "y"]]
        };
        for action in
            [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore]
        {
            for options in modes() {
                for text_values in [false, true] {
                    for fold in [false, true] {
                        let what = format!("{table} {action:?} {text_values} {fold}");
                        let bed = Bed::new(&format!("{SETUP}{NEEDED}{table}")).await;
                        let options = options
                            .clone()
                            .on_conflict(action)
                            .deduplication(fold)
                            .text_values(text_values)
                            .delete_strategy(DeleteStrategy::ChangelogStandard);
                        let sink = bed.sink("t", options).await;
                        let write =
                            async |kind: RowKind,
                                   key: [&'static str; 2],
                                   rest: &[(&'static str, Value<'static>)]| {
                                let mut fields = vec![("a", Value::from(key[0])), ("b", Value::from(key[1]))];
                                fields.extend_from_slice(rest);
                                sink.write_values(kind, &fields).await.unwrap();
                            };
                        let list = || ("l", Value::Array(vec![1.into(), Value::Null]));
                        let pair = || ("c", Value::Json("{\"a\":1,\"b\":\"q,\"}".into()));
                        let points = || ("p", Value::Json("[\"(1,2)\",\"(3,4)\"]".into()));
                        let money = |value: &'static str| ("m", Value::from(value));
                        write(RowKind::Insert, keys[0], &[list(), pair(), points(), money("2")]).await;
                        write(RowKind::Insert, keys[1], &[list()]).await;
                        write(RowKind::UpdateAfter, keys[0], &[money("3")]).await;
                        sink.flush().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                        let sql = "select l, c, p, m::text::money::numeric, d from t order by a";
                        let missing = if table.contains("needed") { "1" } else { "∅" };
                        let cents = |text: &'static str| {
                            if table.contains("needed") { text.trim_end_matches(".00") } else { text }
                        };
                        let sql = if table.contains("needed") {
                            sql.replace("m::text::money::numeric", "m")
                        } else {
                            sql.replace("m::text::money", "m")
                        };
                        let all = "{1,NULL}|(1,\"q,\")|{\"(1,2)\",\"(3,4)\"}";
                        let expected = match action {
                            ConflictAction::InsertOrUpdate => {
                                [format!("{all}|{}|7", cents("3.00")), format!("{{1,NULL}}|∅|∅|{missing}|7")]
                            }
                            ConflictAction::InsertOrIgnore => {
                                [format!("{all}|{}|7", cents("2.00")), format!("{{1,NULL}}|∅|∅|{missing}|7")]
                            }
                            _ => {
                                [format!("∅|∅|∅|{}|∅", cents("3.00")), format!("{{1,NULL}}|∅|∅|{missing}|∅")]
                            }
                        };
                        assert_eq!(bed.lines(&sql).await, expected, "{what}");
                        write(RowKind::Delete, keys[0], &[]).await;
                        write(RowKind::Insert, keys[0], &[money("4")]).await;
                        write(RowKind::Delete, keys[1], &[list()]).await;
                        sink.flush().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                        let d = if action == ConflictAction::InsertOrReplace { "∅" } else { "7" };
                        assert_eq!(bed.lines(&sql).await, [format!("∅|∅|∅|{}|{d}", cents("4.00"))], "{what}");
                        write(RowKind::Delete, keys[0], &[]).await;
                        sink.close().await.unwrap();
                        assert_eq!(bed.one("select count(*) from t").await, "0", "{what}");
                    }
                }
            }
        }
    }
}

/// One key column that is an array, or a composite: neither may be taken apart on its way.
#[tokio::test]
async fn keys_that_are_arrays_or_composites_are_deleted() {
    for (sql, first, second) in
        [("int[]", "{1,2}", "{3}"), ("pair", "(1,x)", "(2,y)"), ("text[]", "{a}", "{}")]
    {
        for (options, beside) in settings() {
            let bed =
                Bed::new(&format!("{SETUP}{NEEDED} create table t (k {sql} primary key, v int{beside})"))
                    .await;
            for strategy in [DeleteStrategy::ChangelogStandard, DeleteStrategy::NonPkFieldToNull] {
                if strategy == DeleteStrategy::NonPkFieldToNull && beside.contains("needed") {
                    continue;
                }
                bed.run("truncate t").await;
                let sink = bed.sink("t", options.clone().delete_strategy(strategy)).await;
                for key in [first, second] {
                    sink.write_values(RowKind::Insert, &[("k", key.into()), ("v", 1.into())]).await.unwrap();
                }
                sink.flush().await.unwrap();
                sink.write_values(RowKind::Delete, &[("k", second.into())]).await.unwrap();
                sink.close().await.unwrap_or_else(|error| panic!("{sql}{beside} {strategy:?}: {error:?}"));
                let left = match strategy {
                    DeleteStrategy::NonPkFieldToNull => "∅,1".to_owned(),
                    _ => "1".to_owned(),
                };
                let sql = "select string_agg(coalesce(v::text, '∅'), ',' order by v desc) from t";
                assert_eq!(bed.one(sql).await, left, "{beside} {strategy:?}");
            }
        }
    }
}
