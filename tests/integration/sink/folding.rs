//! Several changes of one key: what is folded, what the server sees, what results.

use pgsluice::options::{ConflictAction, DeleteStrategy, SinkOptions};
use pgsluice::{ErrorKind, RowKind, Value};

use super::conformance::{AUDIT, AUDIT_LOG, Case, Fixture, InMode, all_modes, play};

const NAMED: &str = "create table t (id int primary key, name text);";
const NAMED_X: &str = "create table t (id int primary key, name text, x int);";

fn on(action: ConflictAction) -> SinkOptions {
    SinkOptions::new().on_conflict(action)
}

fn update() -> SinkOptions {
    on(ConflictAction::InsertOrUpdate)
}

fn replace() -> SinkOptions {
    on(ConflictAction::InsertOrReplace)
}

/// Counts the INSERT statements on `t` in `statements`.
const COUNTED: &str = "
    create table statements (n int);
    create function counted() returns trigger language plpgsql as
        $$ begin insert into statements values (1); return null; end $$;
    create trigger counted after insert on t for each statement execute function counted();";

#[tokio::test]
async fn h_b01_a_key_twice_is_one_row_of_one_statement() {
    let script = "I id=1 name=a; I id=1 name=b";
    Case::new(NAMED).options(update()).gives(script, "(1,b)").await;
    Case::new(&format!("{NAMED}{COUNTED}"))
        .options(update())
        .one_batch(&[true])
        .select("select count(*)::text from statements")
        .gives(script, "1")
        .await;
}

#[tokio::test]
async fn h_b02_a_delete_and_an_insert_are_one_update_when_folded() {
    let script = "D id=1; I id=1 name=b";
    let setup = format!("{NAMED} insert into t values (1, 'a');");
    Case::new(&setup).options(replace()).gives(script, "(1,b)").await;
    let audited = || Case::new(&format!("{setup}{AUDIT}")).options(replace()).select(AUDIT_LOG);
    audited().one_batch(&[true]).gives(script, "upd b").await;
    audited().one_batch(&[false]).gives(script, "del, ins b").await;
}

#[tokio::test]
async fn h_b03_h_b04_a_delete_then_an_insert_keeps_no_old_column() {
    let setup = format!("{NAMED_X} insert into t values (1, 'a', 9)");
    for options in [update(), replace()] {
        Case::new(&setup).options(options).gives("D id=1; I id=1 name=b", "(1,b,)").await;
    }
}

#[tokio::test]
async fn a_delete_then_an_insert_gives_the_defaults_of_columns_that_are_not_given() {
    let setup = "create table t (id int primary key, name text, x int default 7, n int not null default 9);
                 insert into t values (1, 'a', 1, 1)";
    let script = "D id=1; I id=1 name=b";
    Case::new(setup).options(update()).gives(script, "(1,b,7,9)").await;
    Case::new(setup).options(on(ConflictAction::InsertOrIgnore)).gives(script, "(1,b,7,9)").await;
    Case::new(setup).options(replace()).gives(script, "(1,b,,9)").await;
}

#[tokio::test]
async fn h_b06_without_folding_triggers_see_each_step() {
    let script = "I id=1 name=aaa; I id=1 name=bbb; F; D id=1; I id=1 name=ccc; D id=1; I id=1 name=ddd; F";
    let log = "ins aaa, upd bbb, del, ins ccc, del, ins ddd";
    for options in [update(), replace()] {
        let case = Case::new(&format!("{NAMED}{AUDIT}")).options(options).select(AUDIT_LOG);
        case.one_batch(&[false]).gives(script, log).await;
    }
}

#[tokio::test]
async fn h_b07_with_folding_triggers_see_the_result_of_each_flush() {
    let script = "I id=1 name=aaa; I id=1 name=bbb; F; D id=1; I id=1 name=ccc; D id=1; I id=1 name=ddd; F";
    let case = Case::new(&format!("{NAMED}{AUDIT}")).options(replace()).select(AUDIT_LOG);
    case.one_batch(&[true]).gives(script, "ins bbb, upd ddd").await;
}

