//! How a sink writes.

use std::time::Duration;

use super::pool::MOST_CONNECTIONS;
use super::unit::{LONGEST, display_size};
use super::{fault, registry};
use crate::Result;

/// How rows travel to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WriteMode {
    /// INSERT statements over arrays; visible after each batch.
    #[default]
    Insert,
    /// COPY for each batch.
    CopyStream,
    /// One COPY up to `flush()`; inserts only.
    CopyBulkLoad,
    /// COPY into staging up to `flush()`, then one merge.
    CopyBulkLoadOnConflict,
    /// The fastest mode that shows rows after each batch and that the target allows.
    Auto,
}

impl WriteMode {
    /// True where nothing is visible before `flush()`.
    pub fn is_bulk(self) -> bool {
        matches!(self, Self::CopyBulkLoad | Self::CopyBulkLoadOnConflict)
    }

    /// The value of `sink.write-mode` that means this mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::CopyStream => "COPY_STREAM",
            Self::CopyBulkLoad => "COPY_BULK_LOAD",
            Self::CopyBulkLoadOnConflict => "COPY_BULK_LOAD_ON_CONFLICT",
            Self::Auto => "AUTO",
        }
    }
}

/// The format of the COPY modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CopyFormat {
    /// Each type's binary form.
    #[default]
    Binary,
    /// Texts, read by the server's input functions as under `sink.text-values`.
    Text,
}

impl CopyFormat {
    /// The value of `sink.copy.format` that means this format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Text => "text",
        }
    }
}

/// What an insert does where its key is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ConflictAction {
    /// The stored row stays.
    InsertOrIgnore,
    /// The whole row is replaced: columns not given become NULL, or their DEFAULT where NULL is not allowed.
    InsertOrReplace,
    /// The columns given are updated, the others stay.
    #[default]
    InsertOrUpdate,
}

impl ConflictAction {
    /// The value of `sink.on-conflict-action` that means this action.
    pub fn name(self) -> &'static str {
        match self {
            Self::InsertOrIgnore => "INSERT_OR_IGNORE",
            Self::InsertOrReplace => "INSERT_OR_REPLACE",
            Self::InsertOrUpdate => "INSERT_OR_UPDATE",
        }
    }
}

/// What −D and −U records do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DeleteStrategy {
    /// −D and −U are dropped and counted.
    IgnoreDelete,
    /// −U is dropped; −D sets the columns outside the key to NULL in a stored row.
    NonPkFieldToNull,
    /// −U is dropped; −D deletes.
    DeleteRowOnPk,
    /// −U and −D delete.
    #[default]
    ChangelogStandard,
    /// −U and −D are an error of the record (`table.delete.behavior` = DISABLE); inserts and updates go on.
    Disable,
}

/// What happens to a record that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RejectPolicy {
    /// The next call returns an error that names it.
    #[default]
    Fail,
    /// It is left out and reported.
    Skip {
        /// So many rejected records are borne, one more ends the sink; `None`: any number.
        limit: Option<u64>,
    },
}

