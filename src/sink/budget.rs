//! The memory budget: bytes are taken before a record is accepted and given back when its fate is known.

use tokio::sync::Semaphore;

use crate::error::{Error, ErrorKind, Result};

/// A number of bytes that all records under way may take.
#[derive(Debug)]
pub(crate) struct Budget {
    free: Semaphore,
    total: usize,
}

impl Budget {
    /// A semaphore counts to 2^61, an acquisition to 2^32.
    pub(crate) fn new(bytes: usize) -> Self {
        let total = bytes.min(Semaphore::MAX_PERMITS);
        Self { free: Semaphore::new(total), total }
    }

    /// True where `bytes` were free and are taken.
    pub(crate) fn try_take(&self, bytes: usize) -> bool {
        u32::try_from(bytes).ok().and_then(|bytes| self.free.try_acquire_many(bytes).ok()).map(|permit| permit.forget()).is_some()
    }

    /// Waits for `bytes`, first come, first served.
    ///
    /// # Errors
    /// More than the whole budget is asked for.
    pub(crate) async fn take(&self, bytes: usize) -> Result<()> {
        let too_large = || {
            let words = format!("a record of {bytes} bytes does not fit the memory budget of {}", self.total);
            Error::new(ErrorKind::Data, "write record", words)
                .with_sqlstate("54000")
                .with_hint("raise client.writer.buffer.memory-size")
        };
        if bytes > self.total {
            return Err(too_large());
        }
        let permits = u32::try_from(bytes).map_err(|_| too_large())?;
        // The semaphore is never closed.
        if let Ok(permit) = self.free.acquire_many(permits).await {
            permit.forget();
        }
        Ok(())
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.free.add_permits(bytes);
    }
}
