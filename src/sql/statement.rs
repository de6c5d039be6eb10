//! The set-based statements of the sink, each over a *source relation*: rows with an alias `s` and columns that this
//! module never names by the user's names, so that no two can collide.
//!
//! A new way to bring rows to the server is a new [`Source`]; the statements stay.

use std::fmt::{self, Write as _};

use super::quote::{Identifier, Literal};
use crate::catalog::{Identity, PgType, Table, TypeKind};
use crate::options::CopyFormat;

/// Where the rows of a statement come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `$1` is an array of the table's row type: a field for each live column, absent ones NULL.
    RowArray,
    /// One array parameter for each column of the set.
    ColumnArrays,
    /// A temporary table whose columns are those of the table, by position.
    Stage(StageName),
}

/// The name of a staging table: the same definition always has the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StageName(pub(crate) u64);

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pg_temp.pgsluice_{:016x}", self.0)
    }
}

/// The columns of one statement, in the order of the source's fields, and how each is read.
pub(crate) struct Columns<'a> {
    pub(crate) table: &'a Table,
    pub(crate) source: Source,
    /// Positions in `table.columns`.
    pub(crate) set: &'a [u16],
    /// For each table column: its values travel as text, and the statement casts them.
    pub(crate) as_text: &'a [bool],
}

impl Columns<'_> {
    fn target(&self) -> String {
        self.table.relation.name.to_string()
    }

    fn name(&self, column: u16) -> String {
        Identifier(&self.table.columns[usize::from(column)].name).to_string()
    }

    /// The source's expression for a column of the set.
    fn value(&self, column: u16) -> String {
        match self.source {
            Source::RowArray => format!("s.c{column}"),
            Source::ColumnArrays | Source::Stage(_) => {
                if !self.as_text[usize::from(column)] {
                    format!("s.c{column}")
                } else if let Some(typmod) = self.interval_fields(column) {
                    format!("pg_catalog.interval_in(pg_catalog.textout(s.c{column}), 0, {typmod})")
                } else {
                    format!("s.c{column}::{}", self.base(column).sql_name)
                }
            }
        }
    }

    /// What texts are cast to: a cast to a domain would cut what is longer than the domain allows.
    fn base(&self, column: u16) -> &PgType {
        self.table.columns[usize::from(column)].data_type.base(-1).0
    }

    /// The typmod of an interval column that has one. Its fields say what a number without unit means, and a cast does
    /// not tell them to the input function.
    fn interval_fields(&self, column: u16) -> Option<i32> {
        let declared = &self.table.columns[usize::from(column)];
        let (base, typmod) = declared.data_type.base(declared.typmod);
        (typmod >= 0 && base.sql_name == "interval").then_some(typmod)
    }

    /// `unnest(…) AS s(c0, c1, …)`, with the rows' ordinals as `s.ord` where asked for.
    fn relation(&self, ordinality: bool) -> String {
        let mut text = String::from("unnest(");
        let names: Vec<String> = match self.source {
            Source::Stage(name) => return format!("{name} AS s"),
            Source::RowArray => {
                text.push_str("$1");
                (0..self.table.columns.len()).map(|column| format!("c{column}")).collect()
            }
            Source::ColumnArrays => {
                // Rows without any column still have to be counted: one array of booleans stands for them.
                let parameters: Vec<String> = (1..=self.set.len().max(1)).map(|n| format!("${n}")).collect();
                text.push_str(&parameters.join(", "));
                let names: Vec<String> = self.set.iter().map(|column| format!("c{column}")).collect();
                if names.is_empty() { vec!["nothing".to_owned()] } else { names }
            }
        };
        text.push(')');
        if ordinality {
            text.push_str(" WITH ORDINALITY");
        }
        let _ = write!(text, " AS s({}", names.join(", "));
        if ordinality {
            text.push_str(", ord");
        }
        text.push(')');
        text
    }

    /// The columns after the table's name: an identity column that is GENERATED ALWAYS takes given values only so.
    fn overriding(&self) -> &'static str {
        let always = |&column: &u16| self.table.columns[usize::from(column)].identity == Identity::Always;
        if self.set.iter().any(always) { " OVERRIDING SYSTEM VALUE" } else { "" }
    }

    fn insert(&self, ordinality: bool) -> String {
        if self.set.is_empty() {
            // No column is given: each row is all DEFAULTs, which a column list cannot say.
            return format!("INSERT INTO {} SELECT FROM {}", self.target(), self.relation(ordinality));
        }
        let names: Vec<String> = self.set.iter().map(|&column| self.name(column)).collect();
        let values: Vec<String> = self.set.iter().map(|&column| self.value(column)).collect();
        format!(
            "INSERT INTO {} AS t ({}){} SELECT {} FROM {}",
            self.target(),
            names.join(", "),
            self.overriding(),
            values.join(", "),
            self.relation(ordinality),
        )
    }

    fn matches(&self, key: &Key<'_>) -> String {
        let conditions: Vec<String> = key
            .columns
            .iter()
            .map(|&column| {
                let (stored, given) = (self.name(column), self.value(column));
                if key.nulls_match {
                    // IS NOT DISTINCT FROM would not use the index.
                    format!("(t.{stored} = {given} OR (t.{stored} IS NULL AND {given} IS NULL))")
                } else {
                    format!("t.{stored} = {given}")
                }
            })
            .collect();
        let matches = conditions.join(" AND ");
        match key.predicate {
            Some(predicate) => format!("{matches} AND ({predicate})"),
            None => matches,
        }
    }
}

