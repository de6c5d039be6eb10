//! Tuples by position: values of any source, and texts as a file has them.
//!
//! ```text
//! DATABASE_URL=postgres://user@host/db cargo run --example positional
//! ```
//!
//! It makes the table `example_readings` where it is missing.

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::SinkOptions;
use pgsluice::sink::Sink;
use pgsluice::{RowKind, Value};

#[tokio::main]
async fn main() -> pgsluice::Result<()> {
    let dsn = std::env::var("DATABASE_URL").unwrap_or_default(); // empty: the PG* variables, as in psql
    let pool = Pool::open(&dsn, PoolOptions::named("example")).await?;
    let session = pool.get().await?;
    let table = "create table if not exists example_readings (device int, at timestamptz, celsius numeric(5,2), \
             tags text[], primary key (device, at))";
    session.batch_execute(table).await.map_err(|error| session.failure("create table", &error))?;
    drop(session);

    let sink = Sink::open(&pool, "example_readings", SinkOptions::new().time_zone("UTC").lanes(2)).await?;
    let mut readings = sink.columns(&["device", "at", "celsius", "tags"])?;
    for device in 1..=3 {
        let tags = Value::Array(vec!["roof".into(), Value::Null]);
        let values = [Value::from(device), "2026-03-01 08:00".into(), Value::Float8(20.125), tags];
        readings.write(RowKind::Insert, &values).await?;
    }
    readings
        .write_text(RowKind::Insert, &[Some("4"), Some("2026-03-01T08:00:00Z"), Some("1e1"), Some("{roof}")])
        .await?;
    // Shorter than the columns: what is not given keeps its value, or gets its DEFAULT in a new row.
    readings.write_text(RowKind::Insert, &[Some("1"), Some("2026-03-01T08:00:00Z"), None]).await?;

    let report = sink.close().await?;
    println!("{} records are committed", report.stats.committed);
    pool.close().await;
    Ok(())
}