/// How a sink batches, folds, writes and rejects.
///
/// ```
/// use pgsluice::options::{ConflictAction, SinkOptions};
///
/// let built = SinkOptions::new().on_conflict(ConflictAction::InsertOrIgnore).batch_rows(1000);
/// let read = SinkOptions::from_map([
///     ("sink.on-conflict-action", "insertOrIgnore"),
///     ("sink.insert.batch-size", "1000"),
/// ])?;
/// assert_eq!(built, read);
/// # Ok::<(), pgsluice::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SinkOptions {
    /// `sink.write-mode`.
    pub write_mode: WriteMode,
    /// `sink.on-conflict-action`; not given: the stored row is updated.
    pub on_conflict: Option<ConflictAction>,
    /// `sink.delete-strategy`, `sink.ignore-delete`, `table.delete.behavior`.
    pub delete_strategy: DeleteStrategy,
    /// `sink.remove-u0000-in-text.enabled`.
    pub remove_u0000: bool,
    /// `sink.deduplication.enabled`: changes of one key in a batch are folded.
    pub deduplication: bool,
    /// `sink.aggressive-flush.enabled`: an idle connection takes what is buffered at once.
    pub aggressive_flush: bool,
    /// `sink.insert.batch-size`: rows that seal a batch, at least 1. Not given: 512 in INSERT, the sink's choice elsewhere.
    pub batch_rows: Option<usize>,
    /// `sink.insert.batch-byte-size`: encoded bytes that seal a batch, at least 1. Not given: 2 MiB in INSERT, the sink's
    /// choice elsewhere.
    pub batch_bytes: Option<usize>,
    /// `sink.copy.format`.
    pub copy_format: CopyFormat,
    /// `sink.copy.min-rows`: so many rows of one statement go by COPY into a staging table; fewer go as parameters.
    pub copy_min_rows: usize,
    /// `sink.insert.flush-interval-ms`: age of the oldest row that seals a batch, without a new row. Zero: at once, a batch
    /// takes what has come by the time that its lane is free. `None` (`-1` as text): never by age, only by rows, bytes
    /// and `flush()`.
    pub flush_interval: Option<Duration>,
    /// `bucket.num`: ordered write lanes, one connection each; a key always has the same lane.
    pub lanes: usize,
    /// `bucket.key`: the columns hashed for the lane, part of the key; not given: the whole key.
    pub bucket_key: Option<Vec<String>>,
    /// `client.writer.buffer.memory-size`: bytes buffered at most, over all tables of a pool.
    pub memory: usize,
    /// `sink.key-columns`: the conflict key; not given: the primary key.
    pub key_columns: Option<Vec<String>>,
    /// `sink.key-predicate`: the WHERE of the partial unique index over the key columns.
    pub key_predicate: Option<String>,
    /// `sink.insert-only-columns`: written by the record that creates the row, never by later ones.
    pub insert_only_columns: Vec<String>,
    /// `sink.skip-generated-columns`: generated columns that the source delivers are left out instead of refused.
    pub skip_generated_columns: bool,
    /// `sink.text-values`: field texts go to the server's input functions as they are.
    pub text_values: bool,
    /// `sink.time-zone`: for texts without offset into timestamptz; not given: the server's at connect.
    pub time_zone: Option<String>,
    /// `sink.reject-policy` and `sink.reject-limit`.
    pub reject_policy: RejectPolicy,
    /// `sink.default-for-not-null-column.enabled`; not available yet, only false is taken.
    pub default_for_not_null: bool,
    /// `retry-count`, `client.writer.retries`: retries of a batch after its first try; 0 is one try.
    pub retry_count: u32,
    /// `retry-sleep-step-ms`: the sleep before retry n is n steps.
    pub retry_sleep_step: Duration,
    /// `sink.delivery-timeout`: over all tries of a batch. `None` (`-1` as text): only the number of retries ends them.
    pub delivery_timeout: Option<Duration>,
}

impl Default for SinkOptions {
    fn default() -> Self {
        Self {
            write_mode: WriteMode::default(),
            on_conflict: None,
            delete_strategy: DeleteStrategy::default(),
            remove_u0000: true,
            deduplication: true,
            aggressive_flush: false,
            batch_rows: None,
            batch_bytes: None,
            copy_format: CopyFormat::default(),
            copy_min_rows: 4096,
            flush_interval: Some(Duration::from_secs(10)),
            lanes: 1,
            bucket_key: None,
            memory: 64 << 20,
            key_columns: None,
            key_predicate: None,
            insert_only_columns: Vec::new(),
            skip_generated_columns: false,
            text_values: false,
            time_zone: None,
            reject_policy: RejectPolicy::default(),
            default_for_not_null: false,
            retry_count: 10,
            retry_sleep_step: Duration::from_secs(5),
            delivery_timeout: Some(Duration::from_secs(600)),
        }
    }
}

fn names<T: Into<String>>(columns: impl IntoIterator<Item = T>) -> Vec<String> {
    columns.into_iter().map(Into::into).collect()
}