/// The conflict key of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) columns: &'a [u16],
    pub(crate) predicate: Option<&'a str>,
    /// NULL equals NULL (`NULLS NOT DISTINCT`).
    pub(crate) nulls_match: bool,
    /// The relation takes no conflict target (foreign tables, views with INSTEAD OF triggers).
    pub(crate) no_target: bool,
}

impl Key<'_> {
    fn on_conflict(&self, columns: &Columns<'_>) -> String {
        if self.no_target {
            return " ON CONFLICT".to_owned();
        }
        let names: Vec<String> = self.columns.iter().map(|&column| columns.name(column)).collect();
        let mut text = format!(" ON CONFLICT ({})", names.join(", "));
        if let Some(predicate) = self.predicate {
            let _ = write!(text, " WHERE {predicate}");
        }
        text
    }
}

/// What a stored row's column becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assign {
    /// The source's value; the column is in the set.
    Given(u16),
    /// The column's DEFAULT.
    Default(u16),
    /// NULL.
    Null(u16),
}

impl Assign {
    fn text(self, columns: &Columns<'_>, given: impl Fn(u16) -> String) -> String {
        match self {
            Self::Given(column) => format!("{} = {}", columns.name(column), given(column)),
            Self::Default(column) => format!("{} = DEFAULT", columns.name(column)),
            Self::Null(column) => format!("{} = NULL", columns.name(column)),
        }
    }
}

/// A plain append.
pub(crate) fn insert(columns: &Columns<'_>) -> String {
    columns.insert(false)
}

/// COPY of the set's columns into the table.
pub(crate) fn copy(columns: &Columns<'_>, format: CopyFormat) -> String {
    let names: Vec<String> = columns.set.iter().map(|&column| columns.name(column)).collect();
    format!("COPY {} ({}) FROM STDIN (FORMAT {})", columns.target(), names.join(", "), format.name())
}

/// The columns of a staging table for `table`: each has its type without domain and length, or is a text that the
/// statement casts. What the server gives itself is not among them.
pub(crate) fn stage_columns(table: &Table, as_text: &[bool]) -> String {
    let given = table.columns.iter().zip(as_text).enumerate().filter(|(_, (column, _))| !column.generated);
    let declared = given.map(|(position, (column, &as_text))| {
        let base = &column.data_type.base(-1).0.sql_name;
        format!("c{position} {}", if as_text { "pg_catalog.text" } else { base })
    });
    declared.collect::<Vec<_>>().join(", ")
}

/// COPY of the set's columns into the staging table.
pub(crate) fn copy_to_stage(name: StageName, set: &[u16], format: CopyFormat) -> String {
    let names: Vec<String> = set.iter().map(|column| format!("c{column}")).collect();
    format!("COPY {name} ({}) FROM STDIN (FORMAT {})", names.join(", "), format.name())
}

/// Insert, and leave stored rows as they are.
pub(crate) fn insert_or_ignore(columns: &Columns<'_>, key: &Key<'_>) -> String {
    format!("{}{} DO NOTHING", columns.insert(false), key.on_conflict(columns))
}

/// Insert the rows whose key is not stored, without proposing the others (whose CHECKs and NOT NULLs would be
/// looked at).
pub(crate) fn insert_missing(columns: &Columns<'_>, key: &Key<'_>) -> String {
    format!(
        "{} WHERE NOT EXISTS (SELECT FROM {} AS t WHERE {}){} DO NOTHING",
        columns.insert(false),
        columns.target(),
        columns.matches(key),
        key.on_conflict(columns),
    )
}

