//! TLS by libpq's rules, on rustls with a provider that is named and never the process's default.

mod certificate;
mod connector;
mod files;
mod provider;
mod verify;

use std::path::PathBuf;

use crate::options::{ChannelBinding, SslMode, SslNegotiation};
pub(super) use connector::Connector;
pub(super) use files::{client_config, root_file};

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
    pub(super) negotiation: SslNegotiation,
    pub(super) root: RootSource,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) sni: bool,
    pub(super) only_tls13: bool,
    pub(super) only_tls12: bool,
    pub(super) channel_binding: ChannelBinding,
}
