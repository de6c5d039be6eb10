//! Conflict policies, defaults, identity and generated columns, wide tables.

use pgsluice::options::{ConflictAction, RejectPolicy, SinkOptions};
use pgsluice::{ErrorKind, RowKind, Value};

use super::conformance::{Case, Fixture, InMode, all_modes, play, told};

const ACTIONS: [ConflictAction; 3] =
    [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore];

const ADDRESSED: &str = "create table t (id int primary key, name text, address text)";
const INSERT_ONLY: &str = "create table t (id int primary key, c int, d text, e text)";
const DEFAULTED: &str = "create table t (id int primary key, n int not null default 7, m text default 'z')";

fn on(action: ConflictAction) -> SinkOptions {
    SinkOptions::new().on_conflict(action)
}

fn update() -> SinkOptions {
    on(ConflictAction::InsertOrUpdate)
}

fn replace() -> SinkOptions {
    on(ConflictAction::InsertOrReplace)
}

fn ignore() -> SinkOptions {
    on(ConflictAction::InsertOrIgnore)
}

fn skip(options: SinkOptions) -> SinkOptions {
    options.reject_policy(RejectPolicy::Skip { limit: None })
}

#[tokio::test]
async fn h_a01_replace_leaves_null_where_nothing_is_given() {
    let script = "I id=0 name=name0 address=address; I id=1 name=name1; I id=0 name=name3";
    Case::new(ADDRESSED).options(replace()).gives(script, "(0,name3,) (1,name1,)").await;
}

#[tokio::test]
async fn h_a02_ignore_keeps_the_first_row() {
    let script = "I id=0 name=name0; I id=1 name=name1; I id=0 name=name3; I id=2";
    let setup = "create table t (id int primary key, name text)";
    Case::new(setup).options(ignore()).gives(script, "(0,name0) (1,name1) (2,)").await;
}

const PARTIAL: &str = "I id=0 name=name0; I id=1 name=name1 address=address2; I id=1 address=address3";
const PARTIAL_GIVES: &str = "(0,name0,) (1,name1,address3)";

#[tokio::test]
async fn h_a03_update_changes_the_given_columns() {
    Case::new(ADDRESSED).options(update()).gives(PARTIAL, PARTIAL_GIVES).await;
}

#[tokio::test]
async fn h_a04_update_works_in_another_schema() {
    let setup = "drop schema if exists test_schema cascade; create schema test_schema;
                 create table test_schema.t (id int primary key, name text, address text)";
    Case::new(setup).table("test_schema.t").options(update()).gives(PARTIAL, PARTIAL_GIVES).await;
}

#[tokio::test]
async fn h_a05_a_flush_after_each_record_changes_nothing() {
    let script = PARTIAL.replace(';', "; F;");
    Case::new(ADDRESSED).options(update()).gives(&script, PARTIAL_GIVES).await;
}

#[tokio::test]
async fn h_a22_later_columns_win_under_update_and_the_first_row_under_ignore() {
    let script = "I id=0 name=name0 address=address; I id=1 name=name1; I id=0 name=name3";
    Case::new(ADDRESSED).options(update()).gives(script, "(0,name3,address) (1,name1,)").await;
    Case::new(ADDRESSED).options(ignore()).gives(script, "(0,name0,address) (1,name1,)").await;
}

#[tokio::test]
async fn h_a06_h_a07_an_insert_only_column_stays_with_or_without_a_flush() {
    for flush in ["F;", ""] {
        let script = format!("I id=0 c=12 d=aaa e=123; {flush} I id=0 c=1 d=456");
        let options = update().insert_only_columns(["d"]);
        Case::new(INSERT_ONLY).options(options).gives(&script, "(0,1,aaa,123)").await;
    }
}

#[tokio::test]
async fn h_a08_an_insert_only_column_is_no_part_of_a_later_record() {
    for flush in ["F;", ""] {
        let script = format!("I id=5 c=1; {flush} I id=5 d=x");
        let options = update().insert_only_columns(["d"]);
        Case::new(INSERT_ONLY).options(options).gives(&script, "(5,1,,)").await;
    }
}

#[tokio::test]
async fn insert_only_columns_are_written_again_after_a_delete() {
    for flush in ["F;", ""] {
        let script = format!("I id=5 c=1 d=old; {flush} D id=5; {flush} I id=5 d=new; I id=5 d=newer c=2");
        for options in [update(), replace()] {
            let options = options.insert_only_columns(["d"]);
            Case::new(INSERT_ONLY).options(options).gives(&script, "(5,2,new,)").await;
        }
    }
}

#[tokio::test]
async fn h_a09_a_table_without_a_key_is_appended_to_under_any_policy() {
    let script = "I id=1 a=n b=a;".repeat(4);
    for action in ACTIONS {
        let setup = "create table t (id int not null, a text, b text)";
        Case::new(setup).options(on(action)).gives(&script, "(1,n,a) (1,n,a) (1,n,a) (1,n,a)").await;
    }
}