/// Insert, or change the stored row.
pub(crate) fn upsert(columns: &Columns<'_>, key: &Key<'_>, changes: &[Assign]) -> String {
    if changes.is_empty() {
        return insert_or_ignore(columns, key);
    }
    let excluded = |column| format!("excluded.{}", columns.name(column));
    let sets: Vec<String> = changes.iter().map(|change| change.text(columns, excluded)).collect();
    format!("{}{} DO UPDATE SET {}", columns.insert(false), key.on_conflict(columns), sets.join(", "))
}

/// Change stored rows; answers with the ordinals of the source rows that found theirs.
pub(crate) fn update_returning(columns: &Columns<'_>, key: &Key<'_>, changes: &[Assign]) -> String {
    let given = |column| columns.value(column);
    let sets: Vec<String> = changes.iter().map(|change| change.text(columns, given)).collect();
    format!(
        "UPDATE {} AS t SET {} FROM {} WHERE {} RETURNING s.ord",
        columns.target(),
        sets.join(", "),
        columns.relation(true),
        columns.matches(key),
    )
}

/// Change stored rows.
pub(crate) fn update(columns: &Columns<'_>, key: &Key<'_>, changes: &[Assign]) -> String {
    let given = |column| columns.value(column);
    let sets: Vec<String> = changes.iter().map(|change| change.text(columns, given)).collect();
    format!(
        "UPDATE {} AS t SET {} FROM {} WHERE {}",
        columns.target(),
        sets.join(", "),
        columns.relation(false),
        columns.matches(key),
    )
}

/// Delete by key. One key column travels as an array that `= ANY` sorts by itself: its plan never flips to a scan.
pub(crate) fn delete(columns: &Columns<'_>, key: &Key<'_>) -> String {
    if let ([column], Source::ColumnArrays, None, false) =
        (key.columns, columns.source, key.predicate, key.nulls_match)
        // An array of arrays would be one of more dimensions.
        && !matches!(columns.base(*column).kind, TypeKind::Array { .. })
        && columns.interval_fields(*column).is_none()
    {
        let cast = if columns.as_text[usize::from(*column)] {
            format!("::{}[]", columns.base(*column).sql_name)
        } else {
            String::new()
        };
        return format!(
            "DELETE FROM {} AS t WHERE t.{} = ANY($1{cast})",
            columns.target(),
            columns.name(*column)
        );
    }
    format!(
        "DELETE FROM {} AS t USING {} WHERE {}",
        columns.target(),
        columns.relation(false),
        columns.matches(key)
    )
}

/// Lock the stored rows of the keys, in the order of the keys.
pub(crate) fn lock(columns: &Columns<'_>, key: &Key<'_>) -> String {
    let order: Vec<String> =
        key.columns.iter().map(|&column| format!("t.{}", columns.name(column))).collect();
    format!(
        "SELECT FROM {} AS t, {} WHERE {} ORDER BY {} FOR UPDATE OF t",
        columns.target(),
        columns.relation(false),
        columns.matches(key),
        order.join(", "),
    )
}

/// The class of each key under the server's own equality, in the source's order.
pub(crate) fn key_classes(columns: &Columns<'_>) -> String {
    // The arrays that bring the values do not bring the column's collation.
    let value = |&column: &u16| match &columns.table.columns[usize::from(column)].equating_collation {
        Some(collation) => format!("{} COLLATE {collation}", columns.value(column)),
        None => columns.value(column),
    };
    let values: Vec<String> = columns.set.iter().map(value).collect();
    format!(
        "SELECT dense_rank() OVER (ORDER BY {}) FROM {} ORDER BY s.ord",
        values.join(", "),
        columns.relation(true)
    )
}

/// Statements that read one value of a column by itself: cast to the declared type, and, for a text, as a field of a
/// record of the table, which also applies the column's length.
pub(crate) fn probes(columns: &Columns<'_>, column: u16) -> Vec<String> {
    let declared = &columns.table.columns[usize::from(column)];
    let mut probes = vec![format!("SELECT $1::{}", declared.data_type.sql_name)];
    if columns.as_text[usize::from(column)] {
        probes.push(format!(
            "SELECT pg_catalog.jsonb_populate_record(NULL::{}, pg_catalog.jsonb_build_object({}, $1))",
            columns.target(),
            Literal(&declared.name)
        ));
    }
    probes
}

#[cfg(test)]
mod tests;
