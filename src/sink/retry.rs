//! A batch until its fate is known: tried, tried again after what may pass, settled where a COMMIT was not answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::log::Log;
use super::target::Target;
use super::writer::{self, Conduct, Failure, Fate, InDoubt, Optimism, Written};
use super::{changed, lane::Shared};
use crate::error::{Error, ErrorKind};
use crate::options::SinkOptions;

/// Between two questions for a transaction that is still in progress.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// So often its session is left in peace; then it is ended.
const PATIENT_QUESTIONS: u32 = 6;

/// So often the question is asked in all.
const QUESTIONS: u32 = 100;

/// A COMMIT that is in doubt when the tries are used up may still take so long to settle.
const LAST_QUESTION: Duration = Duration::from_secs(5);

pub(super) const OPERATION: &str = "write batch";

/// How often and how long a batch is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    retries: u32,
    step: Duration,
    timeout: Option<Duration>,
}

impl Policy {
    pub(crate) fn new(options: &SinkOptions) -> Self {
        Self {
            retries: options.retry_count,
            step: options.retry_sleep_step,
            timeout: options.delivery_timeout,
        }
    }

    /// When what begins now must be done.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timeout.map(|timeout| Instant::now() + timeout)
    }

    /// The sleep before the next try, after `retries` of them; none where it was the last.
    pub(super) fn pause(&self, retries: u32) -> Option<Duration> {
        (retries < self.retries).then(|| self.step.saturating_mul(retries + 1))
    }

    /// The deadline has passed.
    pub(super) fn late(&self) -> Error {
        let words = format!("not delivered within {:?}", self.timeout.unwrap_or_default());
        Error::new(ErrorKind::Timeout, OPERATION, words)
            .with_hint("raise sink.delivery-timeout, or see to the server")
    }
}

/// What the batches of a sink have learnt of the server.
#[derive(Debug)]
pub(crate) struct Learnt {
    /// The table as batches are written to it; records are encoded for the one that was there at open.
    target: Mutex<Arc<Target>>,
    /// A deadlock was met: stored keys are locked in order from then on.
    deadlock: AtomicBool,
    /// The server does not tell what became of a transaction.
    no_identities: AtomicBool,
    /// Whether keys are new.
    optimism: Optimism,
}

impl Learnt {
    pub(crate) fn new(target: Arc<Target>) -> Self {
        Self {
            target: Mutex::new(target),
            deadlock: AtomicBool::new(false),
            no_identities: AtomicBool::new(false),
            optimism: Optimism::default(),
        }
    }

    pub(super) fn target(&self) -> Arc<Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn retarget(&self, target: Arc<Target>) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }

    /// Whether the server can be asked what became of a transaction.
    pub(super) fn asks(&self) -> bool {
        !self.no_identities.load(Ordering::Relaxed)
    }

    /// The server does not tell what became of a transaction. False where that was known.
    pub(super) fn does_not_tell(&self, error: &Error) -> bool {
        let news = !self.no_identities.swap(true, Ordering::Relaxed);
        if news {
            tracing::warn!(%error, "this server does not tell what became of a transaction: a lost COMMIT answer ends the sink");
        }
        news
    }

    pub(super) fn optimism(&self) -> &Optimism {
        &self.optimism
    }
}

/// Writes a batch. No connection and no lock is held between two tries.
///
/// Cancel safety: dropped, the batch is committed whole or not at all.
pub(crate) async fn deliver(shared: &Shared, log: &mut Log) -> Result<Written, Failure> {
    let policy = shared.retry;
    let mut delivery = Delivery {
        shared,
        in_doubt: InDoubt::default(),
        deadline: policy.deadline(),
        sending: AtomicBool::new(false),
        retries: 0,
        first: None,
        last: None,
        unknown: false,
    };
    loop {
        let target = shared.learnt.target();
        let tried = within(delivery.deadline, delivery.attempt(&target, log)).await;
        let failed = match tried {
            Some(Ok(written)) => return Ok(written),
            Some(Err(failed)) => failed,
            None => return delivery.late(&target, log).await,
        };
        match delivery.next(&target, log, failed).await {
            Next::AtOnce => {}
            Next::Sleep(pause) => {
                if delivery.deadline.is_some_and(|deadline| Instant::now() + pause >= deadline) {
                    return delivery.late(&target, log).await;
                }
                shared.account.retried();
                tokio::time::sleep(pause).await;
            }
            Next::GiveUp(error) => return delivery.give_up(error).await,
        }
    }
}

