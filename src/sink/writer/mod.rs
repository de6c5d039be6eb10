//! From a sealed log to a committed transaction: the one place that says what counts as committed.
//!
//! Committed means that every statement of the transaction was seen to succeed *and* that COMMIT was answered: the
//! server answers the COMMIT of a failed transaction without an error.

mod bisect;
mod blame;
mod equality;
mod parameter;
mod statement;
mod transaction;

use crate::error::{Error, ErrorKind, ServerFault};

use super::log::Log;
use super::plan::Plan;
use super::target::Target;
use transaction::Transaction;

/// What became of a batch whose transaction committed.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Records that changed nothing: the key was not there to delete, or there already; a trigger swallowed the row.
    pub(crate) without_effect: u64,
    /// Rows of the log that were rejected, and why.
    pub(crate) rejected: Vec<(u32, ServerFault)>,
}

/// Why nothing of a batch is known to be committed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// COMMIT was sent, and its answer was lost.
    pub(crate) unknown: bool,
}

impl Failure {
    /// The transaction has not been committed.
    fn not_committed(error: Error) -> Self {
        Self { error, unknown: false }
    }
}

/// Writes the log in one transaction.
///
/// Cancel safety: none for the connection. A caller that drops this future must discard the connection; the batch is
/// then committed whole or not at all.
pub(crate) async fn write(
    client: &tokio_postgres::Client,
    target: &Target,
    log: &mut Log,
) -> Result<Written, Failure> {
    let transaction = Transaction::new(client, target);
    let classed = match &target.key {
        Some(key) if key.server_equality => equality::class_keys(&transaction, log).await?,
        _ => true,
    };
    let plan = Plan::folded(target, log);
    if classed {
        match transaction.run(&plan).await? {
            Some(without_effect) => return Ok(Written { without_effect, rejected: Vec::new() }),
            None => tracing::debug!(
                records = log.rows.len(),
                "a data error: the batch is narrowed to its records"
            ),
        }
    }
    bisect::narrow(&transaction, &plan, log, classed).await
}

/// An error of a rule of ours.
fn broken(rule: &'static str) -> Error {
    Error::new(ErrorKind::Bug, "write batch", rule)
}
