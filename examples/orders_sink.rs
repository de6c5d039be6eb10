//! Upserts structs into a table, waits for the commit, and reads the report.
//!
//! ```text
//! DATABASE_URL=postgres://user@host/db cargo run --example orders_sink
//! ```
//!
//! It makes the table `example_orders` where it is missing.

use pgsluice::RowKind;
use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{RejectPolicy, SinkOptions};
use pgsluice::sink::Sink;
use serde::Serialize;

/// Fields are columns by name. `None` is NULL; a field that is skipped is absent, and its column keeps what it has.
#[derive(Serialize)]
struct Order<'a> {
    order_id: i64,
    status: &'a str,
    amount: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// A delete needs the key only.
#[derive(Serialize)]
struct OrderKey {
    order_id: i64,
}

#[tokio::main]
async fn main() -> pgsluice::Result<()> {
    let dsn = std::env::var("DATABASE_URL").unwrap_or_default(); // empty: the PG* variables, as in psql
    let pool = Pool::open(&dsn, PoolOptions::named("example")).await?;
    let session = pool.get().await?;
    let table = "create table if not exists example_orders (order_id bigint primary key, status text not null, \
             amount numeric(12,2) check (amount >= 0), note text)";
    session.batch_execute(table).await.map_err(|error| session.failure("create table", &error))?;
    drop(session);

    let options = SinkOptions::new().reject_policy(RejectPolicy::Skip { limit: Some(10) });
    let sink = Sink::open(&pool, "example_orders", options).await?;
    sink.upsert(&Order { order_id: 1, status: "new", amount: Some("19.90"), note: Some("ring twice") })
        .await?;
    sink.upsert(&Order { order_id: 2, status: "new", amount: None, note: None }).await?;
    // The note of order 1 stays: this record does not give it.
    sink.upsert(&Order { order_id: 1, status: "paid", amount: Some("19.90"), note: None }).await?;
    sink.write(RowKind::Delete, &OrderKey { order_id: 2 }).await?;
    // The table's CHECK refuses this one; its neighbours are committed.
    sink.upsert(&Order { order_id: 3, status: "new", amount: Some("-1"), note: None }).await?;

    let report = sink.flush().await?; // Ok: each record above is committed, or in report.rejects
    println!("{} committed, {} rejected", report.stats.committed, report.stats.rejected);
    for reject in &report.rejects {
        println!("  {reject}");
    }
    sink.close().await?;
    pool.close().await;
    Ok(())
}