const AMOUNTS: &str = "create table t (id int primary key, amount numeric(12,2))";

fn versions(id: u32) -> Vec<String> {
    (0..100).map(|n| format!("I id={id} amount={n}")).collect()
}

#[tokio::test]
async fn h_b08_the_last_of_100_versions_stays() {
    Case::new(AMOUNTS).options(replace()).gives(&versions(0).join(";"), "(0,99.00)").await;
}

#[tokio::test]
async fn h_b09_a_delete_after_100_versions_leaves_nothing() {
    let script = format!("{}; D id=1", versions(1).join(";"));
    Case::new(AMOUNTS).options(replace()).gives(&script, "").await;
}

#[tokio::test]
async fn h_b10_a_delete_among_100_versions_leaves_the_last() {
    let mut script = versions(2);
    script[98] = "D id=2".to_owned();
    Case::new(AMOUNTS).options(replace()).gives(&script.join(";"), "(2,99.00)").await;
}

#[tokio::test]
async fn h_b12_500_pairs_of_delete_and_insert() {
    let pairs: Vec<String> = (0..500).map(|id| format!("D id={id}; I id={id} name=name{id}")).collect();
    let script = format!("I id=-1; {}", pairs.join(";"));
    for action in
        [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore]
    {
        Case::new(NAMED)
            .options(on(action))
            .select("select count(*) || ' ' || min(id) || ' ' || max(id) from t where id = -1 or name = 'name' || id")
            .gives(&script, "501 -1 499")
            .await;
    }
}

#[tokio::test]
async fn h_b13_what_a_delete_brings_beside_the_key_is_ignored() {
    let setup = r#"create table t (id int, "a""b" text, address text, primary key (id, "a""b"));
                   insert into t values (1, 'name1', 'x'), (1, 'name2', 'x'), (2, 'name1', 'x'), (3, 'name3', 'x')"#;
    let script = r#"D id=1 a"b=name1 address=ccc"#;
    Case::new(setup).options(replace()).gives(script, "(1,name2,x) (2,name1,x) (3,name3,x)").await;
    let script = r#"D address=ccc a"b=name1 id=1"#;
    Case::new(setup).options(replace()).gives(script, "(1,name2,x) (2,name1,x) (3,name3,x)").await;
}

#[tokio::test]
async fn h_b15_a_delete_of_an_absent_key_is_no_error() {
    let script = "I id=0 amount=16.21; F; D id=0; I id=0 amount=19.211; D id=2";
    Case::new(AMOUNTS).options(update()).gives(script, "(0,19.21)").await;
}

#[tokio::test]
async fn h_b16_100_000_rows_and_99_998_deletes() {
    for mode in all_modes() {
        let fixture = Fixture::new(NAMED).await;
        let sink = fixture.sink("t", update().in_mode(mode).batch_rows(8192)).await;
        let mut columns = sink.columns(&["id", "name"]).unwrap();
        for id in 0..100_000 {
            columns.write(RowKind::Insert, &[Value::from(id), Value::from("n")]).await.unwrap();
        }
        sink.flush().await.unwrap();
        assert_eq!(fixture.count("select count(*) from t").await, 100_000);
        for id in 1..99_999 {
            columns.write(RowKind::Delete, &[Value::from(id)]).await.unwrap();
        }
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.committed, stats.without_effect), (199_998, 0));
        assert_eq!(fixture.table("t").await, "(0,n) (99999,n)");
    }
}

#[tokio::test]
async fn h_b17_a_delete_on_a_table_without_a_key_is_refused_by_the_write() {
    for mode in all_modes() {
        let fixture = Fixture::new("create table t (id int, name text)").await;
        let sink = fixture.sink("t", update().in_mode(mode)).await;
        play(&sink, "I id=1 name=a").await.unwrap();
        let error = play(&sink, "D id=1").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("primary key"), "{error}");
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,a)");
    }
}

