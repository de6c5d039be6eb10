//! The sink: records in, committed rows out.
//!
//! ```text
//! record -> encoded once, at the edge          encoder, serialize
//!        -> a lane's batch, a log               log, lane (memory: budget)
//!        -> folded into statements              plan
//!        -> one transaction                     writer (tried again, settled: retry; another table: changed)
//!        -> committed or rejected               account
//! ```

mod account;
mod adapter;
mod budget;
mod bulk;
mod changed;
mod copying;
mod encoder;
mod lane;
mod log;
mod plan;
mod retry;
mod serialize;
mod target;
mod writer;

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use serde::Serialize;

pub use account::{FlushReport, SinkStats};
pub use adapter::Columns;
pub use encoder::{Encoder, RecordError, RowEncoder};
pub use log::Chunk;

use crate::catalog::{Table, TableName, load_table};
use crate::connection::{ConnectTarget, Pool};
use crate::encode::{EncodeContext, Zone};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{RejectPolicy, SinkOptions, Use, WriteMode, resolve};
use crate::record::{Record, RowKind, Value};
use account::Account;
use budget::Budget;
use lane::{Lane, Limits, Shared};
use log::Log;
use retry::{Learnt, Policy};
use target::Target;

/// No statement may hold more than 256 MiB, whatever the options say: the server resets a connection that brings
/// much more, without a code. An encoded row grows by its column types on the wire.
const LARGEST_BATCH: usize = 128 << 20;

/// Each lane of a bulk mode has a connection until the flush.
fn too_many_lanes(lanes: usize, connections: usize) -> Error {
    let words = format!(
        "`bucket.num` is {lanes}, and the pool has {connections} connections: a lane of a bulk mode has one until flush()"
    );
    Error::new(ErrorKind::Config, "open sink", words)
        .with_hint("raise connection.pool.size, or lower bucket.num")
}

/// Rows and bytes of a batch where the options leave them open. A COPY has its price whatever its size; and one lane
/// has two batches in the memory, one that fills and one under way.
fn default_batch(options: &SinkOptions) -> (usize, usize) {
    match options.write_mode {
        WriteMode::Insert => (512, usize::MAX),
        _ => (64 << 10, (options.memory / (3 * options.lanes.max(1))).min(16 << 20)),
    }
}

/// Writes records into one table. Cheap to clone; clones share lanes, memory and reports.
///
/// After [`flush`](Self::flush) the table is what applying the accepted records one by one would give, in order per
/// key. Dropping the last clone without [`close`](Self::close) discards what is pending, with a warning.
#[derive(Clone)]
pub struct Sink {
    handle: Arc<Handle>,
    adapter: adapter::Pending,
}

struct Handle {
    shared: Arc<Shared>,
    lanes: Vec<Arc<Lane>>,
    context: EncodeContext,
    fail: bool,
    /// Read while records are taken over: a close comes before or after them.
    closed: RwLock<bool>,
    /// Encoders over all columns, for records whose columns are known when they come.
    idle: Mutex<Vec<Scratch>>,
}

