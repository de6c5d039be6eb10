//! The bulk modes: a lane has one transaction from the first batch after a flush up to the next flush.
//!
//! Nothing of it is visible before, and a batch cannot be tried again by itself: what fails takes with it all since the
//! last flush, which is then the caller's to write again.

use std::sync::Arc;

use tokio::time::Instant;

use super::changed;
use super::lane::Shared;
use super::log::Log;
use super::retry;
use super::target::Target;
use super::writer::{self, Conduct, Failure, Identity, InDoubt, Written};
use crate::connection::Session;
use crate::error::{Error, ErrorKind};

/// What a lane has open.
pub(super) struct Bulk {
    session: Session,
    target: Arc<Target>,
    identity: Option<Identity>,
    contents: Contents,
}

/// What the transaction holds.
#[derive(Default)]
struct Contents {
    /// Those whose fate hangs on COMMIT: all but the rejected ones.
    records: u64,
    without_effect: u64,
    /// The positions of the first and the last record.
    positions: Option<(u64, u64)>,
}

impl Contents {
    /// The log's records belong to it, whatever becomes of them.
    fn claim(&mut self, log: &Log) {
        self.records += log.rows.len() as u64;
        for row in &log.rows {
            let (first, last) = self.positions.unwrap_or((row.position, row.position));
            self.positions = Some((first.min(row.position), last.max(row.position)));
        }
    }

    /// The error of records that are not, or not known to be, committed.
    fn name(&self, error: Error, unknown: bool) -> Error {
        let (first, last) = self.positions.unwrap_or_default();
        let range = format!("{first} to {last} ({} records)", self.records);
        retry::ended(error, unknown, range)
    }
}

/// The transaction of a lane, none before its first batch.
#[derive(Default)]
pub(super) struct OpenBulk(Option<Bulk>);

impl OpenBulk {
    /// Adds a batch. What fails is in the books, and the transaction is gone.
    ///
    /// Cancel safety: dropped, the transaction is undone; the lane must not go on.
    pub(super) async fn add(&mut self, shared: &Shared, log: &mut Log) {
        let records = log.rows.len() as u64;
        if let Some(error) = shared.account.ended() {
            shared.account.fail(records, false, &error);
            return;
        }
        let deadline = shared.retry.deadline();
        let mut contents = self.0.as_mut().map(|bulk| std::mem::take(&mut bulk.contents)).unwrap_or_default();
        contents.claim(log);
        let added = retry::within(deadline, self.try_add(shared, deadline, log)).await;
        match added.unwrap_or_else(|| Err(Failure::not_committed(shared.retry.late()))) {
            Ok((bulk, written)) => {
                contents.without_effect += written.without_effect;
                let rejects = written.rejects(log);
                contents.records -= rejects.len() as u64;
                bulk.contents = contents;
                // Rejected whatever becomes of the others; told now, so that who counts them can stop before COMMIT.
                if !rejects.is_empty() {
                    shared.account.reject(rejects);
                }
            }
            Err(failure) => self.fail(shared, contents, failure).await,
        }
    }

    async fn try_add(
        &mut self,
        shared: &Shared,
        deadline: Option<Instant>,
        log: &mut Log,
    ) -> Result<(&mut Bulk, Written), Failure> {
        let inside = self.0.is_some();
        let bulk = match self.0.take() {
            Some(bulk) => bulk,
            None => Bulk::begin(shared, deadline).await?,
        };
        let bulk = self.0.insert(bulk);
        let conduct = conduct(shared, None, inside);
        let written = writer::add(&bulk.session, &bulk.target, log, conduct).await;
        match written {
            Ok(written) => Ok((bulk, written)),
            Err(failure) => Err(bulk.explained(failure)),
        }
    }

