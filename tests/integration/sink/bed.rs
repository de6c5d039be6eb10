//! What the tests of values share: a database with a pool, sinks in every write mode, and a look at errors.

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{RejectPolicy, SinkOptions};
use pgsluice::sink::Sink;
use pgsluice::{Reject, RowKind, Value};
use pgsluice_testcontainers::Database;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::conformance::InMode;

/// Stands in every value that is refused; no message may hold it.
pub(super) const MARKER: &str = "m4rk3r";

/// The write modes that each case is tried in.
pub(super) fn modes() -> impl Iterator<Item = SinkOptions> {
    super::conformance::all_modes().into_iter().map(|mode| SinkOptions::new().in_mode(mode))
}

/// A fresh database.
pub(super) struct Bed {
    pub(super) client: Client,
    pub(super) pool: Pool,
    _database: Database,
}

impl Bed {
    /// After `setup` has run in it.
    pub(super) async fn new(setup: &str) -> Self {
        let database = Database::new().await;
        database.client().await.batch_execute(setup).await.unwrap();
        let url = database.url();
        let name = url.rsplit_once('/').unwrap().1.to_owned();
        let pool = Pool::open(&url, PoolOptions::named(name).size(2)).await.unwrap();
        Self { client: database.client().await, pool, _database: database }
    }

    pub(super) async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    pub(super) async fn sink(&self, table: &str, options: SinkOptions) -> Sink {
        Sink::open(&self.pool, table, options).await.unwrap()
    }

    /// The rows of an answer, each field as text; NULL is `∅`.
    pub(super) async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        let messages = self.client.simple_query(sql).await.unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        rows.map(|row| (0..row.len()).map(|n| row.get(n).unwrap_or("∅").to_owned()).collect()).collect()
    }

    /// The rows of an answer, a line each.
    pub(super) async fn lines(&self, sql: &str) -> Vec<String> {
        self.rows(sql).await.iter().map(|row| row.join("|")).collect()
    }

    /// The first field of the first row.
    pub(super) async fn one(&self, sql: &str) -> String {
        self.rows(sql).await[0][0].clone()
    }
}

/// The options under which a refused record is set aside.
pub(super) fn skipping(options: SinkOptions) -> SinkOptions {
    options.reject_policy(RejectPolicy::Skip { limit: None })
}

/// Writes one record and flushes: what was rejected of it.
pub(super) async fn rejected(sink: &Sink, kind: RowKind, fields: &[(&str, Value<'_>)]) -> Vec<Reject> {
    sink.write_values(kind, fields).await.unwrap();
    let rejects = sink.flush().await.unwrap().rejects;
    for reject in &rejects {
        assert!(!format!("{reject} {reject:?}").contains(MARKER), "{reject:?}");
    }
    rejects
}

/// No form of the error, and none of its causes, holds the value.
pub(super) fn shows_no_value(error: &(dyn std::error::Error + 'static)) {
    let mut next = Some(error);
    while let Some(error) = next {
        assert!(!format!("{error} {error:?} {error:#?}").contains(MARKER), "{error}");
        next = error.source();
    }
}
