//! Rows into any database that speaks the Postgres protocol: exactly, and fast.
//!
//! A [`Sink`](sink::Sink) takes records (structs, named or positional values, changes of a changelog), encodes each once
//! into the binary form of its column's type, folds the changes of a key within a batch, and writes batches in
//! transactions. After [`flush`](sink::Sink::flush) the table is what applying the records one by one would give, and
//! each accepted record is committed or in the report.
//!
//! ```no_run
//! use pgsluice::connection::{Pool, PoolOptions};
//! use pgsluice::options::SinkOptions;
//! use pgsluice::sink::Sink;
//! use serde::Serialize;
//!
//! #[derive(Serialize)]
//! struct Order {
//!     order_id: i64,
//!     status: &'static str,
//!     amount: Option<f64>, // None is NULL
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> pgsluice::Result<()> {
//! let pool = Pool::open("postgres://etl@localhost/shop", PoolOptions::named("etl")).await?;
//! let sink = Sink::open(&pool, "public.orders", SinkOptions::new()).await?;
//! sink.upsert(&Order { order_id: 1, status: "paid", amount: Some(19.9) }).await?;
//! let report = sink.flush().await?; // Ok: every record is committed
//! println!("{} records are in", report.stats.committed);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | connect: DSN, environment, TLS, pools | [`connection`] |
//! | choose how a sink batches, resolves conflicts, deletes, rejects | [`SinkOptions`](options::SinkOptions) |
//! | set the same from texts (a connector's DDL, TOML, `key=value`) | [`options`] |
//! | write structs, named values, [`Record`]s, tuples, a [`futures::Sink`] | [`Sink`](sink::Sink), [`Columns`](sink::Columns) |
//! | give dates, decimals, intervals, arrays | [`Value`], [`record`] |
//! | encode on threads of one's own | [`Sink::encoder`](sink::Sink::encoder), [`Chunk`](sink::Chunk) |
//! | see what server, user and table allow | [`check`] |
//! | load CSV, TSV and NDJSON files (feature `cli`) | [`load`] |
//! | know what failed and what to do | [`Error`], [`ErrorKind`], [`Reject`] |
//!
//! # Records
//!
//! A column of a record has one of three states. A *value* is written; [`Value::Null`] (`None` in a struct) is NULL; a
//! column that is not given is *absent*: it keeps its value in a stored row and gets its DEFAULT in a new one. Values
//! may be of another kind than the column: text goes by the column type's own text rules, numbers to numbers where they
//! are exact, and what does not fit is an error that names the column and never the value.
//!
//! A record's [`RowKind`] says what happened: [`Insert`](RowKind::Insert) and [`UpdateAfter`](RowKind::UpdateAfter) are
//! written by the [conflict policy](options::ConflictAction), [`Delete`](RowKind::Delete) and
//! [`UpdateBefore`](RowKind::UpdateBefore) by the [delete strategy](options::DeleteStrategy).
//!
//! # Errors
//!
//! A record that cannot be encoded is refused by the call that brings it; one that the server refuses is *rejected*: the
//! rest of its batch commits, and [`Reject`] says which record and why. Under
//! [`RejectPolicy::Fail`](options::RejectPolicy::Fail), the default, the next call returns
//! [`ErrorKind::Rejected`]; under [`Skip`](options::RejectPolicy::Skip) the flush's report has them. A broken connection
//! ends the sink with the positions of what is not committed: nothing is sent again by itself in this version.
//!
//! # Features
//!
//! `tls-ring` (default): TLS; without it `sslmode` must be disable, allow or prefer. `cli` (default): the [`load`] engine
//! and the `pgsluice` command. A library user takes `default-features = false, features = ["tls-ring"]`.

pub mod catalog;
pub mod check;
pub mod connection;
pub mod encode;
mod error;
#[cfg(feature = "cli")]
pub mod load;
pub mod options;
pub mod record;
pub mod sink;
mod sql;

pub use error::{Error, ErrorKind, Reject, Result};
pub use record::{Record, RowKind, Value};