struct Scratch {
    encoder: Encoder,
    chunk: Chunk,
    shape: serialize::Shape,
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink")
            .field("table", &self.table().relation.name)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Sink {
    /// Opens a table for writing.
    ///
    /// # Errors
    /// `Config` for options that do not fit the table, `NotFound` for a table that is not there, `Connection` and
    /// `Authentication` from the pool.
    pub async fn open(pool: &Pool, table: &str, options: SinkOptions) -> Result<Self> {
        options.check()?;
        let name = TableName::parse(table)?;
        let session = pool.get().await?;
        let table = load_table(&session, &name).await?;
        let zone_name = options.time_zone.clone().unwrap_or_else(|| session.server().time_zone.clone());
        drop(session);
        let zone = Zone::named(&zone_name).ok_or_else(|| {
            Error::new(ErrorKind::Config, "open sink", format!("unknown time zone \"{zone_name}\""))
                .with_hint("set sink.time-zone to an IANA name")
        })?;
        let target = Target::new(Arc::new(table), &options)?;
        let (rows, bytes) = default_batch(&options);
        let limits = Limits {
            rows: options.batch_rows.unwrap_or(rows).max(1),
            bytes: options.fixed_batch_bytes().unwrap_or(bytes).clamp(1, LARGEST_BATCH),
            age: options.flush_interval,
            aggressive: options.aggressive_flush,
        };
        let limit = match options.reject_policy {
            RejectPolicy::Skip { limit } => limit,
            _ => None,
        };
        let lanes = target.lanes;
        if options.write_mode.is_bulk() && lanes > pool.size() {
            return Err(too_many_lanes(lanes, pool.size()));
        }
        let target = Arc::new(target);
        let shared = Arc::new(Shared {
            learnt: Learnt::new(Arc::clone(&target)),
            target,
            pool: pool.clone(),
            limits,
            retry: Policy::new(&options),
            account: Account::new(limit, options.write_mode.is_bulk()),
            budget: Budget::new(options.memory),
            options,
        });
        let options = &shared.options;
        let mut context = EncodeContext::new(zone);
        context.remove_u0000 = options.remove_u0000;
        let handle = Handle {
            lanes: (0..lanes).map(|_| Lane::start(&shared)).collect(),
            context,
            fail: matches!(options.reject_policy, RejectPolicy::Fail),
            shared,
            closed: RwLock::new(false),
            idle: Mutex::new(Vec::new()),
        };
        Ok(Self { handle: Arc::new(handle), adapter: adapter::Pending::default() })
    }

    /// Opens the table that the options of a connector name, from strings alone: a DDL's WITH clause, a table of a TOML
    /// file. The keys are those of `docs/options.md`; what they leave open of the connection is the environment's. The
    /// pool is shared by `connection.pool.name`, and closed with its last sink.
    ///
    /// ```no_run
    /// # async fn example() -> pgsluice::Result<()> {
    /// let sink = pgsluice::sink::Sink::from_options([
    ///     ("connector", "postgres"),
    ///     ("endpoint", "db1:5432,db2:5432"),
    ///     ("dbname", "shop"),
    ///     ("tablename", "public.orders"),
    ///     ("username", "etl"),
    ///     ("connection.ssl.mode", "verify-full"),
    ///     ("connection.ssl.root-cert.location", "/etc/ssl/shop-ca.pem"),
    ///     ("connection.password-command", "cat /run/secrets/etl"),
    /// ])
    /// .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Config` with every fault of the map in one message, as [`resolve`]; those of [`Pool::open_target`] and of
    /// [`Sink::open`].
    ///
    /// # Cancel safety
    /// Dropping the future closes what was opened.
    pub async fn from_options<K, V>(map: impl IntoIterator<Item = (K, V)>) -> Result<Self>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let map = map.into_iter().map(|(key, value)| (key.as_ref().to_owned(), value.as_ref().to_owned()));
        let options = resolve(map, Use::Sink)?;
        let pool = Pool::open_target(ConnectTarget::of_options(&options)?, options.pool).await?;
        Self::open(&pool, &options.table, options.sink).await
    }

    /// The table as it was read at open.
    pub fn table(&self) -> &Table {
        &self.handle.shared.target.table
    }

    /// The counts so far.
    pub fn stats(&self) -> SinkStats {
        self.handle.shared.account.stats()
    }

    /// Inserts the row, or changes the stored one by the conflict policy. The fields of `record` are columns by name;
    /// `None` is NULL, a field that is skipped is absent.
    ///
    /// Waits only for room in the memory budget; the row is in the table after [`flush`](Self::flush).
    ///
    /// # Errors
    /// `Data`: the record does not fit the table (under the policy `fail`; it stays the caller's). `Rejected`: records
    /// of earlier calls were rejected meanwhile; this one was not taken. Else what ended the sink.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, nothing of the record was taken.
    pub async fn upsert<T: Serialize + ?Sized>(&self, record: &T) -> Result<()> {
        self.write(RowKind::Insert, record).await
    }

    /// Writes a change. A delete needs the key's columns only.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    ///
    /// # Cancel safety
    /// As [`upsert`](Self::upsert).
    pub async fn write<T: Serialize + ?Sized>(&self, kind: RowKind, record: &T) -> Result<()> {
        self.encode(kind, 0, |row, shape| serialize::fields(record, row, shape)).await
    }

