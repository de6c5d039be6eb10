//! What a connection and a table allow, found by looking only: nothing is written.

use serde::Serialize;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::catalog::{Column, Identity, RelationKind, Table, TableName, conflict_key, load_table};
use crate::connection::{ConnectTarget, Pool, ServerCheck, Session};
use crate::options::{ConflictAction, DeleteStrategy, WriteOptions};
use crate::{Error, ErrorKind, Result};

const OPERATION: &str = "check";

/// The session, and the right to temporary tables, which the COPY modes stage in.
const SESSION: &str = "
select current_user::text, current_database()::text, session.ssl, session.version, session.cipher,
    has_database_privilege(current_database(), 'TEMP'), current_setting('transaction_read_only') = 'on'
from (select 1) here left join pg_stat_ssl session on session.pid = pg_backend_pid()";

/// What the user may do with a table: on the whole of it, or on each of its columns that a writer names. And the
/// columns' types, with their lengths.
const GRANTS: &str = "
select has_table_privilege($1::oid, 'INSERT')
        or coalesce(bool_and(has_column_privilege($1::oid, attnum, 'INSERT')) filter (where attgenerated = ''), false),
    has_table_privilege($1::oid, 'SELECT')
        or coalesce(bool_and(has_column_privilege($1::oid, attnum, 'SELECT')), false),
    has_table_privilege($1::oid, 'UPDATE')
        or coalesce(bool_and(has_column_privilege($1::oid, attnum, 'UPDATE')) filter (where attgenerated = ''), false),
    has_table_privilege($1::oid, 'DELETE'),
    coalesce(array_agg(format_type(atttypid, atttypmod) order by attnum), '{}')
from pg_catalog.pg_attribute where attrelid = $1::oid and attnum > 0 and not attisdropped";

/// Sequences that the DEFAULTs take numbers from and the user may not use.
const CLOSED_SEQUENCES: &str = "
select distinct sequence.oid::regclass::text
from pg_catalog.pg_attrdef
join pg_catalog.pg_depend on classid = 'pg_catalog.pg_attrdef'::regclass and objid = pg_attrdef.oid
    and refclassid = 'pg_catalog.pg_class'::regclass
join pg_catalog.pg_class sequence on sequence.oid = refobjid
where adrelid = $1::oid
    and case sequence.relkind when 'S' then not has_sequence_privilege(sequence.oid, 'USAGE, UPDATE') else false end";

/// What to look at.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The server; not given: `PG*` variables, as in libpq.
    pub dsn: Option<String>,
    /// The table that is to be written; not given: only the connection is looked at.
    pub table: Option<String>,
    /// How it is to be written, and what the DSN leaves open.
    pub write: WriteOptions,
}

impl CheckOptions {
    /// The server of the environment, no table.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// The host of the list that answered.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// `server_version`.
    pub server_version: String,
    /// How the session is encrypted; none in plain text.
    pub tls: Option<TlsReport>,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// `TimeZone` of the session.
    pub time_zone: String,
    /// The user may create temporary tables here.
    pub temporary_tables: bool,
    /// A pooler gives the session a server's connection for one transaction at a time.
    pub pooled: bool,
    /// The session takes no writes: a standby, or `default_transaction_read_only`.
    pub read_only: bool,
    /// The table, where one was named.
    pub table: Option<TableReport>,
}

/// An encrypted session.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TlsReport {
    /// The protocol's version, as the server names it.
    pub version: String,
    /// The cipher.
    pub cipher: String,
    /// What was checked of the server.
    pub checked: ServerCheck,
    /// The name that the certificate was checked for.
    pub verified_name: Option<String>,
}

/// A table and what the user may do with it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TableReport {
    /// The resolved name, quoted as in SQL.
    pub name: String,
    /// `table`, `partitioned table`, `view` or `foreign table`.
    pub kind: &'static str,
    /// The columns in order.
    pub columns: Vec<ColumnReport>,
    /// The conflict key; none: the table is only appended to.
    pub key: Option<Vec<String>>,
    /// Row security stands between the user and the rows.
    pub row_security: bool,
    /// `INSERT` on the table, or on all of its columns.
    pub insert: bool,
    /// `SELECT`, likewise.
    pub select: bool,
    /// `UPDATE`, likewise.
    pub update: bool,
    /// `DELETE`.
    pub delete: bool,
    /// What stands in the way of writing in the mode INSERT, each as one sentence; nothing: it can be written.
    pub missing: Vec<String>,
}

/// One column.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ColumnReport {
    /// The name, exactly.
    pub name: String,
    /// The type with its length, as a column list names it.
    pub data_type: String,
    /// No NULL is ever stored.
    pub not_null: bool,
    /// The DEFAULT's expression.
    pub default: Option<String>,
    /// `always` or `by default`, for an identity column.
    pub identity: Option<&'static str>,
    /// Generated from other columns: never written.
    pub generated: bool,
}

impl CheckReport {
    /// True where nothing stands in the way.
    pub fn is_complete(&self) -> bool {
        self.table.as_ref().is_none_or(|table| table.missing.is_empty())
    }
}