#[tokio::test]
async fn h_b18_a_null_or_absent_key_is_refused_by_the_write_and_the_buffer_stays() {
    for mode in all_modes() {
        let fixture = Fixture::new(NAMED).await;
        let sink = fixture.sink("t", update().in_mode(mode)).await;
        play(&sink, "I id=1 name=a").await.unwrap();
        for script in ["I id=null name=b", "D id=null", "I name=b", "D name=b"] {
            let error = play(&sink, script).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{script}");
            assert_eq!((error.context("column"), error.sqlstate()), (Some("id"), Some("23502")), "{script}");
        }
        play(&sink, "I id=2 name=c").await.unwrap();
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed), (2, 2));
        assert_eq!(fixture.table("t").await, "(1,a) (2,c)");
    }
}

#[tokio::test]
async fn h_b19_a_key_as_text_and_as_integer_is_one_key() {
    for mode in all_modes() {
        for folding in [true, false] {
            let fixture = Fixture::new(NAMED).await;
            let sink = fixture.sink("t", update().in_mode(mode).deduplication(folding)).await;
            for (key, name) in [(Value::from(1), "a"), (Value::from("1"), "b")] {
                sink.write_values(RowKind::Insert, &[("id", key), ("name", Value::from(name))])
                    .await
                    .unwrap();
            }
            sink.close().await.unwrap();
            assert_eq!(fixture.table("t").await, "(1,b)");
        }
    }
}

#[tokio::test]
async fn h_b21_keys_that_differ_by_a_removed_u0000_are_one_key() {
    for mode in all_modes() {
        let fixture = Fixture::new("create table t (k text primary key, v int)").await;
        let sink = fixture.sink("t", update().in_mode(mode).remove_u0000(true)).await;
        for (key, v) in [("k", 1), ("k\0", 2)] {
            sink.write_values(RowKind::Insert, &[("k", Value::from(key)), ("v", Value::from(v))])
                .await
                .unwrap();
        }
        let stats = sink.close().await.unwrap().stats;
        assert_eq!(stats.removed_u0000, 1);
        assert_eq!(fixture.table("t").await, "(k,2)");
    }
}

#[tokio::test]
async fn h_b22_column_sets_of_different_keys_share_a_batch() {
    let setup = "create table t (id int primary key, name text, address text);
                 insert into t values (1, 'n1', 'a1'), (2, 'n2', 'a2');";
    let script = "I id=1 name=x; I id=2 address=y; I id=3 name=z address=z";
    Case::new(setup).options(update()).gives(script, "(1,x,a1) (2,n2,y) (3,z,z)").await;
    Case::new(&format!("{setup}{COUNTED}"))
        .options(update())
        .one_batch(&[true])
        .select("select (count(*) <= 3)::text from statements")
        .gives(script, "true")
        .await;
}

#[tokio::test]
async fn h_b23_column_sets_of_one_key_are_merged() {
    let setup = "create table t (id int primary key, name text, address text)";
    Case::new(setup).options(update()).gives("I id=1 name=n; I id=1 address=a", "(1,n,a)").await;
}

#[tokio::test]
async fn h_b25_a_changed_key_leaves_the_new_row_or_both() {
    let setup = "create table t (id int primary key, name text); insert into t values (1, 'a')";
    let script = "-U id=1 name=a; +U id=2 name=a";
    for action in
        [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore]
    {
        let standard = on(action).delete_strategy(DeleteStrategy::ChangelogStandard);
        Case::new(setup).options(standard).gives(script, "(2,a)").await;
        let ignore = on(action).delete_strategy(DeleteStrategy::IgnoreDelete);
        Case::new(setup).options(ignore).gives(script, "(1,a) (2,a)").await;
    }
}
