//! A connection on loan from a pool.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Client;

use super::link::Connection;
use super::pool::{Loan, Shared};
use super::server::ServerInfo;
use crate::{Error, Result};

/// A pooled connection; it goes back to its pool when it is dropped.
///
/// A dropped future leaves its statement running and its transaction open, and no reset of a pool would end them. So
/// whoever uses a session says [`dirty`](Session::dirty) before the first statement and [`clean`](Session::clean) when
/// no transaction is open and every answer was read: a session that is dropped dirty (by an error, a panic, or a
/// future that was cancelled) is cancelled and closed, and the pool opens another one.
/// Settings are changed by `SET LOCAL` only: nothing resets them between users. Statements are unnamed and give their
/// parameters' types (`query_typed`, `execute_typed`), so that they also run where [`is_pooled`](Session::is_pooled).
pub struct Session {
    /// `Some` until the session is dropped.
    loan: Option<Loan>,
    dirty: AtomicBool,
    pool: Arc<Shared>,
}

impl Session {
    pub(super) fn new(loan: Loan, pool: Arc<Shared>) -> Self {
        Self { loan: Some(loan), dirty: AtomicBool::new(false), pool }
    }

    fn connection(&self) -> &Connection {
        self.loan.as_ref().expect("a session keeps its connection until it is dropped").connection()
    }

    /// From here on the connection's state is unknown until [`clean`](Session::clean).
    pub fn dirty(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// No transaction is open and every answer was read: the next user may have this connection.
    pub fn clean(&self) {
        self.dirty.store(false, Ordering::Relaxed);
    }

    /// True after [`dirty`](Session::dirty).
    pub fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Relaxed)
    }

    /// What the server said of itself at the login.
    pub fn server(&self) -> &ServerInfo {
        self.connection().server()
    }

    /// Whether nothing of the session outlasts a transaction; see [`Pool::is_pooled`](super::Pool::is_pooled).
    pub fn is_pooled(&self) -> bool {
        self.pool.is_pooled()
    }

    /// Why the connection ended, as its own task saw it (57P01 and the like); see [`Connection::last_error`].
    pub fn last_error(&self) -> Option<String> {
        self.connection().last_error()
    }

    /// Whether the pool had lent this connection before.
    pub(crate) fn is_reused(&self) -> bool {
        self.loan.as_ref().is_some_and(Loan::is_reused)
    }

    /// The error that ended the connection, as its own task saw it.
    pub(crate) fn loss(&self, operation: &'static str) -> Option<Error> {
        self.connection().loss(operation).map(|error| error.with_context("pool", self.pool.name()))
    }

    /// The error of `operation`; where `error` only says that the connection is closed, with the reason.
    pub fn failure(&self, operation: &'static str, error: &tokio_postgres::Error) -> Error {
        self.connection().failure(operation, error).with_context("pool", self.pool.name())
    }

    /// Asks the server to cancel what runs on this connection; see [`Connection::cancel`].
    ///
    /// # Errors
    /// `Connection` or `Timeout` where the request could not be delivered.
    pub async fn cancel(&self) -> Result<()> {
        self.connection().cancel().await
    }
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.connection()
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        self.loan.as_mut().expect("a session keeps its connection until it is dropped").connection_mut()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(loan) = self.loan.take() else { return };
        if self.is_dirty() { loan.discard() } else { loan.give_back() }
    }
}
