//! Real Postgres servers for tests: one server a run and version, one fresh database a test.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::{Client, NoTls};

/// A fresh database on the run's server; dropped with this value.
pub struct Database {
    name: String,
    base: String,
}

impl Database {
    /// A new, empty database on the shared server.
    pub async fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::var("DATABASE_URL").expect("DATABASE_URL");
        let base = base.rsplit_once('/').expect("a URL with a database").0.to_owned();
        let name = format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let admin = connect(&format!("{base}/postgres")).await;
        admin.batch_execute(&format!("create database {name}")).await.expect("create database");
        Self { name, base }
    }

    /// The URL of this database, user and password included.
    pub fn url(&self) -> String {
        format!("{}/{}", self.base, self.name)
    }

    /// A plain connection to this database, for setting up and looking.
    pub async fn client(&self) -> Client {
        connect(&self.url()).await
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a server");
    tokio::spawn(connection);
    client
}
