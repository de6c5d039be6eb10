//! What a sink knows of its table once it is open: codecs, conflict key, and which statement form each record takes.

use std::sync::Arc;

use super::copying::Copying;
use super::log::{ColumnSet, Log, Op};
use crate::catalog::{Identity, Key, RelationKind, Table, conflict_key};
use crate::encode::{Codec, KeyEquality, Wire};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{ConflictAction, CopyFormat, DeleteStrategy, SinkOptions, WriteMode};
use crate::record::RowKind;
use crate::sql::quote::Literal;
use crate::sql::statement::{self, Source};

/// A table as the target of one sink.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) table: Arc<Table>,
    /// One for each table column.
    pub(crate) codecs: Vec<Codec>,
    pub(crate) key: Option<TargetKey>,
    pub(crate) action: ConflictAction,
    pub(crate) delete_strategy: DeleteStrategy,
    pub(crate) fold: bool,
    /// For each column: only the record that creates the row gives it.
    pub(crate) insert_only: Vec<bool>,
    /// For each column: its values travel as text and the statement casts them.
    pub(crate) as_text: Vec<bool>,
    pub(crate) source: Source,
    /// The ways by COPY; none where rows travel as parameters only.
    pub(crate) copying: Option<Copying>,
    /// The order of records matters beyond a key: one lane, and no sorting (a second unique constraint, a
    /// self-reference).
    pub(crate) arrival_order: bool,
    pub(crate) skip_generated: bool,
    /// Whatever fails undoes all since the last flush; records are only appended.
    pub(crate) bulk_load: bool,
    /// A foreign table, or a view with INSTEAD OF triggers.
    pub(crate) no_conflict_target: bool,
    /// Equal keys may have different bytes (1.0 and 1.00, -0 and 0).
    pub(crate) key_spellings: bool,
    pub(crate) lanes: usize,
    /// A setting that the transactions of this sink need.
    pub(crate) prelude: Option<String>,
    /// Columns whose canonical keys choose the lane, as positions within the key.
    pub(crate) lane_columns: Vec<usize>,
    /// Statements must update first and then insert, whatever columns a record gives.
    always_pair: bool,
    /// For each column: a record that omits it cannot be proposed to ON CONFLICT (NOT NULL without DEFAULT, read by
    /// a CHECK).
    needed_to_propose: Vec<bool>,
}

/// The conflict key.
#[derive(Debug)]
pub(crate) struct TargetKey {
    /// The key's columns; also the column set of a delete.
    pub(crate) columns: ColumnSet,
    pub(crate) predicate: Option<String>,
    /// NULLs may stand in the key, and are equal.
    pub(crate) nulls_match: bool,
    /// Only the server can say which keys are equal.
    pub(crate) server_equality: bool,
}