#[tokio::test]
async fn h_a11_a_table_of_key_columns_only() {
    for action in ACTIONS {
        Case::new("create table t (id int primary key)")
            .options(on(action))
            .gives("I id=1; I id=1", "(1)")
            .await;
    }
}

#[tokio::test]
async fn h_a12_absent_columns_get_their_default_or_null_under_replace() {
    Case::new(DEFAULTED).options(update()).gives("I id=1", "(1,7,z)").await;
    Case::new(DEFAULTED).options(replace()).gives("I id=1", "(1,7,)").await;
}

#[tokio::test]
async fn h_a13_an_explicit_null_is_refused_alone_or_replaced_by_the_default() {
    let script = "I id=0; I id=1 n=null m=null; I id=2";
    let case = Case::new(DEFAULTED).options(skip(update()));
    case.reports(script, "(0,7,z) (2,7,z)", |report| {
        assert_eq!(told(&report.rejects), [(2, "23502", Some("n"))]);
    })
    .await;
    Case::new(DEFAULTED).options(replace()).gives(script, "(0,7,) (1,7,) (2,7,)").await;
}

#[tokio::test]
async fn h_a14_policy_names_are_read_in_either_spelling() {
    let read = |text: &str| SinkOptions::from_map([("sink.on-conflict-action", text)]);
    for text in ["insertorupdate", "INSERT_OR_UPDATE"] {
        assert_eq!(read(text).unwrap().on_conflict, Some(ConflictAction::InsertOrUpdate));
    }
    let error = read("upsert").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("upsert"), "{error}");
}

#[tokio::test]
async fn h_a15_an_identity_key_is_given_by_the_server() {
    let setup = "create table t (id int generated always as identity primary key, v text, code text unique)";
    for action in ACTIONS {
        let script = "I v=a code=x; I v=b code=y";
        Case::new(setup).options(on(action)).gives(script, "(1,a,x) (2,b,y)").await;
    }
}

#[tokio::test]
async fn h_a17_a_generated_column_is_refused_by_name_or_left_out() {
    let setup = "create table t (a int, b int, ts timestamp not null,
                 ds date generated always as (ts::date) stored, primary key (a, ds))";
    let given = [
        ("a", Value::from(1)),
        ("b", Value::from(2)),
        ("ts", Value::from("2024-01-02 03:04:05")),
        ("ds", Value::from("2024-01-02")),
    ];
    for mode in all_modes() {
        for action in ACTIONS {
            let fixture = Fixture::new(setup).await;
            let sink = fixture.sink("t", on(action).in_mode(mode)).await;
            let error = sink.write_values(RowKind::Insert, &given).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert_eq!(error.context("column"), Some("ds"));
            assert!(error.to_string().contains("sink.skip-generated-columns"), "{error}");
            let error = sink.columns(&["a", "b", "ts", "ds"]).unwrap_err();
            assert!(error.to_string().contains("\"ds\""), "{error}");
            sink.flush().await.unwrap();
            assert_eq!(fixture.table("t").await, "");
            sink.write_values(RowKind::Insert, &given[..3]).await.unwrap();
            sink.close().await.unwrap();
            assert_eq!(fixture.table("t").await, "(1,2,\"2024-01-02 03:04:05\",2024-01-02)");
            fixture.execute("truncate t").await;
            let sink = fixture.sink("t", on(action).in_mode(mode).skip_generated_columns(true)).await;
            sink.write_values(RowKind::Insert, &given).await.unwrap();
            sink.close().await.unwrap();
            assert_eq!(fixture.table("t").await, "(1,2,\"2024-01-02 03:04:05\",2024-01-02)");
        }
    }
}

#[tokio::test]
async fn h_a18_defaults_and_generated_columns_in_the_key() {
    let setup =
        "create table t (id int, id1 int default 1, id2 int generated always as (id + 1) stored, name text,
                 col1 text default 'foo', col2 text generated always as (name || '_bar') stored,
                 primary key (id, id1, id2))";
    Case::new(setup).options(update()).gives("I id=0 name=name0", "(0,1,1,name0,foo,name0_bar)").await;
    let script = "I id=0 name=name0; I id=0 name=name1; I id=0 id1=1 col1=x";
    Case::new(setup).options(update()).gives(script, "(0,1,1,name1,x,name1_bar)").await;
}

#[tokio::test]
async fn h_a19_serial_keys_under_ignore() {
    let setup = "create table t (id serial primary key, name text)";
    Case::new(setup).options(ignore()).gives("I name=a; I name=b", "(1,a) (2,b)").await;
}

#[tokio::test]
async fn identity_by_default_takes_what_is_given_and_gives_the_rest() {
    let setup = "create table t (id int generated by default as identity primary key, v text)";
    for action in ACTIONS {
        let script = "I id=10 v=a; I v=b; I id=10 v=a";
        Case::new(setup).options(on(action)).gives(script, "(1,b) (10,a)").await;
    }
}

