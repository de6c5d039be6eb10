//! The table of a load: made where it is missing, and what its columns ask of the reader.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio_postgres::types::Type;

use super::events::Event;
use super::input::Opened;
use super::options::Create;
use super::reader::Inputs;
use super::{blocking, sample};
use crate::Result;
use crate::catalog::{Column, TableName, TypeKind};
use crate::connection::Pool;
use crate::options::SinkOptions;
use crate::sink::Sink;
use crate::sql::quote::Identifier;

/// What `--create` came to.
pub(super) struct Made {
    /// The first input, open and at its first byte, where a sample of it was read.
    pub(super) first: Option<Opened>,
    /// The table is still not there: this is a dry run.
    pub(super) missing: bool,
}

/// Makes the table where it is missing, and tells the statement. A table that is there is taken as it is.
///
/// # Errors
/// The server's, the sample's.
pub(super) async fn create(
    pool: &Pool,
    create: &Create,
    inputs: &Arc<Inputs>,
    bytes: Arc<AtomicU64>,
    events: &mut (dyn FnMut(Event<'_>) + Send),
) -> Result<Made> {
    const OPERATION: &str = "create table";
    let options = inputs.options();
    let name = TableName::parse(&options.table)?;
    let session = pool.get().await?;
    let failed = |error| session.failure(OPERATION, &error);
    let there = session
        .query_typed("select 1 where to_regclass($1) is not null", &[(&name.to_string(), Type::TEXT)])
        .await
        .map_err(failed)?;
    if !there.is_empty() {
        events(Event::Notice("the table is there: --create changes nothing"));
        return Ok(Made { first: None, missing: false });
    }
    let (columns, first) = match create {
        Create::Columns(columns) => (columns.clone(), None),
        Create::Infer => {
            let sampled = Arc::clone(inputs);
            let (inference, opened) =
                blocking("infer columns", move || sample::infer(&sampled, bytes)).await?;
            let columns: Vec<String> = inference
                .columns()
                .map(|(name, data_type)| format!("{} {data_type}", Identifier(name)))
                .collect();
            (columns.join(", "), Some(opened))
        }
    };
    let key = options.key.iter().map(|key| {
        let key: Vec<String> = key.iter().map(|column| Identifier(column).to_string()).collect();
        format!(", primary key ({})", key.join(", "))
    });
    let statement = format!("create table {name} ({columns}{})", key.collect::<String>());
    events(Event::Notice(&statement));
    tracing::info!(%statement, "creating the table");
    if options.dry_run {
        return Ok(Made { first, missing: true });
    }
    session.dirty();
    session.batch_execute(&statement).await.map_err(failed)?;
    session.clean();
    Ok(Made { first, missing: false })
}

/// The zone of texts without offset, where the table has a column that reads such.
///
/// # Errors
/// The pool's.
pub(super) async fn time_zone(pool: &Pool, sink: &Sink, options: &SinkOptions) -> Result<Option<String>> {
    if !sink.table().columns.iter().any(is_zoned) {
        return Ok(None);
    }
    match &options.time_zone {
        Some(zone) => Ok(Some(zone.clone())),
        None => Ok(Some(pool.get().await?.server().time_zone.clone())),
    }
}

fn is_zoned(column: &Column) -> bool {
    let (mut base, _) = column.data_type.base(column.typmod);
    while let TypeKind::Array { element, .. } = &base.kind {
        base = element.base(-1).0;
    }
    base.schema == "pg_catalog" && matches!(base.name.as_str(), "timestamptz" | "timetz")
}
