//! A database behind the fault proxy, and what every sink's books must say.

use std::time::Duration;

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::SinkOptions;
use pgsluice::sink::{Sink, SinkStats};
use pgsluice_testcontainers::{Database, Proxy};
use tokio_postgres::Client;

/// No test waits longer for something to happen.
const DEADLINE: Duration = Duration::from_secs(60);

pub(super) struct Faulty {
    pub(super) client: Client,
    pub(super) proxy: Proxy,
    pub(super) pool: Pool,
    pub(super) database: Database,
}

impl Faulty {
    /// A fresh database with the tables of `sql`.
    pub(super) async fn new(sql: &str) -> Self {
        let database = Database::new().await;
        let client = database.client().await;
        client.batch_execute(sql).await.unwrap();
        let proxy = Proxy::before(&database.url()).await;
        let pool =
            Pool::open(&proxy.url(&database.url()), PoolOptions::named("faulty").size(4)).await.unwrap();
        Self { client, proxy, pool, database }
    }

    pub(super) async fn sink(&self, options: SinkOptions) -> Sink {
        Sink::open(&self.pool, "t", options).await.unwrap()
    }

    /// The one number that a query gives.
    pub(super) async fn number(&self, sql: &str) -> i64 {
        number(&self.client, sql).await
    }

    /// Ends all sessions of the pool.
    pub(super) async fn terminate(&self) {
        terminate(&self.client).await;
    }
}

pub(super) async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Ends all other sessions of the database, and waits until they are gone.
pub(super) async fn terminate(client: &Client) {
    let sessions = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() \
                    and backend_type = 'client backend'";
    client.execute(&format!("select pg_terminate_backend(pid, 10000) {sessions}"), &[]).await.unwrap();
}

/// Fast retries.
pub(super) fn options() -> SinkOptions {
    SinkOptions::new().retry_sleep_step(Duration::from_millis(5)).flush_interval(None)
}

/// Each accepted record is in exactly one of the books' columns.
pub(super) fn balanced(stats: SinkStats) {
    assert_eq!(
        stats.accepted,
        stats.committed + stats.rejected + stats.failed + stats.unknown + stats.pending(),
        "{stats:?}"
    );
}

/// Polls until something is so.
pub(super) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let polling = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(DEADLINE, polling).await.is_ok(), "never happened: {what}");
}
