//! Delete strategies, and which records have no effect.

use pgsluice::options::{ConflictAction, DeleteStrategy, SinkOptions};

use super::conformance::{Case, Fixture, InMode, all_modes, play};

const STORED: &str =
    "create table t (id int primary key, a text, b text); insert into t values (1, 'a', 'b')";

fn with(strategy: DeleteStrategy) -> SinkOptions {
    SinkOptions::new().delete_strategy(strategy)
}

#[tokio::test]
async fn h_c01_ignore_delete_drops_a_delete() {
    Case::new(STORED).options(with(DeleteStrategy::IgnoreDelete)).gives("D id=1", "(1,a,b)").await;
}

#[tokio::test]
async fn h_c02_ignore_delete_takes_the_update_after() {
    let script = "-U id=1 a=a b=b; +U id=1 a=c b=b";
    Case::new(STORED).options(with(DeleteStrategy::IgnoreDelete)).gives(script, "(1,c,b)").await;
}

#[tokio::test]
async fn h_c03_non_pk_field_to_null_keeps_the_key() {
    Case::new(STORED).options(with(DeleteStrategy::NonPkFieldToNull)).gives("D id=1", "(1,,)").await;
}

#[tokio::test]
async fn h_c04_non_pk_field_to_null_inserts_nothing() {
    let setup = "create table t (id int primary key, a text, b text)";
    Case::new(setup).options(with(DeleteStrategy::NonPkFieldToNull)).gives("D id=1", "").await;
}

#[tokio::test]
async fn non_pk_field_to_null_meets_changes_of_the_same_key() {
    let options = || with(DeleteStrategy::NonPkFieldToNull);
    Case::new(STORED)
        .options(options())
        .gives("D id=1; I id=1 a=c; D id=2; I id=2 b=d", "(1,c,) (2,,d)")
        .await;
    Case::new(STORED)
        .options(options())
        .gives("I id=1 a=c; D id=1; -U id=1; I id=3 a=x; D id=3", "(1,,) (3,,)")
        .await;
    let generated = "create table t (id int primary key, a int, g int generated always as (a + 1) stored,
                     n int generated always as identity); insert into t (id, a) values (1, 5)";
    Case::new(generated).options(options()).gives("D id=1", "(1,,,1)").await;
}

#[tokio::test]
async fn h_c07_delete_row_on_pk_skips_the_update_before() {
    let script = "-U id=1 a=a b=b; +U id=1 a=c";
    Case::new(STORED).options(with(DeleteStrategy::DeleteRowOnPk)).gives(script, "(1,c,b)").await;
    Case::new(STORED).options(with(DeleteStrategy::DeleteRowOnPk)).gives("-U id=1; D id=1", "").await;
}

#[tokio::test]
async fn h_c09_each_strategy_gives_the_same_however_the_records_come() {
    let script = "D id=1; -U id=2; +U id=2 a=x; I id=3 a=y; D id=3; -U id=3";
    for (strategy, table) in [
        (DeleteStrategy::IgnoreDelete, "(1,a,b) (2,x,) (3,y,)"),
        (DeleteStrategy::NonPkFieldToNull, "(1,,) (2,x,) (3,,)"),
        (DeleteStrategy::DeleteRowOnPk, "(2,x,)"),
        (DeleteStrategy::ChangelogStandard, "(2,x,)"),
    ] {
        for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace] {
            Case::new(STORED).options(with(strategy).on_conflict(action)).gives(script, table).await;
        }
    }
}

/// Accepted, committed, and those of the committed ones that had no effect.
async fn counted(setup: &str, options: SinkOptions, script: &str) -> Vec<(u64, u64, u64)> {
    let mut counts = Vec::new();
    for mode in all_modes() {
        for rows in [1, 1000] {
            for folding in [true, false] {
                let fixture = Fixture::new(setup).await;
                let options = options.clone().in_mode(mode).batch_rows(rows).deduplication(folding);
                let sink = fixture.sink("t", options).await;
                play(&sink, script).await.unwrap();
                let stats = sink.close().await.unwrap().stats;
                assert_eq!(stats.pending(), 0);
                counts.push((stats.accepted, stats.committed, stats.without_effect));
            }
        }
    }
    counts.dedup();
    counts
}

#[tokio::test]
async fn records_without_effect_are_counted_within_the_committed() {
    let deletes = counted(STORED, SinkOptions::new(), "D id=1; D id=2; D id=3; I id=4 a=x").await;
    assert_eq!(deletes, [(4, 4, 2)]);
    let dropped = counted(STORED, with(DeleteStrategy::IgnoreDelete), "D id=1; -U id=2; I id=4 a=x").await;
    assert_eq!(dropped, [(3, 3, 2)]);
    let ignored = SinkOptions::new().on_conflict(ConflictAction::InsertOrIgnore);
    let ignored = counted(STORED, ignored, "I id=1 a=x; I id=2 a=x; I id=2 a=y").await;
    assert_eq!(ignored, [(3, 3, 2)]);
    let nulled = counted(STORED, with(DeleteStrategy::NonPkFieldToNull), "D id=1; D id=2").await;
    assert_eq!(nulled, [(2, 2, 1)]);
    let only_keys = "create table t (id int primary key); insert into t values (1)";
    assert_eq!(counted(only_keys, SinkOptions::new(), "I id=1; I id=2").await, [(2, 2, 1)]);
}

/// Returns NULL from a row trigger of `t`.
fn swallowing(when: &str) -> String {
    format!(
        "create table t (id int primary key, a text, b text); insert into t values (1, 'a', 'b');
         create function swallow() returns trigger language plpgsql as $$ begin return null; end $$;
         create trigger swallow before {when} on t for each row execute function swallow();"
    )
}

#[tokio::test]
async fn rows_that_a_trigger_swallows_are_no_error_and_have_no_effect() {
    for (when, script, counts, table) in [
        ("insert", "I id=2 a=x; I id=3 a=x", (2, 2, 2), "(1,a,b)"),
        ("update", "I id=1 a=x; I id=3 a=x", (2, 2, 1), "(1,a,b) (3,x,)"),
        ("insert or update", "I id=1 a=x; I id=3 a=x", (2, 2, 2), "(1,a,b)"),
        ("delete", "D id=1; I id=3 a=x", (2, 2, 1), "(1,a,b) (3,x,)"),
    ] {
        for action in
            [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore]
        {
            if action == ConflictAction::InsertOrIgnore && when.contains("update") {
                continue;
            }
            let options = SinkOptions::new().on_conflict(action);
            assert_eq!(
                counted(&swallowing(when), options.clone(), script).await,
                [counts],
                "{when} {action:?}"
            );
            Case::new(&swallowing(when)).options(options).gives(script, table).await;
        }
    }
}

#[tokio::test]
async fn updates_that_a_trigger_swallows_do_not_loop() {
    // The trigger swallows updates of a table that needs update first, insert then.
    let setup = "create table t (id int primary key, a text not null, b text);
                 insert into t values (1, 'a', 'b');
                 create function swallow() returns trigger language plpgsql as $$ begin return null; end $$;
                 create trigger swallow before update on t for each row execute function swallow();";
    assert_eq!(counted(setup, SinkOptions::new(), "I id=1 a=x; I id=2 a=y").await, [(2, 2, 1)]);
    Case::new(setup).gives("I id=1 a=x; I id=2 a=y", "(1,a,b) (2,y,)").await;
}
