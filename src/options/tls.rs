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

/// Whether the proof of the password is bound to the TLS session, so that nobody in between can pass it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where the session is encrypted and the server offers it.
    #[default]
    Prefer,
    /// Without it there is no login.
    Require,
}

/// How a TLS session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SslNegotiation {
    /// The server is asked first, in plain text.
    #[default]
    Postgres,
    /// At once: servers from version 17 on.
    Direct,
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
    /// `connection.ssl.system-roots`: the machine's own roots count, instead of a file's.
    pub system_roots: bool,
    /// `connection.ssl.channel-binding`; not given: the DSN's or the environment's, else `Prefer`.
    pub channel_binding: Option<ChannelBinding>,
    /// `connection.ssl.negotiation`; not given: the DSN's or the environment's, else `Postgres`.
    pub negotiation: Option<SslNegotiation>,
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

    /// Sets whether the proof of the password is bound to the TLS session.
    #[must_use]
    pub fn channel_binding(mut self, binding: ChannelBinding) -> Self {
        self.channel_binding = Some(binding);
        self
    }

    /// Sets how a TLS session begins.
    #[must_use]
    pub fn negotiation(mut self, negotiation: SslNegotiation) -> Self {
        self.negotiation = Some(negotiation);
        self
    }
}
