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

use tokio_postgres::Client;

use crate::error::{Error, ErrorKind, Reject, ServerFault};

use super::log::Log;
use super::plan::Plan;
use super::target::Target;
use transaction::{Transaction, Trouble};

pub(crate) use in_doubt::{Fate, Identity, InDoubt};
pub(crate) use optimism::Optimism;

/// What became of a batch whose transaction committed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// Records that changed nothing: the key was not there to delete, or there already; a trigger swallowed the row.
    pub(crate) without_effect: u64,
    /// Rows of the log that were rejected, and why.
    pub(crate) rejected: Vec<(u32, ServerFault)>,
}

impl Written {
    /// The rejected records, as the sink's caller is told of them.
    pub(crate) fn rejects(self, log: &Log) -> Vec<Reject> {
        self.rejected.into_iter().map(|(row, fault)| reject(log, row, fault)).collect()
    }
}

fn reject(log: &Log, row: u32, fault: ServerFault) -> Reject {
    Reject {
        position: log.rows[row as usize].position,
        sqlstate: fault.sqlstate,
        column: fault.column,
        constraint: fault.constraint,
        reason: fault.reason,
        raw: log.raw(row as usize),
    }
}

/// Why nothing of a batch is known to be committed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// COMMIT was sent, and its answer was lost.
    pub(crate) unknown: bool,
    /// The server had answered a statement of the batch before.
    pub(crate) answered: bool,
    /// The connection is out of step with the server and takes no further statement, not even ROLLBACK.
    pub(crate) out_of_step: bool,
}

impl Failure {
    /// The transaction has not been committed.
    pub(crate) fn not_committed(error: Error) -> Self {
        Self { error, unknown: false, answered: false, out_of_step: false }
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
    client: &Client,
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
    let classed = class_keys(transaction, log, false).await?;
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

/// Opens a transaction for several batches. Its identity, where the conduct asks for one.
pub(crate) async fn begin(
    client: &Client,
    target: &Target,
    conduct: Conduct<'_>,
) -> Result<Option<Identity>, Failure> {
    let transaction = Transaction::new(client, target, conduct);
    transaction.begin().await?;
    Ok(transaction.take_identity())
}

/// Adds the log to the open transaction: all of it that the server takes, or, in a bulk load, all or an error.
///
/// Cancel safety: none for the connection.
pub(crate) async fn add(
    client: &Client,
    target: &Target,
    log: &mut Log,
    conduct: Conduct<'_>,
) -> Result<Written, Failure> {
    let transaction = Transaction::new(client, target, conduct);
    if target.bulk_load {
        return append(&transaction, log).await;
    }
    let classed = class_keys(&transaction, log, true).await?;
    let plan = Plan::folded(target, log);
    if classed {
        let units: Vec<usize> = (0..plan.units.len()).collect();
        if let Ok(without_effect) = transaction.attempt(&plan, &units).await? {
            return Ok(Written { without_effect, rejected: Vec::new() });
        }
    }
    bisect::narrow_inside(&transaction, &plan, log, classed).await
}

/// Commits what was added; `written` is its sum.
///
/// Cancel safety: none for the connection, and the outcome is unknown then.
pub(crate) async fn commit(
    client: &Client,
    target: &Target,
    identity: Option<Identity>,
    written: Written,
    conduct: Conduct<'_>,
) -> Result<Written, Failure> {
    let transaction = Transaction::new(client, target, conduct);
    transaction.set_identity(identity);
    match transaction.commit(written).await {
        Ok(written) => Ok(written),
        Err(Trouble::Other(failure)) => Err(failure),
        Err(Trouble::Data(fault)) => Err(refused_whole("commit bulk load", fault)),
    }
}

/// All records as they are. The first that is refused is named, where the server says which it is.
async fn append(transaction: &Transaction<'_>, log: &Log) -> Result<Written, Failure> {
    let plan = Plan::folded(transaction.target, log);
    let mut written = Written::default();
    for step in plan.steps(0..plan.units.len()) {
        match transaction.step(&plan, &step).await {
            Ok(without_effect) => written.without_effect += without_effect,
            Err(Trouble::Other(failure)) => return Err(failure),
            Err(Trouble::Data(fault)) => {
                let row = fault.copied_row.and_then(|row| usize::try_from(row).ok()?.checked_sub(1));
                let unit = row.and_then(|row| step.units.get(row));
                let record = unit.and_then(|&unit| plan.records(unit).first().copied());
                return Err(undone(log, record, fault));
            }
        }
    }
    Ok(written)
}

/// A record, known or not, has undone all since the last flush.
fn undone(log: &Log, record: Option<u32>, fault: ServerFault) -> Failure {
    let sqlstate = fault.sqlstate.clone();
    let column = fault.column.clone();
    let (words, rejects) = match record {
        Some(row) => {
            let reject = reject(log, row, fault);
            (format!("{reject}; nothing since the last flush is committed"), vec![reject])
        }
        None => {
            let positions = log.rows.iter().map(|row| row.position);
            let (first, last) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
            let words = format!(
                "a record of {first} to {last}: {}; nothing since the last flush is committed",
                fault.reason
            );
            (words, Vec::new())
        }
    };
    let mut error = Error::new(ErrorKind::Rejected, "bulk load", words)
        .with_sqlstate(sqlstate)
        .with_rejects(rejects)
        .with_hint(
            "repair the record and write again from the last flush, or use COPY_BULK_LOAD_ON_CONFLICT",
        );
    if let Some(column) = column {
        error = error.with_context("column", column);
    }
    Failure::not_committed(error)
}

/// Tells apart the keys whose equality only the server knows. False where the server cannot read one.
async fn class_keys(transaction: &Transaction<'_>, log: &mut Log, inside: bool) -> Result<bool, Failure> {
    if !transaction.target.key.as_ref().is_some_and(|key| key.server_equality) {
        return Ok(true);
    }
    if !inside {
        return equality::class_keys(transaction, log).await;
    }
    transaction.execute_text("SAVEPOINT pgsluice_keys").await?;
    let classed = equality::class_keys(transaction, log).await?;
    let rollback = if classed { "" } else { "ROLLBACK TO SAVEPOINT pgsluice_keys; " };
    transaction.execute_text(&format!("{rollback}RELEASE SAVEPOINT pgsluice_keys")).await?;
    Ok(classed)
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
