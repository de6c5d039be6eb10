//! From parsed records to parcels: chunks of encoded records, refused ones, and the count of what was read.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;

use super::{Halt, Parcel, Position, Refused, Shared};
use crate::load::options::LoadOptions;
use crate::sink::{Chunk, RecordError};

/// Encoded bytes that make a parcel: a few network writes, and little enough to move between threads often.
const CHUNK_BYTES: usize = 256 << 10;

/// A record of so many bytes travels alone: where the sink's memory cannot hold it, no other is lost with it.
const LARGE_RECORD: usize = 1 << 20;

/// Room for raw records that is asked for at a time.
const RAW_BLOCK: usize = 256 << 10;

/// Collects and sends.
pub(super) struct Feed {
    pub(super) chunk: Chunk,
    out: mpsc::Sender<Parcel>,
    shared: Arc<Shared>,
    /// Raw records, one behind the other; none where nobody asks for them.
    raw: Option<BytesMut>,
    /// Records read and not counted in `shared` yet.
    read: u64,
    /// The last record read.
    last: Position,
    refused: u64,
    limit: u64,
    keep_nothing: bool,
}

impl Feed {
    pub(super) fn new(out: mpsc::Sender<Parcel>, shared: Arc<Shared>, options: &LoadOptions) -> Self {
        Self {
            chunk: Chunk::new(),
            out,
            shared,
            raw: options.rejects.is_some().then(BytesMut::new),
            read: 0,
            last: Position { file: 0, line: 0 },
            refused: 0,
            limit: options.error_limit(),
            keep_nothing: options.dry_run,
        }
    }

    /// Before a record of `bytes` bytes is encoded.
    pub(super) fn make_room(&mut self, bytes: usize) -> Result<(), Halt> {
        if bytes < LARGE_RECORD { Ok(()) } else { self.send_chunk() }
    }

    /// The record as the input has it, where somebody asks for it.
    pub(super) fn raw(&mut self, record: &[u8]) -> Option<Bytes> {
        let block = self.raw.as_mut()?;
        if block.capacity() < record.len() {
            block.reserve(RAW_BLOCK.max(record.len()));
        }
        block.extend_from_slice(record);
        Some(block.split().freeze())
    }

    /// Ends a record: `result` is what encoding it into the chunk gave; `record` its bytes, where it has an end.
    pub(super) fn settle(
        &mut self,
        position: Position,
        record: Option<&[u8]>,
        result: Result<(), RecordError>,
        table: &str,
        file: &str,
    ) -> Result<(), Halt> {
        self.read += 1;
        self.last = position;
        if let Err(error) = result {
            self.refuse(position, record, error, table, file)?;
        }
        if self.chunk.bytes() >= CHUNK_BYTES {
            self.send_chunk()?;
        }
        Ok(())
    }

    #[cold]
    fn refuse(
        &mut self,
        position: Position,
        record: Option<&[u8]>,
        error: RecordError,
        table: &str,
        file: &str,
    ) -> Result<(), Halt> {
        if error.configuration {
            let error = error.into_error(table).with_context("file", file);
            return Err(error.with_context("line", position.line.to_string()).into());
        }
        // In the order of the input, so that what stood before a refused record is not lost where it ends the load.
        self.send_chunk()?;
        let raw = record.and_then(|record| self.raw(record));
        self.send(Parcel::Refused(Refused { position, error, raw }))?;
        self.refused += 1;
        if self.refused > self.limit { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Sends what is there.
    pub(super) fn send_chunk(&mut self) -> Result<(), Halt> {
        self.shared.read.fetch_add(std::mem::take(&mut self.read), Ordering::Relaxed);
        if self.shared.stop.load(Ordering::Relaxed) {
            return Err(Halt::Stopped);
        }
        let chunk = std::mem::take(&mut self.chunk);
        if chunk.is_empty() || self.keep_nothing {
            Ok(())
        } else {
            self.send(Parcel::Chunk { chunk, last: self.last })
        }
    }

    pub(super) fn send(&self, parcel: Parcel) -> Result<(), Halt> {
        self.out.blocking_send(parcel).map_err(|_| Halt::Stopped)
    }
}
