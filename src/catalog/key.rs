//! Which unique index decides that two rows are one: the arbiter of `ON CONFLICT`.

use std::fmt::Write;

use super::nearest::nearest;
use super::predicate::excludes_null;
use super::{RelationKind, Table, UniqueIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::sql::quote::Identifier;

const OPERATION: &str = "choose conflict key";

/// The key by which stored rows are found, replaced and deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Positions in [`Table::columns`]; as configured, else in the primary key's order.
    pub columns: Vec<usize>,
    /// The predicate to write behind the columns of `ON CONFLICT`, as configured.
    pub predicate: Option<String>,
    /// A NULL in the key equals another NULL. Where this is false a NULL in the key is a record's error.
    pub nulls_not_distinct: bool,
    /// Some column may be NULL as far as the catalog says. With an index only where `nulls_not_distinct`; without one
    /// (views, foreign tables) the columns' NOT NULL may just not be visible.
    pub nullable: bool,
    /// No operator class or collation stands between the key's equality and that of the columns' types.
    pub plain_equality: bool,
    /// Rows of different keys can clash: another unique index, deferrable or not, or an exclusion constraint is there, or
    /// none can be seen (views, foreign tables). Such rows keep their arrival order.
    pub second_unique: bool,
}

/// Chooses the conflict key: the columns `wanted`, or else the primary key. `None` is a table without a key, which is
/// only appended to. `predicate` names a partial index's rows; whether it implies that of the index is said by the server at
/// the first statement.
///
/// Views and foreign tables have no index that could be checked: there the configured columns are the key.
///
/// # Errors
/// [`ErrorKind::NotFound`]: a column that the table does not have. [`ErrorKind::Config`]: no usable unique index is over
/// exactly these columns: none at all, a partial one without `predicate`, a deferrable one, one that compares by another
/// collation or operator than the column does, or one that lets NULL in as often as it comes.
pub fn conflict_key(
    table: &Table,
    wanted: Option<&[String]>,
    predicate: Option<&str>,
) -> Result<Option<Key>> {
    let predicate = predicate.map(str::trim);
    let Some(wanted) = wanted else {
        if predicate.is_some() {
            return Err(refuse(table, "a key predicate is given and no key columns")
                .with_hint("give sink.key-columns too, or leave sink.key-predicate out"));
        }
        let primary = table.unique_indexes.iter().find(|index| index.primary);
        return primary.map(|index| by_index(table, index.columns.clone(), None)).transpose();
    };
    let columns = positions(table, wanted)?;
    if predicate == Some("") {
        return Err(of_key(refuse(table, "the key predicate is empty"), table, &columns));
    }
    match table.relation.kind {
        RelationKind::View | RelationKind::Foreign => Ok(Some(by_hand(table, columns, predicate))),
        RelationKind::Table | RelationKind::Partitioned => by_index(table, columns, predicate).map(Some),
    }
}

fn positions(table: &Table, wanted: &[String]) -> Result<Vec<usize>> {
    if wanted.is_empty() {
        return Err(refuse(table, "the key has no column"));
    }
    let mut columns = Vec::with_capacity(wanted.len());
    for name in wanted {
        let Some(position) = table.columns.iter().position(|column| column.name == *name) else {
            let error = Error::new(ErrorKind::NotFound, OPERATION, "no such column in the table")
                .with_context("table", table.relation.name.to_string())
                .with_context("column", Identifier(name).to_string());
            return Err(match nearest(name, table.columns.iter().map(|column| column.name.as_str())) {
                Some(near) => error.with_hint(format!("did you mean {}?", Identifier(near))),
                None => error,
            });
        };
        if columns.contains(&position) {
            return Err(refuse(table, "a column stands twice in the key")
                .with_context("column", Identifier(name).to_string()));
        }
        columns.push(position);
    }
    Ok(columns)
}

/// The columns that may hold NULL as far as the catalog says.
fn nullable(table: &Table, columns: &[usize]) -> Vec<usize> {
    columns.iter().copied().filter(|position| !table.columns[*position].is_not_null()).collect()
}

fn by_hand(table: &Table, columns: Vec<usize>, predicate: Option<&str>) -> Key {
    Key {
        predicate: predicate.map(str::to_owned),
        nulls_not_distinct: false,
        nullable: !nullable(table, &columns).is_empty(),
        plain_equality: columns.iter().all(|position| table.columns[*position].equating_collation.is_none()),
        second_unique: true,
        columns,
    }
}