#[tokio::test]
async fn an_identity_outside_of_the_key_stays_under_update() {
    let setup = "create table t (id int primary key, v text, n int generated always as identity);
                 insert into t values (1, 'a'), (2, 'b')";
    let script = "I id=1 v=x; I id=3 v=y n=50; I id=2 v=z";
    Case::new(setup)
        .options(update())
        .select(
            "select string_agg(id || v || n, ' ' order by id)
                 from t",
        )
        .gives(script, "1x1 2z2 3y50")
        .await;
}

fn wide(columns: usize, sql_type: &str) -> String {
    let columns: Vec<String> = (0..columns).map(|n| format!("c{n} {sql_type}")).collect();
    format!("create table t (id int primary key, name text, address text, {})", columns.join(", "))
}

#[tokio::test]
async fn h_a20_820_columns() {
    let fixture = Fixture::new(&wide(817, "text")).await;
    for mode in all_modes() {
        fixture.execute("truncate t").await;
        let sink = fixture.sink("t", replace().in_mode(mode)).await;
        for _ in 0..2 {
            for id in 0..512 {
                play(&sink, &format!("I id={id} name=name{id} address=address c816=x")).await.unwrap();
            }
        }
        sink.close().await.unwrap();
        let select =
            "select count(*) filter (where name = 'name' || id and c816 = 'x' and c0 is null) from t";
        assert_eq!(fixture.count(select).await, 512);
    }
}

#[tokio::test]
async fn h_a21_500_columns_in_batches_of_255() {
    let fixture = Fixture::new(&wide(497, "int")).await;
    let names: Vec<String> = ["id".to_owned()].into_iter().chain((0..497).map(|n| format!("c{n}"))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for mode in all_modes() {
        fixture.execute("truncate t").await;
        let sink = fixture.sink("t", update().in_mode(mode).batch_rows(255)).await;
        let mut columns = sink.columns(&names).unwrap();
        for id in 0..1000 {
            let values: Vec<Value<'_>> = (0..498).map(|n| Value::from(id + n)).collect();
            columns.write(RowKind::Insert, &values).await.unwrap();
        }
        sink.close().await.unwrap();
        assert_eq!(fixture.count("select count(*) from t where c496 = id + 497").await, 1000);
    }
}

#[tokio::test]
async fn the_most_columns_that_a_table_can_have() {
    for not_null in ["", "not null"] {
        let columns: Vec<String> = (0..1599).map(|n| format!("c{n} int")).collect();
        let fixture =
            Fixture::new(&format!("create table t (id int primary key, {} {not_null})", columns.join(", ")))
                .await;
        for mode in all_modes() {
            for action in ACTIONS {
                fixture.execute("truncate t").await;
                let sink = fixture.sink("t", on(action).in_mode(mode)).await;
                play(&sink, "I id=1 c0=1 c1598=2; I id=2 c1598=3; F; I id=1 c1598=4; D id=2").await.unwrap();
                if not_null.is_empty() {
                    play(&sink, "I id=1 c5=7").await.unwrap();
                }
                sink.close().await.unwrap();
                let row = fixture.text("select string_agg(concat(id, ' ', c1598), ';') from t").await;
                match action {
                    ConflictAction::InsertOrIgnore => assert_eq!(row, "1 2"),
                    ConflictAction::InsertOrReplace if not_null.is_empty() => {
                        assert_eq!(
                            fixture.count("select count(*) from t where c5 = 7 and c1598 is null").await,
                            1
                        );
                    }
                    _ => assert_eq!(row, "1 4"),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_record_without_any_column_is_a_row_of_defaults() {
    let keyless = "create table t (id int generated always as identity, v int default 5)";
    Case::new(keyless).gives("I; I", "(1,5) (2,5)").await;
    let keyed = "create table t (id int generated always as identity primary key, v int default 5)";
    for action in ACTIONS {
        let table = if action == ConflictAction::InsertOrReplace { "(1,) (2,)" } else { "(1,5) (2,5)" };
        Case::new(keyed).options(on(action)).gives("I; I", table).await;
    }
}

#[tokio::test]
async fn positional_values_may_be_fewer_than_the_columns_and_not_more() {
    for mode in all_modes() {
        let fixture = Fixture::new(ADDRESSED).await;
        let sink = fixture.sink("t", update().in_mode(mode)).await;
        let mut columns = sink.columns(&["name", "id"]).unwrap();
        let (name, id) = (Value::from("a"), Value::from(1));
        columns.write(RowKind::Insert, &[name.clone(), id.clone()]).await.unwrap();
        let error =
            columns.write(RowKind::Insert, &[name.clone(), id.clone(), id.clone()]).await.unwrap_err();
        assert_eq!((error.kind(), error.sqlstate()), (ErrorKind::Data, Some("22P04")));
        let error = columns.write_text(RowKind::Insert, &[Some("a"), Some("1"), None]).await.unwrap_err();
        assert_eq!(error.sqlstate(), Some("22P04"));
        let mut columns = sink.columns(&["id", "address"]).unwrap();
        columns.write(RowKind::Insert, &[id]).await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,a,)");
    }
}
