//! Random sequences of changes against a model that applies them one by one: the table must not tell the difference,
//! whatever the policy, the strategy, the batch size and the number of lanes.

use std::collections::BTreeMap;

use pgsluice::connection::Pool;
use pgsluice::connection::PoolOptions;
use pgsluice::options::{ConflictAction, DeleteStrategy, RejectPolicy, SinkOptions};
use pgsluice::sink::Sink;
use pgsluice::{RowKind, Value};
use pgsluice_testcontainers::Database;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::conformance::{InMode, all_modes};

/// A key column of the test tables: its type, and texts of which those in one list are equal keys.
struct KeyType {
    sql: &'static str,
    classes: &'static [&'static [&'static str]],
}

/// Keys that are equal by their type, not by their bytes.
const KEY_TYPES: &[KeyType] = &[
    KeyType { sql: "int", classes: &[&["1", " 1", "01"], &["2"], &["-3", "-03"]] },
    KeyType {
        sql: "numeric",
        classes: &[&["1", "1.0", "1.00"], &["2", "2.000"], &["-0.5", "-.5"], &["NaN"]],
    },
    KeyType { sql: "numeric(6,2)", classes: &[&["1", "1.001", "0.999"], &["2.5", "2.50"], &["3"]] },
    KeyType { sql: "text", classes: &[&["a"], &["b"], &["A"], &["a "]] },
    KeyType { sql: "char(3)", classes: &[&["a", "a ", "a  "], &["b"], &["A"]] },
    KeyType { sql: "float8", classes: &[&["0", "-0"], &["1.5", "15e-1"], &["NaN"]] },
    KeyType {
        sql: "timestamptz(0)",
        classes: &[
            &["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01", "2024-01-01T00:00:00.2Z"],
            &["2024-06-01T00:00:00Z"],
            &["infinity"],
        ],
    },
    KeyType { sql: "interval", classes: &[&["1 day", "24:00:00"], &["30 days", "1 mon"], &["0"]] },
    KeyType { sql: "citext", classes: &[&["abc", "Abc", "ABC"], &["b"], &["ä", "Ä"]] },
    KeyType {
        sql: "jsonb",
        classes: &[&["1.0", "1.00"], &["{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"], &["\"x\""]],
    },
];

/// A key: for each column the class and the spelling within it.
type Key = Vec<(usize, usize)>;

#[derive(Debug, Clone)]
struct Change {
    kind: RowKind,
    key: Key,
    /// The columns beside the key: absent, NULL or a value.
    fields: [Option<Option<i32>>; 3],
}

#[derive(Debug, Clone)]
struct Case {
    key_types: Vec<usize>,
    changes: Vec<(Change, bool)>,
    action: u8,
    strategy: u8,
    lanes: usize,
    rows: usize,
    fold: bool,
    not_null: bool,
    mode: usize,
}

/// The columns `a int`, `b int default 7`, `n int not null default 9` (nullable in some tables).
const FIELDS: [&str; 3] = ["a", "b", "n"];
const DEFAULTS: [Option<i32>; 3] = [None, Some(7), Some(9)];

fn change() -> impl Strategy<Value = (Change, bool)> {
    let field = prop_oneof![2 => Just(None), 1 => Just(Some(None)), 4 => (0..5).prop_map(|v| Some(Some(v)))];
    let kind = prop_oneof![
        5 => Just(RowKind::Insert),
        1 => Just(RowKind::UpdateBefore),
        1 => Just(RowKind::UpdateAfter),
        3 => Just(RowKind::Delete),
    ];
    let key = proptest::collection::vec((0usize..3, 0usize..3), 3);
    // Seldom a flush in between.
    (kind, key, [field.clone(), field.clone(), field], proptest::bool::weighted(0.1))
        .prop_map(|(kind, key, fields, flush)| (Change { kind, key, fields }, flush))
}

fn case() -> impl Strategy<Value = Case> {
    (
        proptest::collection::vec(0..KEY_TYPES.len(), 1..=3),
        proptest::collection::vec(change(), 1..40),
        0u8..3,
        0u8..4,
        1usize..=4,
        prop_oneof![Just(1usize), Just(2), Just(7), Just(1000)],
        proptest::bool::weighted(0.7),
        any::<bool>(),
        0..all_modes().len(),
    )
        .prop_map(|(key_types, changes, action, strategy, lanes, rows, fold, not_null, mode)| Case {
            key_types,
            changes,
            action,
            strategy,
            lanes,
            rows,
            fold,
            not_null,
            mode,
        })
}

/// By the key's classes: its spelling, and the other columns.
type Rows = BTreeMap<Vec<usize>, (Vec<&'static str>, [Option<i32>; 3])>;

impl Case {
    fn action(&self) -> ConflictAction {
        match self.action {
            0 => ConflictAction::InsertOrUpdate,
            1 => ConflictAction::InsertOrReplace,
            _ => ConflictAction::InsertOrIgnore,
        }
    }

    fn strategy(&self) -> DeleteStrategy {
        match self.strategy {
            0 => DeleteStrategy::IgnoreDelete,
            1 => DeleteStrategy::NonPkFieldToNull,
            2 => DeleteStrategy::DeleteRowOnPk,
            _ => DeleteStrategy::ChangelogStandard,
        }
    }

    fn class(&self, change: &Change) -> Vec<usize> {
        self.key_types
            .iter()
            .zip(&change.key)
            .map(|(&key_type, (class, _))| class % KEY_TYPES[key_type].classes.len())
            .collect()
    }

    fn spelling(&self, change: &Change) -> Vec<&'static str> {
        self.key_types
            .iter()
            .zip(&change.key)
            .map(|(&key_type, (class, spelling))| {
                let classes = KEY_TYPES[key_type].classes;
                let spellings = classes[class % classes.len()];
                spellings[spelling % spellings.len()]
            })
            .collect()
    }

    /// The rows that the changes give one by one.
    fn model(&self) -> Rows {
        let mut rows = Rows::new();
        for (change, _) in &self.changes {
            let key = self.class(change);
            let delete = match (change.kind, self.strategy()) {
                (RowKind::Insert | RowKind::UpdateAfter, _) => false,
                (_, DeleteStrategy::IgnoreDelete) => continue,
                (RowKind::UpdateBefore, DeleteStrategy::NonPkFieldToNull | DeleteStrategy::DeleteRowOnPk) => {
                    continue;
                }
                _ => true,
            };
            let refused = |row: &[Option<i32>; 3]| self.not_null && row[2].is_none();
            if delete {
                if self.strategy() == DeleteStrategy::NonPkFieldToNull {
                    if let Some((_, row)) = rows.get_mut(&key).filter(|_| !self.not_null) {
                        *row = [None; 3];
                    }
                } else {
                    rows.remove(&key);
                }
                continue;
            }
            let replace = self.action() == ConflictAction::InsertOrReplace;
            let given: [Option<Option<i32>>; 3] = std::array::from_fn(|n| {
                if !replace {
                    change.fields[n]
                } else if n == 2 && self.not_null {
                    // NULL, given or not, is the DEFAULT of a NOT NULL column.
                    Some(change.fields[n].flatten().or(DEFAULTS[n]))
                } else {
                    Some(change.fields[n].flatten())
                }
            });
            let fresh: [Option<i32>; 3] = std::array::from_fn(|n| given[n].unwrap_or(DEFAULTS[n]));
            // The server looks at NOT NULL before it looks for the key.
            if refused(&fresh) {
                continue;
            }
            match rows.get_mut(&key) {
                None => drop(rows.insert(key, (self.spelling(change), fresh))),
                Some(_) if self.action() == ConflictAction::InsertOrIgnore => {}
                Some((_, row)) => *row = std::array::from_fn(|n| given[n].unwrap_or(row[n])),
            }
        }
        rows
    }
}

async fn run(database: &Database, pool: &Pool, table: &str, case: &Case) -> Result<(), TestCaseError> {
    let client = database.client().await;
    let keys: Vec<String> = (0..case.key_types.len()).map(|n| format!("k{n}")).collect();
    let columns: Vec<String> =
        keys.iter().zip(&case.key_types).map(|(k, &t)| format!("{k} {}", KEY_TYPES[t].sql)).collect();
    let not_null = if case.not_null { "not null" } else { "" };
    client
        .batch_execute(&format!(
            "create table {table} ({}, a int, b int default 7, n int {not_null} default 9, primary key ({}));
             create table {table}_expected (like {table})",
            columns.join(", "),
            keys.join(", ")
        ))
        .await
        .unwrap();
    let options = SinkOptions::new()
        .on_conflict(case.action())
        .delete_strategy(case.strategy())
        .deduplication(case.fold)
        .lanes(case.lanes)
        .batch_rows(case.rows)
        .in_mode(all_modes()[case.mode])
        .reject_policy(RejectPolicy::Skip { limit: None });
    let sink = Sink::open(pool, table, options).await.unwrap();
    for (change, flush) in &case.changes {
        let mut fields: Vec<(&str, Value<'_>)> =
            keys.iter().map(String::as_str).zip(case.spelling(change).into_iter().map(Value::from)).collect();
        for (name, field) in FIELDS.iter().zip(&change.fields) {
            if let Some(value) = field {
                fields.push((name, Value::from(*value)));
            }
        }
        sink.write_values(change.kind, &fields).await.unwrap();
        if *flush {
            sink.flush().await.unwrap();
        }
    }
    let stats = sink.close().await.unwrap().stats;
    prop_assert_eq!(stats.accepted, case.changes.len() as u64);
    prop_assert_eq!(stats.accepted, stats.committed + stats.rejected);
    for (spelling, fields) in case.model().values() {
        let values: Vec<String> = spelling
            .iter()
            .map(|text| format!("'{text}'"))
            .chain(fields.iter().map(|field| field.map_or("null".to_owned(), |v| v.to_string())))
            .collect();
        client
            .batch_execute(&format!("insert into {table}_expected values ({})", values.join(", ")))
            .await
            .unwrap();
    }
    let text = |table: String| {
        let client = &client;
        let sql = format!("select coalesce(string_agg(t::text, E'\\n' order by t::text), '') from {table} t");
        async move { client.query_one(&sql, &[]).await.unwrap().get::<_, String>(0) }
    };
    prop_assert_eq!(text(table.to_owned()).await, text(format!("{table}_expected")).await);
    client.batch_execute(&format!("drop table {table}, {table}_expected")).await.unwrap();
    Ok(())
}

/// Sequences in all; each of the tests below runs its share.
fn cases() -> u32 {
    std::env::var("PGSLUICE_MODEL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000)
}

fn sequences(share: u32, case: impl Strategy<Value = Case>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let database = runtime.block_on(Database::new());
    let pool = runtime.block_on(async {
        database.client().await.batch_execute("create extension citext").await.unwrap();
        Pool::open(&database.url(), PoolOptions::named("model").size(4)).await.unwrap()
    });
    let config = Config { cases: cases().div_ceil(share), failure_persistence: None, ..Config::default() };
    let number = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&case, |case| {
        number.set(number.get() + 1);
        runtime.block_on(run(&database, &pool, &format!("t{}", number.get()), &case))
    });
    runtime.block_on(async { drop((pool, database)) });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn random_sequences_give_what_one_by_one_gives_in_one_lane() {
    sequences(2, case().prop_map(|case| Case { lanes: 1, ..case }));
}

#[test]
fn random_sequences_give_what_one_by_one_gives_in_several_lanes() {
    sequences(2, case());
}