impl SinkOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how rows travel.
    #[must_use]
    pub fn write_mode(mut self, mode: WriteMode) -> Self {
        self.write_mode = mode;
        self
    }

    /// Sets what an insert does where its key is stored.
    #[must_use]
    pub fn on_conflict(mut self, action: ConflictAction) -> Self {
        self.on_conflict = Some(action);
        self
    }

    /// Sets what −D and −U records do.
    #[must_use]
    pub fn delete_strategy(mut self, strategy: DeleteStrategy) -> Self {
        self.delete_strategy = strategy;
        self
    }

    /// Sets whether U+0000 is taken out of texts.
    #[must_use]
    pub fn remove_u0000(mut self, on: bool) -> Self {
        self.remove_u0000 = on;
        self
    }

    /// Sets whether changes of one key in a batch are folded.
    #[must_use]
    pub fn deduplication(mut self, on: bool) -> Self {
        self.deduplication = on;
        self
    }

    /// Sets whether an idle connection takes what is buffered at once.
    #[must_use]
    pub fn aggressive_flush(mut self, on: bool) -> Self {
        self.aggressive_flush = on;
        self
    }

    /// Sets the rows that seal a batch; at least 1.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows);
        self
    }

    /// Sets the encoded bytes that seal a batch; at least 1, and at most half of the memory.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = Some(bytes);
        self
    }

    /// Sets the format of the COPY modes.
    #[must_use]
    pub fn copy_format(mut self, format: CopyFormat) -> Self {
        self.copy_format = format;
        self
    }

    /// Sets how many rows of one statement go by COPY into a staging table; at least 1.
    #[must_use]
    pub fn copy_min_rows(mut self, rows: usize) -> Self {
        self.copy_min_rows = rows;
        self
    }

    /// Sets the age of the oldest row that seals a batch: zero is at once, `None` never.
    #[must_use]
    pub fn flush_interval(mut self, age: impl Into<Option<Duration>>) -> Self {
        self.flush_interval = age.into();
        self
    }

    /// Sets the number of ordered write lanes; at least 1.
    #[must_use]
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Sets the columns hashed for the lane.
    #[must_use]
    pub fn bucket_key<T: Into<String>>(mut self, columns: impl IntoIterator<Item = T>) -> Self {
        self.bucket_key = Some(names(columns));
        self
    }

    /// Sets the bytes buffered at most.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the conflict key.
    #[must_use]
    pub fn key_columns<T: Into<String>>(mut self, columns: impl IntoIterator<Item = T>) -> Self {
        self.key_columns = Some(names(columns));
        self
    }

    /// Sets the WHERE of the partial unique index over the key columns.
    #[must_use]
    pub fn key_predicate(mut self, sql: impl Into<String>) -> Self {
        self.key_predicate = Some(sql.into());
        self
    }

    /// Sets the columns that only the record that creates the row writes.
    #[must_use]
    pub fn insert_only_columns<T: Into<String>>(mut self, columns: impl IntoIterator<Item = T>) -> Self {
        self.insert_only_columns = names(columns);
        self
    }

    /// Sets whether generated columns that the source delivers are left out.
    #[must_use]
    pub fn skip_generated_columns(mut self, on: bool) -> Self {
        self.skip_generated_columns = on;
        self
    }

    /// Sets whether field texts go to the server's input functions.
    #[must_use]
    pub fn text_values(mut self, on: bool) -> Self {
        self.text_values = on;
        self
    }

    /// Sets the time zone of texts without offset.
    #[must_use]
    pub fn time_zone(mut self, name: impl Into<String>) -> Self {
        self.time_zone = Some(name.into());
        self
    }

    /// Sets what happens to a record that cannot be written.
    #[must_use]
    pub fn reject_policy(mut self, policy: RejectPolicy) -> Self {
        self.reject_policy = policy;
        self
    }

    /// Sets whether NULL in a NOT NULL column without DEFAULT is replaced; not available yet.
    #[must_use]
    pub fn default_for_not_null(mut self, on: bool) -> Self {
        self.default_for_not_null = on;
        self
    }

    /// Sets the retries of a batch after its first try; 0 is one try.
    #[must_use]
    pub fn retry_count(mut self, retries: u32) -> Self {
        self.retry_count = retries;
        self
    }

    /// Sets the step of the sleeps: before retry n it is n steps.
    #[must_use]
    pub fn retry_sleep_step(mut self, step: Duration) -> Self {
        self.retry_sleep_step = step;
        self
    }

    /// Sets the time over all tries of a batch; `None`: only the number of retries ends them.
    #[must_use]
    pub fn delivery_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.delivery_timeout = time.into();
        self
    }

    /// What an insert does where its key is stored.
    pub fn conflict_action(&self) -> ConflictAction {
        self.on_conflict.unwrap_or_default()
    }

    /// The bytes of a batch, where the sink does not choose them.
    pub(crate) fn fixed_batch_bytes(&self) -> Option<usize> {
        self.batch_bytes.or((self.write_mode == WriteMode::Insert).then_some(2 << 20))
    }

    /// Checks every field and every pair of fields; what opens a sink calls it.
    ///
    /// # Errors
    /// `Config` with all faults in one message.
    pub fn check(&self) -> Result<()> {
        let mut faults = Vec::new();
        let unbuilt = [(
            "sink.default-for-not-null-column.enabled",
            if self.default_for_not_null { "true" } else { "false" },
        )];
        faults.extend(unbuilt.into_iter().filter_map(|(key, value)| registry::refusal(key, value)));
        faults.extend(self.faults());
        fault::none(faults)
    }

    /// The faults that only the fields themselves show.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let least = [
            ("sink.insert.batch-size", self.batch_rows == Some(0)),
            ("sink.insert.batch-byte-size", self.batch_bytes == Some(0)),
            ("sink.copy.min-rows", self.copy_min_rows == 0),
        ];
        for (key, zero) in least {
            if zero {
                faults.push(format!("`{key}` must be at least 1"));
            }
        }
        if !(1..=MOST_CONNECTIONS).contains(&self.lanes) {
            faults.push(format!("`bucket.num` must be from 1 to {MOST_CONNECTIONS}"));
        }
        let times = [
            ("sink.insert.flush-interval-ms", self.flush_interval.unwrap_or_default()),
            ("retry-sleep-step-ms", self.retry_sleep_step),
            ("sink.delivery-timeout", self.delivery_timeout.unwrap_or_default()),
        ];
        for (key, time) in times {
            if time > LONGEST {
                faults.push(format!("`{key}` must be at most 100 years"));
            }
        }
        if let Some(bytes) = self.fixed_batch_bytes().filter(|&bytes| self.memory / 2 < bytes) {
            faults.push(format!(
                "`client.writer.buffer.memory-size` ({}) is below twice `sink.insert.batch-byte-size` ({}): \
                 one batch fills while another is under way",
                display_size(self.memory as u64),
                display_size(bytes as u64)
            ));
        }
        if self.write_mode == WriteMode::CopyBulkLoad {
            if self.on_conflict.is_some() {
                faults.push(
                    "`sink.on-conflict-action` with `sink.write-mode` = COPY_BULK_LOAD, which only appends: use \
                     COPY_BULK_LOAD_ON_CONFLICT"
                        .to_owned(),
                );
            }
            if self.reject_policy != RejectPolicy::Fail {
                faults.push(
                    "`sink.reject-policy` with `sink.write-mode` = COPY_BULK_LOAD, where one refused record undoes \
                     all since the last flush: use fail, or COPY_BULK_LOAD_ON_CONFLICT"
                        .to_owned(),
                );
            }
        }
        if self.key_predicate.is_some() && self.key_columns.is_none() {
            faults.push(
                "`sink.key-predicate` without `sink.key-columns`: a primary key has no predicate".to_owned(),
            );
        }
        let lists = [
            ("sink.key-columns", self.key_columns.as_deref()),
            ("bucket.key", self.bucket_key.as_deref()),
            ("sink.insert-only-columns", Some(self.insert_only_columns.as_slice())),
        ];
        for (key, columns) in lists {
            let Some(columns) = columns else { continue };
            if columns.is_empty() && key != "sink.insert-only-columns" {
                faults.push(format!("`{key}` is an empty list"));
            }
            if let Some(twice) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
                faults.push(format!("`{key}` names column \"{}\" twice", twice.1));
            }
        }
        if let (Some(bucket), Some(key)) = (&self.bucket_key, &self.key_columns) {
            let outside: Vec<String> =
                bucket.iter().filter(|name| !key.contains(name)).map(|name| format!("\"{name}\"")).collect();
            if !outside.is_empty() {
                faults.push(format!(
                    "`bucket.key` names {}, outside `sink.key-columns`: rows of one key would use several lanes",
                    outside.join(", ")
                ));
            }
        }
        faults
    }
}