impl Target {
    pub(crate) fn new(table: Arc<Table>, options: &SinkOptions) -> Result<Self> {
        let fault = |words: String| {
            Error::new(ErrorKind::Config, "open sink", words)
                .with_context("table", table.relation.name.to_string())
        };
        let key = conflict_key(&table, options.key_columns.as_deref(), options.key_predicate.as_deref())?;
        // A bulk load only appends: it is the server that refuses a key that comes twice.
        let key = key.filter(|_| options.write_mode != WriteMode::CopyBulkLoad);
        let position = |option: &str, name: &String| {
            table.columns.iter().position(|column| column.name == *name).ok_or_else(|| {
                fault(format!("{option} names a column \"{name}\" that the table does not have"))
            })
        };
        let mut codecs: Vec<Codec> =
            table.columns.iter().map(|column| Codec::new(&column.data_type, column.typmod)).collect();
        let key_positions: &[usize] = key.as_ref().map_or(&[], |key| &key.columns);
        let copies_text = options.copy_format == CopyFormat::Text && options.write_mode != WriteMode::Insert;
        if options.text_values || copies_text {
            for codec in &mut codecs {
                // A cast would cut a name or a "char" that is too long.
                if !codec.is_text() {
                    *codec = codec.as_text();
                }
            }
        }
        for codec in &mut codecs {
            if codec.leaves_texts_to_server() {
                *codec = codec.as_text();
            }
        }
        // The row array names every column's binary form; one text column, or a NOT NULL domain that a record may
        // omit, and the columns travel each in an array of its own.
        let domain_refuses_null = table.columns.iter().any(|column| column.data_type.refuses_null());
        let source = if codecs.iter().any(|codec| codec.wire() == Wire::Text)
            || domain_refuses_null
            || table.columns.iter().any(|column| !column.data_type.binary)
        {
            Source::ColumnArrays
        } else {
            Source::RowArray
        };
        if source == Source::ColumnArrays {
            for codec in &mut codecs {
                // unnest flattens an array of arrays and spreads a composite over its fields: such columns travel as text.
                if matches!(codec, Codec::Array(_) | Codec::Composite(_)) {
                    *codec = codec.as_text();
                }
            }
        }
        let as_text: Vec<bool> = codecs.iter().map(|codec| codec.wire() == Wire::Text).collect();
        let copying = Copying::new(&table, &codecs, &as_text, key.is_some(), options)?;

        let mut insert_only = vec![false; table.columns.len()];
        for name in &options.insert_only_columns {
            insert_only[position("sink.insert-only-columns", name)?] = true;
        }
        let (needed_to_propose, always_pair, no_conflict_target) = proposal_rules(&table);
        let server_equality = key.as_ref().is_some_and(|key| {
            !key.plain_equality
                || key.columns.iter().any(|&column| codecs[column].key_equality() == KeyEquality::Server)
        });
        let key_spellings =
            server_equality || key_positions.iter().any(|&column| codecs[column].has_spellings());
        let arrival_order =
            key.as_ref().is_some_and(|key| key.second_unique) || (key.is_some() && table.self_reference);
        let lane_columns = match &options.bucket_key {
            None => (0..key_positions.len()).collect(),
            Some(names) => names
                .iter()
                .map(|name| {
                    let column = position("bucket.key", name)?;
                    key_positions.iter().position(|&key| key == column).ok_or_else(|| {
                        fault(format!("bucket.key names \"{name}\", which is no column of the conflict key"))
                    })
                })
                .collect::<Result<_>>()?,
        };
        let mut lanes = options.lanes.max(1);
        if lanes > 1 && (arrival_order || server_equality) {
            tracing::warn!(
                table = %table.relation.name,
                "one lane instead of several: a second unique constraint, a reference of the table to itself, or a \
                 key whose equality only the server knows needs the order of arrival"
            );
            lanes = 1;
        }
        // Texts that the server reads follow the same zone as those that are read here.
        let prelude = options
            .time_zone
            .as_ref()
            .filter(|_| as_text.contains(&true))
            .map(|zone| format!("SET LOCAL TimeZone = {}", Literal(zone)));
        Ok(Self {
            prelude,
            key: key.map(|key| TargetKey::new(key, server_equality)),
            action: options.conflict_action(),
            delete_strategy: options.delete_strategy,
            fold: options.deduplication,
            skip_generated: options.skip_generated_columns,
            bulk_load: options.write_mode == WriteMode::CopyBulkLoad,
            table,
            codecs,
            insert_only,
            as_text,
            source,
            copying,
            arrival_order,
            no_conflict_target,
            key_spellings,
            lanes,
            lane_columns,
            always_pair,
            needed_to_propose,
        })
    }

