//! One connection: each host in turn, each under one deadline over TCP, TLS and login.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::{
    ChannelBinding as PgChannelBinding, SslMode as PgSslMode, SslNegotiation as PgSslNegotiation,
};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, Socket};

use super::driver::{Driver, Live};
use super::failure::{CONNECT, connect_error, is_refused_session, operation_error};
use super::link::Connection;
use super::pooler;
use super::server::ServerInfo;
use super::target::{ConnectTarget, Host};
use super::tls::{Connector, client_config};
use crate::options::{
    ChannelBinding, PoolOptions, Pooler, Secret, SslMode, SslNegotiation, TargetSessionAttrs,
};
use crate::{Error, ErrorKind, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(120);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_COUNT: u32 = 3;
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);
const APPLICATION_NAME: &str = "pgsluice";

/// Opens one connection, outside any pool.
///
/// # Errors
/// `Config` for options that cannot be; `Authentication` where user, password, database or certificate are refused; `Config` for TLS settings that cannot
/// be right; `Timeout` and `Connection` where no host answers as the target asks; with several hosts, what each said.
///
/// # Cancel safety
/// Dropping the future closes what was opened.
pub async fn connect(target: &ConnectTarget, options: &PoolOptions) -> Result<Connection> {
    connect_counted(target, &options.clone().checked()?, &Live::new()).await
}

pub(super) async fn connect_counted(
    target: &ConnectTarget,
    options: &PoolOptions,
    live: &Live,
) -> Result<Connection> {
    let mut dialer = Dialer::new(target, options, live)?;
    if let Some(provider) = &target.password_provider {
        dialer.password = Some(provider.ask(dialer.deadline).await?);
    }
    if target.target_session_attrs == TargetSessionAttrs::PreferStandby {
        match dialer.first_of_all(TargetSessionAttrs::Standby).await {
            Ok(connection) => return Ok(connection),
            Err(error) if error.kind() == ErrorKind::Authentication => return Err(error),
            Err(_) => return dialer.first_of_all(TargetSessionAttrs::Any).await,
        }
    }
    dialer.first_of_all(target.target_session_attrs).await
}

/// What is the same for all hosts.
struct Dialer<'a> {
    target: &'a ConnectTarget,
    config: Config,
    tls: Option<Connector>,
    deadline: Duration,
    live: &'a Live,
    /// None: to be found out.
    pooler: Option<Pooler>,
    /// What the provider gave for this connect; it stands over the hosts' own.
    password: Option<Secret>,
}

impl<'a> Dialer<'a> {
    fn new(target: &'a ConnectTarget, options: &PoolOptions, live: &'a Live) -> Result<Self> {
        let encrypted = target.tls.mode != SslMode::Disable && !target.hosts.iter().all(Host::is_socket);
        let tls = match encrypted.then(|| client_config(&target.tls)) {
            None => None,
            Some(Ok(config)) => Some(Connector::new(config, target.tls.mode == SslMode::VerifyFull)),
            // A build without TLS can still do what these modes allow.
            Some(Err(error))
                if error.kind() == ErrorKind::Unsupported
                    && matches!(target.tls.mode, SslMode::Allow | SslMode::Prefer) =>
            {
                None
            }
            Some(Err(error)) => return Err(error),
        };
        Ok(Self {
            target,
            config: config(target, options),
            tls,
            deadline: options.connect_timeout.or(target.connect_timeout).unwrap_or(CONNECT_TIMEOUT),
            live,
            pooler: options.pooler,
            password: None,
        })
    }

