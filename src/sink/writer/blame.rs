//! Which field the server cannot read: it does not say, so each field of a refused record is read by itself.

use futures::FutureExt;
use tokio_postgres::Error as ClientError;
use tokio_postgres::types::{ToSql, Type};

use super::Failure;
use super::parameter::{Parameter, column_type, wire_type};
use super::transaction::{Transaction, in_order, not_committed};
use crate::error::ServerFault;
use crate::sink::log::{Fields, Log, body};
use crate::sql::statement;

/// The fault of a record that was refused when it stood alone, with the column to blame where one can be found.
pub(super) async fn name_column(
    transaction: &Transaction<'_>,
    log: &Log,
    row: u32,
    fault: ServerFault,
) -> Result<ServerFault, Failure> {
    if !fault.of_field {
        return Ok(fault);
    }
    let row = &log.rows[row as usize];
    let target = transaction.target;
    let mut probes: Vec<(u16, Parameter<'_>, Type, String)> = Vec::new();
    for (&column, field) in log.set(row).iter().zip(Fields(log.fields(row))) {
        let Some(body) = body(field) else { continue };
        let columns = target.columns(target.source, log.set(row));
        let (element, _) = column_type(target, usize::from(column));
        for sql in statement::probes(&columns, column) {
            probes.push((column, Parameter::Field(body), wire_type(element), sql));
        }
    }
    // Each in a savepoint of its own, all in one go.
    let text = |sql| async move { transaction.client.batch_execute(sql).await.map(|()| 0) }.boxed();
    let mut requests = Vec::with_capacity(3 * probes.len());
    for (_, parameter, data_type, sql) in &probes {
        let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(parameter, data_type.clone())];
        requests.push(text("SAVEPOINT pgsluice"));
        requests.push(async move { transaction.client.execute_typed(sql, &parameters).await }.boxed());
        requests.push(text("ROLLBACK TO SAVEPOINT pgsluice; RELEASE SAVEPOINT pgsluice"));
    }
    let mut found = None;
    for (at, result) in in_order(requests).await.into_iter().enumerate() {
        match result {
            Ok(_) => {}
            Err(error) if at % 3 == 1 && error.as_db_error().is_some() => {
                if found.is_none() && has_code(&error, &fault.sqlstate) {
                    found = Some(probes[at / 3].0);
                }
            }
            Err(error) => return Err(not_committed(&error)),
        }
    }
    let column = found.map(|column| target.table.columns[usize::from(column)].name.clone());
    Ok(ServerFault { column, ..fault })
}

fn has_code(error: &ClientError, sqlstate: &str) -> bool {
    error.code().is_some_and(|code| code.code() == sqlstate)
}