/// Waits for `future` until `deadline`; none where it is late.
pub(super) async fn within<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// A batch under way, and what its tries came to.
struct Delivery<'a> {
    shared: &'a Shared,
    in_doubt: InDoubt,
    deadline: Option<Instant>,
    /// Statements are out without an answer.
    sending: AtomicBool,
    retries: u32,
    first: Option<Error>,
    last: Option<Error>,
    /// Some try may have committed, and no later answer tells.
    unknown: bool,
}

/// A try that failed.
struct Failed {
    failure: Failure,
    /// The connection came out of the pool already used, and broke before it answered anything.
    stale: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { failure: Failure::not_committed(error), stale: false }
    }
}

enum Next {
    AtOnce,
    Sleep(Duration),
    GiveUp(Error),
}

impl Delivery<'_> {
    async fn attempt(&self, target: &Target, log: &mut Log) -> Result<Written, Failed> {
        if self.in_doubt.is_open() {
            match settle(self.shared, &self.in_doubt).await? {
                Fate::Committed(written) => return Ok(written),
                Fate::Aborted => self.in_doubt.leave(),
                Fate::InProgress => return Err(self.unanswerable("the transaction's session does not end")),
                Fate::Unknown(why) => return Err(self.unanswerable(why)),
            }
        }
        let learnt = &self.shared.learnt;
        let asks = !target.replays(log) && learnt.asks();
        let conduct = Conduct {
            in_doubt: asks.then_some(&self.in_doubt),
            lock_first: learnt.deadlock.load(Ordering::Relaxed),
            inside: false,
            optimism: &learnt.optimism,
        };
        let session = self.shared.pool.get().await?;
        // A connection on which this future is dropped never goes back to the pool as it is.
        session.dirty();
        self.sending.store(true, Ordering::Relaxed);
        let result = writer::write(&session, target, log, conduct).await;
        self.sending.store(false, Ordering::Relaxed);
        let failure = match result {
            Ok(written) => {
                session.clean();
                return Ok(written);
            }
            Err(failure) => failure,
        };
        let closed = session.is_closed();
        let stale = closed && session.is_reused() && !failure.answered;
        if is_conflict(&failure.error)
            && !failure.out_of_step
            && session.batch_execute("ROLLBACK").await.is_ok()
        {
            session.clean();
        }
        let error = match session.loss(OPERATION) {
            Some(loss) if failure.error.sqlstate().is_none() => loss,
            _ => failure.error,
        };
        Err(Failed { failure: Failure { error, ..failure }, stale })
    }

    /// The question has no answer, now or later.
    fn unanswerable(&self, why: &'static str) -> Failed {
        self.in_doubt.leave();
        let error = Error::new(ErrorKind::OutcomeUnknown, OPERATION, why);
        Failed { failure: Failure { unknown: true, ..Failure::not_committed(error) }, stale: false }
    }

    /// What to do after a try that failed.
    async fn next(&mut self, target: &Arc<Target>, log: &Log, failed: Failed) -> Next {
        let Failed { failure: Failure { error, unknown, .. }, stale } = failed;
        let learnt = &self.shared.learnt;
        if self.in_doubt.is_refused() && learnt.does_not_tell(&error) {
            return Next::AtOnce;
        }
        if unknown && !self.in_doubt.is_open() {
            self.unknown = true;
            if !target.replays(log) {
                return Next::GiveUp(error);
            }
        }
        let error = match changed::may_have_changed(&error) {
            true => match changed::reread(self.shared, target, error).await {
                Ok(target) => {
                    learnt.retarget(target);
                    return Next::AtOnce;
                }
                Err(error) => error,
            },
            false => error,
        };
        if !error.is_retryable() {
            return Next::GiveUp(error);
        }
        if error.sqlstate() == Some("40P01") {
            learnt.deadlock.store(true, Ordering::Relaxed);
        }
        if stale {
            tracing::debug!(%error, "a pooled connection was dead and is replaced");
            return Next::AtOnce;
        }
        let Some(pause) = self.shared.retry.pause(self.retries) else { return Next::GiveUp(error) };
        self.retries += 1;
        tracing::warn!(%error, retry = self.retries, "a batch is tried again");
        self.first.get_or_insert_with(|| error.clone());
        self.last = Some(error);
        Next::Sleep(pause)
    }

    /// The deadline has passed, in a try or before the next one.
    async fn late(mut self, target: &Target, log: &Log) -> Result<Written, Failure> {
        // Where identities are kept, a try that the deadline cut off is in doubt, or has no COMMIT out.
        let untold = target.replays(log) || !self.shared.learnt.asks();
        self.unknown |= self.sending.load(Ordering::Relaxed) && untold;
        let mut error = self.shared.retry.late();
        if let Some(last) = &self.last {
            error = error.with_context("last error", last.message());
            if let Some(code) = last.sqlstate() {
                error = error.with_sqlstate(code);
            }
        }
        self.give_up(error).await
    }

    /// No more tries; what is in doubt is asked for once more.
    async fn give_up(mut self, mut error: Error) -> Result<Written, Failure> {
        if self.in_doubt.is_open() {
            match tokio::time::timeout(LAST_QUESTION, settle(self.shared, &self.in_doubt)).await {
                Ok(Ok(Fate::Committed(written))) => return Ok(written),
                Ok(Ok(Fate::Aborted)) => {}
                _ => self.unknown = true,
            }
        }
        if self.retries > 0 {
            error = error.with_context("retries", self.retries.to_string());
        }
        if let Some(first) = self.first {
            error = error.with_context("first error", first.message()).with_source(first);
        }
        Err(Failure { unknown: self.unknown, ..Failure::not_committed(error) })
    }
}

