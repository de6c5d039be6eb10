//! One table from the catalogs: one typed unnamed statement, so that it works behind a transaction pooler.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::missing::not_found;
use super::types::{TypeRow, Types};
use super::{Column, Identity, Relation, RelationKind, Table, TableName, UniqueIndex};
use crate::error::{Error, ErrorKind, Result, from_server};

pub(super) const OPERATION: &str = "read table definition";

const QUERY: &str = include_str!("table.sql");

/// Reads the definition of a table, partitioned table, view or foreign table. A name without schema is resolved by the
/// server along the connection's search path.
///
/// # Errors
/// [`ErrorKind::NotFound`]: no such relation; the hint names near ones. [`ErrorKind::Unsupported`]: an index, sequence,
/// materialized view or another relation that cannot be written. [`ErrorKind::Permission`]: the schema is closed to the
/// user. [`ErrorKind::Schema`]: the definition changed while it was read. Else what the connection or the server reports.
///
/// # Cancel safety
/// Reads only; dropping the future leaves the connection usable.
pub async fn load_table(client: &Client, name: &TableName) -> Result<Table> {
    let failed = |error| from_server(OPERATION, &error).with_context("table", name.to_string());
    let rows = client.query_typed(QUERY, &[(&name.to_string(), Type::TEXT)]).await.map_err(failed)?;
    match rows.first() {
        Some(row) => Sections::read(row)
            .and_then(Sections::table)
            .map_err(|e| e.with_context("table", name.to_string())),
        None => Err(not_found(client, name).await),
    }
}

#[derive(Deserialize)]
struct RelationRow {
    oid: u32,
    schema: String,
    name: String,
    kind: String,
    temporary: bool,
    row_type: u32,
    row_array_type: u32,
    partition_columns: Vec<i16>,
    insertable: bool,
    before_insert_triggers: bool,
    triggers: bool,
    instead_of_triggers: bool,
    deferrable_constraints: bool,
    self_reference: bool,
    insert_rules: bool,
    temporary_tables: bool,
    row_security: bool,
}

#[derive(Deserialize)]
struct ColumnRow {
    attnum: i16,
    name: String,
    #[serde(rename = "type")]
    data_type: u32,
    typmod: i32,
    not_null: bool,
    default: Option<String>,
    identity: String,
    generated: bool,
    equating_collation: Option<String>,
}

#[derive(Deserialize)]
struct IndexRow {
    name: String,
    primary: bool,
    deferrable: bool,
    predicate: Option<String>,
    nulls_not_distinct: bool,
    usable: bool,
    keys: Vec<KeyRow>,
}

#[derive(Deserialize)]
struct KeyRow {
    attnum: i16,
    /// NULL for an expression.
    own_collation: Option<bool>,
    deterministic: bool,
    /// The equality operator of the index's operator class.
    equality: Option<u32>,
    /// That of the default operator class for the type which the index's class takes.
    default_equality: Option<u32>,
}

/// The answer of `table.sql`.
struct Sections {
    relation: RelationRow,
    columns: Vec<ColumnRow>,
    types: Vec<TypeRow>,
    indexes: Vec<IndexRow>,
    /// The columns' names of each CHECK constraint; `None` where one is no single column.
    checks: Vec<Vec<Option<String>>>,
}

fn section<T: DeserializeOwned>(row: &Row, name: &'static str) -> Result<T> {
    let text: &str = row.try_get(name).map_err(|error| from_server(OPERATION, &error))?;
    serde_json::from_str(text).map_err(|error| {
        Error::new(ErrorKind::Bug, OPERATION, "the server's answer has another form than expected")
            .with_context("section", name)
            .with_source(error)
    })
}

fn changed() -> Error {
    Error::new(ErrorKind::Schema, OPERATION, "the table changed while its definition was read")
        .with_hint("try again")
}

