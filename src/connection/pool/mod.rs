//! Named pools that all users of a name and a target share in this process.

mod loan;
mod manager;
mod reaper;
mod shared;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{PoolError, Timeouts};

pub(super) use loan::Loan;
pub(super) use shared::Shared;

use super::session::Session;
use super::target::ConnectTarget;
use crate::options::PoolOptions;
use crate::{Error, ErrorKind, Result};

const ACQUIRE: &str = "acquire connection";

/// One user's handle on a shared pool of connections. The last handle's (or session's) end closes the pool.
///
/// Users share a pool when its name and the whole target are equal: hosts, database, user, password, TLS, start-up
/// options, application name. The largest size that one of them asked for holds, and the shortest idle time and
/// lifetime, and the most careful `connection.pooler`; socket settings and the connect timeout are the first user's; the acquire timeout is each user's own.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
    acquire_timeout: Option<Duration>,
}

impl Pool {
    /// Joins the pool of that name and target, or opens it, and takes one connection to prove that the target is there.
    ///
    /// # Errors
    /// Those of [`ConnectTarget::parse`] and of [`Pool::get`].
    pub async fn open(dsn: &str, options: PoolOptions) -> Result<Self> {
        Self::open_target(ConnectTarget::parse(dsn)?, options).await
    }

    /// As [`Pool::open`], of a target.
    ///
    /// # Errors
    /// `Config` for options that cannot be; those of [`Pool::get`].
    pub async fn open_target(target: ConnectTarget, options: PoolOptions) -> Result<Self> {
        let pool = Self::join(target, options)?;
        drop(pool.get().await?);
        Ok(pool)
    }

    /// As [`Pool::open_target`], but without a connection: the first [`Pool::get`] opens one.
    ///
    /// # Errors
    /// `Config` for options that cannot be.
    pub fn join(target: ConnectTarget, options: PoolOptions) -> Result<Self> {
        let acquire_timeout = options.acquire_timeout;
        Ok(Self { shared: Shared::join(target, options)?, acquire_timeout })
    }

    /// Takes a connection: one that was given back and still lives, else a new one; waits where all are in use.
    ///
    /// # Errors
    /// `Timeout`, naming the pool, where none came free in time; else those of [`super::connect`].
    ///
    /// # Cancel safety
    /// Dropping the future gives up the place in the queue.
    pub async fn get(&self) -> Result<Session> {
        self.shared.watch_idle();
        let timeouts = Timeouts { wait: self.acquire_timeout, create: None, recycle: None };
        let object =
            self.shared.connections().timeout_get(&timeouts).await.map_err(|error| self.refused(error))?;
        Ok(Session::new(Loan::new(object), self.shared.clone()))
    }

    fn refused(&self, error: PoolError<Error>) -> Error {
        let error = match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(_) => Error::new(
                ErrorKind::Timeout,
                ACQUIRE,
                format!(
                    "no connection came free within {:?}; all {} are in use",
                    self.acquire_timeout.unwrap_or_default(),
                    self.size()
                ),
            )
            .with_hint("raise connection.pool.size or connection.acquire-timeout"),
            PoolError::Closed => Error::new(ErrorKind::Closed, ACQUIRE, "the pool is closed"),
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Error::new(ErrorKind::Bug, ACQUIRE, "the pool is set up wrongly")
            }
        };
        error.with_context("pool", self.name())
    }

    /// The pool's name.
    pub fn name(&self) -> &str {
        self.shared.name()
    }

    /// Where its connections lead.
    pub fn target(&self) -> &ConnectTarget {
        self.shared.target()
    }

    /// Whether a pooler gives the connections a server's for one transaction at a time: nothing of a session outlasts a
    /// transaction then (settings, temporary tables, prepared statements, advisory locks, LISTEN). Known once a
    /// connection was opened.
    pub fn is_pooled(&self) -> bool {
        self.shared.is_pooled()
    }

    /// The greatest number of connections.
    pub fn size(&self) -> usize {
        let status = self.shared.connections().status();
        status.max_size
    }

    /// The number of connections that are open now, in use or not.
    pub fn connections(&self) -> usize {
        self.shared.connections().status().size
    }

    /// Gives up this handle; the last one closes the connections and waits for their goodbye, a few seconds at most.
    /// Dropping the handle closes them too, but a runtime that ends right after cuts them off, which the server logs.
    pub async fn close(self) {
        if let Some(shared) = Arc::into_inner(self.shared) {
            let live = shared.live().clone();
            drop(shared);
            live.none_left().await;
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("name", &self.name())
            .field("target", self.target())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}
