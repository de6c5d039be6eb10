//! Locking the stored rows of a batch in the order of their keys, before its statements.
//!
//! Statements of one transaction (deletes, then upserts) meet keys in an order of their own each; two writers that do so
//! run into deadlocks. After the first one a sink takes its locks in one order.

use super::parameter::Rows;
use super::statement::key_source;
use crate::catalog::RelationKind;
use crate::sink::log::{ColumnSet, Fields};
use crate::sink::plan::{Form, Plan};
use crate::sink::target::Target;
use crate::sql::statement::{self, Source};

/// The keys of a batch, as rows of their own.
pub(super) struct KeyRows {
    set: ColumnSet,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyRows {
    /// None where locking does not apply: it takes a table with a key, and the right to update, which a batch of deletes
    /// or of inserts alone does not prove.
    pub(super) fn new(target: &Target, plan: &Plan<'_>) -> Option<Self> {
        let key = target.key.as_ref()?;
        let kind = target.table.relation.kind;
        let updates = |form| matches!(form, Form::Update | Form::Replace | Form::Recreate | Form::Nullify);
        if !matches!(kind, RelationKind::Table | RelationKind::Partitioned)
            || !plan.units.iter().any(|unit| updates(unit.form))
        {
            return None;
        }
        let mut rows = Self { set: key.columns.clone(), fields: Vec::new(), ends: Vec::new() };
        for step in plan.steps(0..plan.units.len()) {
            // A key that the server completes is a new one.
            let places: Option<Vec<usize>> =
                key.columns.iter().map(|column| step.set.iter().position(|given| given == column)).collect();
            let Some(places) = places else { continue };
            for &unit in &step.units {
                let fields: Vec<&[u8]> = Fields(plan.fields(unit)).collect();
                places.iter().for_each(|&place| rows.fields.extend_from_slice(fields[place]));
                rows.ends.push(rows.fields.len());
            }
        }
        (!rows.ends.is_empty()).then_some(rows)
    }

    /// The statement, and the source that its rows take.
    pub(super) fn statement(&self, target: &Target) -> (String, Source) {
        let source = key_source(target, &self.set);
        let columns = target.columns(source, &self.set);
        let sql = target.statement_key().map(|key| statement::lock(&columns, &key)).unwrap_or_default();
        (sql, source)
    }

    /// The rows, at most `most` together.
    pub(super) fn chunks(&self, most: usize) -> impl Iterator<Item = Rows<'_>> {
        let starts: Vec<usize> = std::iter::once(0).chain(self.ends.iter().copied()).collect();
        let spans: Vec<&[u8]> =
            starts.iter().zip(&self.ends).map(|(&start, &end)| &self.fields[start..end]).collect();
        let chunks: Vec<Vec<&[u8]>> = spans.chunks(most).map(<[_]>::to_vec).collect();
        chunks.into_iter().map(|rows| Rows { set: &self.set, rows })
    }
}