    /// Writes a change given by column names.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    ///
    /// # Cancel safety
    /// As [`upsert`](Self::upsert).
    pub async fn write_values(&self, kind: RowKind, fields: &[(&str, Value<'_>)]) -> Result<()> {
        self.encode(kind, 0, |row, shape| {
            fields.iter().enumerate().try_for_each(|(n, (name, value))| {
                let index = shape.column(n, name, row)?;
                row.value(index, value)
            })
        })
        .await
    }

    /// Writes an owned record.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    ///
    /// # Cancel safety
    /// As [`upsert`](Self::upsert).
    pub async fn write_record(&self, record: Record) -> Result<()> {
        self.encode(record.kind, record.position.unwrap_or(0), |row, shape| {
            record.fields.iter().enumerate().try_for_each(|(n, (name, value))| {
                let index = shape.column(n, name, row)?;
                row.value(index, value)
            })
        })
        .await
    }

    /// Positional writing: values in the order of `names`.
    ///
    /// # Errors
    /// `Config` for a name that the table does not have, a doubled one, or a generated column.
    pub fn columns(&self, names: &[&str]) -> Result<Columns> {
        Ok(Columns::new(self.clone(), self.encoder(names)?))
    }

    /// An encoder for records over declared columns, to be used on a thread of the caller's.
    ///
    /// # Errors
    /// `Config` for a name that the table does not have, a doubled one, or a generated column.
    pub fn encoder(&self, names: &[&str]) -> Result<Encoder> {
        Encoder::new(Arc::clone(&self.handle.shared.target), names, self.handle.context.clone())
    }

    /// Takes over a chunk of encoded records, all of it or, on an error, nothing.
    ///
    /// # Errors
    /// `Rejected`: records of earlier calls were rejected meanwhile. Else what ended the sink; `Data` for a chunk that
    /// is larger than the memory budget (one of a single record is rejected under the policies that set records aside).
    ///
    /// # Cancel safety
    /// Dropped before it is ready, nothing of the chunk was taken.
    pub async fn write_chunk(&self, mut chunk: Chunk) -> Result<()> {
        self.ready()?;
        self.take_over(&mut chunk).await
    }

    /// Under the policies that set records aside: counts a record that the caller's own encoding refused as accepted
    /// and rejected. Under `fail` it is returned as an error and stays the caller's.
    ///
    /// # Errors
    /// `Data` under `fail`; `Config` where the record is wrong whatever its values. Else what ended the sink.
    pub fn reject(&self, position: u64, error: RecordError, raw: Option<Bytes>) -> Result<()> {
        if self.handle.fail || error.configuration {
            return Err(error.into_error(&self.table().relation.name.to_string()));
        }
        self.ready()?;
        let account = &self.handle.shared.account;
        let first = account.accept(1, 0, 0);
        account.reject(vec![error.into_reject(if position == 0 { first } else { position }, raw)]);
        Ok(())
    }

    /// The rejects that are known and were not taken yet, so that they can be stored while the sink goes on. Once
    /// called, the caller answers for taking them: the sink no longer bounds how many it keeps.
    pub fn take_rejects(&self) -> Vec<crate::Reject> {
        self.handle.shared.account.take_rejects()
    }

    /// Writes all that was accepted, by any clone, and waits for it.
    ///
    /// # Errors
    /// `Rejected` under the policy `fail` where a record was rejected since the last flush, whichever call has told
    /// it before; the next flush with nothing new is Ok. What ended the sink, from then on.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, the records are written all the same, and the next flush reports them.
    pub async fn flush(&self) -> Result<FlushReport> {
        drop(self.open_still()?);
        self.settle().await;
        self.handle.shared.account.flushed(self.handle.fail)
    }

    /// Flushes and ends the sink; every later call on any clone is an error.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    ///
    /// # Cancel safety
    /// As [`flush`](Self::flush).
    pub async fn close(&self) -> Result<FlushReport> {
        drop(self.open_still()?);
        self.settle().await;
        *self.handle.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        // What other clones brought meanwhile is part of it.
        self.settle().await;
        for lane in &self.handle.lanes {
            lane.close(false);
        }
        self.handle.shared.account.flushed(self.handle.fail)
    }

    /// Waits until the fate of all records that the lanes have is known.
    async fn settle(&self) {
        let lanes = self.seal();
        if self.handle.shared.options.write_mode.is_bulk() {
            // No lane commits before all have sent what they have: what is refused in one undoes it in all.
            sent(&lanes).await;
            lanes.iter().for_each(|(accepted, lane)| lane.finish(*accepted));
        }
        for (accepted, lane) in lanes {
            lane.settled(accepted).await;
        }
    }

    /// Waits until the server has all records, or has refused them. In a bulk mode nothing of them is committed then.
    ///
    /// Cancel safety: may be dropped and called again.
    pub(crate) async fn send(&self) {
        sent(&self.seal()).await;
    }

    /// The lanes, each with the records that it has accepted; their batches are on the way.
    fn seal(&self) -> Vec<(u64, &Arc<Lane>)> {
        self.handle.lanes.iter().map(|lane| (lane.seal(), lane)).collect()
    }

    /// As long as the guard lives, the sink is not closed.
    fn open_still(&self) -> Result<RwLockReadGuard<'_, bool>> {
        let closed = self.handle.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(Error::new(ErrorKind::Closed, "use sink", "already closed"));
        }
        Ok(closed)
    }