fn by_index(table: &Table, columns: Vec<usize>, predicate: Option<&str>) -> Result<Key> {
    let fail = |reason: &str, hint: Option<&str>| {
        let error = of_key(refuse(table, reason), table, &columns);
        let there = unique_indexes(table);
        Err(error.with_hint(hint.map_or(there.clone(), |hint| format!("{hint}; {there}"))))
    };
    // The server takes every index over the same set of columns, in any order, as an arbiter.
    let same: Vec<_> =
        table.unique_indexes.iter().filter(|index| same_set(&index.columns, &columns)).collect();
    let partial = same.iter().filter(|index| index.predicate.is_some()).count();
    if same.is_empty() {
        let partitioned = !table.partition_columns.is_empty();
        let hint = "a unique index of a partitioned table has all columns of the partition key";
        return fail("no unique index is over exactly these columns", partitioned.then_some(hint));
    }
    if predicate.is_some() && partial == 0 {
        return fail(
            "a key predicate is given, and no unique index over these columns is partial",
            Some("leave sink.key-predicate out"),
        );
    }
    if predicate.is_none() && partial == same.len() {
        return fail(
            "the only unique index over these columns is partial",
            Some("give its predicate as sink.key-predicate"),
        );
    }
    let arbiters: Vec<_> =
        same.into_iter().filter(|index| index.predicate.is_none() || predicate.is_some()).collect();
    if arbiters.iter().any(|index| index.deferrable) {
        return fail(
            "a unique constraint over these columns is deferrable, and the server takes none such in ON CONFLICT",
            Some("make it NOT DEFERRABLE"),
        );
    }
    if arbiters.iter().any(|index| index.own_collation.contains(&false)) {
        return fail(
            "a unique index over these columns has another collation than its column",
            Some("make the index with the column's collation"),
        );
    }
    if arbiters.iter().any(|index| index.own_operator.contains(&false)) {
        return fail(
            "a unique index over these columns compares by another operator than = of its column",
            Some("make the index with the default operator class"),
        );
    }
    let nulls_not_distinct = arbiters.iter().all(|index| index.nulls_not_distinct);
    let mut may_be_null = nullable(table, &columns);
    may_be_null.retain(|position| {
        let name = &table.columns[*position].name;
        !arbiters.iter().all(|index| index.predicate.as_deref().is_some_and(|text| excludes_null(text, name)))
    });
    if !may_be_null.is_empty() && !nulls_not_distinct {
        return fail(
            &format!("the unique index takes any number of rows with NULL in {}", names(table, &may_be_null)),
            Some("make the columns NOT NULL, or the index NULLS NOT DISTINCT"),
        );
    }
    let harmless = |index: &UniqueIndex| {
        arbiters.iter().any(|arbiter| std::ptr::eq(*arbiter, index))
            || predicate.is_none() && implied(index, &columns)
    };
    // Of several partial indexes over the key only one has the predicate that is meant.
    let second_unique = !table.other_unique.is_empty()
        || predicate.is_some() && partial > 1
        || !table.unique_indexes.iter().all(harmless);
    Ok(Key {
        predicate: predicate.map(str::to_owned),
        nulls_not_distinct,
        nullable: !may_be_null.is_empty(),
        plain_equality: arbiters.iter().all(|index| index.plain_equality.iter().all(|plain| *plain)),
        second_unique,
        columns,
    })
}

fn same_set(a: &[usize], b: &[usize]) -> bool {
    a.iter().all(|position| b.contains(position)) && b.iter().all(|position| a.contains(position))
}

/// Rows that clash in this index clash in the key already: it has all the key's columns and compares them alike.
fn implied(index: &UniqueIndex, key: &[usize]) -> bool {
    key.iter().all(|position| {
        let mut columns = index.columns.iter().zip(&index.own_collation).zip(&index.own_operator);
        columns.any(|((column, collation), operator)| column == position && *collation && *operator)
    })
}

fn refuse(table: &Table, reason: &str) -> Error {
    Error::new(ErrorKind::Config, OPERATION, reason).with_context("table", table.relation.name.to_string())
}

fn of_key(error: Error, table: &Table, columns: &[usize]) -> Error {
    error.with_context("key", format!("({})", names(table, columns)))
}

fn names(table: &Table, columns: &[usize]) -> String {
    let names: Vec<_> =
        columns.iter().map(|position| Identifier(&table.columns[*position].name).to_string()).collect();
    names.join(", ")
}

/// All unique indexes of the table, for a hint.
fn unique_indexes(table: &Table) -> String {
    let mut listed = Vec::new();
    for index in &table.unique_indexes {
        let mut text = format!("{} ({})", Identifier(&index.name), names(table, &index.columns));
        if let Some(predicate) = &index.predicate {
            let _ = write!(text, " WHERE {predicate}");
        }
        if index.deferrable {
            text.push_str(" DEFERRABLE");
        }
        listed.push(text);
    }
    for name in &table.other_unique {
        listed.push(format!("{} (cannot be a key)", Identifier(name)));
    }
    if listed.is_empty() {
        return "the table has no unique index".to_owned();
    }
    format!("unique indexes of the table: {}", listed.join(", "))
}