    /// The first host that answers and has the properties. As in libpq, a host that refuses the login ends the search.
    async fn first_of_all(&self, attrs: TargetSessionAttrs) -> Result<Connection> {
        let mut hosts: Vec<&Host> = self.target.hosts.iter().collect();
        if self.target.shuffle_hosts {
            // A randomly keyed hash of the index is a random order.
            let keys = RandomState::new();
            let mut order: Vec<_> =
                hosts.into_iter().enumerate().map(|(i, host)| (keys.hash_one(i), host)).collect();
            order.sort_by_key(|(key, _)| *key);
            hosts = order.into_iter().map(|(_, host)| host).collect();
        }
        let mut failures: Vec<Error> = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            match Box::pin(self.host(host, hosts.len() - index, attrs)).await {
                Ok(connection) => return Ok(connection),
                Err(error) if error.kind() == ErrorKind::Authentication => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        Err(merged(failures))
    }

    /// One host under its deadline. Before other hosts a silent network gets only this host's share of the time, so
    /// that a dead first host leaves time for the second.
    async fn host(&self, host: &Host, hosts_left: usize, attrs: TargetSessionAttrs) -> Result<Connection> {
        let endpoint = endpoint(host);
        let deadline = Instant::now() + self.deadline;
        let late = |_| {
            Error::new(ErrorKind::Timeout, CONNECT, format!("no connection within {:?}", self.deadline))
                .with_context("server", endpoint.clone())
                .with_hint("check host and port, or raise the connect timeout")
        };
        let addresses = timeout_at(deadline, resolve(host)).await.map_err(late)??;
        let share = u32::try_from(hosts_left * addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut config = self.config.clone();
        config.connect_timeout(self.deadline / share);
        if let Some(password) = self.password.as_ref().or(host.password.as_ref()) {
            config.password(password.expose());
        }
        config.host(&host.name).port(host.port);

        let mut last = Error::new(ErrorKind::Connection, CONNECT, "the name has no address")
            .with_context("server", endpoint.clone());
        for address in addresses {
            let mut config = config.clone();
            if let Some(address) = address {
                config.hostaddr(address);
            }
            let attempt = Box::pin(self.address(&config, host, &endpoint, attrs));
            match timeout_at(deadline, attempt).await.map_err(late)? {
                Ok(connection) => return Ok(connection),
                Err(error) if error.kind() == ErrorKind::Authentication => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One address, in the kinds of session that the TLS mode allows.
    async fn address(
        &self,
        config: &Config,
        host: &Host,
        endpoint: &str,
        attrs: TargetSessionAttrs,
    ) -> Result<Connection> {
        let mut refused = None;
        for mode in sessions(self.target.tls.mode, host.is_socket() || self.tls.is_none()) {
            let mut config = config.clone();
            config.ssl_mode(*mode);
            let opened = match (&self.tls, mode) {
                (Some(tls), PgSslMode::Prefer | PgSslMode::Require) => {
                    self.login(&config, host, tls.clone(), Some(tls.clone())).await
                }
                _ => self.login(&config, host, NoTls, None).await,
            };
            match opened {
                Ok(connection) => return accept(connection, endpoint, attrs, self.pooler).await,
                Err(error) => {
                    let other_may_do = is_refused_session(&error);
                    refused = Some(connect_error(&error, endpoint));
                    if !other_may_do {
                        break;
                    }
                }
            }
        }
        Err(refused.unwrap_or_else(|| Error::new(ErrorKind::Bug, CONNECT, "no kind of session to try")))
    }

    #[expect(clippy::disallowed_methods, reason = "all of it stands under the host's deadline")]
    async fn login<T>(
        &self,
        config: &Config,
        host: &Host,
        tls: T,
        cancel_tls: Option<Connector>,
    ) -> Result<Connection, tokio_postgres::Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let live = self.live.guard();
        let (client, connection) = config.connect(tls).await?;
        let mut server = ServerInfo::new(&host.name, host.port, |name| connection.parameter(name));
        let other_encoding =
            connection.parameter("client_encoding").is_some_and(|encoding| encoding != "UTF8");
        let driver = Driver::spawn(connection, live);
        if other_encoding {
            tracing::warn!("the start-up options change client_encoding; it is set back to UTF8");
            client.batch_execute("SET client_encoding TO 'UTF8'").await?;
        }
        server.pooler_seen = self.pooler.is_none() && pooler::stands_before(&client).await;
        Ok(Connection::new(client, driver, server, cancel_tls))
    }
}

/// The kinds of session to try, the next one only where the server refuses the one before.
fn sessions(mode: SslMode, plain_only: bool) -> &'static [PgSslMode] {
    match mode {
        // libpq ignores the mode on sockets of the same machine.
        _ if plain_only => &[PgSslMode::Disable],
        SslMode::Disable => &[PgSslMode::Disable],
        SslMode::Allow => &[PgSslMode::Disable, PgSslMode::Require],
        SslMode::Prefer => &[PgSslMode::Prefer, PgSslMode::Disable],
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[PgSslMode::Require],
    }
}

fn config(target: &ConnectTarget, options: &PoolOptions) -> Config {
    let mut config = Config::new();
    let application_name =
        options.application_name.as_deref().or(target.application_name()).unwrap_or(APPLICATION_NAME);
    config.user(&target.user).dbname(&target.dbname).application_name(application_name);
    if let Some(options) = &target.options {
        config.options(options);
    }
    let keepalive = &target.keepalive;
    config
        .keepalives(keepalive.enabled)
        .keepalives_idle(options.keepalive.or(keepalive.idle).unwrap_or(KEEPALIVE_IDLE))
        .keepalives_interval(keepalive.interval.unwrap_or(KEEPALIVE_INTERVAL))
        .keepalives_retries(keepalive.count.unwrap_or(KEEPALIVE_COUNT))
        .tcp_user_timeout(options.tcp_user_timeout.or(target.tcp_user_timeout).unwrap_or(TCP_USER_TIMEOUT))
        .ssl_negotiation(match target.tls.negotiation {
            SslNegotiation::Postgres => PgSslNegotiation::Postgres,
            SslNegotiation::Direct => PgSslNegotiation::Direct,
        })
        .channel_binding(match target.tls.channel_binding {
            ChannelBinding::Disable => PgChannelBinding::Disable,
            ChannelBinding::Prefer => PgChannelBinding::Prefer,
            ChannelBinding::Require => PgChannelBinding::Require,
        });
    config
}

fn endpoint(host: &Host) -> String {
    if host.name.contains(':') {
        format!("[{}]:{}", host.name, host.port)
    } else {
        format!("{}:{}", host.name, host.port)
    }
}

/// The host's addresses; a single `None` for a socket directory.
async fn resolve(host: &Host) -> Result<Vec<Option<IpAddr>>> {
    if host.is_socket() {
        return Ok(vec![None]);
    }
    if let Some(address) = host.address.or_else(|| host.name.parse().ok()) {
        return Ok(vec![Some(address)]);
    }
    let addresses = tokio::net::lookup_host((host.name.as_str(), host.port)).await.map_err(|error| {
        Error::new(ErrorKind::Connection, CONNECT, format!("the host's name is not resolved: {error}"))
            .with_context("server", endpoint(host))
    })?;
    let mut found: Vec<_> = addresses.map(|address: SocketAddr| Some(address.ip())).collect();
    found.dedup();
    Ok(found)
}

/// Keeps the connection where the server has the properties that the target asks for.
async fn accept(
    connection: Connection,
    endpoint: &str,
    attrs: TargetSessionAttrs,
    pooler: Option<Pooler>,
) -> Result<Connection> {
    // What a pooler reports at the login was so when it logged in itself.
    let asks = pooler.is_some_and(|pooler| pooler != Pooler::None) || connection.server().pooler_seen;
    let problem = match attrs {
        TargetSessionAttrs::Any | TargetSessionAttrs::PreferStandby => None,
        TargetSessionAttrs::ReadWrite => {
            is_read_only(&connection, asks).await?.then_some("the session is read-only")
        }
        TargetSessionAttrs::ReadOnly => {
            (!is_read_only(&connection, asks).await?).then_some("the session is not read-only")
        }
        TargetSessionAttrs::Primary => {
            is_standby(&connection, asks).await?.then_some("the server is a standby")
        }
        TargetSessionAttrs::Standby => {
            (!is_standby(&connection, asks).await?).then_some("the server is no standby")
        }
    };
    let Some(problem) = problem else { return Ok(connection) };
    connection.close().await;
    Err(Error::new(ErrorKind::Connection, CONNECT, problem)
        .with_context("server", endpoint)
        .with_hint("target_session_attrs asks for another one"))
}

async fn is_read_only(connection: &Connection, asks: bool) -> Result<bool> {
    let server = connection.server();
    match (server.in_hot_standby, server.default_transaction_read_only) {
        (Some(standby), Some(read_only)) if !asks => Ok(standby || read_only),
        _ => answer(connection, "SHOW transaction_read_only", "on").await,
    }
}

async fn is_standby(connection: &Connection, asks: bool) -> Result<bool> {
    match connection.server().in_hot_standby {
        Some(standby) if !asks => Ok(standby),
        _ => answer(connection, "SELECT pg_catalog.pg_is_in_recovery()", "t").await,
    }
}

/// True where the one value that `sql` gives is `yes`.
async fn answer(client: &Client, sql: &str, yes: &str) -> Result<bool> {
    let messages = client.simple_query(sql).await.map_err(|error| operation_error(CONNECT, &error, None))?;
    Ok(messages
        .iter()
        .any(|message| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some(yes))))
}

/// One error of all hosts' errors.
fn merged(mut failures: Vec<Error>) -> Error {
    let Some(last) = failures.pop() else {
        return Error::new(ErrorKind::Config, CONNECT, "there is no host to connect to");
    };
    if failures.is_empty() {
        return last;
    }
    let words =
        |error: &Error| format!("{}: {}", error.context("server").unwrap_or_default(), error.message());
    let all: Vec<String> = failures.iter().chain([&last]).map(words).collect();
    let merged = Error::new(last.kind(), CONNECT, format!("no host answers as asked: {}", all.join("; ")));
    let merged = match last.sqlstate() {
        Some(code) => merged.with_sqlstate(code),
        None => merged,
    };
    match last.hint() {
        Some(hint) => merged.with_hint(hint),
        None => merged,
    }
}
