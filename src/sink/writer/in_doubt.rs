//! In doubt: COMMIT was sent and its answer was lost. The server that ran the transaction is asked what became of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error as ClientError, Row};

use super::Written;
use crate::error::{Error, ErrorKind, from_server};

const OPERATION: &str = "settle commit";

/// The cluster is the same only where it has the same timeline: after a failover another transaction may have the number.
const CLUSTER: &str = "(SELECT s.system_identifier FROM pg_catalog.pg_control_system() s) || '/' || \
    pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8)";

/// A transaction, and the session that runs it.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    xid: String,
    cluster: String,
    pid: i32,
    /// Seconds since 1970; unknown where the server does not tell.
    session_start: Option<String>,
}

impl Identity {
    /// Reads the identity of the open transaction, which has one from then on. None where the server has no row for its
    /// own session.
    pub(super) async fn read(client: &Client) -> Result<Option<Self>, ClientError> {
        let sql = format!(
            "SELECT pg_catalog.pg_current_xact_id()::text, {CLUSTER}, a.pid, \
             extract(epoch FROM a.backend_start)::text \
             FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a"
        );
        let rows = client.query_typed(&sql, &[]).await?;
        let identity = |row: &Row| {
            Ok(Self {
                xid: row.try_get(0)?,
                cluster: row.try_get(1)?,
                pid: row.try_get(2)?,
                session_start: row.try_get(3)?,
            })
        };
        rows.first().map(identity).transpose()
    }
}

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Fate {
    Committed(Written),
    Aborted,
    /// Its session is still there.
    InProgress,
    /// It cannot be told, and why.
    Unknown(&'static str),
}

/// The transaction of a batch whose COMMIT was sent and is not answered.
#[derive(Debug, Default)]
pub(crate) struct InDoubt {
    transaction: Mutex<Option<(Identity, Written)>>,
    refused: AtomicBool,
}

impl InDoubt {
    fn transaction(&self) -> MutexGuard<'_, Option<(Identity, Written)>> {
        // Only whole values are ever put there.
        self.transaction.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// COMMIT goes out next; `written` holds where it succeeds.
    pub(super) fn enter(&self, identity: Identity, written: Written) {
        *self.transaction() = Some((identity, written));
    }

    /// COMMIT was answered, or its transaction is known to be aborted.
    pub(crate) fn leave(&self) {
        *self.transaction() = None;
    }

    /// Whether a COMMIT is not answered.
    pub(crate) fn is_open(&self) -> bool {
        self.transaction().is_some()
    }

    /// Remembers that the server has no identities to give, if that is what the error says.
    pub(super) fn note_refusal(&self, error: &ClientError) {
        let code = error.code().map_or("", |code| code.code());
        if is_refusal(code) {
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the server has no identities to give.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Asks what became of the transaction. With `end_session` its session is ended where it still runs: it must be
    /// asked again then.
    ///
    /// # Errors
    /// What the connection or the server reports; to be asked again where the error may pass.
    pub(crate) async fn ask(&self, client: &Client, end_session: bool) -> Result<Fate, Error> {
        let Some((identity, written)) = self.transaction().clone() else { return Ok(Fate::Aborted) };
        let sql = format!("SELECT CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN {CLUSTER} END");
        let cluster: Option<String> = match client.query_typed(&sql, &[]).await {
            Ok(rows) => rows.first().and_then(|row| row.try_get(0).ok()).flatten(),
            Err(error) => return refused(&error),
        };
        match cluster {
            None => {
                let words = "the server is a standby, or still recovers";
                return Err(Error::new(ErrorKind::Connection, OPERATION, words));
            }
            Some(cluster) if cluster != identity.cluster => {
                return Ok(Fate::Unknown(
                    "another server, or another timeline after a failover, has answered",
                ));
            }
            Some(_) => {}
        }
        let status = "SELECT pg_catalog.pg_xact_status($1::text::xid8)";
        let status: Option<String> = match client.query_typed(status, &[(&identity.xid, Type::TEXT)]).await {
            Ok(rows) => rows.first().and_then(|row| row.try_get(0).ok()).flatten(),
            // A number that is still to come: a crash took the transaction before anything of it was stored.
            Err(error) if error.code().is_some_and(|code| code.code() == "22023") => {
                return Ok(Fate::Aborted);
            }
            Err(error) => return refused(&error),
        };
        match status.as_deref() {
            Some("committed") => Ok(Fate::Committed(written)),
            Some("aborted") => Ok(Fate::Aborted),
            Some(_) => {
                if end_session {
                    end(client, &identity).await?;
                }
                Ok(Fate::InProgress)
            }
            None => Ok(Fate::Unknown("the server has forgotten the transaction")),
        }
    }
}

/// Ends exactly the session that ran the transaction.
async fn end(client: &Client, identity: &Identity) -> Result<(), Error> {
    let Some(start) = &identity.session_start else { return Ok(()) };
    let sql = "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity a \
        WHERE a.pid = $1 AND a.usename = current_user AND extract(epoch FROM a.backend_start)::text = $2";
    tracing::debug!(pid = identity.pid, "a session whose COMMIT was not answered is ended");
    let ended = client.query_typed(sql, &[(&identity.pid, Type::INT4), (start, Type::TEXT)]).await;
    ended.map(drop).map_err(|error| from_server(OPERATION, &error))
}

/// Functions that are not there, or not for this user.
fn is_refusal(code: &str) -> bool {
    matches!(code.get(..2), Some("42" | "0A"))
}

fn refused(error: &ClientError) -> Result<Fate, Error> {
    match error.code() {
        Some(code) if is_refusal(code.code()) => {
            Ok(Fate::Unknown("the server does not tell what became of a transaction"))
        }
        _ => Err(from_server(OPERATION, error)),
    }
}
