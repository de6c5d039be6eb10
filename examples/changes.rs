//! A stream of changes into a table: the sink is a `futures::Sink`, so `forward` and `send_all` drive it.
//!
//! ```text
//! DATABASE_URL=postgres://user@host/db cargo run --example changes
//! ```
//!
//! It makes the table `example_accounts` where it is missing.

use futures::{SinkExt, StreamExt, stream};
use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::SinkOptions;
use pgsluice::sink::Sink;
use pgsluice::{Record, RowKind};

/// A changelog as a database or a stream processor gives it: an update is the row before and the row after.
fn changes() -> Vec<Record> {
    let account = |kind, id: i64, balance: i64| Record::new(kind).field("id", id).field("balance", balance);
    vec![
        account(RowKind::Insert, 1, 100),
        account(RowKind::Insert, 2, 50),
        account(RowKind::UpdateBefore, 1, 100),
        account(RowKind::UpdateAfter, 1, 70),
        account(RowKind::Delete, 2, 50),
        account(RowKind::Insert, 3, 30),
    ]
}

#[tokio::main]
async fn main() -> pgsluice::Result<()> {
    let dsn = std::env::var("DATABASE_URL").unwrap_or_default(); // empty: the PG* variables, as in psql
    let pool = Pool::open(&dsn, PoolOptions::named("example")).await?;
    let session = pool.get().await?;
    let table = "create table if not exists example_accounts (id bigint primary key, balance bigint)";
    session.batch_execute(table).await.map_err(|error| session.failure("create table", &error))?;
    drop(session);

    let mut sink = Sink::open(&pool, "example_accounts", SinkOptions::new()).await?;
    // Takes records as fast as the memory budget allows, and flushes at the stream's end.
    sink.send_all(&mut stream::iter(changes()).map(Ok)).await?;
    println!("{:?}", sink.stats());
    Sink::close(&sink).await?;
    pool.close().await;
    Ok(())
}
