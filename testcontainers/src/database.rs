//! A fresh database for one test.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_postgres::Client;

use crate::control::connect;
use crate::runtime::RUNTIME;
use crate::server::{Server, server};
use crate::url::ServerUrl;

/// A fresh database; dropped with this value, whoever is connected.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: ServerUrl,
}

impl Database {
    /// A new, empty database on the run's shared server.
    ///
    /// # Panics
    ///
    /// If there is no server and none can be started; the message says what to install.
    pub async fn new() -> Self {
        Self::on(server().await).await
    }

    pub(crate) async fn on(server: &Server) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A server may serve several machines' runs, where a process id alone is not unique.
        let name = format!("t{}_{number}_{:x}", std::process::id(), since_epoch.as_micros());
        let url = server.url.clone();
        let database = Self { name, url };
        let admin = database.admin().await;
        if let Err(error) = admin.batch_execute(&format!("create database {}", database.name)).await {
            panic!("create database {}: {error:?}", database.name);
        }
        database
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of this database, user and password included.
    pub fn url(&self) -> String {
        self.url.database(&self.name)
    }

    /// A plain connection to this database, for setting up and looking.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub async fn client(&self) -> Client {
        connect(&self.url()).await.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    async fn admin(&self) -> Client {
        connect(&self.url.database("postgres"))
            .await
            .unwrap_or_else(|error| panic!("the test server: {error}"))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (name, url) = (self.name.clone(), self.url.clone());
        // The test's runtime may be going down, and waits on this thread.
        let dropped = std::thread::spawn(move || RUNTIME.block_on(remove(&name, &url))).join();
        if let Ok(Err(error)) = dropped {
            eprintln!("the database {} stays: {error}", self.name);
        }
    }
}

async fn remove(name: &str, url: &ServerUrl) -> Result<(), String> {
    let admin = connect(&url.database("postgres")).await?;
    let drop = format!("drop database if exists {name} with (force)");
    if admin.batch_execute(&drop).await.is_ok() {
        return Ok(());
    }
    // Force ends sessions, but prepared transactions and slots in use it leaves.
    let client = connect(&url.database(name)).await?;
    let prepared = "select gid from pg_prepared_xacts where database = current_database()";
    for row in client.query(prepared, &[]).await.map_err(|e| e.to_string())? {
        let gid: String = row.get(0);
        let _ = client.batch_execute(&format!("rollback prepared '{}'", gid.replace('\'', "''"))).await;
    }
    let release = "select pg_terminate_backend(active_pid, 5000) from pg_replication_slots \
                   where active_pid is not null and database = current_database()";
    client.query(release, &[]).await.map_err(|e| e.to_string())?;
    admin.batch_execute(&drop).await.map_err(|e| crate::docker::describe(&e))
}
