//! The memory budget: bytes are taken before a record is accepted and given back when its fate is known.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::encoder::RecordError;

/// A number of bytes that all records under way may take.
#[derive(Debug)]
pub(crate) struct Budget {
    free: Semaphore,
    total: usize,
    waiting: AtomicUsize,
}

/// Somebody waits for memory, until this is dropped.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Budget {
    /// A semaphore counts to 2^61, an acquisition to 2^32.
    pub(crate) fn new(bytes: usize) -> Self {
        let total = bytes.min(Semaphore::MAX_PERMITS);
        Self { free: Semaphore::new(total), total, waiting: AtomicUsize::new(0) }
    }

    /// True where `bytes` were free and are taken.
    pub(crate) fn try_take(&self, bytes: usize) -> bool {
        u32::try_from(bytes)
            .ok()
            .and_then(|bytes| self.free.try_acquire_many(bytes).ok())
            .map(|permit| permit.forget())
            .is_some()
    }

    /// Whether `bytes` could be taken at all.
    ///
    /// # Errors
    /// They are more than the whole budget, or than an acquisition counts.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), RecordError> {
        if bytes <= self.total && u32::try_from(bytes).is_ok() {
            return Ok(());
        }
        let words = format!(
            "{bytes} bytes do not fit the memory budget of {}; raise client.writer.buffer.memory-size",
            self.total
        );
        Err(RecordError::whole("54000", words))
    }

    /// Says that memory is waited for: until the value is dropped lanes write what they have, however little.
    pub(crate) fn waiting(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(&self.waiting)
    }

    /// True while somebody waits for memory.
    pub(crate) fn is_short(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Waits for `bytes` that fit, first come, first served.
    pub(crate) async fn take(&self, bytes: usize) {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        if let Ok(permit) = self.free.acquire_many(permits).await {
            permit.forget();
        }
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.free.add_permits(bytes);
    }
}
