//! A lane: one batch filling, and a task that writes the sealed ones, in order, over one connection at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::account::Account;
use super::budget::Budget;
use super::bulk::OpenBulk;
use super::log::Log;
use super::retry::{self, Learnt, Policy};
use super::target::Target;
use super::writer;
use crate::connection::Pool;
use crate::options::SinkOptions;

/// When a batch is sealed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    /// The age of the oldest record; none: only a flush or a full batch seals.
    pub(crate) age: Option<Duration>,
    /// Whatever is there goes as soon as the lane is free.
    pub(crate) aggressive: bool,
}

/// What the lanes of a sink share.
pub(crate) struct Shared {
    pub(crate) target: Arc<Target>,
    pub(crate) pool: Pool,
    pub(crate) options: SinkOptions,
    pub(crate) limits: Limits,
    pub(crate) retry: Policy,
    pub(crate) learnt: Learnt,
    pub(crate) account: Account,
    pub(crate) budget: Budget,
}

impl Shared {
    /// Whatever a lane has goes as soon as it is free. What fills the memory must not wait for more.
    fn eager(&self) -> bool {
        self.limits.aggressive || self.budget.is_short()
    }
}

#[derive(Default)]
struct State {
    filling: Log,
    since: Option<Instant>,
    sealed: VecDeque<Log>,
    /// Records taken over so far.
    accepted: u64,
    /// So many of them are to be committed, in a bulk mode.
    finish: u64,
    closed: bool,
    discard: bool,
}

/// The side of a lane that callers see.
pub(crate) struct Lane {
    state: Mutex<State>,
    wake: Notify,
    /// Records that the server has, or that have failed: in a bulk mode their fate is known only after a finish.
    sent: watch::Sender<u64>,
    /// Records whose fate is known.
    settled: watch::Sender<u64>,
}

