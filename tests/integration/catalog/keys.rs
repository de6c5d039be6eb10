//! The conflict key: what is chosen, what is refused when a sink opens, and what the server says to it.

use pgsluice::catalog::{Key, Table, conflict_key};
use pgsluice::{Error, ErrorKind};
use tokio_postgres::Client;

use super::{load, prepared};

fn wanted(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&name| name.to_owned()).collect()
}

fn key(table: &Table, columns: &[&str], predicate: Option<&str>) -> Key {
    conflict_key(table, Some(&wanted(columns)), predicate).unwrap().unwrap()
}

fn refusal(table: &Table, columns: &[&str], predicate: Option<&str>) -> Error {
    let error = conflict_key(table, Some(&wanted(columns)), predicate).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    assert!(!error.is_retryable());
    assert!(error.context("table").is_some(), "{error}");
    error
}

/// The SQLSTATE of an upsert's plan; "" where the server takes the target.
async fn answer(client: &Client, table: &str, target: &str) -> String {
    let sql = format!(
        "explain insert into {table} select from generate_series(1, 0) on conflict {target} do nothing"
    );
    match client.batch_execute(&sql).await {
        Ok(()) => String::new(),
        Err(error) => error.code().unwrap().code().to_owned(),
    }
}

#[tokio::test]
async fn the_primary_key_is_the_key_unless_another_is_configured() {
    let (_database, client) = prepared(
        "create table t (v int, b int, a int, primary key (a, b), unique (v, a, b));
        create table keyless (a int unique)",
    )
    .await;
    let table = load(&client, "t").await;
    let chosen = conflict_key(&table, None, None).unwrap().unwrap();
    assert_eq!(chosen.columns, [2, 1]);
    assert!(!chosen.nullable && chosen.plain_equality && chosen.predicate.is_none());
    assert!(!chosen.second_unique, "the index over more columns can only clash where the key does");
    assert_eq!(key(&table, &["b", "a"], None).columns, [1, 2]);
    assert_eq!(conflict_key(&load(&client, "keyless").await, None, None).unwrap(), None);
    assert_eq!(conflict_key(&table, None, Some("v > 0")).unwrap_err().kind(), ErrorKind::Config);
}

