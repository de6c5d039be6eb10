//! The writing side of a load: parcels to the sink, rejects to their file, events to the caller.

use std::collections::HashSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Interval, MissedTickBehavior};

use super::broken;
use super::events::{Event, Progress, Rejected};
use super::position::Position;
use super::reader::{Parcel, Refused, Shared};
use super::rejects::RejectsFile;
use super::summary::Ending;
use crate::sink::{RecordError, Sink, SinkStats};
use crate::{Error, ErrorKind, Reject, Result};

/// Time between two progress events.
const TICK: Duration = Duration::from_millis(100);

/// Everything that the writing side owns.
pub(super) struct Writing<'a> {
    pub(super) sink: Sink,
    pub(super) files: Vec<String>,
    pub(super) rejects: Option<RejectsFile>,
    pub(super) header: Option<Bytes>,
    pub(super) limit: u64,
    pub(super) shared: Arc<Shared>,
    pub(super) events: &'a mut (dyn FnMut(Event<'_>) + Send),
    /// Records that the client's own encoding refused: the sink does not know them.
    pub(super) refused: u64,
    /// Under the sink's policy `fail`, which tells some rejects twice: those that were told already.
    pub(super) told: Option<HashSet<u64>>,
    /// Nothing is visible before the sink's flush, so that a load that stops leaves nothing.
    pub(super) all_at_once: bool,
}