impl Sections {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            relation: section(row, "relation")?,
            columns: section(row, "columns")?,
            types: section(row, "types")?,
            indexes: section(row, "indexes")?,
            checks: section(row, "checks")?,
        })
    }

    fn table(self) -> Result<Table> {
        let kind = relation_kind(&self.relation.kind)?;
        let types = Types::new(self.types);
        let (usable, other): (Vec<_>, Vec<_>) = self.indexes.into_iter().partition(|index| index.usable);
        let unique_indexes = usable
            .into_iter()
            .map(|index| unique_index(index, &self.columns, &types).ok_or_else(changed))
            .collect::<Result<_>>()?;
        let checks = checks(self.checks, &self.columns, &types, kind);
        let relation = self.relation;
        Ok(Table {
            // A partition key over an expression has the number 0.
            partition_columns: relation
                .partition_columns
                .iter()
                .filter_map(|attnum| position(&self.columns, *attnum))
                .collect(),
            columns: self
                .columns
                .into_iter()
                .map(|column| self::column(column, &types).ok_or_else(changed))
                .collect::<Result<_>>()?,
            relation: Relation {
                name: TableName { schema: Some(relation.schema), name: relation.name },
                oid: relation.oid,
                kind,
                row_type: relation.row_type,
                row_array_type: relation.row_array_type,
            },
            unique_indexes,
            other_unique: other.into_iter().map(|index| index.name).collect(),
            checks,
            before_insert_triggers: relation.before_insert_triggers,
            triggers: relation.triggers,
            instead_of_triggers: relation.instead_of_triggers,
            deferrable_constraints: relation.deferrable_constraints,
            self_reference: relation.self_reference,
            insert_rules: relation.insert_rules,
            temporary_tables: relation.temporary_tables,
            row_security: relation.row_security,
            insertable: relation.insertable,
            temporary: relation.temporary,
        })
    }
}

fn relation_kind(relkind: &str) -> Result<RelationKind> {
    let what = match relkind {
        "r" => return Ok(RelationKind::Table),
        "p" => return Ok(RelationKind::Partitioned),
        "v" => return Ok(RelationKind::View),
        "f" => return Ok(RelationKind::Foreign),
        "i" | "I" => "an index",
        "S" => "a sequence",
        "m" => "a materialized view",
        "c" => "a composite type",
        "t" => "a TOAST table",
        _ => "a relation of an unknown kind",
    };
    Err(Error::new(
        ErrorKind::Unsupported,
        OPERATION,
        format!("the name is that of {what}, which cannot be written"),
    )
    .with_hint("tables, partitioned tables, views and foreign tables can"))
}

fn position(columns: &[ColumnRow], attnum: i16) -> Option<usize> {
    columns.binary_search_by_key(&attnum, |column| column.attnum).ok()
}

fn column(row: ColumnRow, types: &Types) -> Option<Column> {
    let identity = match row.identity.as_str() {
        "a" => Identity::Always,
        "d" => Identity::ByDefault,
        _ => Identity::None,
    };
    let given_by_server = row.generated || identity != Identity::None;
    Some(Column {
        attnum: row.attnum,
        name: row.name,
        data_type: types.get(row.data_type)?.clone(),
        typmod: row.typmod,
        not_null: row.not_null,
        default: row.default.or_else(|| types.default(row.data_type).filter(|_| !given_by_server)),
        identity,
        generated: row.generated,
        equating_collation: row.equating_collation,
    })
}

fn unique_index(row: IndexRow, columns: &[ColumnRow], types: &Types) -> Option<UniqueIndex> {
    let positions = row.keys.iter().map(|key| position(columns, key.attnum)).collect::<Option<Vec<_>>>()?;
    let own_operator: Vec<_> = row
        .keys
        .iter()
        .zip(&positions)
        .map(|(key, position)| {
            key.equality.is_some()
                && key.equality == types.equality(columns[*position].data_type).or(key.default_equality)
        })
        .collect();
    Some(UniqueIndex {
        name: row.name,
        columns: positions,
        primary: row.primary,
        predicate: row.predicate,
        deferrable: row.deferrable,
        nulls_not_distinct: row.nulls_not_distinct,
        plain_equality: row
            .keys
            .iter()
            .zip(&own_operator)
            .map(|(key, own)| *own && key.deterministic)
            .collect(),
        own_collation: row.keys.iter().map(|key| key.own_collation == Some(true)).collect(),
        own_operator,
    })
}

/// The columns that each check reads. A view's columns need not have the names of the columns below it.
fn checks(
    constraints: Vec<Vec<Option<String>>>,
    columns: &[ColumnRow],
    types: &Types,
    kind: RelationKind,
) -> Vec<Vec<usize>> {
    let all = || (0..columns.len()).collect::<Vec<_>>();
    let named = |name: &Option<String>| columns.iter().position(|column| Some(&column.name) == name.as_ref());
    let of_constraints = constraints.iter().map(|names| match kind {
        RelationKind::View => all(),
        _ => names.iter().map(named).collect::<Option<_>>().unwrap_or_else(all),
    });
    let of_domains = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| types.checked(column.data_type))
        .map(|(index, _)| vec![index]);
    of_constraints.chain(of_domains).collect::<BTreeSet<_>>().into_iter().collect()
}
