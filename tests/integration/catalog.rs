//! Table definitions, conflict keys and names, against the server that they come from.

mod keys;
mod shapes;

use std::sync::Arc;
use std::time::Duration;

use pgsluice::ErrorKind;
use pgsluice::catalog::{Column, PgType, SchemaCache, Table, TableName, load_table};
use pgsluice_testcontainers::Database;
use tokio_postgres::Client;

/// A fresh database in which `setup` has run.
async fn prepared(setup: &str) -> (Database, Client) {
    let database = Database::new().await;
    let client = database.client().await;
    client.batch_execute(setup).await.unwrap();
    (database, client)
}

async fn load(client: &Client, name: &str) -> Table {
    load_table(client, &TableName::parse(name).unwrap()).await.unwrap()
}

fn column<'a>(table: &'a Table, name: &str) -> &'a Column {
    table.columns.iter().find(|column| column.name == name).unwrap()
}

fn type_of<'a>(table: &'a Table, name: &str) -> &'a Arc<PgType> {
    &column(table, name).data_type
}

/// Creates an extension of contrib, or says what to install.
async fn extension(client: &Client, name: &str) {
    if let Err(error) = client.batch_execute(&format!("create extension {name} schema public")).await {
        panic!(
            "{name} is missing in the server: install its contrib modules (postgresql-contrib): {error:?}"
        );
    }
}

#[tokio::test]
async fn names_reach_the_server_exactly_as_given_b04_f_a95() {
    let (_database, client) = prepared(
        r#"create schema "Sales";
        create table "Sales"."Order.Lines" (
            id int primary key, "jsonData" jsonb, "left" text, "a""b" int, "sp ace" int, "données" text
        )"#,
    )
    .await;
    let table = load(&client, r#""Sales"."Order.Lines""#).await;
    assert_eq!(table.relation.name, TableName::new(Some("Sales"), "Order.Lines").unwrap());
    let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "jsonData", "left", "a\"b", "sp ace", "données"]);

    let given = TableName::new(Some("Sales"), "Order.Lines").unwrap();
    assert_eq!(load_table(&client, &given).await.unwrap().relation, table.relation);
    for wrong in ["Sales.Order.Lines", "sales.\"Order.Lines\"", "\"Sales.Order.Lines\""] {
        let read = match TableName::parse(wrong) {
            Ok(name) => load_table(&client, &name).await.map(|table| table.relation),
            Err(error) => Err(error),
        };
        assert!(read.is_err(), "{wrong}");
    }
}

/// The server's own reader of names is the oracle.
#[tokio::test]
async fn texts_are_read_as_the_server_reads_names_f_a95() {
    let (_database, client) = prepared("").await;
    let pieces = ["a", "B", "é", "É", "_", "9", "$", "\"", "\"\"", ".", " ", "\t", "-", "\\", "'", "select"];
    let mut seed = 7_u64;
    let mut next = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    let texts: Vec<String> =
        (0..4000).map(|_| (0..1 + next(7)).map(|_| pieces[next(pieces.len())]).collect()).collect();
    client
        .batch_execute(
            "create function parts(t text) returns text[] language plpgsql as
            $$ begin return parse_ident(t); exception when others then return null; end $$",
        )
        .await
        .unwrap();
    let sql = "select parts(t) from unnest($1::text[]) with ordinality u (t, n) order by n";
    let rows = client.query(sql, &[&texts]).await.unwrap();
    let mut taken = 0;
    for (text, row) in texts.iter().zip(rows) {
        let server = row.get::<_, Option<Vec<String>>>(0).filter(|parts| parts.len() <= 2);
        let ours =
            TableName::parse(text).ok().map(|name| name.schema.into_iter().chain([name.name]).collect());
        assert_eq!(ours, server, "{text:?}");
        taken += usize::from(server.is_some());
    }
    assert!(taken > 200, "{taken} of the texts are names");
}

#[tokio::test]
async fn a_name_of_63_bytes_is_found_and_a_longer_one_never_finds_the_cut_one_f_a95() {
    let name = format!("{}x", "é".repeat(31));
    let (_database, client) = prepared(&format!("create table \"{name}\" (id int)")).await;
    assert_eq!(load(&client, &format!("\"{name}\"")).await.relation.name.name, name);
    let error = TableName::parse(&format!("\"{name}y\"")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("64 bytes"), "{error}");
}

