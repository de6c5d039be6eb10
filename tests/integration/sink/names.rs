//! Names reach the server exactly as given, in every statement.

use pgsluice::options::{ConflictAction, DeleteStrategy};
use pgsluice::{ErrorKind, RowKind, Value};

use super::bed::{Bed, modes, rejected, skipping};

const TABLE: &str = r#"
    create schema "Sales";
    create table "Sales"."Order.Lines" (
        id int, "jsonData" jsonb, "left" text, "a""b" int, "sp ace" int default 7, "données" text, primary key (id, "left")
    )"#;

#[tokio::test]
async fn names_of_any_kind_b04_f_a95() {
    for extra in ["", r#"; alter table "Sales"."Order.Lines" add "mo;--ney" money"#] {
        for action in
            [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore]
        {
            for options in modes() {
                let bed = Bed::new(&format!("{TABLE}{extra}")).await;
                let sink = bed.sink(r#""Sales"."Order.Lines""#, options.on_conflict(action)).await;
                let row = |id: i32, text: &'static str, number: i32| {
                    [
                        ("id", Value::from(id)),
                        ("jsonData", Value::Json("{\"k\":1}".into())),
                        ("left", Value::from("l")),
                        ("a\"b", Value::from(number)),
                        ("sp ace", Value::from(number)),
                        ("données", Value::from(text)),
                    ]
                };
                for (id, text) in [(1, "é"), (2, "ü"), (3, "ö")] {
                    sink.write_values(RowKind::Insert, &row(id, text, 1)).await.unwrap();
                }
                sink.flush().await.unwrap();
                sink.write_values(RowKind::UpdateAfter, &row(1, "è", 2)).await.unwrap();
                sink.write_values(RowKind::Delete, &row(2, "", 0)).await.unwrap();
                // Deleted and made again: another form of the statement.
                sink.write_values(RowKind::Delete, &row(3, "", 0)).await.unwrap();
                sink.write_values(
                    RowKind::Insert,
                    &[("id", 3.into()), ("left", "l".into()), ("a\"b", 5.into())],
                )
                .await
                .unwrap();
                sink.close().await.unwrap();
                let first = if action == ConflictAction::InsertOrIgnore { "1|1|1|é" } else { "1|2|2|è" };
                let third =
                    if action == ConflictAction::InsertOrReplace { "3|5|∅|∅" } else { "3|5|7|∅" };
                let sql = r#"select id, "a""b", "sp ace", "données" from "Sales"."Order.Lines" order by id"#;
                assert_eq!(bed.lines(sql).await, [first, third], "{action:?}");
            }
        }
    }
}

#[tokio::test]
async fn names_in_a_delete_that_sets_columns_to_null_b04() {
    for options in modes() {
        let bed = Bed::new(TABLE).await;
        let sink = bed
            .sink(r#""Sales"."Order.Lines""#, options.delete_strategy(DeleteStrategy::NonPkFieldToNull))
            .await;
        let key = [("id", Value::from(1)), ("left", Value::from("l")), ("données", Value::from("x"))];
        sink.write_values(RowKind::Insert, &key).await.unwrap();
        sink.flush().await.unwrap();
        sink.write_values(RowKind::Delete, &key).await.unwrap();
        sink.close().await.unwrap();
        let lines = bed.lines(r#"select id, "left", "données", "sp ace" from "Sales"."Order.Lines""#).await;
        assert_eq!(lines, ["1|l|∅|∅"]);
    }
}

/// The key is configured, over a partial unique index whose predicate has a quoted name.
#[tokio::test]
async fn names_in_a_configured_key_b04() {
    for options in modes() {
        let bed = Bed::new(
            r#"create table "T" ("Ké""y" int, "On" bool not null default true, "V" int);
               create unique index on "T" ("Ké""y") where "On" and "Ké""y" is not null"#,
        )
        .await;
        let options = options.key_columns(["Ké\"y"]).key_predicate(r#""On" and "Ké""y" is not null"#);
        let sink = bed.sink("\"T\"", options).await;
        for value in [1, 2] {
            sink.write_values(RowKind::Insert, &[("Ké\"y", 1.into()), ("V", value.into())]).await.unwrap();
            sink.flush().await.unwrap();
        }
        assert_eq!(bed.lines(r#"select * from "T""#).await, ["1|t|2"]);
        sink.write_values(RowKind::Delete, &[("Ké\"y", 1.into())]).await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(bed.one(r#"select count(*) from "T""#).await, "0");
    }
}

#[tokio::test]
async fn another_case_is_another_name_f_a95() {
    let bed = Bed::new(r#"create table t (id int primary key, "Name" text, name text)"#).await;
    let sink = bed.sink("t", skipping(modes().next().unwrap())).await;
    let fields = [("id", Value::from(1)), ("Name", Value::from("A")), ("name", Value::from("b"))];
    assert!(rejected(&sink, RowKind::Insert, &fields).await.is_empty());
    assert_eq!(bed.lines("select * from t").await, ["1|A|b"]);
    let error = sink.write_values(RowKind::Insert, &[("ID", Value::from(1))]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("\"ID\""), "{error}");
}