#[tokio::test]
async fn a_partial_index_needs_its_predicate_b03a() {
    let (_database, client) = prepared(
        "create table t (a int not null, live bool, id int primary key); create unique index live_a on t (a) where live",
    )
    .await;
    let table = load(&client, "t").await;
    let error = refusal(&table, &["a"], None);
    assert!(error.message().contains("partial"), "{error}");
    assert!(error.hint().unwrap().contains("sink.key-predicate"), "{error}");
    assert!(error.hint().unwrap().contains(r#""live_a" ("a") WHERE live"#), "{error}");
    assert_eq!(error.context("key"), Some(r#"("a")"#));
    assert_eq!(answer(&client, "t", "(a)").await, "42P10");
    let chosen = key(&table, &["a"], Some(" live "));
    assert_eq!(chosen.predicate.as_deref(), Some("live"));
    assert!(chosen.second_unique);
    assert_eq!(answer(&client, "t", "(a) where live").await, "");
    assert!(
        refusal(&table, &["id"], Some("live"))
            .message()
            .contains("no unique index over these columns is partial")
    );
    refusal(&table, &["a"], Some(" "));
}

#[tokio::test]
async fn two_partial_indexes_over_the_key_are_each_the_others_second() {
    let (_database, client) = prepared(
        "create table t (a int not null, kind int);
        create unique index one on t (a) where kind = 1; create unique index two on t (a) where kind = 2",
    )
    .await;
    let table = load(&client, "t").await;
    assert!(key(&table, &["a"], Some("kind = 1")).second_unique);
    client.batch_execute("drop index two").await.unwrap();
    assert!(!key(&load(&client, "t").await, &["a"], Some("kind = 1")).second_unique);
}

#[tokio::test]
async fn a_key_without_any_unique_index_is_refused_b03b() {
    let (_database, client) = prepared("create table t (a int not null, b int); create index on t (a)").await;
    let table = load(&client, "t").await;
    let error = refusal(&table, &["a"], None);
    assert!(error.hint().unwrap().contains("the table has no unique index"), "{error}");
    assert_eq!(error.context("table"), Some(r#""public"."t""#));
    let error = conflict_key(&table, Some(&wanted(&["A"])), None).unwrap_err();
    assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some(r#"did you mean "a"?"#)));
    refusal(&table, &["a", "a"], None);
    refusal(&table, &[], None);
}

#[tokio::test]
async fn a_deferrable_constraint_is_no_key_b03c() {
    let (_database, client) = prepared(
        "create table t (a int not null, unique (a) deferrable);
        create table two (a int not null, unique (a) deferrable); create unique index plain on two (a);
        create table pk (a int primary key deferrable initially deferred)",
    )
    .await;
    for name in ["t", "two", "pk"] {
        let error = refusal(&load(&client, name).await, &["a"], None);
        assert!(error.message().contains("deferrable"), "{error}");
        assert!(error.hint().unwrap().contains("DEFERRABLE"), "{error}");
        let upsert = format!("insert into {name} values (1) on conflict (a) do nothing");
        let code = client.batch_execute(&upsert).await.unwrap_err().code().unwrap().code().to_owned();
        assert_eq!(code, "55000", "{name}");
    }
    assert_eq!(conflict_key(&load(&client, "pk").await, None, None).unwrap_err().kind(), ErrorKind::Config);
}

#[tokio::test]
async fn the_order_of_the_key_columns_does_not_matter_b03d() {
    let (_database, client) =
        prepared("create table t (a int not null, b int not null, unique (b, a))").await;
    let table = load(&client, "t").await;
    assert_eq!(key(&table, &["a", "b"], None).columns, [0, 1]);
    assert_eq!(answer(&client, "t", "(a, b)").await, "");
    refusal(&table, &["a"], None);
}

#[tokio::test]
async fn expression_indexes_and_included_columns_do_not_count_as_key_columns() {
    let (_database, client) = prepared(
        "create table t (a text not null, b int); create unique index lowered on t (lower(a));
        create table included (a int not null, b int); create unique index on included (a) include (b)",
    )
    .await;
    let table = load(&client, "t").await;
    assert_eq!(table.other_unique, ["lowered"]);
    assert!(refusal(&table, &["a"], None).hint().unwrap().contains(r#""lowered" (cannot be a key)"#));
    assert_eq!(key(&load(&client, "included").await, &["a"], None).columns, [0]);
}

#[tokio::test]
async fn nullable_keys_need_nulls_not_distinct() {
    let (_database, client) = prepared(
        "create domain filled as int not null;
        create table plain (a int unique); create table domains (a filled unique);
        create table folded (a int, unique nulls not distinct (a))",
    )
    .await;
    let error = refusal(&load(&client, "plain").await, &["a"], None);
    assert!(
        error.to_string().contains("NULLS NOT DISTINCT") && error.message().contains(r#""a""#),
        "{error}"
    );
    let folded = key(&load(&client, "folded").await, &["a"], None);
    assert!(folded.nullable && folded.nulls_not_distinct);
    client
        .batch_execute(
            "create table given (a int, \"B\" int, c int);
            create unique index on given (a, \"B\") where a is not null and \"B\" is not null and c > 0;
            create unique index on given (c) where c > 0",
        )
        .await
        .unwrap();
    let given = load(&client, "given").await;
    assert!(!key(&given, &["a", "B"], Some("a is not null and \"B\" is not null and c > 0")).nullable);
    assert!(refusal(&given, &["c"], Some("c > 0")).message().contains(r#"NULL in "c""#));
    let domains = key(&load(&client, "domains").await, &["a"], None);
    assert!(!domains.nullable && !domains.nulls_not_distinct);
}

#[tokio::test]
async fn another_collation_or_operator_than_the_columns_is_refused() {
    let (_database, client) = prepared(
        r#"create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        create table t (a text not null, b text collate ci not null unique); create unique index on t (a collate ci)"#,
    )
    .await;
    let table = load(&client, "t").await;
    assert!(refusal(&table, &["a"], None).message().contains("collation"));
    assert_eq!(answer(&client, "t", "(a)").await, "");
    let folded = key(&table, &["b"], None);
    assert!(!folded.plain_equality && folded.second_unique);
}

#[tokio::test]
async fn other_constraints_make_a_second_unique() {
    let (_database, client) = prepared(
        "create table lone (id int primary key, v int);
        create table second (id int primary key, v int unique);
        create table late (id int primary key, v int, unique (v) deferrable);
        create table excluded (id int primary key, r int4range, exclude using gist (r with &&));
        create table expressed (id int primary key, v text); create unique index on expressed (lower(v));
        create table live (id int primary key, v int); create unique index on live (v) where v > 0",
    )
    .await;
    for (name, second) in [
        ("lone", false),
        ("second", true),
        ("late", true),
        ("excluded", true),
        ("expressed", true),
        ("live", true),
    ] {
        let chosen = conflict_key(&load(&client, name).await, None, None).unwrap().unwrap();
        assert_eq!(chosen.second_unique, second, "{name}");
    }
}

#[tokio::test]
async fn an_invalid_unique_index_is_no_key() {
    let (_database, client) = prepared(
        "create table t (a int not null, b int not null); create unique index broken on t (a);
        update pg_index set indisvalid = false where indexrelid = 'broken'::regclass; insert into t values (1, 1), (2, 1)",
    )
    .await;
    // Its build stops at the doubled value: not even kept up to date, it refuses no row.
    client.batch_execute("create unique index concurrently stopped on t (b)").await.unwrap_err();
    let table = load(&client, "t").await;
    assert_eq!(table.other_unique, ["broken"]);
    refusal(&table, &["a"], None);
    assert_eq!(answer(&client, "t", "(a)").await, "42P10");
}

#[tokio::test]
async fn the_key_of_a_partitioned_table_has_its_partition_columns_b08() {
    let (_database, client) =
        prepared("create table t9 (id int, d date, v int, primary key (id, d)) partition by range (d)").await;
    let table = load(&client, "t9").await;
    assert_eq!(conflict_key(&table, None, None).unwrap().unwrap().columns, [0, 1]);
    let error = refusal(&table, &["id"], None);
    assert!(error.hint().unwrap().contains("partition key"), "{error}");
    assert!(error.hint().unwrap().contains(r#""t9_pkey" ("id", "d")"#), "{error}");
    assert_eq!(answer(&client, "t9", "(id)").await, "42P10");
}

#[tokio::test]
async fn views_have_the_key_that_is_configured_b08() {
    let (_database, client) = prepared(
        "create table base (id int primary key, v text); create view seen as select id, v from base",
    )
    .await;
    let table = load(&client, "seen").await;
    assert_eq!(conflict_key(&table, None, None).unwrap(), None);
    let chosen = key(&table, &["id"], None);
    assert_eq!(chosen.columns, [0]);
    assert!(chosen.plain_equality && chosen.second_unique && chosen.nullable && !chosen.nulls_not_distinct);
}

#[tokio::test]
async fn a_key_without_overlaps_is_no_conflict_key_and_unenforced_checks_are_none() {
    let (_database, client) = prepared("").await;
    let version = client.query_one("select current_setting('server_version_num')::int4", &[]).await.unwrap();
    if version.get::<_, i32>(0) < 180_000 {
        return;
    }
    client
        .batch_execute(
            "create extension btree_gist;
            create table booked (room int, during tstzrange, v int unique not null,
                primary key (room, during without overlaps));
            create table t (
                id int primary key, v int, d int generated always as (v * 2),
                parent int references t not enforced, check (v > 0) not enforced, check (id > 0)
            );
            alter table t add constraint later not null v not valid",
        )
        .await
        .unwrap();
    let booked = load(&client, "booked").await;
    assert_eq!(booked.other_unique, ["booked_pkey"]);
    assert_eq!(conflict_key(&booked, None, None).unwrap(), None);
    refusal(&booked, &["room", "during"], None);
    assert!(key(&booked, &["v"], None).second_unique);

    let table = load(&client, "t").await;
    assert!(table.columns[2].generated && table.columns[2].default.is_none());
    assert_eq!(table.checks, [vec![0]]);
    assert!(!table.self_reference);
    // NOT VALID spares the rows that are there; a new one is refused.
    assert!(table.columns[1].not_null);
    let error = client.batch_execute("insert into t (id) values (1)").await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "23502");
}
