//! Faults that other writers had: doubled keys, reordered deletes, parameter limits, lost defaults, identity.

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{ConflictAction, DeleteStrategy, RejectPolicy, SinkOptions};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};

use super::conformance::{Case, Fixture, InMode, modes, play, told};

const ACTIONS: [ConflictAction; 3] =
    [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore];

/// The table's name in messages.
const TABLE: &str = "\"public\".\"t\"";

fn on(action: ConflictAction) -> SinkOptions {
    SinkOptions::new().on_conflict(action)
}

fn skip() -> SinkOptions {
    SinkOptions::new().reject_policy(RejectPolicy::Skip { limit: None })
}

#[tokio::test]
async fn b01_a_key_twice_in_one_batch_is_no_error() {
    let setup = "create table t (id int primary key, v text)";
    let script = "I id=1 v=a; I id=2 v=b; I id=1 v=c";
    for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace] {
        Case::new(setup).options(on(action)).gives(script, "(1,c) (2,b)").await;
    }
    Case::new(setup).options(on(ConflictAction::InsertOrIgnore)).gives(script, "(1,a) (2,b)").await;
}

#[tokio::test]
async fn b02_deletes_and_inserts_of_a_key_keep_their_order() {
    let setup = "create table t (id int primary key, v text); insert into t values (1, 'old')";
    let script = "D id=1; I id=1 v=new; I id=2 v=x; D id=2;
                  I id=3 v=a; D id=3; I id=3 v=b; D id=3; I id=3 v=c";
    for (strategy, table) in [
        (DeleteStrategy::ChangelogStandard, "(1,new) (3,c)"),
        (DeleteStrategy::DeleteRowOnPk, "(1,new) (3,c)"),
        (DeleteStrategy::IgnoreDelete, "(1,new) (2,x) (3,c)"),
        (DeleteStrategy::NonPkFieldToNull, "(1,new) (2,) (3,c)"),
    ] {
        for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace] {
            Case::new(setup).options(on(action).delete_strategy(strategy)).gives(script, table).await;
        }
    }
    let ignore = on(ConflictAction::InsertOrIgnore);
    Case::new(setup).options(ignore).gives(script, "(1,new) (3,c)").await;
}

async fn open_fails(fixture: &Fixture, options: SinkOptions) -> String {
    let error = Sink::open(&fixture.pool, "t", options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    assert!(!error.is_retryable());
    error.to_string()
}

#[tokio::test]
async fn b03_a_key_that_no_constraint_matches_is_refused_at_open() {
    let keyed = |columns: &[&str]| SinkOptions::new().key_columns(columns.iter().copied());
    for mode in modes() {
        let fixture = Fixture::new(
            "create table t (a int not null, b int not null, c int not null, live bool, v text, unique (b, c));
             create unique index on t (a) where live;
             alter table t add unique (c) deferrable",
        )
        .await;
        let refused = open_fails(&fixture, keyed(&["a"]).in_mode(mode)).await;
        assert!(refused.contains(TABLE) && refused.contains("(\"a\")"), "{refused}");
        let refused = open_fails(&fixture, keyed(&["b"]).in_mode(mode)).await;
        assert!(refused.contains(TABLE) && refused.contains("(\"b\")"), "{refused}");
        let refused = open_fails(&fixture, keyed(&["c"]).in_mode(mode)).await;
        assert!(refused.contains(TABLE) && refused.contains("deferrable"), "{refused}");

        let sink = fixture.sink("t", keyed(&["a"]).key_predicate("live").in_mode(mode)).await;
        play(&sink, "I a=1 b=1 c=1 live=true v=x; F; I a=1 b=1 c=1 live=true v=y; I a=2 b=2 c=2 live=true")
            .await
            .unwrap();
        play(&sink, "D a=2").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,1,1,t,y)");

        let sink = fixture.sink("t", keyed(&["c", "b"]).in_mode(mode)).await;
        play(&sink, "I a=7 b=1 c=1 v=z; I a=8 b=5 c=2; F; D c=2 b=5").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(7,1,1,t,z)");
    }
}

fn hundred_columns() -> String {
    let columns: Vec<String> = (1..100).map(|n| format!("c{n} int")).collect();
    format!("create table t (id int primary key, {})", columns.join(", "))
}

