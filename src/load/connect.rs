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
    let target =
        ConnectTarget::builder().dsn(options.dsn.as_deref().unwrap_or_default())?.tls(&write.tls)?.build()?;
    Pool::open_target(target, write.pool.clone()).await
}
