//! The one place that names the cryptography.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

use crate::Result;

#[cfg(feature = "tls-ring")]
pub(super) fn provider() -> Result<Arc<CryptoProvider>> {
    Ok(Arc::new(rustls::crypto::ring::default_provider()))
}

#[cfg(not(feature = "tls-ring"))]
pub(super) fn provider() -> Result<Arc<CryptoProvider>> {
    Err(crate::Error::new(crate::ErrorKind::Unsupported, "set up TLS", "this build has no TLS")
        .with_hint("build with the feature \"tls-ring\" or set sslmode=disable"))
}
