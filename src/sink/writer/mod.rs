//! From a sealed log to a committed transaction: the one place that says what counts as committed.
//!
//! Committed means that every statement of the transaction was seen to succeed *and* that COMMIT was answered: the
//! server answers the COMMIT of a failed transaction without an error.

mod bisect;
mod blame;
mod copy;
mod equality;
mod in_doubt;
mod lock;
mod optimism;
mod parameter;
mod statement;
mod transaction;

use crate::error::{Error, ErrorKind, ServerFault};

use super::log::Log;
use super::plan::Plan;
use super::target::Target;
use transaction::Transaction;

pub(crate) use in_doubt::{Fate, InDoubt};
pub(crate) use optimism::Optimism;

/// What became of a batch whose transaction committed.
#[derive(Debug, Clone, Default)]
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
    /// The server had answered a statement of the batch before.
    pub(crate) answered: bool,
}

impl Failure {
    /// The transaction has not been committed.
    pub(crate) fn not_committed(error: Error) -> Self {
        Self { error, unknown: false, answered: false }
    }
}

/// How the batches of a sink are written at this time.
#[derive(Clone, Copy)]
pub(crate) struct Conduct<'a> {
    /// A replay could do harm: where the transaction's identity is kept, so that its fate can be asked.
    pub(crate) in_doubt: Option<&'a InDoubt>,
    /// The keys that are stored are locked in order before the first statement.
    pub(crate) lock_first: bool,
    /// The transaction is open, and other batches came before in it.
    pub(crate) inside: bool,
    pub(crate) optimism: &'a Optimism,
}

/// Writes the log in one transaction.
///
/// Cancel safety: none for the connection. A caller that drops this future must discard the connection; the batch is
/// then committed whole or not at all.
pub(crate) async fn write(
    client: &tokio_postgres::Client,
    target: &Target,
    log: &mut Log,
    conduct: Conduct<'_>,
) -> Result<Written, Failure> {
    let transaction = Transaction::new(client, target, conduct);
    let written = whole_or_narrowed(&transaction, log).await;
    written.map_err(|failure| Failure { answered: transaction.answered(), ..failure })
}

async fn whole_or_narrowed(transaction: &Transaction<'_>, log: &mut Log) -> Result<Written, Failure> {
    let target = transaction.target;
    let classed = match &target.key {
        Some(key) if key.server_equality => equality::class_keys(transaction, log).await?,
        _ => true,
    };
    let plan = Plan::folded(target, log);
    if classed {
        match transaction.run(&plan).await? {
            Some(written) => return Ok(written),
            None => tracing::debug!(
                records = log.rows.len(),
                "a data error: the batch is narrowed to its records"
            ),
        }
    }
    bisect::narrow(transaction, &plan, log, classed).await
}

/// No record can be named.
fn refused_whole(operation: &'static str, fault: ServerFault) -> Failure {
    let words = format!("refused as a whole: {}", fault.reason);
    Failure::not_committed(Error::new(ErrorKind::Server, operation, words).with_sqlstate(fault.sqlstate))
}

/// An error of a rule of ours.
fn broken(rule: &'static str) -> Error {
    Error::new(ErrorKind::Bug, "write batch", rule)
}
