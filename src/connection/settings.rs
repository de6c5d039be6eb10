//! The settings of a pool and of its connections, the TLS mode, and the wrapper of secrets.

use std::fmt;
use std::time::Duration;

/// A text that no log, error or `Debug` shows.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How TLS is used and what is checked; libpq's six modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Plain first; TLS where the server refuses plain.
    Allow,
    /// TLS where the server has it, else plain.
    #[default]
    Prefer,
    /// Always TLS; the certificate is checked only where a root certificate is there.
    Require,
    /// Always TLS; the certificate must lead to a root.
    VerifyCa,
    /// As `VerifyCa`, and the certificate must be the host's.
    VerifyFull,
}

/// What a named pool is and how its connections behave. A setting of the socket that is not given here is the DSN's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// Users of one name and one target share a pool.
    pub name: String,
    /// At most this many connections; the largest size that a user asked for holds.
    pub size: usize,
    /// A connection that was given back this long ago is closed; `None`: never. The shortest asked for holds.
    pub idle_timeout: Option<Duration>,
    /// A connection older than this (less up to a tenth) is replaced; `None`: never. The shortest asked for holds.
    pub max_lifetime: Option<Duration>,
    /// The longest wait for a free connection; `None`: no limit. Each user has its own.
    pub acquire_timeout: Option<Duration>,
    /// Idle time before TCP keepalive probes; else the DSN's, else 30 s.
    pub keepalive: Option<Duration>,
    /// How long sent data may stay unacknowledged; else the DSN's, else 30 s. Zero: the system's.
    pub tcp_user_timeout: Option<Duration>,
    /// The deadline for one host, TLS and login included; else the DSN's, else 120 s.
    pub connect_timeout: Option<Duration>,
    /// The application name; else the DSN's, else `pgsluice`. Printable ASCII, cut at 63 bytes.
    pub application_name: Option<String>,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            size: 5,
            idle_timeout: Some(Duration::from_secs(60)),
            max_lifetime: Some(Duration::from_secs(30 * 60)),
            acquire_timeout: Some(Duration::from_secs(30)),
            keepalive: None,
            tcp_user_timeout: None,
            connect_timeout: None,
            application_name: None,
        }
    }
}

impl PoolOptions {
    /// The defaults under a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the greatest number of connections.
    #[must_use]
    pub fn size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Sets how long a returned connection is kept.
    #[must_use]
    pub fn idle_timeout(self, idle: impl Into<Option<Duration>>) -> Self {
        Self { idle_timeout: idle.into(), ..self }
    }

    /// Sets the greatest age of a connection.
    #[must_use]
    pub fn max_lifetime(self, age: impl Into<Option<Duration>>) -> Self {
        Self { max_lifetime: age.into(), ..self }
    }

    /// Sets the longest wait for a free connection.
    #[must_use]
    pub fn acquire_timeout(self, wait: impl Into<Option<Duration>>) -> Self {
        Self { acquire_timeout: wait.into(), ..self }
    }

    /// Sets the idle time before keepalive probes.
    #[must_use]
    pub fn keepalive(self, idle: impl Into<Option<Duration>>) -> Self {
        Self { keepalive: idle.into(), ..self }
    }

    /// Sets how long sent data may stay unacknowledged.
    #[must_use]
    pub fn tcp_user_timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        Self { tcp_user_timeout: timeout.into(), ..self }
    }

    /// Sets the deadline for one host, TLS and login included.
    #[must_use]
    pub fn connect_timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        Self { connect_timeout: timeout.into(), ..self }
    }

    /// Sets the application name.
    #[must_use]
    pub fn application_name(self, name: impl Into<String>) -> Self {
        Self { application_name: Some(name.into()), ..self }
    }
}
