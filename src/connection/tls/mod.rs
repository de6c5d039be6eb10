//! TLS by libpq's rules, on rustls with a provider that is named and never the process's default.

mod certificate;
mod connector;
mod files;
mod provider;
mod verify;

use std::path::PathBuf;

use crate::options::SslMode;
pub(super) use connector::Connector;
pub(super) use files::client_config;

/// Where root certificates come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RootSource {
    /// The file that was named.
    File(PathBuf),
    /// libpq's default file, where it exists.
    Default(Option<PathBuf>),
    /// The system's bundle, or the one that `SSL_CERT_FILE` names.
    System(Option<PathBuf>),
}

/// How the TLS handshake begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Negotiation {
    /// Asked for first, as always before version 17.
    Postgres,
    /// At once (version 17 and later).
    Direct,
}

/// Whether the password proof is bound to the TLS session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ChannelBinding {
    Disable,
    Prefer,
    Require,
}

/// A protocol version as libpq names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TlsVersion {
    Older,
    Tls12,
    Tls13,
}

/// All of a target's TLS settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TlsSettings {
    pub(super) mode: SslMode,
    pub(super) negotiation: Negotiation,
    pub(super) root: RootSource,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) sni: bool,
    pub(super) only_tls13: bool,
    pub(super) only_tls12: bool,
    pub(super) channel_binding: ChannelBinding,
}