    /// What becomes of a change under the delete strategy; none where it is dropped.
    pub(crate) fn op(&self, kind: RowKind) -> Option<Op> {
        match (kind, self.delete_strategy) {
            (RowKind::Insert | RowKind::UpdateAfter, _) => Some(Op::Upsert),
            (_, DeleteStrategy::IgnoreDelete) => None,
            (
                RowKind::UpdateBefore,
                DeleteStrategy::NonPkFieldToNull | DeleteStrategy::DeleteRowOnPk | DeleteStrategy::Disable,
            ) => None,
            (RowKind::Delete, DeleteStrategy::NonPkFieldToNull) => Some(Op::Nullify),
            _ => Some(Op::Delete),
        }
    }

    /// True where rows with these columns are updated first and inserted then: ON CONFLICT would look at CHECKs and
    /// NOT NULLs of the row that it proposes, before it sees that the key is stored.
    ///
    /// The set decides, not the batch: the same record takes the same form however the batches are cut.
    pub(crate) fn needs_pair(&self, set: &[u16]) -> bool {
        self.always_pair
            || self
                .needed_to_propose
                .iter()
                .enumerate()
                .any(|(column, &needed)| needed && !set.iter().any(|&given| usize::from(given) == column))
    }

    /// True where writing a batch twice leaves what writing it once does: upserts and deletes by key, that no trigger
    /// counts. Setting to NULL finds a row the second time that was not there the first; a unique column beside the
    /// key may refuse a record that a later one has made way for.
    pub(crate) fn replays(&self, log: &Log) -> bool {
        self.key.is_some()
            && !self.arrival_order
            && !self.table.triggers
            && !log.rows.iter().any(|row| row.partial_key || row.op == Op::Nullify)
    }

    /// True where a record may omit this key column because the server gives it.
    pub(crate) fn server_gives(&self, column: u16) -> bool {
        let column = &self.table.columns[usize::from(column)];
        column.generated || column.default.is_some() || column.identity != Identity::None
    }

    /// True where each omitted value of this key column is another one: rows that omit it never meet.
    pub(crate) fn server_gives_distinct(&self, column: u16) -> bool {
        let column = &self.table.columns[usize::from(column)];
        column.identity != Identity::None
            || column.default.as_deref().is_some_and(|text| text.starts_with("nextval("))
    }

    /// The source relation of a statement over `set`.
    pub(crate) fn columns<'a>(&'a self, source: Source, set: &'a [u16]) -> statement::Columns<'a> {
        statement::Columns { table: &self.table, source, set, as_text: &self.as_text }
    }

    /// The key as statements name it.
    pub(crate) fn statement_key(&self) -> Option<statement::Key<'_>> {
        self.key.as_ref().map(|key| statement::Key {
            columns: &key.columns,
            predicate: key.predicate.as_deref(),
            nulls_match: key.nulls_match,
            no_target: self.no_conflict_target,
        })
    }

    /// True for a key column.
    pub(crate) fn is_key(&self, column: usize) -> bool {
        self.key.as_ref().is_some_and(|key| key.columns.iter().any(|&key| usize::from(key) == column))
    }
}

impl TargetKey {
    fn new(key: Key, server_equality: bool) -> Self {
        Self {
            columns: key.columns.iter().map(|&column| column_number(column)).collect(),
            predicate: key.predicate,
            nulls_match: key.nulls_not_distinct && key.nullable,
            server_equality,
        }
    }
}

/// A table has at most 1,600 columns.
pub(crate) fn column_number(column: usize) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX)
}

/// Which columns a record must give before ON CONFLICT may propose it; whether it never may; whether the relation
/// takes no conflict target.
fn proposal_rules(table: &Table) -> (Vec<bool>, bool, bool) {
    let no_target = table.relation.kind == RelationKind::Foreign || table.instead_of_triggers;
    let mut needed: Vec<bool> = table
        .columns
        .iter()
        .map(|column| {
            column.is_not_null()
                && column.default.is_none()
                && column.identity == Identity::None
                && !column.generated
        })
        .collect();
    for &column in table.checks.iter().flatten() {
        needed[column] |= !table.columns[column].generated;
    }
    (needed, no_target || table.before_insert_triggers, no_target)
}
