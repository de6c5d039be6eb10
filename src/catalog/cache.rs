//! Table definitions that are kept for a while, shared by all that use one pool.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;

use super::{Table, TableName, load_table};
use crate::error::Result;

/// A table's definition and when it was read. Its lock is held while it is read, so that those who come meanwhile wait
/// for that one answer.
type Slot = Arc<tokio::sync::Mutex<Option<(Instant, Arc<Table>)>>>;

/// The definitions read over one pool's connections, each for a time. Session-local tables are never kept.
pub struct SchemaCache {
    ttl: Duration,
    slots: Mutex<HashMap<TableName, Slot>>,
}

impl SchemaCache {
    /// An empty cache whose entries are good for `ttl`; with zero every call reads.
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, slots: Mutex::new(HashMap::new()) }
    }

    /// The table's definition, from the cache or else read over `client`. Concurrent calls for one table read it once;
    /// an error is not kept.
    ///
    /// # Errors
    /// Those of [`load_table`].
    ///
    /// # Cancel safety
    /// The future may be dropped: the next caller in line reads.
    pub async fn get(&self, client: &Client, name: &TableName) -> Result<Arc<Table>> {
        let slot = self.slot(name);
        let mut held = slot.lock().await;
        if let Some((read, table)) = &*held
            && read.elapsed() < self.ttl
        {
            return Ok(table.clone());
        }
        *held = None;
        // The age counts from before the read: what the server said cannot be younger.
        let started = Instant::now();
        let table = Arc::new(load_table(client, name).await?);
        if !table.temporary {
            *held = Some((started, table.clone()));
        }
        Ok(table)
    }

    /// Forgets a table. A read under way still answers those who wait for it, and nobody who asks from now on.
    pub fn invalidate(&self, name: &TableName) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn slot(&self, name: &TableName) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(name) {
            return slot.clone();
        }
        // A slot that nobody uses and that holds nothing fresh goes before a new one comes: names may be many.
        slots.retain(|_, slot| {
            Arc::strong_count(slot) > 1
                || slot
                    .try_lock()
                    .is_ok_and(|held| held.as_ref().is_some_and(|(read, _)| read.elapsed() < self.ttl))
        });
        slots.entry(name.clone()).or_default().clone()
    }
}

impl fmt::Debug for SchemaCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.slots.lock().unwrap_or_else(PoisonError::into_inner).len();
        f.debug_struct("SchemaCache").field("ttl", &self.ttl).field("tables", &tables).finish()
    }
}
