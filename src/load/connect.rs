//! The pool of a load: DSN or environment, under the options that `-w` gave.

use super::options::LoadOptions;
use crate::connection::{ConnectTarget, Pool};
use crate::options::{SslMode, WriteOptions};
use crate::{Error, ErrorKind, Result};

/// Opens the pool.
///
/// # Errors
/// `Config` for a DSN or an option that is wrong; those of the first connection.
pub(super) async fn connect(options: &LoadOptions, write: &WriteOptions) -> Result<Pool> {
    let mut target = ConnectTarget::builder().dsn(options.dsn.as_deref().unwrap_or_default())?;
    let tls = &write.tls;
    if let Some(mode) = tls.mode {
        target = target.set("sslmode", mode_name(mode))?;
    }
    for (keyword, path) in [("sslrootcert", &tls.root_cert), ("sslcert", &tls.cert), ("sslkey", &tls.key)] {
        if let Some(path) = path {
            let path = path.to_str().ok_or_else(|| {
                Error::new(ErrorKind::Config, "open pool", "the path is not valid UTF-8")
                    .with_context("option", keyword)
            })?;
            target = target.set(keyword, path)?;
        }
    }
    if tls.system_roots {
        target = target.set("sslrootcert", "system")?;
    }
    Pool::open_target(target.build()?, write.pool.clone()).await
}

fn mode_name(mode: SslMode) -> &'static str {
    match mode {
        SslMode::Disable => "disable",
        SslMode::Allow => "allow",
        SslMode::Prefer => "prefer",
        SslMode::Require => "require",
        SslMode::VerifyCa => "verify-ca",
        SslMode::VerifyFull => "verify-full",
    }
}
