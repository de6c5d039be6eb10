//! The task that moves a connection's bytes; it alone sees why the server ends an idle session.

use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

use crate::Error;
use crate::error::from_server;

/// How long a connection may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);

/// The task and what it has seen. Dropping this leaves the task to end by itself, once the client is gone and the
/// running statement is answered.
pub(super) struct Driver {
    task: JoinHandle<()>,
    last_error: Arc<OnceLock<Error>>,
}

impl Driver {
    /// Starts the task; `live` counts it while it runs.
    pub(super) fn spawn<S, T>(connection: tokio_postgres::Connection<S, T>, live: LiveGuard) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let last_error = Arc::new(OnceLock::new());
        let task = tokio::spawn(drive(connection, last_error.clone(), live));
        Self { task, last_error }
    }

    pub(super) fn last_error(&self) -> Option<&Error> {
        self.last_error.get()
    }

    /// Waits until the connection is closed, when its client was dropped; ends it by force after a while.
    pub(super) async fn finish(mut self) {
        if tokio::time::timeout(GOODBYE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

async fn drive<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    last_error: Arc<OnceLock<Error>>,
    _live: LiveGuard,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notice(notice))) => {
                tracing::debug!(
                    severity = notice.severity(),
                    code = notice.code().code(),
                    message = notice.message(),
                    "server notice"
                );
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                let error = from_server("connection", &error);
                tracing::debug!(%error, "connection lost");
                // Kept before the connection is dropped: the requests under way fail only then.
                let _ = last_error.set(error);
                return;
            }
            None => return,
        }
    }
}

/// Counts the connections of a pool that still have a socket.
#[derive(Clone, Debug)]
pub(super) struct Live(watch::Sender<usize>);

impl Live {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(super) fn guard(&self) -> LiveGuard {
        self.0.send_modify(|count| *count += 1);
        LiveGuard(self.clone())
    }

    /// Waits until no connection is left, at most as long as a goodbye may take.
    pub(super) async fn none_left(&self) {
        let mut count = self.0.subscribe();
        let _ = tokio::time::timeout(GOODBYE, count.wait_for(|count| *count == 0)).await;
    }
}

pub(super) struct LiveGuard(Live);

impl Drop for LiveGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
