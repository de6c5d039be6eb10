//! From `pg_type` rows to types resolved down to their bases.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use super::{PgType, TypeKind};
use crate::sql::quote::Literal;

/// A `pg_type` row with what the other catalogs say of it, as `table.sql` gives it.
#[derive(Debug, Deserialize)]
pub(super) struct TypeRow {
    oid: u32,
    name: String,
    schema: String,
    sql_name: String,
    kind: String,
    array: u32,
    binary: bool,
    /// The element of a true array; `typelem` alone also marks `name`, `point` and the like.
    element: Option<u32>,
    delimiter: Option<char>,
    base: u32,
    typmod: i32,
    not_null: bool,
    checked: bool,
    default_expression: Option<String>,
    default_text: Option<String>,
    range_of: Option<u32>,
    discrete: bool,
    labels: Vec<String>,
    fields: Vec<FieldRow>,
    equality: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct FieldRow {
    name: String,
    #[serde(rename = "type")]
    data_type: u32,
    typmod: i32,
}

/// All types that one table's columns are made of.
#[derive(Debug)]
pub(super) struct Types {
    rows: HashMap<u32, TypeRow>,
    built: HashMap<u32, Arc<PgType>>,
}

impl Types {
    pub(super) fn new(rows: Vec<TypeRow>) -> Self {
        let rows: HashMap<_, _> = rows.into_iter().map(|row| (row.oid, row)).collect();
        let mut built = HashMap::new();
        for oid in rows.keys() {
            build(*oid, &rows, &mut built, &mut HashSet::new());
        }
        Self { rows, built }
    }

    /// The type of an OID; `None` where it was dropped while the catalog was read.
    pub(super) fn get(&self, oid: u32) -> Option<&Arc<PgType>> {
        self.built.get(&oid)
    }

    /// The type and the domains' types below it, down to the base.
    fn chain(&self, oid: u32) -> impl Iterator<Item = &TypeRow> {
        std::iter::successors(self.rows.get(&oid), |row| self.rows.get(&row.base))
    }

    /// True where the type is a domain that can refuse a NULL or a value.
    pub(super) fn checked(&self, oid: u32) -> bool {
        self.chain(oid).any(|row| row.kind == "d" && row.checked)
    }

    /// The DEFAULT that the type itself brings. A domain over a domain has a copy of the lower one's.
    pub(super) fn default(&self, oid: u32) -> Option<String> {
        let row = self.rows.get(&oid)?;
        let text = || row.default_text.as_deref().map(|text| Literal(text).to_string());
        row.default_expression.clone().or_else(text)
    }

    /// The operator that `=` means: that of the base type's default operator class. `None` where the base has none of
    /// its own (varchar uses text's, every array uses anyarray's).
    pub(super) fn equality(&self, oid: u32) -> Option<u32> {
        self.chain(oid).last()?.equality
    }
}

/// Builds a type after those that it is made of. `open` are the types being built: a type cannot hold itself, but
/// two states of a changing catalog must not send this round for ever.
fn build(
    oid: u32,
    rows: &HashMap<u32, TypeRow>,
    built: &mut HashMap<u32, Arc<PgType>>,
    open: &mut HashSet<u32>,
) -> Option<Arc<PgType>> {
    if let Some(done) = built.get(&oid) {
        return Some(done.clone());
    }
    let row = rows.get(&oid)?;
    if !open.insert(oid) {
        return None;
    }
    let mut part = |oid: u32| build(oid, rows, built, open);
    let kind = match (row.kind.as_str(), row.element) {
        ("b", Some(element)) => {
            part(element).map(|element| TypeKind::Array { element, delimiter: row.delimiter.unwrap_or(',') })
        }
        ("b", None) => Some(TypeKind::Base),
        ("e", _) => Some(TypeKind::Enum(row.labels.clone())),
        ("d", _) => {
            part(row.base).map(|base| TypeKind::Domain { base, typmod: row.typmod, not_null: row.not_null })
        }
        ("r", _) => row
            .range_of
            .and_then(&mut part)
            .map(|subtype| TypeKind::Range { subtype, discrete: row.discrete }),
        ("m", _) => row.range_of.and_then(&mut part).map(|range| TypeKind::Multirange { range }),
        ("c", _) => row
            .fields
            .iter()
            .map(|field| Some((field.name.clone(), part(field.data_type)?, field.typmod)))
            .collect::<Option<_>>()
            .map(TypeKind::Composite),
        _ => Some(TypeKind::Other),
    };
    open.remove(&oid);
    let data_type = Arc::new(PgType {
        oid,
        sql_name: row.sql_name.clone(),
        name: row.name.clone(),
        schema: row.schema.clone(),
        kind: kind?,
        array_oid: row.array,
        binary: row.binary,
    });
    built.insert(oid, data_type.clone());
    Some(data_type)
}