impl Writing<'_> {
    /// Writes what the reading side sends until it ends, too much is rejected, or `stop` comes. What the sink has
    /// accepted is settled when this returns. `read` says how the reading side ended.
    pub(super) async fn run(
        &mut self,
        parcels: &mut mpsc::Receiver<Parcel>,
        read: oneshot::Receiver<Result<()>>,
        stop: impl Future<Output = ()>,
    ) -> (SinkStats, Ending) {
        let mut stop = pin!(stop);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ending = match self.write_all(parcels, stop.as_mut(), &mut ticks).await {
            Ok(ending) => ending,
            Err(error) => Ending::Failed(error),
        };
        self.shared.stop.store(true, Ordering::Relaxed);
        parcels.close();
        if matches!(ending, Ending::Complete) {
            // A reader that waits for its input is left behind; one that has ended has a result.
            ending = match read.await {
                Ok(Ok(())) => Ending::Complete,
                Ok(Err(error)) => Ending::Failed(error),
                Err(_) => Ending::Failed(broken("read input")),
            };
        }
        if self.all_at_once && matches!(ending, Ending::Complete) {
            ending = self.send(stop, &mut ticks).await.unwrap_or_else(Ending::Failed);
        }
        let keep = !self.all_at_once || matches!(ending, Ending::Complete);
        if keep && let Err(error) = self.settle(&mut ticks).await {
            ending = match ending {
                Ending::Failed(first) => Ending::Failed(first),
                _ => Ending::Failed(error),
            };
        }
        if matches!(ending, Ending::Complete) && self.rejected() > self.limit {
            ending = Ending::TooManyRejected;
        }
        if let Some(file) = &mut self.rejects
            && let Err(error) = file.finish()
            && !matches!(ending, Ending::Failed(_))
        {
            ending = Ending::Failed(error);
        }
        self.tell();
        (self.sink.stats(), ending)
    }

    /// Records rejected so far.
    pub(super) fn rejected(&self) -> u64 {
        self.refused + self.sink.stats().rejected
    }

    async fn write_all(
        &mut self,
        parcels: &mut mpsc::Receiver<Parcel>,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        ticks: &mut Interval,
    ) -> Result<Ending> {
        loop {
            let parcel = tokio::select! {
                biased;
                () = &mut stop => return Ok(Ending::Interrupted),
                _ = ticks.tick() => {
                    self.tell();
                    self.collect(self.sink.take_rejects())?;
                    None
                }
                parcel = parcels.recv() => Some(parcel),
            };
            match parcel {
                None => {}
                Some(None) => return Ok(Ending::Complete),
                Some(Some(Parcel::Header(header))) => {
                    self.header.get_or_insert(header);
                }
                Some(Some(Parcel::Refused(refused))) => self.refuse(refused)?,
                Some(Some(Parcel::Chunk { chunk, last })) => {
                    let sink = self.sink.clone();
                    let alone = chunk.len() == 1;
                    let mut write = pin!(sink.write_chunk(chunk));
                    let written = loop {
                        tokio::select! {
                            biased;
                            () = &mut stop => return Ok(Ending::Interrupted),
                            _ = ticks.tick() => self.tell(),
                            written = &mut write => break written,
                        }
                    };
                    match written {
                        Err(error) if alone && error.kind() == ErrorKind::Data => {
                            self.too_large(last, &error)?
                        }
                        written => self.after(written)?,
                    }
                    self.collect(self.sink.take_rejects())?;
                }
            }
            if self.rejected() > self.limit {
                return Ok(Ending::TooManyRejected);
            }
        }
    }

    /// Waits until the server has all records, and none is committed.
    async fn send(
        &mut self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        ticks: &mut Interval,
    ) -> Result<Ending> {
        let sink = self.sink.clone();
        let mut send = pin!(sink.send());
        loop {
            tokio::select! {
                biased;
                () = &mut stop => return Ok(Ending::Interrupted),
                _ = ticks.tick() => self.tell(),
                () = &mut send => break,
            }
        }
        self.collect(self.sink.take_rejects())?;
        Ok(if self.rejected() > self.limit { Ending::TooManyRejected } else { Ending::Complete })
    }

    /// Waits for all that the sink has accepted.
    async fn settle(&mut self, ticks: &mut Interval) -> Result<()> {
        let sink = self.sink.clone();
        let mut close = pin!(sink.close());
        let closed = loop {
            tokio::select! {
                _ = ticks.tick() => self.tell(),
                closed = &mut close => break closed,
            }
        };
        match closed {
            Ok(report) => self.collect(report.rejects),
            Err(error) => self.after(Err(error)),
        }
    }

    /// Rejects that come as an error, under the policy `fail`, are rejects; any other error ends the load.
    fn after(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(error) if error.kind() == ErrorKind::Rejected => {
                self.collect(error.rejects().to_vec())?;
                // In an appending bulk load a rejected record takes the others with it.
                if self.sink.stats().failed == 0 { Ok(()) } else { Err(self.placed(error)) }
            }
            Err(error) => Err(self.placed(error)),
            Ok(()) => Ok(()),
        }
    }

    fn refuse(&mut self, refused: Refused) -> Result<()> {
        self.refused += 1;
        let Refused { position, error, raw } = refused;
        self.collect(vec![error.into_reject(position.token(), raw)])
    }

    /// A record that the sink's memory can never hold.
    fn too_large(&mut self, position: Position, error: &Error) -> Result<()> {
        let words = format!("{}; raise client.writer.buffer.memory-size", error.message());
        self.refuse(Refused { position, error: RecordError::whole("54000", words), raw: None })
    }

    fn collect(&mut self, rejects: Vec<Reject>) -> Result<()> {
        for reject in rejects {
            if self.told.as_mut().is_some_and(|told| !told.insert(reject.position)) {
                continue;
            }
            let position = Position::from_token(reject.position);
            let rejected = Rejected {
                file: self.files.get(position.file).cloned().unwrap_or_default(),
                line: position.line,
                column: reject.column,
                constraint: reject.constraint,
                sqlstate: reject.sqlstate,
                reason: reject.reason,
            };
            if let Some(file) = &mut self.rejects {
                file.add(&rejected, reject.raw.as_deref(), self.header.as_deref())?;
            }
            (self.events)(Event::Rejected(&rejected));
        }
        Ok(())
    }

    /// An error that names records by their tokens names them by file and line.
    fn placed(&self, error: Error) -> Error {
        let Some(reject) = error.rejects().first() else { return error };
        let position = Position::from_token(reject.position);
        let file = self.files.get(position.file).cloned().unwrap_or_default();
        error.with_context("file", file).with_context("line", position.line.to_string())
    }

    fn tell(&mut self) {
        let stats = self.sink.stats();
        (self.events)(Event::Progress(Progress {
            read: self.shared.read.load(Ordering::Relaxed),
            committed: stats.committed,
            rejected: self.refused + stats.rejected,
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        }));
    }
}
