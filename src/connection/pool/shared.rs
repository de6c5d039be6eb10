//! The pools of this process, by name and target.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{Pool, QueueMode};
use tokio::task::JoinHandle;

use super::manager::Manager;
use super::reaper;
use crate::connection::driver::Live;
use crate::connection::target::ConnectTarget;
use crate::options::PoolOptions;
use crate::{Error, ErrorKind, Result};

type Key = (String, ConnectTarget);

static POOLS: Mutex<Option<HashMap<Key, Weak<Shared>>>> = Mutex::new(None);

/// A lock whose holder panicked guards only values that are whole at each step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a connection may rest and live, as the pool's users narrowed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages {
    pub(super) idle: Option<Duration>,
    pub(super) life: Option<Duration>,
}

impl Ages {
    fn narrow(&mut self, other: Ages) {
        let shorter = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
        *self = Self { idle: shorter(self.idle, other.idle), life: shorter(self.life, other.life) };
    }
}

/// What all users of one pool share.
pub(in crate::connection) struct Shared {
    key: Key,
    connections: Pool<Manager>,
    reaper: Mutex<Option<JoinHandle<()>>>,
}

impl Shared {
    /// The pool of that name and target, opened where it is not there; an open one grows to the size asked for.
    pub(super) fn join(target: ConnectTarget, options: PoolOptions) -> Result<Arc<Self>> {
        let options = options.checked()?;
        let target = match &options.application_name {
            Some(name) => target.with_application_name(name),
            None => target,
        };
        let ages = Ages { idle: options.idle_timeout, life: options.max_lifetime };
        let size = options.size;
        let key = (options.name.clone(), target);
        let mut pools = lock(&POOLS);
        let pools = pools.get_or_insert_default();
        if let Some(shared) = pools.get(&key).and_then(Weak::upgrade) {
            if shared.connections.status().max_size < size {
                shared.connections.resize(size);
            }
            let manager = shared.connections.manager();
            manager.change_ages(|old| old.narrow(ages));
            manager.join_pooler(options.pooler);
            return Ok(shared);
        }
        let manager = Manager::new(key.1.clone(), options, ages);
        let connections = Pool::builder(manager)
            .max_size(size)
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Error::new(ErrorKind::Bug, "open pool", error.to_string()))?;
        let shared = Arc::new(Self { key: key.clone(), connections, reaper: Mutex::new(None) });
        pools.insert(key, Arc::downgrade(&shared));
        Ok(shared)
    }

    pub(in crate::connection) fn name(&self) -> &str {
        &self.key.0
    }

    pub(super) fn target(&self) -> &ConnectTarget {
        &self.key.1
    }

    pub(super) fn connections(&self) -> &Pool<Manager> {
        &self.connections
    }

    pub(in crate::connection) fn is_pooled(&self) -> bool {
        self.connections.manager().is_pooled()
    }

    pub(super) fn live(&self) -> &Live {
        self.connections.manager().live()
    }

    /// Sees to it that the task which closes idle connections runs; the runtime that it was on may be gone.
    pub(super) fn watch_idle(self: &Arc<Self>) {
        let mut reaper = lock(&self.reaper);
        if reaper.as_ref().is_none_or(JoinHandle::is_finished) {
            *reaper = Some(tokio::spawn(reaper::run(Arc::downgrade(self))));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(reaper) = lock(&self.reaper).take() {
            reaper.abort();
        }
        self.connections.close();
        if let Some(pools) = lock(&POOLS).as_mut()
            // Another user may have opened a successor meanwhile.
            && pools.get(&self.key).is_some_and(|pool| pool.strong_count() == 0)
        {
            pools.remove(&self.key);
        }
    }
}
