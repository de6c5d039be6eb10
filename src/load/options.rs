//! What a load is told.

use std::path::PathBuf;

use super::csv::Dialect;
use super::input::Format;
use crate::options::{RejectPolicy, WriteMode, WriteOptions, from_toml};
use crate::{Error, ErrorKind, Result};

/// Bytes of a batch where the options do not say otherwise: larger than a stream's, a file has no latency to keep.
const BATCH_BYTES: usize = 4 << 20;

/// Memory for records under way: a few batches, so that reading and writing overlap; and no record may be larger.
const MEMORY: usize = 32 << 20;

/// Rows of a batch, likewise.
const BATCH_ROWS: usize = 8192;

/// How the table comes to be where it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Create {
    /// Columns and types are inferred over the sample.
    Infer,
    /// The column list of a CREATE TABLE.
    Columns(String),
}

/// What to load, from where, and what to do with records that cannot be written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Files, patterns, `-` for standard input.
    pub inputs: Vec<String>,
    /// The table: `t`, `schema.t`, quoted parts keep their case.
    pub table: String,
    /// The server; not given: `PG*` variables, as in libpq.
    pub dsn: Option<String>,
    /// The inputs' format; not given: by name, else by the first byte.
    pub format: Option<Format>,
    /// Not given: a comma, for TSV a tab.
    pub delimiter: Option<char>,
    /// The quote.
    pub quote: char,
    /// Not given: the quote.
    pub escape: Option<char>,
    /// The first record of a CSV file names its fields.
    pub header: bool,
    /// With a header (and in NDJSON) the fields that are loaded, without one the names of all fields in order.
    pub columns: Option<Vec<String>>,
    /// What stands unquoted for NULL.
    pub null: String,
    /// A WHATWG label; not given: UTF-8, or what a byte order mark says.
    pub encoding: Option<String>,
    /// Columns where the null string is NULL even in quotes.
    pub force_null: Vec<String>,
    /// Columns where the null string is a text even without quotes.
    pub force_not_null: Vec<String>,
    /// Fields that are no columns are skipped.
    pub ignore_unknown: bool,
    /// The conflict key; not given: the primary key.
    pub key: Option<Vec<String>>,
    /// The zone of texts without offset; not given: the server's.
    pub time_zone: Option<String>,
    /// The field that says the kind of change.
    pub op_column: Option<String>,
    /// Makes the table where it is missing.
    pub create: Option<Create>,
    /// All or nothing: one transaction, of which nobody sees anything before its end.
    pub atomic: bool,
    /// Connects, reads and encodes all, and sends no row.
    pub dry_run: bool,
    /// So many rejected records are borne; not given: none, or any number where `rejects` is given.
    pub max_errors: Option<u64>,
    /// Rejected records go here, their reasons into the file of that name with `.reasons.ndjson` behind it.
    pub rejects: Option<PathBuf>,
    /// A TOML file of options.
    pub options_file: Option<PathBuf>,
    /// `key=value` pairs of the option registry; they win over the file.
    pub settings: Vec<(String, String)>,
}

impl LoadOptions {
    /// Loads `inputs` into `table` by the rules of COPY CSV, the first record being a header.
    pub fn new(inputs: impl IntoIterator<Item = impl Into<String>>, table: impl Into<String>) -> Self {
        Self {
            inputs: inputs.into_iter().map(Into::into).collect(),
            table: table.into(),
            dsn: None,
            format: None,
            delimiter: None,
            quote: '"',
            escape: None,
            header: true,
            columns: None,
            null: String::new(),
            encoding: None,
            force_null: Vec::new(),
            force_not_null: Vec::new(),
            ignore_unknown: false,
            key: None,
            time_zone: None,
            op_column: None,
            create: None,
            atomic: false,
            dry_run: false,
            max_errors: None,
            rejects: None,
            options_file: None,
            settings: Vec::new(),
        }
    }

    /// The marks of CSV and of TSV files.
    pub(super) fn dialects(&self) -> Result<Dialects> {
        let dialect = |delimiter| {
            Dialect::new(self.delimiter.unwrap_or(delimiter), self.quote, self.escape, &self.null)
        };
        Ok(Dialects { csv: dialect(',')?, tsv: dialect('\t')? })
    }

    /// The number of rejected records that are borne.
    pub(super) fn error_limit(&self) -> u64 {
        self.max_errors.unwrap_or(if self.rejects.is_some() { u64::MAX } else { 0 })
    }

    /// True where the first rejected record ends the load: the sink's own policy `fail`, which every write mode has.
    /// It commits what it can, so an atomic load counts its rejects before COMMIT instead.
    pub(super) fn fails_at_once(&self) -> bool {
        self.error_limit() == 0 && self.rejects.is_none() && !self.atomic
    }

    /// The sink's and the pool's options: a load's own defaults, then the file, the pairs, the flags.
    ///
    /// # Errors
    /// `Config` for every unknown, doubled or illegal key, for keys that a flag stands for, and for a broken file.
    pub(super) fn write_options(&self) -> Result<WriteOptions> {
        let mut write = WriteOptions::default();
        write.sink.remove_u0000 = false;
        write.sink.default_for_not_null = false;
        write.sink.write_mode = WriteMode::Auto;
        write.sink.memory = MEMORY;
        let mut pairs = self.file_pairs()?;
        pairs.retain(|(key, _)| !self.settings.iter().any(|(own, _)| own.eq_ignore_ascii_case(key)));
        pairs.extend(self.settings.iter().cloned());
        if let Some((key, _)) =
            pairs.iter().find(|(key, _)| key.to_ascii_lowercase().starts_with("sink.reject-"))
        {
            return Err(config(format!("`{key}` is what --max-errors and --rejects say here")));
        }
        write.apply(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
        if self.atomic {
            for key in ["sink.write-mode", "bucket.num"] {
                if pairs.iter().any(|(given, _)| given.eq_ignore_ascii_case(key)) {
                    return Err(config(format!(
                        "`{key}` is what --atomic says here: one transaction on one lane"
                    )));
                }
            }
            write.sink.write_mode = WriteMode::CopyBulkLoadOnConflict;
        }
        if write.sink.write_mode == WriteMode::Insert {
            write.sink.batch_rows.get_or_insert(BATCH_ROWS);
            write.sink.batch_bytes.get_or_insert(BATCH_BYTES);
        }
        if let Some(key) = &self.key {
            write.sink.key_columns = Some(key.clone());
        }
        if let Some(zone) = &self.time_zone {
            write.sink.time_zone = Some(zone.clone());
        }
        write.sink.reject_policy =
            if self.fails_at_once() { RejectPolicy::Fail } else { RejectPolicy::Skip { limit: None } };
        Ok(write)
    }

    fn file_pairs(&self) -> Result<Vec<(String, String)>> {
        let Some(path) = &self.options_file else {
            return Ok(Vec::new());
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(ErrorKind::NotFound, "read options", error.to_string())
                .with_context("file", path.display().to_string())
        })?;
        from_toml(&text).map_err(|error| error.with_context("file", path.display().to_string()))
    }
}

/// The two dialects of one load: they differ in the delimiter where none is given.
#[derive(Debug, Clone)]
pub(super) struct Dialects {
    csv: Dialect,
    tsv: Dialect,
}

impl Dialects {
    /// The dialect of a format; none for what is not CSV.
    pub(super) fn of(&self, format: Format) -> Option<&Dialect> {
        match format {
            Format::Csv => Some(&self.csv),
            Format::Tsv => Some(&self.tsv),
            Format::Ndjson => None,
        }
    }
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, "read options", message)
}