    /// Commits, or undoes where the sink has ended meanwhile.
    pub(super) async fn finish(&mut self, shared: &Shared) {
        let Some(mut bulk) = self.0.take() else { return };
        let contents = std::mem::take(&mut bulk.contents);
        if let Some(error) = shared.account.ended() {
            if bulk.session.batch_execute("ROLLBACK").await.is_ok() {
                bulk.session.clean();
            }
            shared.account.fail(contents.records, false, &error);
            return;
        }
        let in_doubt = InDoubt::default();
        let committing = writer::commit(
            &bulk.session,
            &bulk.target,
            bulk.identity.take(),
            Written { without_effect: contents.without_effect, rejected: Vec::new() },
            conduct(shared, Some(&in_doubt), true),
        );
        let committed = retry::within(shared.retry.deadline(), committing).await;
        let failure = match committed {
            Some(Ok(_)) => {
                bulk.session.clean();
                return shared.account.commit(contents.records, contents.without_effect);
            }
            Some(Err(failure)) => bulk.explained(failure),
            None => Failure { unknown: true, ..Failure::not_committed(shared.retry.late()) },
        };
        drop(bulk);
        let failure = match retry::has_committed(shared, &in_doubt).await {
            Some(true) => return shared.account.commit(contents.records, contents.without_effect),
            Some(false) => Failure { unknown: false, ..failure },
            None => failure,
        };
        self.fail(shared, contents, failure).await;
    }

    async fn fail(&mut self, shared: &Shared, contents: Contents, failure: Failure) {
        let target = self.0.take().map(|bulk| bulk.target);
        let Failure { mut error, unknown, .. } = failure;
        if let Some(target) = target.filter(|_| changed::may_have_changed(&error)) {
            // The records that the caller writes again meet the table as it is now.
            match changed::reread(shared, &target, error.clone()).await {
                Ok(target) => shared.learnt.retarget(target),
                Err(reason) => error = reason,
            }
        }
        let table = shared.target.table.relation.name.to_string();
        let error = contents.name(error, unknown).with_context("table", table);
        tracing::error!(%error, records = contents.records, "a bulk load failed: nothing since the last flush is committed");
        shared.account.fail(contents.records, unknown, &error);
    }
}

impl Bulk {
    /// Opens the transaction; tried again as a batch is, since nothing is lost yet.
    async fn begin(shared: &Shared, deadline: Option<Instant>) -> Result<Self, Failure> {
        let mut retries = 0;
        loop {
            let error = match Self::try_begin(shared).await {
                Ok(bulk) => return Ok(bulk),
                Err(failure) => failure.error,
            };
            let Some(pause) = shared.retry.pause(retries).filter(|_| error.is_retryable()) else {
                return Err(Failure::not_committed(error));
            };
            if deadline.is_some_and(|deadline| Instant::now() + pause >= deadline) {
                return Err(Failure::not_committed(error));
            }
            retries += 1;
            tracing::warn!(%error, retry = retries, "the transaction of a bulk load is opened again");
            shared.account.retried();
            tokio::time::sleep(pause).await;
        }
    }

    async fn try_begin(shared: &Shared) -> Result<Self, Failure> {
        let target = shared.learnt.target();
        let session = shared.pool.get().await.map_err(Failure::not_committed)?;
        session.dirty();
        let in_doubt = InDoubt::default();
        let asks = shared.learnt.asks().then_some(&in_doubt);
        let begun = writer::begin(&session, &target, conduct(shared, asks, false)).await;
        let identity = match begun {
            Ok(identity) => identity,
            Err(failure) if in_doubt.is_refused() && shared.learnt.does_not_tell(&failure.error) => {
                session
                    .batch_execute("ROLLBACK")
                    .await
                    .map_err(|error| Failure::not_committed(session.failure(retry::OPERATION, &error)))?;
                writer::begin(&session, &target, conduct(shared, None, false)).await?
            }
            Err(failure) => return Err(failure),
        };
        Ok(Self { session, target, identity, contents: Contents::default() })
    }

    /// A failure of the connection with the reason that its own task saw.
    fn explained(&self, failure: Failure) -> Failure {
        match self.session.loss(retry::OPERATION) {
            Some(loss)
                if failure.error.sqlstate().is_none() && failure.error.kind() == ErrorKind::Connection =>
            {
                Failure { error: loss, ..failure }
            }
            _ => failure,
        }
    }
}

fn conduct<'a>(shared: &'a Shared, in_doubt: Option<&'a InDoubt>, inside: bool) -> Conduct<'a> {
    Conduct { in_doubt, lock_first: false, inside, optimism: shared.learnt.optimism() }
}
