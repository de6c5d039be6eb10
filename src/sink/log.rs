//! A batch before it is planned: encoded records in the order in which they came.
//!
//! Fields are moved from here to the wire and never decoded again. The log is kept until the server's answer, since
//! a data error replays it.

use std::sync::Arc;

use bytes::Bytes;

/// The columns that a record gives, as positions in the table, in the order of its fields.
pub(crate) type ColumnSet = Arc<[u16]>;

/// What a record asks for, after the delete strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Write the row by the conflict policy.
    Upsert,
    /// Delete by key; the fields are the key's.
    Delete,
    /// Set the columns beside the key to NULL; the fields are the key's.
    Nullify,
}

/// One record of the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogRow {
    /// Its fields in `Log::bytes`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Its canonical key in `Log::keys`; empty on a table without one.
    pub(crate) key_start: usize,
    pub(crate) key_end: usize,
    /// The caller's token; 0 until the record is accepted without one.
    pub(crate) position: u64,
    /// How many records of its chunk came before it, dropped ones too.
    pub(crate) ordinal: u32,
    /// The set in `Log::sets`.
    pub(crate) set: u32,
    /// Chooses the lane, where there are several.
    pub(crate) lane_hash: u32,
    pub(crate) op: Op,
    /// The server gives a part of the key (identity, DEFAULT, generated): never folded.
    pub(crate) partial_key: bool,
    /// It gives NULL to a NOT NULL column: the server will refuse it, and no other record may be merged with it.
    pub(crate) unmergeable: bool,
}

/// Encoded records, built away from the sink (on a parsing thread, say) and handed over by
/// [`Sink::write_chunk`](super::Sink::write_chunk).
#[derive(Default)]
pub struct Chunk {
    pub(crate) log: Log,
}

impl Chunk {
    /// An empty chunk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records in it, those that the delete strategy drops included.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// True where nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that it will take of the sink's memory budget.
    pub fn bytes(&self) -> usize {
        self.log.cost()
    }
}

/// The log itself.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) bytes: Vec<u8>,
    pub(crate) keys: Vec<u8>,
    pub(crate) rows: Vec<LogRow>,
    pub(crate) sets: Vec<ColumnSet>,
    /// The records as the input had them, one a row, where the caller attached them.
    pub(crate) raw: Vec<Bytes>,
    /// Records that the delete strategy drops: they count as committed without effect.
    pub(crate) dropped: usize,
    /// Values that lost their U+0000 in the records of this log.
    pub(crate) removed_u0000: u64,
    raw_bytes: usize,
}

impl Log {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Records in it, dropped ones too.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() + self.dropped
    }

    /// Empties the log and keeps its memory.
    pub(crate) fn clear(&mut self) {
        let Self { bytes, keys, rows, sets, raw, dropped, removed_u0000, raw_bytes } = self;
        bytes.clear();
        keys.clear();
        rows.clear();
        sets.clear();
        raw.clear();
        (*dropped, *removed_u0000, *raw_bytes) = (0, 0, 0);
    }

    /// Bytes of memory that the log holds, for the budget.
    pub(crate) fn cost(&self) -> usize {
        self.bytes.len() + self.keys.len() + self.raw_bytes + self.rows.len() * size_of::<LogRow>()
    }

    pub(crate) fn fields(&self, row: &LogRow) -> &[u8] {
        &self.bytes[row.start..row.end]
    }

    pub(crate) fn key(&self, row: &LogRow) -> &[u8] {
        &self.keys[row.key_start..row.key_end]
    }

    pub(crate) fn set(&self, row: &LogRow) -> &ColumnSet {
        &self.sets[row.set as usize]
    }

    /// The number of `set` in this log. The last one is the likely one: records of one shape come together.
    pub(crate) fn intern(&mut self, set: &ColumnSet) -> u32 {
        let same = |known: &ColumnSet| Arc::ptr_eq(known, set) || known == set;
        let found = self.sets.iter().rposition(same).unwrap_or_else(|| {
            self.sets.push(Arc::clone(set));
            self.sets.len() - 1
        });
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// Adds a record whose fields and key already stand at the ends of `bytes` and `keys`.
    pub(crate) fn push(&mut self, row: LogRow, raw: Option<Bytes>) {
        if let Some(raw) = raw {
            // A log has the input's records for all its rows or for none that came before the first.
            self.raw.resize(self.rows.len(), Bytes::new());
            self.raw_bytes += raw.len();
            self.raw.push(raw);
        }
        self.rows.push(row);
    }

    /// Copies one record of `other` to the end.
    pub(crate) fn copy_row(&mut self, other: &Self, index: usize) {
        let row = &other.rows[index];
        let (start, key_start) = (self.bytes.len(), self.keys.len());
        self.bytes.extend_from_slice(other.fields(row));
        self.keys.extend_from_slice(other.key(row));
        let set = self.intern(other.set(row));
        let copy = LogRow { start, end: self.bytes.len(), key_start, key_end: self.keys.len(), set, ..*row };
        self.push(copy, other.raw.get(index).cloned());
    }

    /// Moves all of `other` to the end; without a copy where this log is empty.
    pub(crate) fn append(&mut self, other: Self) {
        if self.rows.is_empty() {
            let (dropped, removed) = (self.dropped, self.removed_u0000);
            *self = other;
            self.dropped += dropped;
            self.removed_u0000 += removed;
            return;
        }
        let (bytes, keys) = (self.bytes.len(), self.keys.len());
        self.bytes.extend_from_slice(&other.bytes);
        self.keys.extend_from_slice(&other.keys);
        let sets: Vec<u32> = other.sets.iter().map(|set| self.intern(set)).collect();
        for (index, row) in other.rows.iter().enumerate() {
            let moved = LogRow {
                start: row.start + bytes,
                end: row.end + bytes,
                key_start: row.key_start + keys,
                key_end: row.key_end + keys,
                set: sets[row.set as usize],
                ..*row
            };
            self.push(moved, other.raw.get(index).cloned());
        }
        self.dropped += other.dropped;
        self.removed_u0000 += other.removed_u0000;
    }

    /// The record as the input had it.
    pub(crate) fn raw(&self, row: usize) -> Option<Bytes> {
        self.raw.get(row).filter(|raw| !raw.is_empty()).cloned()
    }
}

/// Walks the fields of a record: each is its bytes with the length in front.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (head, _) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*head)).unwrap_or(0);
        let (field, rest) = self.0.split_at(4 + length);
        self.0 = rest;
        Some(field)
    }
}

/// The body of a field; none for NULL.
pub(crate) fn body(field: &[u8]) -> Option<&[u8]> {
    let (head, body) = field.split_first_chunk::<4>()?;
    (i32::from_be_bytes(*head) >= 0).then_some(body)
}