#[tokio::test]
async fn a_name_without_schema_follows_the_search_path() {
    let (_database, client) = prepared(
        "create schema one; create schema two;
        create table one.t (a int); create table two.t (b int); create table two.only (c int)",
    )
    .await;
    client.batch_execute("set search_path = two, one").await.unwrap();
    assert_eq!(load(&client, "t").await.relation.name.schema.as_deref(), Some("two"));
    assert_eq!(load(&client, "one.t").await.columns[0].name, "a");
    client.batch_execute("set search_path = one").await.unwrap();
    assert_eq!(load(&client, "t").await.relation.name.schema.as_deref(), Some("one"));
    let error = load_table(&client, &TableName::parse("only").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.hint(), Some(r#"there is "two"."only""#));
    client.batch_execute("create temp table t (d int)").await.unwrap();
    let temporary = load(&client, "t").await;
    assert_eq!(temporary.columns[0].name, "d");
    assert!(temporary.temporary);
    assert!(!load(&client, "one.t").await.temporary);
    assert_eq!(load(&client, "pg_temp.t").await.relation, temporary.relation);
}

#[tokio::test]
async fn a_missing_table_names_what_is_near_and_what_cannot_be_written_is_refused() {
    let (_database, client) = prepared(
        r#"create table customers (id int primary key); create table "Items" (id int);
        create sequence counter; create materialized view seen as select 1 as id; create type pair as (a int)"#,
    )
    .await;
    let fail = async |name: &str| load_table(&client, &TableName::parse(name).unwrap()).await.unwrap_err();
    let error = fail("custmers").await;
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.context("table"), Some("\"custmers\""));
    assert_eq!(error.hint(), Some(r#"did you mean "public"."customers"?"#));
    assert!(fail("Items").await.hint().unwrap().contains(r#""public"."Items""#));
    assert_eq!(fail("no_such_schema.t").await.kind(), ErrorKind::NotFound);
    for name in ["customers_pkey", "counter", "seen", "pair"] {
        let error = fail(name).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert_eq!(error.context("table"), Some(format!("\"{name}\"").as_str()));
    }
}

#[tokio::test]
async fn a_closed_schema_is_a_missing_permission() {
    let (_database, client) = prepared("create schema closed; create table closed.t (id int)").await;
    client.batch_execute("set role pg_monitor").await.unwrap();
    let error = load_table(&client, &TableName::parse("closed.t").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
}

#[tokio::test]
async fn the_cache_keeps_a_table_until_its_time_or_a_call_ends_it() {
    let (_database, client) = prepared("create table t (a int)").await;
    let name = TableName::parse("t").unwrap();
    let cache = SchemaCache::new(Duration::from_secs(600));
    let first = cache.get(&client, &name).await.unwrap();
    client.batch_execute("alter table t add b int").await.unwrap();
    assert!(Arc::ptr_eq(&first, &cache.get(&client, &name).await.unwrap()));
    cache.invalidate(&name);
    assert_eq!(cache.get(&client, &name).await.unwrap().columns.len(), 2);

    client.batch_execute("alter table t add c int").await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(599)).await;
    tokio::time::resume();
    assert_eq!(cache.get(&client, &name).await.unwrap().columns.len(), 2);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    assert_eq!(cache.get(&client, &name).await.unwrap().columns.len(), 3);
}

#[tokio::test]
async fn concurrent_calls_read_a_table_once_and_errors_and_temporary_tables_are_not_kept() {
    let (_database, client) = prepared("create table t (a int)").await;
    let cache = SchemaCache::new(Duration::from_secs(600));
    let name = TableName::parse("t").unwrap();
    let (a, b, c) =
        tokio::join!(cache.get(&client, &name), cache.get(&client, &name), cache.get(&client, &name));
    let a = a.unwrap();
    assert!(Arc::ptr_eq(&a, &b.unwrap()) && Arc::ptr_eq(&a, &c.unwrap()));

    let late = TableName::parse("late").unwrap();
    assert_eq!(cache.get(&client, &late).await.unwrap_err().kind(), ErrorKind::NotFound);
    client.batch_execute("create temp table late (a int)").await.unwrap();
    cache.get(&client, &late).await.unwrap();
    client.batch_execute("alter table late add b int").await.unwrap();
    assert_eq!(cache.get(&client, &late).await.unwrap().columns.len(), 2);
}

#[tokio::test]
async fn a_dropped_call_leaves_the_cache_and_the_connection_usable() {
    let (database, client) = prepared("create table t (a int)").await;
    let locker = database.client().await;
    locker.batch_execute("begin; lock table pg_catalog.pg_attribute").await.unwrap();
    let cache = SchemaCache::new(Duration::from_secs(600));
    let name = TableName::parse("t").unwrap();
    tokio::time::timeout(Duration::from_millis(50), cache.get(&client, &name)).await.unwrap_err();
    locker.batch_execute("rollback").await.unwrap();
    assert_eq!(cache.get(&client, &name).await.unwrap().columns.len(), 1);
}