/// Asks until the transaction in doubt is no longer in progress, or as often as makes sense.
async fn settle(shared: &Shared, in_doubt: &InDoubt) -> Result<Fate, Error> {
    for question in 0..QUESTIONS {
        let session = shared.pool.get().await?;
        session.dirty();
        let fate = in_doubt.ask(&session, question >= PATIENT_QUESTIONS).await?;
        session.clean();
        drop(session);
        match fate {
            Fate::InProgress => tokio::time::sleep(ASK_AGAIN).await,
            fate => return Ok(fate),
        }
    }
    Ok(Fate::InProgress)
}

/// Whether the transaction in doubt has committed: asked as long as a batch is tried. None where it cannot be told, or
/// nothing is in doubt.
pub(super) async fn has_committed(shared: &Shared, in_doubt: &InDoubt) -> Option<bool> {
    let mut retries = 0;
    while in_doubt.is_open() {
        match settle(shared, in_doubt).await {
            Ok(Fate::Committed(_)) => return Some(true),
            Ok(Fate::Aborted) => return Some(false),
            Ok(_) => return None,
            Err(error) => {
                let pause = shared.retry.pause(retries).filter(|_| error.is_retryable())?;
                retries += 1;
                tracing::warn!(%error, retry = retries, "what became of a COMMIT is asked again");
                tokio::time::sleep(pause).await;
            }
        }
    }
    None
}

/// The error of records that are not known to be committed; `range` names them.
pub(super) fn ended(error: Error, unknown: bool, range: String) -> Error {
    if unknown {
        let words = format!("the answer to COMMIT was lost: {}", error.message());
        let mut lost = Error::new(ErrorKind::OutcomeUnknown, OPERATION, words)
            .with_context("records", range)
            .with_hint("look whether the rows are there before writing them again");
        if let Some(code) = error.sqlstate() {
            lost = lost.with_sqlstate(code);
        }
        return lost.with_source(error);
    }
    error.with_context("records not committed", range)
}

/// Errors after which the connection is as good as before.
fn is_conflict(error: &Error) -> bool {
    matches!(error.sqlstate(), Some("40001" | "40P01" | "55P03"))
}
