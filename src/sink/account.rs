//! The sink's books: every accepted record is committed, rejected, failed, unknown, or still pending.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Reject};

/// Rejected records that are kept with their reasons until somebody takes them; more are only counted.
const KEPT_REJECTS: usize = 10_000;

/// Counts of records since the sink was opened.
/// `accepted = committed + rejected + failed + unknown + pending`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SinkStats {
    /// Records that the sink took over.
    pub accepted: u64,
    /// Records whose transaction committed, whether or not they changed a row.
    pub committed: u64,
    /// Of the committed ones: those without effect (dropped or ignored deletes, keys that were not there to delete,
    /// rows that a trigger swallowed).
    pub without_effect: u64,
    /// Records that were set aside with a reason.
    pub rejected: u64,
    /// Records of batches that ended in an error and are not committed.
    pub failed: u64,
    /// Records whose COMMIT was sent and never answered.
    pub unknown: u64,
    /// Values that lost a U+0000.
    pub removed_u0000: u64,
    /// Batches committed.
    pub batches: u64,
    /// Tries of batches after the first, each after its sleep.
    pub retries: u64,
}

impl SinkStats {
    /// Records that are neither committed nor given up.
    pub fn pending(&self) -> u64 {
        self.accepted - self.committed - self.rejected - self.failed - self.unknown
    }
}

/// What a flush came to.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FlushReport {
    /// The counts since open.
    pub stats: SinkStats,
    /// The records rejected since the last flush, in no particular order.
    pub rejects: Vec<Reject>,
    /// Rejected records since the last flush whose reasons were too many to keep.
    pub rejects_not_kept: u64,
}

#[derive(Default)]
struct Book {
    stats: SinkStats,
    rejects: Vec<Reject>,
    rejects_not_kept: u64,
    /// Rejects since the last flush, and how many of them some call has returned.
    rejected_since_flush: u64,
    told: u64,
    ended: Option<Error>,
    limit: Option<u64>,
    /// After a failed flush records are taken again.
    resumes: bool,
    /// Somebody takes rejects as they come, and answers for their memory.
    taken: bool,
}

/// Shared by all clones of a sink and by its lanes.
#[derive(Default)]
pub(crate) struct Account(Mutex<Book>);

impl Account {
    /// `limit`: the number of rejected records that ends the sink when it is passed. `resumes`: a flush that tells an error
    /// ends it.
    pub(crate) fn new(limit: Option<u64>, resumes: bool) -> Self {
        Self(Mutex::new(Book { limit, resumes, ..Book::default() }))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // The counts are whole after every statement below: a panic elsewhere does not spoil them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> SinkStats {
        self.book().stats
    }

    /// The error that each call returns from now on.
    pub(crate) fn ended(&self) -> Option<Error> {
        self.book().ended.clone()
    }

    /// Takes `records` over, of which `dropped` are committed by having no effect. The position of the first.
    pub(crate) fn accept(&self, records: u64, dropped: u64, removed_u0000: u64) -> u64 {
        let mut book = self.book();
        let first = book.stats.accepted + 1;
        book.stats.accepted += records;
        book.stats.committed += dropped;
        book.stats.without_effect += dropped;
        book.stats.removed_u0000 += removed_u0000;
        first
    }

    pub(crate) fn commit(&self, records: u64, without_effect: u64) {
        let mut book = self.book();
        book.stats.batches += 1;
        book.stats.committed += records;
        book.stats.without_effect += without_effect;
    }

    /// Counts a try of a batch after its first.
    pub(crate) fn retried(&self) {
        self.book().stats.retries += 1;
    }

    /// Sets accepted records aside; ends the sink where that passes the limit.
    pub(crate) fn reject(&self, rejects: Vec<Reject>) {
        let mut book = self.book();
        book.stats.rejected += rejects.len() as u64;
        book.rejected_since_flush += rejects.len() as u64;
        let room = if book.taken { usize::MAX } else { KEPT_REJECTS.saturating_sub(book.rejects.len()) };
        book.rejects_not_kept += rejects.len().saturating_sub(room) as u64;
        book.rejects.extend(rejects.into_iter().take(room));
        if let Some(limit) = book.limit.filter(|&limit| book.stats.rejected > limit) {
            let words = format!(
                "{} records rejected, more than the limit of {limit}; {} records are committed",
                book.stats.rejected, book.stats.committed
            );
            let error = Error::new(ErrorKind::Rejected, "write", words)
                .with_hint("raise sink.reject-limit, or repair the input")
                .with_rejects(book.rejects.clone());
            book.ended.get_or_insert(error);
        }
    }

    /// Gives up `records` records; the sink has ended.
    pub(crate) fn fail(&self, records: u64, unknown: bool, error: &Error) {
        let mut book = self.book();
        if unknown {
            book.stats.unknown += records;
        } else {
            book.stats.failed += records;
        }
        book.ended.get_or_insert_with(|| error.clone());
    }

    /// Under the policy `fail`: the error that names the records rejected since the last flush, where some are new.
    pub(crate) fn news(&self) -> Option<Error> {
        let mut book = self.book();
        if book.told == book.rejected_since_flush {
            return None;
        }
        book.told = book.rejected_since_flush;
        Some(rejected(&book, "write"))
    }

    /// The rejects since the last flush, or since they were last taken.
    pub(crate) fn take_rejects(&self) -> Vec<Reject> {
        let mut book = self.book();
        book.taken = true;
        std::mem::take(&mut book.rejects)
    }

    /// Closes the books of a flush. `fail`: any reject since the last one is an error.
    pub(crate) fn flushed(&self, fail: bool) -> Result<FlushReport, Error> {
        let mut book = self.book();
        if let Some(error) = book.ended.clone() {
            if book.resumes {
                book.ended = None;
            }
            return Err(error);
        }
        let error = (fail && book.rejected_since_flush > 0).then(|| rejected(&book, "flush"));
        let report = FlushReport {
            stats: book.stats,
            rejects: std::mem::take(&mut book.rejects),
            rejects_not_kept: std::mem::take(&mut book.rejects_not_kept),
        };
        book.rejected_since_flush = 0;
        book.told = 0;
        match error {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }
}

fn rejected(book: &Book, operation: &'static str) -> Error {
    let count = book.rejected_since_flush;
    let first = book.rejects.first().map(|reject| format!(", the first: {reject}")).unwrap_or_default();
    let words = format!("{count} records rejected{first}; {} records are committed", book.stats.committed);
    let mut error = Error::new(ErrorKind::Rejected, operation, words).with_rejects(book.rejects.clone());
    if let Some(reject) = book.rejects.first() {
        error = error.with_sqlstate(reject.sqlstate.clone());
        if let Some(column) = &reject.column {
            error = error.with_context("column", column.clone());
        }
    }
    error
}