/// Connects and looks. Nothing is written, and no table is locked.
///
/// # Errors
/// Those of [`Pool::open_target`]; `NotFound` for a table that is not there, `Permission` for a schema that is closed,
/// `Config` for a key that no unique index has. What else is missing is in the report.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn check(options: CheckOptions) -> Result<CheckReport> {
    let CheckOptions { dsn, table, write } = options;
    let target = ConnectTarget::of_write_options(dsn.as_deref().unwrap_or_default(), &write)?;
    let checked = target.server_check()?;
    let pool = Pool::open_target(target, write.pool.clone()).await?;
    let session = pool.get().await?;
    let mut report = of_session(&session, checked).await?;
    if let Some(name) = table {
        let table = load_table(&session, &TableName::parse(&name)?).await?;
        report.table = Some(of_table(&session, &table, &write, report.read_only).await?);
    }
    drop(session);
    pool.close().await;
    Ok(report)
}

async fn of_session(session: &Session, checked: ServerCheck) -> Result<CheckReport> {
    let row = one(session, SESSION, &[]).await?;
    let server = session.server();
    let tls = row.get::<_, Option<bool>>(2).unwrap_or(false).then(|| TlsReport {
        version: row.get::<_, Option<String>>(3).unwrap_or_default(),
        cipher: row.get::<_, Option<String>>(4).unwrap_or_default(),
        checked,
        verified_name: (checked == ServerCheck::ChainAndName).then(|| server.host.clone()),
    });
    Ok(CheckReport {
        host: server.host.clone(),
        port: server.port,
        server_version: server.version_text.clone(),
        tls,
        user: row.get(0),
        database: row.get(1),
        time_zone: server.time_zone.clone(),
        temporary_tables: row.get(5),
        read_only: row.get(6),
        pooled: session.is_pooled(),
        table: None,
    })
}

/// The one row that an unnamed statement gives.
async fn one(session: &Session, sql: &str, parameters: &[(&(dyn ToSql + Sync), Type)]) -> Result<Row> {
    let rows = session.query_typed(sql, parameters).await;
    let rows = rows.map_err(|error| session.failure(OPERATION, &error))?;
    let none = || Error::new(ErrorKind::Server, OPERATION, "the server answers with no row");
    rows.into_iter().next().ok_or_else(none)
}

async fn of_table(
    session: &Session,
    table: &Table,
    write: &WriteOptions,
    read_only: bool,
) -> Result<TableReport> {
    let failed = |error| session.failure(OPERATION, &error);
    let key = conflict_key(table, write.sink.key_columns.as_deref(), write.sink.key_predicate.as_deref())?;
    let oid = table.relation.oid;
    let oid: (&(dyn ToSql + Sync), Type) = (&oid, Type::OID);
    let grants = one(session, GRANTS, std::slice::from_ref(&oid)).await?;
    let closed = session.query_typed(CLOSED_SEQUENCES, &[oid]).await.map_err(failed)?;
    let types: Vec<String> = grants.get(4);
    let mut report = TableReport {
        name: table.relation.name.to_string(),
        kind: kind(table.relation.kind),
        columns: table.columns.iter().zip(types).map(column).collect(),
        key: key.map(|key| key.columns.iter().map(|&index| table.columns[index].name.clone()).collect()),
        row_security: table.row_security,
        insert: grants.get(0),
        select: grants.get(1),
        update: grants.get(2),
        delete: grants.get(3),
        missing: Vec::new(),
    };
    report.missing = missing(&report, table, write, read_only);
    let sequences = closed.iter().map(|row| {
        format!("USAGE on the sequence {}, which a DEFAULT takes numbers from", row.get::<_, String>(0))
    });
    report.missing.extend(sequences);
    Ok(report)
}

/// What INSERT mode needs and does not have.
fn missing(report: &TableReport, table: &Table, write: &WriteOptions, read_only: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if read_only {
        missing.push("a session that takes writes: this one is read-only".to_owned());
    }
    if !table.insertable {
        missing.push(format!("a {} that takes an INSERT: this one does not", report.kind));
    }
    let keyed = report.key.is_some();
    let updates = keyed && write.sink.conflict_action() != ConflictAction::InsertOrIgnore;
    // A table without a key takes no deletes, whatever the strategy.
    let deletes = keyed
        && matches!(
            write.sink.delete_strategy,
            DeleteStrategy::DeleteRowOnPk | DeleteStrategy::ChangelogStandard
        );
    for (needed, held, grant, reason) in [
        (true, report.insert, "INSERT", "to add rows"),
        (keyed, report.select, "SELECT", "to find stored rows by the key"),
        (
            updates,
            report.update,
            "UPDATE",
            "to change stored rows; sink.on-conflict-action=INSERT_OR_IGNORE needs none",
        ),
        (
            deletes,
            report.delete,
            "DELETE",
            "to carry out deletes; sink.delete-strategy=IGNORE_DELETE needs none",
        ),
    ] {
        if needed && !held {
            missing.push(format!("{grant} on {} {reason}", report.name));
        }
    }
    missing
}

fn kind(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Table => "table",
        RelationKind::Partitioned => "partitioned table",
        RelationKind::View => "view",
        RelationKind::Foreign => "foreign table",
    }
}

fn column((column, data_type): (&Column, String)) -> ColumnReport {
    ColumnReport {
        name: column.name.clone(),
        data_type,
        not_null: column.is_not_null(),
        default: column.default.clone(),
        identity: match column.identity {
            Identity::None => None,
            Identity::Always => Some("always"),
            Identity::ByDefault => Some("by default"),
        },
        generated: column.generated,
    }
}
