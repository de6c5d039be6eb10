//! How a connection is encrypted and its server checked.

use std::path::PathBuf;

/// What is asked of TLS; libpq's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SslMode {
    /// No TLS.
    Disable,
    /// Plain text first; TLS where the server demands it.
    Allow,
    /// TLS first; plain text where the server has none.
    #[default]
    Prefer,
    /// TLS; the server's certificate is not checked, unless a root certificate is given.
    Require,
    /// TLS, and the certificate's chain ends at a known root.
    VerifyCa,
    /// As `VerifyCa`, and the certificate is for the host's name.
    VerifyFull,
}

/// Encryption of every connection, those for cancelling and for catalog reads included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// `connection.ssl.mode`; not given: the DSN's or the environment's, else `Disable` in a DDL and `Prefer` for a DSN.
    pub mode: Option<SslMode>,
    /// `connection.ssl.root-cert.location`: a PEM file with one or more root certificates.
    pub root_cert: Option<PathBuf>,
    /// `connection.ssl.cert`: the client's certificate.
    pub cert: Option<PathBuf>,
    /// `connection.ssl.key`: the key of the client's certificate.
    pub key: Option<PathBuf>,
    /// `connection.ssl.system-roots`: the machine's own roots count.
    pub system_roots: bool,
}

impl TlsOptions {
    /// Nothing given.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what is asked of TLS.
    #[must_use]
    pub fn mode(mut self, mode: SslMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets the file of root certificates.
    #[must_use]
    pub fn root_cert(mut self, file: impl Into<PathBuf>) -> Self {
        self.root_cert = Some(file.into());
        self
    }

    /// Sets the client's certificate.
    #[must_use]
    pub fn cert(mut self, file: impl Into<PathBuf>) -> Self {
        self.cert = Some(file.into());
        self
    }

    /// Sets the key of the client's certificate.
    #[must_use]
    pub fn key(mut self, file: impl Into<PathBuf>) -> Self {
        self.key = Some(file.into());
        self
    }

    /// Lets the machine's own roots count.
    #[must_use]
    pub fn system_roots(mut self, on: bool) -> Self {
        self.system_roots = on;
        self
    }
}
