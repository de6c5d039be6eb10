//! What COPY may do for one sink: decided at open, from the write mode, the relation and the grants.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::catalog::{RelationKind, Table};
use crate::encode::Codec;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{CopyFormat, SinkOptions, WriteMode};
use crate::sql::statement::{StageName, stage_columns};

/// AUTO sends fewer rows than these as parameters: they need one round trip less.
const AUTO_ROWS: usize = 64;

/// A table has at most 1,600 columns.
const STAGE_COLUMNS: usize = 1600;

/// The ways by COPY that a sink has.
#[derive(Debug, Clone)]
pub(crate) struct Copying {
    pub(crate) format: CopyFormat,
    /// COPY into the relation itself: so many rows of one statement are worth it. None where the relation takes none.
    pub(crate) straight: Option<usize>,
    /// So many rows of one statement are worth a staging table.
    pub(crate) staged: usize,
    pub(crate) stage: Option<Stage>,
    /// As many, where keys may be new, are tried by COPY into the relation before they are staged.
    pub(crate) optimistic: bool,
}

/// A temporary table of the session, from which set-based statements read their rows.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) name: StageName,
    /// Makes it where the session does not have it.
    pub(crate) create: String,
}

impl Copying {
    /// None where rows travel as parameters only.
    ///
    /// # Errors
    /// `Permission` where the mode needs temporary tables that the user may not create; `Unsupported` where the relation
    /// takes no COPY at all.
    pub(crate) fn new(
        table: &Table,
        codecs: &[Codec],
        as_text: &[bool],
        keyed: bool,
        options: &SinkOptions,
    ) -> Result<Option<Self>> {
        let mode = options.write_mode;
        if mode == WriteMode::Insert {
            return Ok(None);
        }
        let format = options.copy_format;
        let readable = match format {
            CopyFormat::Binary => !as_text.contains(&true),
            CopyFormat::Text => {
                as_text.iter().zip(codecs).all(|(&as_text, codec)| as_text || codec.is_text())
            }
        };
        let appends = !keyed || mode == WriteMode::CopyBulkLoad;
        let straight = (readable && takes_copy(table)).then_some(match mode {
            WriteMode::Auto => AUTO_ROWS,
            _ => 1,
        });
        let stage = Stage::new(table, as_text);
        if mode != WriteMode::Auto && stage.is_none() && !(appends && straight.is_some()) {
            return Err(no_way(table, mode));
        }
        let optimistic = mode == WriteMode::Auto && straight.is_some();
        Ok(Some(Self { format, straight, staged: options.copy_min_rows, stage, optimistic }))
    }
}

impl Stage {
    fn new(table: &Table, as_text: &[bool]) -> Option<Self> {
        if !table.temporary_tables || table.columns.len() > STAGE_COLUMNS {
            return None;
        }
        let columns = stage_columns(table, as_text);
        let mut hasher = DefaultHasher::new();
        (table.relation.oid, &columns).hash(&mut hasher);
        let name = StageName(hasher.finish());
        let create = format!("CREATE TEMPORARY TABLE IF NOT EXISTS {name} ({columns}) ON COMMIT DELETE ROWS");
        (!columns.is_empty()).then_some(Self { name, create })
    }
}

/// Row security refuses COPY, and so does a view without an INSTEAD OF trigger; a rule would be passed by.
fn takes_copy(table: &Table) -> bool {
    let kind = match table.relation.kind {
        RelationKind::Table | RelationKind::Partitioned | RelationKind::Foreign => true,
        RelationKind::View => table.instead_of_triggers,
    };
    kind && !table.row_security && !table.insert_rules
}

fn no_way(table: &Table, mode: WriteMode) -> Error {
    let mode = mode.name();
    let error = if table.temporary_tables {
        let words = format!("{mode} has no way to a relation of this kind and width");
        Error::new(ErrorKind::Unsupported, "open sink", words).with_hint("use sink.write-mode=AUTO or INSERT")
    } else {
        let words = format!("{mode} stages rows in a temporary table, which this user may not create");
        Error::new(ErrorKind::Permission, "open sink", words)
            .with_hint("GRANT TEMPORARY ON DATABASE to the user, or use sink.write-mode=AUTO or INSERT")
    };
    error.with_context("table", table.relation.name.to_string())
}
