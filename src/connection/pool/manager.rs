//! How the pool opens a connection, and how it decides whether a returned one may be used again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem::replace;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};

use super::shared::Ages;
use crate::Error;
use crate::connection::connect::connect_counted;
use crate::connection::driver::Live;
use crate::connection::link::Connection;
use crate::connection::target::ConnectTarget;
use crate::options::{PoolOptions, Pooler};

/// A connection that rested for less is taken for alive: a check costs a round trip.
const TRUSTED_REST: Duration = Duration::from_millis(500);

/// How long a resting connection may take to answer.
const CHECK: Duration = Duration::from_secs(5);

/// The same behind a pooler, where the answer waits for a server's connection that others use.
const CHECK_POOLED: Duration = Duration::from_secs(60);

/// A pooled connection and its times.
pub(in crate::connection) struct Pooled {
    /// `None` once it is closed.
    pub(super) connection: Option<Connection>,
    opened: Instant,
    pub(super) returned: Instant,
    /// Of its greatest age, so that connections opened together are not replaced together.
    life_share: f64,
}

impl Pooled {
    /// True where the connection is closed, too old, or has rested too long.
    pub(super) fn is_spent(&self, ages: Ages, now: Instant) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.is_closed())
            || ages.idle.is_some_and(|idle| now.duration_since(self.returned) >= idle)
            || ages.life.is_some_and(|life| now.duration_since(self.opened) >= life.mul_f64(self.life_share))
    }
}

/// The pool's connections: target, settings and what was learnt of the network.
pub(in crate::connection) struct Manager {
    target: ConnectTarget,
    options: PoolOptions,
    live: Live,
    state: Mutex<State>,
}

struct State {
    ages: Ages,
    pooler: Option<Pooler>,
    pooler_seen: bool,
    /// Connections that were given back before are not worth another wait: one of their time did not answer.
    suspect_before: Option<Instant>,
}

impl Manager {
    pub(super) fn new(target: ConnectTarget, options: PoolOptions, ages: Ages) -> Self {
        let pooler = options.pooler;
        let state = Mutex::new(State { ages, pooler, pooler_seen: false, suspect_before: None });
        Self { target, options, live: Live::new(), state }
    }

    pub(super) fn live(&self) -> &Live {
        &self.live
    }

    fn with_state<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn ages(&self) -> Ages {
        self.with_state(|state| state.ages)
    }

    pub(super) fn change_ages(&self, change: impl FnOnce(&mut Ages)) {
        self.with_state(|state| change(&mut state.ages));
    }

    /// What another user of the pool says stands before the server; the more careful word holds.
    pub(super) fn join_pooler(&self, pooler: Option<Pooler>) {
        self.with_state(|state| state.pooler = state.pooler.max(pooler));
    }

    /// Whether nothing outlasts a transaction.
    pub(super) fn is_pooled(&self) -> bool {
        self.with_state(|state| match state.pooler {
            Some(pooler) => pooler == Pooler::Transaction,
            None => state.pooler_seen,
        })
    }

    /// Why the connection may not be used again, if so; a rested one must answer first.
    async fn problem(&self, pooled: &Pooled) -> Option<&'static str> {
        let now = Instant::now();
        let (ages, suspect_before) = self.with_state(|state| (state.ages, state.suspect_before));
        if pooled.is_spent(ages, now) {
            return Some("closed or too old");
        }
        if suspect_before.is_some_and(|before| pooled.returned <= before) {
            return Some("of the time of one that did not answer");
        }
        if now.duration_since(pooled.returned) < TRUSTED_REST {
            return None;
        }
        let connection = pooled.connection.as_ref()?;
        let longest = if self.is_pooled() { CHECK_POOLED } else { CHECK };
        match tokio::time::timeout(longest, connection.simple_query("")).await {
            Ok(Ok(_)) => None,
            Ok(Err(_)) => Some("lost"),
            Err(_) => {
                self.with_state(|state| state.suspect_before = Some(now));
                Some("silent")
            }
        }
    }
}

impl managed::Manager for Manager {
    type Type = Pooled;
    type Error = Error;

    async fn create(&self) -> Result<Pooled, Error> {
        let options = self.options.clone().pooler(self.with_state(|state| state.pooler));
        let connection = Box::pin(connect_counted(&self.target, &options, &self.live)).await?;
        if connection.server().pooler_seen && !self.with_state(|state| replace(&mut state.pooler_seen, true))
        {
            tracing::info!(
                pool = options.name,
                "a pooler stands before the server: nothing is kept beyond a transaction; connection.pooler=none says that it keeps one server connection for each of ours"
            );
        }
        let now = Instant::now();
        // The key of a fresh hasher is random: between 0.9 and 1.
        let chance = f64::from(RandomState::new().hash_one(0_u8) as u16) / f64::from(u16::MAX);
        Ok(Pooled {
            connection: Some(connection),
            opened: now,
            returned: now,
            life_share: 1.0 - chance / 10.0,
        })
    }

    async fn recycle(&self, pooled: &mut Pooled, _: &Metrics) -> RecycleResult<Error> {
        let Some(problem) = self.problem(pooled).await else { return Ok(()) };
        tracing::debug!(problem, "a pooled connection is replaced");
        // Only one that still listens has a goodbye to wait for.
        if let Some(connection) = pooled.connection.take()
            && problem == "closed or too old"
        {
            connection.close().await;
        }
        Err(RecycleError::message(problem))
    }
}
