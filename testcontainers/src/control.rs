//! What pauses, restarts and kills servers, and asks whether they answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::{Client, NoTls};

use crate::docker;
use crate::local::LocalServer;
use crate::runtime::RUNTIME;

/// How long a server may take to answer after its start.
const START: Duration = Duration::from_secs(90);

/// The hold on a server.
#[derive(Debug, Clone)]
pub(crate) enum Control {
    Container(String),
    Process(Arc<Mutex<LocalServer>>),
    /// Other tests use it, or somebody else runs it.
    Shared,
}

impl Control {
    pub(crate) fn pause(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => lock(process).signal_all("STOP"),
            _ => self.docker(&["pause"]),
        }
    }

    pub(crate) fn unpause(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => lock(process).signal_all("CONT"),
            _ => self.docker(&["unpause"]),
        }
    }

    /// Sends a signal to the main process and waits until the server has ended.
    pub(crate) fn end(&self, signal: &str) -> Result<(), String> {
        if let Self::Process(process) = self {
            return lock(process).end(signal);
        }
        self.docker(&["kill", "--signal", signal])?;
        self.docker(&["wait"])
    }

    pub(crate) fn start(&self) -> Result<(), String> {
        match self {
            Self::Process(process) => lock(process).start(),
            _ => self.docker(&["start"]),
        }
    }

    fn docker(&self, command: &[&str]) -> Result<(), String> {
        match self {
            Self::Container(name) => docker::docker(&[command, &[name.as_str()]].concat()).map(drop),
            _ => Err("not a container".to_owned()),
        }
    }

    /// Polls until the server answers; its major version.
    pub(crate) fn wait_until_ready(&self, url: &str) -> Result<u32, String> {
        let deadline = Instant::now() + START;
        loop {
            let error = match version_at(url) {
                Ok(version) => return Ok(version),
                Err(error) => error,
            };
            match self {
                Self::Container(name) => docker::check_running(name)?,
                Self::Process(process) => lock(process).check_running()?,
                Self::Shared => {}
            }
            if Instant::now() > deadline {
                return Err(format!("the server does not answer after {} s: {error}", START.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn lock(process: &Mutex<LocalServer>) -> MutexGuard<'_, LocalServer> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a server for its major version.
pub(crate) fn version_at(url: &str) -> Result<u32, String> {
    RUNTIME.block_on(async {
        let client = connect(url).await?;
        let row = client.query_one("select current_setting('server_version_num')::int / 10000", &[]).await;
        let version: i32 = row.map_err(|e| docker::describe(&e))?.get(0);
        u32::try_from(version).map_err(|e| e.to_string())
    })
}

/// A connection whose task runs on the runtime that calls; it gives up after some seconds.
pub(crate) async fn connect(url: &str) -> Result<Client, String> {
    let connecting = tokio_postgres::connect(url, NoTls);
    match tokio::time::timeout(Duration::from_secs(10), connecting).await {
        Ok(Ok((client, connection))) => {
            tokio::spawn(connection);
            Ok(client)
        }
        Ok(Err(error)) => Err(docker::describe(&error)),
        Err(_) => Err("no answer".to_owned()),
    }
}