impl Lane {
    /// Starts the lane's task.
    pub(crate) fn start(shared: &Arc<Shared>) -> Arc<Self> {
        let lane = Arc::new(Self {
            state: Mutex::new(State::default()),
            wake: Notify::new(),
            sent: watch::Sender::new(0),
            settled: watch::Sender::new(0),
        });
        if shared.options.write_mode.is_bulk() {
            tokio::spawn(run_bulk(Arc::clone(&lane), Arc::clone(shared)));
        } else {
            tokio::spawn(run(Arc::clone(&lane), Arc::clone(shared)));
        }
        lane
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code below panics between two writes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over all records of `log`, whose memory is paid for.
    pub(crate) fn add(&self, shared: &Shared, log: Log) {
        let limits = &shared.limits;
        let mut state = self.state();
        let records = log.rows.len();
        let filling = &state.filling;
        let fits = filling.rows.len() + records <= limits.rows && filling.cost() + log.cost() <= limits.bytes;
        let before = state.sealed.len();
        if fits || (filling.is_empty() && records <= limits.rows) {
            state.filling.append(log);
            state.seal_if_full(limits);
        } else {
            (0..records).for_each(|row| state.copy(limits, &log, row));
        }
        self.added(state, shared, records, before);
    }

    /// Takes over some records of `log`, whose memory is paid for.
    pub(crate) fn add_chosen(&self, shared: &Shared, log: &Log, rows: &[usize]) {
        let mut state = self.state();
        let before = state.sealed.len();
        rows.iter().for_each(|&row| state.copy(&shared.limits, log, row));
        self.added(state, shared, rows.len(), before);
    }

    /// Wakes the task where it has something to do, or a new time to wait for.
    fn added(&self, mut state: MutexGuard<'_, State>, shared: &Shared, records: usize, sealed_before: usize) {
        state.accepted += records as u64;
        let fresh = state.since.is_none() && !state.filling.is_empty();
        if fresh {
            state.since = Some(Instant::now());
        }
        let wake = fresh || shared.eager() || state.sealed.len() > sealed_before;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    /// Seals what is there, so that it goes without waiting for more. Returns the count to wait for.
    pub(crate) fn seal(&self) -> u64 {
        let mut state = self.state();
        state.seal();
        self.wake.notify_one();
        state.accepted
    }

    /// Waits until the server has the first `records` records, or has refused them.
    pub(crate) async fn sent(&self, records: u64) {
        // The sender lives as long as the lane.
        let _ = self.sent.subscribe().wait_for(|&sent| sent >= records).await;
    }

    /// Tells a lane of a bulk mode to commit the first `records` records at least.
    pub(crate) fn finish(&self, records: u64) {
        let mut state = self.state();
        state.finish = state.finish.max(records);
        self.wake.notify_one();
    }

    /// Waits until the fate of the first `records` records is known.
    pub(crate) async fn settled(&self, records: u64) {
        // The sender lives as long as the lane.
        let _ = self.settled.subscribe().wait_for(|&settled| settled >= records).await;
    }

    /// Ends the task: after what is there is written, or, with `discard`, at once. Returns the records discarded.
    pub(crate) fn close(&self, discard: bool) -> u64 {
        let mut state = self.state();
        state.closed = true;
        state.discard = discard;
        self.wake.notify_one();
        state.accepted - *self.settled.borrow()
    }
}

impl State {
    fn copy(&mut self, limits: &Limits, log: &Log, row: usize) {
        self.filling.copy_row(log, row);
        self.seal_if_full(limits);
    }

    fn seal_if_full(&mut self, limits: &Limits) {
        if self.filling.rows.len() >= limits.rows || self.filling.cost() >= limits.bytes {
            self.seal();
        }
    }

    fn seal(&mut self) {
        self.since = None;
        if !self.filling.is_empty() {
            let log = std::mem::take(&mut self.filling);
            self.sealed.push_back(log);
        }
    }
}

/// What the task does next.
enum Next {
    Write(Log),
    Wait(Option<Instant>),
    End,
}

impl Lane {
    /// Waits until what is pending is to be discarded.
    async fn discarded(&self) {
        while !self.state().discard {
            // Other news is found in the state, when the batch under way is done.
            self.wake.notified().await;
        }
    }

    fn next(&self, shared: &Shared) -> Next {
        let mut state = self.state();
        if state.discard {
            return Next::End;
        }
        let due = shared.limits.age.and_then(|age| state.since.map(|since| since + age));
        let is_due = due.is_some_and(|due| due <= Instant::now());
        if state.sealed.is_empty() && (shared.eager() || state.closed || is_due) {
            state.seal();
        }
        match state.sealed.pop_front() {
            Some(log) => Next::Write(log),
            None if state.closed => Next::End,
            None => Next::Wait(due),
        }
    }
}

async fn run(lane: Arc<Lane>, shared: Arc<Shared>) {
    loop {
        match lane.next(&shared) {
            Next::End => return,
            Next::Wait(None) => lane.wake.notified().await,
            Next::Wait(Some(due)) => {
                tokio::select! {
                    () = lane.wake.notified() => {}
                    () = tokio::time::sleep_until(due) => {}
                }
            }
            Next::Write(mut log) => {
                let (records, cost) = (log.rows.len() as u64, log.cost());
                match shared.account.ended() {
                    Some(error) => shared.account.fail(records, false, &error),
                    None => tokio::select! {
                        () = write(&shared, &mut log) => {}
                        () = lane.discarded() => return,
                    },
                }
                drop(log);
                shared.budget.give_back(cost);
                lane.sent.send_modify(|sent| *sent += records);
                lane.settled.send_modify(|settled| *settled += records);
            }
        }
    }
}

/// As [`run`], but what was sent is committed only when a flush says so.
async fn run_bulk(lane: Arc<Lane>, shared: Arc<Shared>) {
    let mut bulk = OpenBulk::default();
    loop {
        let sent = *lane.sent.borrow();
        let finish = lane.state().finish;
        if finish > *lane.settled.borrow() && finish <= sent {
            tokio::select! {
                () = bulk.finish(&shared) => {}
                () = lane.discarded() => return,
            }
            lane.settled.send_replace(sent);
            continue;
        }
        match lane.next(&shared) {
            Next::End => return,
            // Nothing becomes visible by its age.
            Next::Wait(_) => lane.wake.notified().await,
            Next::Write(mut log) => {
                let (records, cost) = (log.rows.len() as u64, log.cost());
                tokio::select! {
                    () = bulk.add(&shared, &mut log) => {}
                    () = lane.discarded() => return,
                }
                drop(log);
                shared.budget.give_back(cost);
                lane.sent.send_modify(|sent| *sent += records);
            }
        }
    }
}

/// One batch, from the log to the books.
async fn write(shared: &Shared, log: &mut Log) {
    let records = log.rows.len() as u64;
    let table = || shared.target.table.relation.name.to_string();
    match Box::pin(retry::deliver(shared, log)).await {
        Ok(written) => {
            let without_effect = written.without_effect;
            let rejects = written.rejects(log);
            shared.account.commit(records - rejects.len() as u64, without_effect);
            if !rejects.is_empty() {
                shared.account.reject(rejects);
            }
        }
        Err(writer::Failure { error, unknown, .. }) => {
            let positions = log.rows.iter().map(|row| row.position);
            let (first, last) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
            let range = format!("{first} to {last} ({records} records)");
            let error = retry::ended(error, unknown, range).with_context("table", table());
            tracing::error!(%error, records, "a batch failed and the sink has ended");
            shared.account.fail(records, unknown, &error);
        }
    }
}
