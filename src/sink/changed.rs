//! The table changed under the sink: it is read again, and batches go on where the records still fit.
//!
//! Records under way are encoded for the columns that were there at open. They fit where these stand unchanged, in their
//! places: columns that were added are not written, and a table that was made anew in the same shape takes them.

use std::sync::Arc;

use super::lane::Shared;
use super::target::Target;
use crate::catalog::{Table, load_table};
use crate::error::{Error, ErrorKind};

/// Errors that a changed table gives.
pub(super) fn may_have_changed(error: &Error) -> bool {
    // A table that was made anew: the number of its row type is unknown to the server (42704), or, where a session has
    // still seen it, to its catalogs only (XX000). An added column may be named as a statement names another (42702).
    error.kind() == ErrorKind::Schema || matches!(error.sqlstate(), Some("42704" | "42702" | "XX000"))
}

/// The target for the table as it is now.
///
/// # Errors
/// `error`, where the table is what it was; what is gone; what keeps the table from being read.
pub(super) async fn reread(shared: &Shared, old: &Target, error: Error) -> Result<Arc<Target>, Error> {
    let session = shared.pool.get().await?;
    let table = load_table(&session, &old.table.relation.name).await?;
    drop(session);
    if is_same(&old.table, &table) {
        return Err(error);
    }
    let refused = |words: String| {
        Error::new(ErrorKind::Schema, "write batch", words)
            .with_sqlstate(error.sqlstate().unwrap_or_default())
            .with_hint("open the sink again")
    };
    if let Some(words) = misfit(&old.table, &table) {
        return Err(refused(words));
    }
    let new = Target::new(Arc::new(table), &shared.options)?;
    let key = |target: &Target| target.key.as_ref().map(|key| (key.columns.clone(), key.predicate.clone()));
    if new.as_text[..old.as_text.len()] != old.as_text[..] || key(&new) != key(old) {
        return Err(refused(
            "the table's key, or the form in which its columns travel, has changed".to_owned(),
        ));
    }
    tracing::info!(table = %new.table.relation.name, "the table has changed; the sink goes on with its old columns");
    Ok(Arc::new(new))
}

fn is_same(old: &Table, new: &Table) -> bool {
    old.relation == new.relation && old.columns.len() == new.columns.len() && misfit(old, new).is_none()
}

/// What of the old columns is not where it was.
fn misfit(old: &Table, new: &Table) -> Option<String> {
    let mut places = new.columns.iter();
    for column in &old.columns {
        let Some(now) = new.columns.iter().find(|now| now.name == column.name) else {
            return Some(format!("column \"{}\" is gone", column.name));
        };
        if (now.data_type.oid, now.typmod) != (column.data_type.oid, column.typmod) {
            return Some(format!("column \"{}\" has another type now", column.name));
        }
        if (now.generated, now.identity) != (column.generated, column.identity) {
            return Some(format!("column \"{}\" is given by the server in another way now", column.name));
        }
        if places.next().is_none_or(|place| place.name != column.name) {
            return Some(format!("column \"{}\" stands in another place now", column.name));
        }
    }
    None
}
