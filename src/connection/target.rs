//! Where to connect to and as whom: every setting of a connection, resolved and checked.

use std::net::IpAddr;
use std::time::Duration;

use super::builder::TargetBuilder;
use super::password::PasswordProvider;
use super::tls::{TlsSettings, root_file};
use crate::Result;
use crate::options::{Resolved, Secret, SslMode, TargetSessionAttrs, WriteOptions};

/// One server of the host list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Host {
    /// A name, an address or (with a leading `/`) a socket directory.
    pub(super) name: String,
    /// Where to connect to without asking the resolver.
    pub(super) address: Option<IpAddr>,
    pub(super) port: u16,
    pub(super) password: Option<Secret>,
}

impl Host {
    pub(super) fn is_socket(&self) -> bool {
        self.address.is_none() && self.name.starts_with('/')
    }
}

/// TCP keepalive as far as the settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Keepalive {
    pub(super) enabled: bool,
    pub(super) idle: Option<Duration>,
    pub(super) interval: Option<Duration>,
    pub(super) count: Option<u32>,
}

/// What is known of a server's identity once a session is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ServerCheck {
    /// Nothing: anybody may have answered.
    Nothing,
    /// A known root vouches for its certificate.
    Chain,
    /// And the certificate is for the host's name.
    ChainAndName,
}

/// A database, a user and the way there. Two equal targets can share connections; `Debug` shows no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConnectTarget {
    pub(super) hosts: Vec<Host>,
    pub(super) dbname: String,
    pub(super) user: String,
    pub(super) tls: TlsSettings,
    pub(super) options: Option<String>,
    pub(super) application_name: Option<String>,
    pub(super) target_session_attrs: TargetSessionAttrs,
    pub(super) shuffle_hosts: bool,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) keepalive: Keepalive,
    pub(super) tcp_user_timeout: Option<Duration>,
    pub(super) password_provider: Option<PasswordProvider>,
}

impl ConnectTarget {
    /// Parses a DSN in URL or keyword form by libpq's rules; what it does not give comes from the service file, the
    /// environment, the password file and libpq's defaults.
    ///
    /// # Errors
    /// `Config` for a malformed DSN, an unknown or unsupported option, or a value that cannot be right. The text of
    /// the DSN is never in the error.
    pub fn parse(dsn: &str) -> Result<Self> {
        Self::builder().dsn(dsn)?.build()
    }

    /// The target of the environment and of libpq's defaults.
    ///
    /// # Errors
    /// As [`ConnectTarget::parse`].
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// The target of a connector DDL; what it does not name comes from the environment, but for TLS, which is off where
    /// neither says anything.
    ///
    /// # Errors
    /// As [`ConnectTarget::parse`].
    pub fn of_options(options: &Resolved) -> Result<Self> {
        let mut builder = Self::builder()
            .default_ssl_mode(SslMode::Disable)
            .hosts(&options.hosts)?
            .tls(&options.tls)?
            .set("dbname", &options.dbname)?;
        if let Some(user) = &options.username {
            builder = builder.set("user", user)?;
        }
        if let Some(password) = &options.password {
            builder = builder.set("password", password.expose())?;
        }
        if let Some(command) = &options.password_command {
            builder = builder.password_command(command.clone());
        }
        Ok(builder.build()?.with_target_session_attrs(options.target_session_attrs))
    }

    /// The target of a DSN that is written to, under what options given beside it say: theirs stand over the DSN's. Only
    /// a server that takes writes will do, unless one of the two says otherwise.
    ///
    /// # Errors
    /// As [`ConnectTarget::parse`].
    pub fn of_write_options(dsn: &str, options: &WriteOptions) -> Result<Self> {
        let mut builder =
            Self::builder().dsn(dsn)?.tls(&options.tls)?.default_session_attrs(TargetSessionAttrs::ReadWrite);
        if let Some(command) = &options.password_command {
            builder = builder.password_command(command.clone());
        }
        let target = builder.build()?;
        Ok(match options.target_session_attrs {
            Some(attrs) => target.with_target_session_attrs(attrs),
            None => target,
        })
    }

    /// Starts from nothing, for settings that come one by one.
    pub fn builder() -> TargetBuilder {
        TargetBuilder::new()
    }

    /// The database's name.
    pub fn dbname(&self) -> &str {
        &self.dbname
    }

    /// The role's name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password for the first host, where one is known.
    pub fn password(&self) -> Option<&Secret> {
        self.hosts.first()?.password.as_ref()
    }

    /// The hosts (names, addresses, socket directories) and their ports, in the order in which they are tried.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, u16)> {
        self.hosts.iter().map(|host| (host.name.as_str(), host.port))
    }

    /// The TLS mode.
    pub fn ssl_mode(&self) -> SslMode {
        self.tls.mode
    }

    /// What an encrypted connection has checked of its server.
    ///
    /// # Errors
    /// `Config` where the system's roots are asked for and there are none.
    pub(crate) fn server_check(&self) -> Result<ServerCheck> {
        Ok(match (root_file(&self.tls)?, self.tls.mode) {
            (None, _) => ServerCheck::Nothing,
            (Some(_), SslMode::VerifyFull) => ServerCheck::ChainAndName,
            (Some(_), _) => ServerCheck::Chain,
        })
    }

    /// The name that the server shows for the connections.
    pub fn application_name(&self) -> Option<&str> {
        self.application_name.as_deref()
    }

    /// The start-up options (`-c name=value …`).
    pub fn options(&self) -> Option<&str> {
        self.options.as_deref()
    }

    /// Which servers are good enough.
    pub fn target_session_attrs(&self) -> TargetSessionAttrs {
        self.target_session_attrs
    }

    /// The same target, narrowed to servers with these properties.
    #[must_use]
    pub fn with_target_session_attrs(self, attrs: TargetSessionAttrs) -> Self {
        Self { target_session_attrs: attrs, ..self }
    }

    /// The same target, under another application name.
    #[must_use]
    pub fn with_application_name(self, name: impl Into<String>) -> Self {
        Self { application_name: Some(name.into()), ..self }
    }
}
