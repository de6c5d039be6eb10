//! A named pool of connections.

use std::time::Duration;

use super::fault;
use super::unit::LONGEST;
use crate::Result;

/// The longest `application_name` that a server keeps (NAMEDATALEN − 1).
const APPLICATION_NAME_BYTES: usize = 63;

/// More connections or lanes than any server takes: a slip of the pen.
pub(super) const MOST_CONNECTIONS: usize = 10_000;

/// What stands between the pool and the server, `connection.pooler`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Pooler {
    /// Nothing, or what keeps one server connection for each of ours.
    None,
    /// One that gives our connections a server's for one transaction at a time: PgBouncer in transaction mode.
    Transaction,
}

/// How a named pool opens, keeps and closes its connections. What is not given of a connection's own settings is the
/// DSN's or the environment's, else the default of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// `connection.pool.name`: users of the same name and the same target share one pool.
    pub name: String,
    /// `connection.pool.size`: at most this many connections; of several users the largest size counts.
    pub size: usize,
    /// `connection.idle-timeout`: unused for so long since its return, a connection is closed; `None`: never.
    pub idle_timeout: Option<Duration>,
    /// `connection.max-lifetime`: a connection older than this, with jitter, is not handed out again; `None`: any age.
    pub max_lifetime: Option<Duration>,
    /// `connection.acquire-timeout`: the longest wait for a free connection; `None`: no limit. Each user has its own.
    pub acquire_timeout: Option<Duration>,
    /// `connection.keepalive`: a silent connection is probed after this time; else the DSN's, else 30 s.
    pub keepalive: Option<Duration>,
    /// `connection.tcp-user-timeout`: sent bytes that stay unacknowledged for so long end the connection; else the
    /// DSN's, else 30 s. Zero: as the system has it.
    pub tcp_user_timeout: Option<Duration>,
    /// `client.connect-timeout`: for each host, TLS and login included; else the DSN's, else 120 s.
    pub connect_timeout: Option<Duration>,
    /// `client.id`: the `application_name` that the server shows, printable ASCII, at most 63 bytes once checked; else
    /// the DSN's, else `pgsluice`.
    pub application_name: Option<String>,
    /// `connection.pooler`: what stands before the server; `None`: found out at the login.
    pub pooler: Option<Pooler>,
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
            pooler: None,
        }
    }
}

impl PoolOptions {
    /// The defaults: the pool `default` of five connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// The defaults, for the pool of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the pool's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the largest number of connections; at least 1.
    #[must_use]
    pub fn size(mut self, connections: usize) -> Self {
        self.size = connections;
        self
    }

    /// Sets the time after which an unused connection is closed.
    #[must_use]
    pub fn idle_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.idle_timeout = time.into();
        self
    }

    /// Sets the age from which a connection is replaced.
    #[must_use]
    pub fn max_lifetime(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.max_lifetime = time.into();
        self
    }

    /// Sets the longest wait for a free connection.
    #[must_use]
    pub fn acquire_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.acquire_timeout = time.into();
        self
    }

    /// Sets the silence after which a connection is probed.
    #[must_use]
    pub fn keepalive(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.keepalive = time.into();
        self
    }

    /// Sets how long sent bytes may stay unacknowledged.
    #[must_use]
    pub fn tcp_user_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.tcp_user_timeout = time.into();
        self
    }

    /// Sets the longest time for connecting to one host, TLS and login included.
    #[must_use]
    pub fn connect_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.connect_timeout = time.into();
        self
    }

    /// Sets the `application_name`: printable ASCII; more than 63 bytes are cut, and that is logged, when it is checked.
    #[must_use]
    pub fn application_name(mut self, name: impl Into<String>) -> Self {
        self.application_name = Some(name.into());
        self
    }

    /// Sets what stands between the pool and the server.
    #[must_use]
    pub fn pooler(mut self, pooler: impl Into<Option<Pooler>>) -> Self {
        self.pooler = pooler.into();
        self
    }

    /// Checks every field and cuts the application name; to be called once, by what opens the pool.
    ///
    /// # Errors
    /// `Config` with all faults in one message.
    pub fn checked(mut self) -> Result<Self> {
        fault::none(self.faults())?;
        if let Some(name) = &mut self.application_name
            && name.len() > APPLICATION_NAME_BYTES
        {
            name.truncate(APPLICATION_NAME_BYTES);
            tracing::warn!(application_name = %name, "client.id was cut at 63 bytes, the most that a server keeps");
        }
        Ok(self)
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.name.is_empty() {
            faults.push("`connection.pool.name` is empty".to_owned());
        }
        if !(1..=MOST_CONNECTIONS).contains(&self.size) {
            faults.push(format!("`connection.pool.size` must be from 1 to {MOST_CONNECTIONS}"));
        }
        let times = [
            ("connection.idle-timeout", self.idle_timeout),
            ("connection.max-lifetime", self.max_lifetime),
            ("connection.acquire-timeout", self.acquire_timeout),
            ("connection.keepalive", self.keepalive),
            ("client.connect-timeout", self.connect_timeout),
        ];
        for (key, time) in times {
            if time.is_some_and(|time| time.is_zero() || time > LONGEST) {
                faults.push(format!("`{key}` must be above zero and at most 100 years"));
            }
        }
        if self.tcp_user_timeout.is_some_and(|time| time > LONGEST) {
            faults.push("`connection.tcp-user-timeout` must be at most 100 years".to_owned());
        }
        // Older servers show a question mark for each other byte.
        if let Some(name) = &self.application_name
            && !name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        {
            faults.push("`client.id` may hold printable ASCII characters only".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn f_a99_a_long_application_name_is_cut_and_a_non_ascii_one_refused() {
        let cut = PoolOptions::new().application_name("x".repeat(64)).checked().unwrap();
        assert_eq!(cut.application_name, Some("x".repeat(63)));
        let kept = PoolOptions::new().application_name("etl job 7").checked().unwrap();
        assert_eq!(kept.application_name.as_deref(), Some("etl job 7"));
        for bad in ["größe", "a\nb", "a\0"] {
            let error = PoolOptions::new().application_name(bad).checked().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.message().contains("client.id"), "{error}");
        }
    }

    #[test]
    fn every_fault_is_in_one_message() {
        let error = PoolOptions::named("")
            .size(0)
            .connect_timeout(Duration::ZERO)
            .keepalive(Duration::ZERO)
            .checked()
            .unwrap_err();
        for key in
            ["connection.pool.name", "connection.pool.size", "client.connect-timeout", "connection.keepalive"]
        {
            assert!(error.message().contains(key), "{key}: {error}");
        }
    }
}