#[tokio::test]
async fn b05_more_values_than_a_statement_has_parameters() {
    for mode in modes() {
        let fixture = Fixture::new(&hundred_columns()).await;
        let names: Vec<String> =
            ["id".to_owned()].into_iter().chain((1..100).map(|n| format!("c{n}"))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // 15 columns and 4369 rows are 65535 values, 16 and 4096 are 65536.
        for (width, rows) in [(100, 700), (15, 4369), (16, 4096)] {
            for text_values in [false, true] {
                fixture.execute("truncate t").await;
                let options = SinkOptions::new().in_mode(mode).batch_rows(5000).batch_bytes(16 << 20);
                let sink = fixture.sink("t", options.text_values(text_values)).await;
                let mut columns = sink.columns(&names[..width]).unwrap();
                for id in 0..rows {
                    let texts: Vec<String> =
                        (0..width).map(|n| (id + i32::try_from(n).unwrap()).to_string()).collect();
                    let fields: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
                    columns.write_text(RowKind::Insert, &fields).await.unwrap();
                }
                let stats = sink.close().await.unwrap().stats;
                assert_eq!((stats.committed, stats.batches), (u64::try_from(rows).unwrap(), 1));
                let last = width - 1;
                let right =
                    fixture.count(&format!("select count(*) from t where c{last} = id + {last}")).await;
                assert_eq!(right, i64::from(rows));
            }
        }
    }
}

#[tokio::test]
async fn b05_a_batch_of_70_000_deletes_by_one_column_and_by_two() {
    for key in ["a", "a, b"] {
        for mode in modes() {
            let setup = format!(
                "create table t (a int, b int default 1, v int, primary key ({key}));
                 insert into t select n, 1, n from generate_series(1, 70001) n"
            );
            let fixture = Fixture::new(&setup).await;
            let options = SinkOptions::new().in_mode(mode).batch_rows(100_000).batch_bytes(16 << 20);
            let sink = fixture.sink("t", options).await;
            let mut columns = sink.columns(&["a", "b"]).unwrap();
            for n in 1..=70_000 {
                columns.write(RowKind::Delete, &[Value::from(n), Value::from(1)]).await.unwrap();
            }
            let stats = sink.close().await.unwrap().stats;
            assert_eq!((stats.committed, stats.without_effect, stats.batches), (70_000, 0, 1));
            assert_eq!(fixture.table("t").await, "(70001,1,70001)");
        }
    }
}

#[tokio::test]
async fn b05_batches_of_every_size_leave_no_prepared_statements() {
    let fixture = Fixture::new("create table t (id int primary key, v int)").await;
    let pool = Pool::open(&fixture.database.url(), PoolOptions::named("one").size(1)).await.unwrap();
    for mode in modes() {
        let sink = Sink::open(&pool, "t", SinkOptions::new().in_mode(mode)).await.unwrap();
        for rows in 1..50 {
            for id in 0..rows {
                let script = if id % 3 == 0 { format!("D id={id}") } else { format!("I id={id} v={rows}") };
                play(&sink, &script).await.unwrap();
            }
            sink.flush().await.unwrap();
        }
        let session = pool.get().await.unwrap();
        let left = session.query_one("select count(*) from pg_prepared_statements", &[]).await.unwrap();
        assert!(left.get::<_, i64>(0) <= 8, "{left:?}");
    }
}

#[tokio::test]
async fn b06_an_absent_column_keeps_its_default_or_its_value_and_a_null_is_null() {
    let setup = "create table t (id int primary key, v int default 7, n timestamptz not null default now(), s serial);";
    let shown = "select string_agg(format('%s %s %s %s', id, coalesce(v::text, '-'), n > '2020-01-01', s in (1, 2)), ', ' order by id)
                 from t";
    for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrIgnore] {
        Case::new(setup)
            .options(on(action))
            .select(shown)
            .gives("I id=1; I id=2 v=null", "1 7 t t, 2 - t t")
            .await;
    }
    let stored = format!("{setup} insert into t values (1, 5, '2019-01-01', 1), (2, 5, '2019-01-01', 1)");
    Case::new(&stored).select(shown).gives("I id=1; I id=2 v=null", "1 5 f t, 2 - f t").await;
}

const IDENTITY: &str = "create table t (id int generated always as identity primary key, v int,
                        d int generated always as (v * 2) stored)";

#[tokio::test]
async fn b07_given_identity_values_are_kept_and_generated_columns_left_out() {
    for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace] {
        let options = || on(action).skip_generated_columns(true);
        Case::new(IDENTITY).options(options()).gives("I id=5 v=1 d=2; I id=5 v=7 d=2", "(5,7,14)").await;
        let script = "I id=5 v=1 d=2; D id=5 d=2; I id=5 v=3; I v=4";
        Case::new(IDENTITY).options(options()).gives(script, "(1,4,8) (5,3,6)").await;
    }
    for mode in modes() {
        let fixture = Fixture::new(IDENTITY).await;
        let sink = fixture.sink("t", SinkOptions::new().in_mode(mode)).await;
        for error in
            [play(&sink, "I id=5 v=1 d=2").await.unwrap_err(), sink.columns(&["id", "v", "d"]).unwrap_err()]
        {
            assert_eq!(error.kind(), ErrorKind::Config);
            assert_eq!(error.context("column"), Some("d"));
            assert!(error.to_string().contains("sink.skip-generated-columns"), "{error}");
        }
    }
}

#[tokio::test]
async fn b08_a_partitioned_parent_works_as_a_plain_table() {
    let setup = "create table t (id int, d date, v int, primary key (id, d)) partition by range (d);
                 create table t24 partition of t for values from ('2024-01-01') to ('2025-01-01');
                 insert into t values (1, '2024-05-05', 1), (2, '2024-05-05', 1)";
    let script = "I id=1 d=2024-05-05 v=2; I id=3 d=2024-01-01 v=3; D id=2 d=2024-05-05;
                  I id=4 d=2031-01-01 v=4; I id=5 d=2024-12-31";
    for action in ACTIONS {
        let v = if action == ConflictAction::InsertOrIgnore { 1 } else { 2 };
        let table = format!("(1,2024-05-05,{v}) (3,2024-01-01,3) (5,2024-12-31,)");
        Case::new(setup)
            .options(skip().on_conflict(action))
            .reports(script, &table, |report| assert_eq!(told(&report.rejects), [(4, "23514", None)]))
            .await;
    }
    let fixture = Fixture::new(setup).await;
    let refused = open_fails(&fixture, SinkOptions::new().key_columns(["id"])).await;
    assert!(refused.contains(TABLE) && refused.contains("(\"id\")"), "{refused}");
}
