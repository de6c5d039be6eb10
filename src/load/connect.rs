//! The pool of a load: DSN or environment, under the options that `-w` gave.

use super::options::LoadOptions;
use crate::Result;
use crate::connection::{ConnectTarget, Pool};
use crate::options::WriteOptions;

/// Opens the pool.
///
/// # Errors
/// `Config` for a DSN or an option that is wrong; those of the first connection.
pub(super) async fn connect(options: &LoadOptions, write: &WriteOptions) -> Result<Pool> {
    let target = ConnectTarget::of_write_options(options.dsn.as_deref().unwrap_or_default(), write)?;
    Pool::open_target(target, write.pool.clone()).await
}