    /// Whether records may be taken over.
    fn ready(&self) -> Result<()> {
        drop(self.open_still()?);
        let account = &self.handle.shared.account;
        match account.ended() {
            Some(error) => Err(error),
            None if self.handle.fail => account.news().map_or(Ok(()), Err),
            None => Ok(()),
        }
    }

    async fn encode(
        &self,
        kind: RowKind,
        position: u64,
        fields: impl FnOnce(&mut RowEncoder<'_>, &mut serialize::Shape) -> Result<(), RecordError>,
    ) -> Result<()> {
        self.ready()?;
        let mut scratch = self.handle.scratch();
        let Scratch { encoder, chunk, shape } = &mut scratch;
        let mut row = encoder.row(chunk, kind, position);
        let encoded = match fields(&mut row, shape) {
            Ok(()) => row.finish(None),
            Err(error) => {
                drop(row);
                Err(error)
            }
        };
        let result = match encoded {
            Ok(()) => self.take_over(&mut scratch.chunk).await,
            Err(error) => self.reject(position, error, None),
        };
        self.handle.put_back(scratch);
        result
    }

    /// Pays for the chunk's memory and hands its records to their lanes; the chunk is empty then.
    async fn take_over(&self, chunk: &mut Chunk) -> Result<()> {
        let Shared { budget, account, .. } = &*self.handle.shared;
        let cost = chunk.log.cost();
        if let Err(error) = budget.fits(cost) {
            return match &chunk.log.rows[..] {
                [row] if chunk.len() == 1 => self.reject(row.position, error, chunk.log.raw(0)),
                _ => Err(error.into_error(&self.table().relation.name.to_string())),
            };
        }
        if !budget.try_take(cost) {
            let _waiting = budget.waiting();
            for lane in &self.handle.lanes {
                lane.seal();
            }
            budget.take(cost).await;
        }
        let open = self.open_still().and_then(|open| account.ended().map_or(Ok(open), Err));
        if open.is_err() {
            budget.give_back(cost);
        }
        let _open = open?;
        let mut log = std::mem::take(&mut chunk.log);
        let first = account.accept(log.len() as u64, log.dropped as u64, log.removed_u0000);
        for row in log.rows.iter_mut().filter(|row| row.position == 0) {
            row.position = first + u64::from(row.ordinal);
        }
        self.distribute(log, first);
        Ok(())
    }

    fn distribute(&self, log: Log, first: u64) {
        let Handle { shared, lanes, .. } = &*self.handle;
        if let [lane] = &lanes[..] {
            lane.add(shared, log);
        } else if shared.target.key.is_none() {
            // Without keys any lane is right: one for a batch's worth of records, then the next.
            let turn = first / shared.limits.rows as u64 % lanes.len() as u64;
            lanes[usize::try_from(turn).unwrap_or(0)].add(shared, log);
        } else {
            let mut chosen = vec![Vec::new(); lanes.len()];
            for (index, row) in log.rows.iter().enumerate() {
                chosen[row.lane_hash as usize % lanes.len()].push(index);
            }
            for (lane, rows) in lanes.iter().zip(&chosen) {
                lane.add_chosen(shared, &log, rows);
            }
        }
    }
}

impl Handle {
    fn scratch(&self) -> Scratch {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Scratch {
            encoder: Encoder::undeclared(Arc::clone(&self.shared.target), self.context.clone()),
            chunk: Chunk::new(),
            shape: serialize::Shape::default(),
        })
    }

    fn put_back(&self, mut scratch: Scratch) {
        scratch.chunk.log.clear();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

async fn sent(lanes: &[(u64, &Arc<Lane>)]) {
    for (accepted, lane) in lanes {
        lane.sent(*accepted).await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let pending: u64 = self.lanes.iter().map(|lane| lane.close(true)).sum();
        if pending > 0 {
            tracing::warn!(
                table = %self.shared.target.table.relation.name,
                pending,
                "the sink was dropped without close(): its pending records are discarded"
            );
        }
    }
}
