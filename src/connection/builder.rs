//! From settings as texts to a [`ConnectTarget`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::dsn::{Environment, Params, Passfile};
use super::password::{PasswordFuture, PasswordProvider};
use super::target::{ConnectTarget, Host, Keepalive};
use super::tls::{RootSource, TlsSettings, TlsVersion};
use crate::options::{
    ChannelBinding, Endpoint, Secret, SslMode, SslNegotiation, TargetSessionAttrs, TlsOptions,
};
use crate::{Error, ErrorKind, Result};

/// Where servers put their sockets: Debian's place, then PostgreSQL's own default.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, "parse DSN", message)
}

/// Collects settings; see [`ConnectTarget::builder`].
pub struct TargetBuilder {
    params: Params,
    environment: Option<Environment>,
    default_ssl_mode: SslMode,
    default_session_attrs: TargetSessionAttrs,
    password_provider: Option<PasswordProvider>,
}

impl TargetBuilder {
    pub(super) fn new() -> Self {
        Self {
            params: Params::default(),
            environment: None,
            default_ssl_mode: SslMode::Prefer,
            default_session_attrs: TargetSessionAttrs::Any,
            password_provider: None,
        }
    }

    /// Starts from a DSN; what was set before is forgotten.
    ///
    /// # Errors
    /// `Config` for a malformed DSN or an unknown option.
    pub fn dsn(self, dsn: &str) -> Result<Self> {
        Ok(Self { params: Params::parse(dsn)?, ..self })
    }

    /// Sets one of libpq's keywords (`user`, `password`, `sslmode`, …), over the DSN's.
    ///
    /// # Errors
    /// `Config` for an unknown keyword.
    pub fn set(mut self, keyword: &str, value: &str) -> Result<Self> {
        self.params.set(keyword, value)?;
        Ok(self)
    }

    /// Sets the hosts; without any, the environment decides, and so it does for the port where none has one.
    ///
    /// # Errors
    /// None for these keywords.
    pub fn hosts(self, hosts: &[Endpoint]) -> Result<Self> {
        let names: Vec<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
        let ports: Vec<String> =
            hosts.iter().map(|host| host.port.map_or_else(String::new, |port| port.to_string())).collect();
        let builder = self.set("host", &names.join(","))?;
        if ports.iter().all(String::is_empty) { Ok(builder) } else { builder.set("port", &ports.join(",")) }
    }

    /// Sets what the TLS options give.
    ///
    /// # Errors
    /// `Config` for a path that is not UTF-8, and for roots that are to come both from a file and from the system.
    pub fn tls(mut self, tls: &TlsOptions) -> Result<Self> {
        if tls.system_roots && tls.root_cert.is_some() {
            return Err(invalid(
                "the roots come either from \"sslrootcert\" or from the system, not from both",
            ));
        }
        let words = [
            ("sslmode", word(SSL_MODES, tls.mode)),
            ("channel_binding", word(CHANNEL_BINDINGS, tls.channel_binding)),
            ("sslnegotiation", word(NEGOTIATIONS, tls.negotiation)),
        ];
        for (keyword, word) in words.into_iter().filter_map(|(keyword, word)| Some((keyword, word?))) {
            self = self.set(keyword, word)?;
        }
        let files = [("sslrootcert", &tls.root_cert), ("sslcert", &tls.cert), ("sslkey", &tls.key)];
        for (keyword, file) in
            files.into_iter().filter_map(|(keyword, file)| Some((keyword, file.as_deref()?)))
        {
            let file =
                file.to_str().ok_or_else(|| invalid(format!("the path of \"{keyword}\" is not UTF-8")))?;
            self = self.set(keyword, file)?;
        }
        if tls.system_roots { self.set("sslrootcert", "system") } else { Ok(self) }
    }

    /// The TLS mode where neither the settings nor the environment give one; [`SslMode::Prefer`] else.
    #[must_use]
    pub fn default_ssl_mode(self, mode: SslMode) -> Self {
        Self { default_ssl_mode: mode, ..self }
    }

    /// Which servers are good enough where neither the settings nor the environment say it; [`TargetSessionAttrs::Any`]
    /// else.
    #[must_use]
    pub fn default_session_attrs(self, attrs: TargetSessionAttrs) -> Self {
        Self { default_session_attrs: attrs, ..self }
    }

    /// Asks `provider` for the password at each connect, instead of what the settings, the environment or the password
    /// file say: for passwords that rotate. It has as long as the connect timeout; its error becomes the cause of an
    /// `Authentication` error, so it must not hold a secret.
    ///
    /// Targets with two providers share no pool; clones of one target do.
    ///
    /// ```
    /// use pgsluice::connection::{ConnectTarget, Environment, Secret};
    ///
    /// async fn token() -> std::io::Result<Secret> {
    ///     Ok("from the secret store".into())
    /// }
    ///
    /// let target = ConnectTarget::builder().dsn("host=db user=etl")?.password_with(token).build()?;
    /// # Ok::<(), pgsluice::Error>(())
    /// ```
    #[must_use]
    pub fn password_with<F, A, E>(self, provider: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = std::result::Result<Secret, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let ask = move || {
            let answer = provider();
            Box::pin(async move { answer.await.map_err(Into::into) }) as PasswordFuture
        };
        Self { password_provider: Some(PasswordProvider::callback(ask)), ..self }
    }

    /// Runs `command` in a shell at each connect, as [`password_with`](Self::password_with); its output without the
    /// last newline is the password.
    #[must_use]
    pub fn password_command(self, command: Secret) -> Self {
        Self { password_provider: Some(PasswordProvider::command(command)), ..self }
    }

    /// Looks into these variables instead of the process's.
    #[must_use]
    pub fn environment(self, environment: Environment) -> Self {
        Self { environment: Some(environment), ..self }
    }

    /// Fills in services, environment, defaults and the password file, and checks every value.
    ///
    /// # Errors
    /// `Config`, naming the option and never its value.
    pub fn build(mut self) -> Result<ConnectTarget> {
        let environment = self.environment.take().unwrap_or_else(Environment::of_process);
        self.params.fill(&environment)?;
        self.params.check_supported()?;
        let params = &self.params;
        choice(
            params,
            "client_encoding",
            &[("UTF8", ()), ("utf8", ()), ("UTF-8", ()), ("utf-8", ()), ("auto", ())],
        )?;

        let user = match params.get("user") {
            Some(user) => user.to_owned(),
            None => whoami::username().map_err(|_| {
                invalid("no user is given and the system's user has no name").with_hint("give \"user\"")
            })?,
        };
        let dbname = params.get("dbname").unwrap_or(&user).to_owned();
        let mut hosts = hosts(params)?;
        set_passwords(&mut hosts, params, &environment, &dbname, &user);
        let application_name = params
            .get("application_name")
            .or_else(|| params.get("fallback_application_name"))
            .map(str::to_owned);
        Ok(ConnectTarget {
            tls: tls(params, &environment, self.default_ssl_mode)?,
            hosts,
            user,
            options: options(params, &environment),
            application_name,
            target_session_attrs: choice(params, "target_session_attrs", SESSION_ATTRS)?
                .unwrap_or(self.default_session_attrs),
            password_provider: self.password_provider,
            shuffle_hosts: choice(params, "load_balance_hosts", &[("disable", false), ("random", true)])?
                .unwrap_or(false),
            connect_timeout: number(params, "connect_timeout")?.and_then(seconds),
            keepalive: Keepalive {
                enabled: number(params, "keepalives")? != Some(0),
                idle: number(params, "keepalives_idle")?.and_then(seconds),
                interval: number(params, "keepalives_interval")?.and_then(seconds),
                count: number(params, "keepalives_count")?.and_then(|count| u32::try_from(count).ok()),
            },
            tcp_user_timeout: number(params, "tcp_user_timeout")?
                .and_then(|millis| u64::try_from(millis).ok())
                .map(Duration::from_millis),
            dbname,
        })
    }
}

const SESSION_ATTRS: &[(&str, TargetSessionAttrs)] = &[
    ("any", TargetSessionAttrs::Any),
    ("read-write", TargetSessionAttrs::ReadWrite),
    ("read-only", TargetSessionAttrs::ReadOnly),
    ("primary", TargetSessionAttrs::Primary),
    ("standby", TargetSessionAttrs::Standby),
    ("prefer-standby", TargetSessionAttrs::PreferStandby),
];

const SSL_MODES: &[(&str, SslMode)] = &[
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

const CHANNEL_BINDINGS: &[(&str, ChannelBinding)] = &[
    ("disable", ChannelBinding::Disable),
    ("prefer", ChannelBinding::Prefer),
    ("require", ChannelBinding::Require),
];

const NEGOTIATIONS: &[(&str, SslNegotiation)] =
    &[("postgres", SslNegotiation::Postgres), ("direct", SslNegotiation::Direct)];

/// The word for one of the legal values.
fn word<T: PartialEq>(legal: &[(&'static str, T)], value: Option<T>) -> Option<&'static str> {
    legal.iter().find(|(_, meaning)| value.as_ref() == Some(meaning)).map(|(text, _)| *text)
}

const TLS_VERSIONS: &[(&str, TlsVersion)] = &[
    ("TLSv1", TlsVersion::Older),
    ("TLSv1.1", TlsVersion::Older),
    ("TLSv1.2", TlsVersion::Tls12),
    ("TLSv1.3", TlsVersion::Tls13),
];

/// The value among the legal ones.
fn choice<T: Copy>(params: &Params, name: &'static str, legal: &[(&str, T)]) -> Result<Option<T>> {
    let Some(value) = params.get(name) else { return Ok(None) };
    match legal.iter().find(|(text, _)| *text == value) {
        Some((_, meaning)) => Ok(Some(*meaning)),
        None => {
            let texts: Vec<&str> = legal.iter().map(|(text, _)| *text).collect();
            Err(invalid(format!("option \"{name}\" must be one of {}", texts.join(", "))))
        }
    }
}

fn number(params: &Params, name: &'static str) -> Result<Option<i64>> {
    params
        .get(name)
        .map(|value| {
            value.trim().parse().map_err(|_| invalid(format!("option \"{name}\" must be a whole number")))
        })
        .transpose()
}

/// Zero and less mean no setting, as in libpq.
fn seconds(count: i64) -> Option<Duration> {
    u64::try_from(count).ok().filter(|count| *count > 0).map(Duration::from_secs)
}

/// `host`, `hostaddr` and `port` side by side, as in libpq: as many of each as there are hosts, or one port for all.
fn hosts(params: &Params) -> Result<Vec<Host>> {
    let list = |name| params.get(name).map(|text| text.split(',').map(str::trim).collect::<Vec<_>>());
    let (names, addresses) = (list("host"), list("hostaddr"));
    let count = names.as_ref().or(addresses.as_ref()).map_or(1, Vec::len);
    if addresses.as_ref().is_some_and(|addresses| addresses.len() != count) {
        return Err(invalid(format!("\"hostaddr\" has not as many elements as \"host\" ({count})")));
    }
    let ports = list("port").unwrap_or_default();
    if ports.len() > 1 && ports.len() != count {
        return Err(invalid(format!("\"port\" has {} elements and \"host\" {count}", ports.len())));
    }
    (0..count)
        .map(|index| {
            let port = match ports.get(index).or(ports.first()) {
                None | Some(&"") => 5432,
                Some(text) => text
                    .parse()
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| invalid("\"port\" must be a number from 1 to 65535"))?,
            };
            let address = match addresses.as_ref().map(|addresses| addresses[index]) {
                None | Some("") => None,
                Some(text) => {
                    Some(text.parse().map_err(|_| invalid("\"hostaddr\" must be a numeric address"))?)
                }
            };
            let name = match names.as_ref().map(|names| names[index]).filter(|name| !name.is_empty()) {
                Some(name) if name.starts_with('@') => {
                    return Err(invalid("abstract sockets (\"host\" with @) are not supported"));
                }
                Some(name) => name.to_owned(),
                None => match &address {
                    Some(address) => format!("{address}"),
                    None => default_host(port),
                },
            };
            Ok(Host { name, address, port, password: None })
        })
        .collect()
}

/// The socket directory in which a server listens on that port, else `localhost`.
fn default_host(port: u16) -> String {
    let listens = |directory: &&str| Path::new(directory).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_DIRECTORIES.into_iter().find(listens).unwrap_or("localhost").to_owned()
}

/// The password for all hosts, else the password file's for each.
fn set_passwords(hosts: &mut [Host], params: &Params, environment: &Environment, dbname: &str, user: &str) {
    if let Some(password) = params.get("password") {
        hosts.iter_mut().for_each(|host| host.password = Some(Secret::new(password)));
        return;
    }
    let file = Passfile::read(params, environment);
    for host in hosts {
        let name = if SOCKET_DIRECTORIES.contains(&host.name.as_str()) { "localhost" } else { &host.name };
        host.password = file.password(name, host.port, dbname, user);
    }
}

/// The start-up options, with `PGTZ` in front of them as libpq has it.
fn options(params: &Params, environment: &Environment) -> Option<String> {
    let zone = environment
        .get("PGTZ")
        .map(|zone| format!("-c TimeZone={}", zone.replace('\\', "\\\\").replace(' ', "\\ ")));
    let given = params.get("options").map(str::to_owned);
    let all: Vec<String> = zone.into_iter().chain(given).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn tls(params: &Params, environment: &Environment, default: SslMode) -> Result<TlsSettings> {
    let given = choice(params, "sslmode", SSL_MODES)?;
    let root = match params.get("sslrootcert") {
        Some("system") => RootSource::System(environment.get("SSL_CERT_FILE").map(PathBuf::from)),
        Some(file) => RootSource::File(PathBuf::from(file)),
        None => RootSource::Default(environment.in_home(".postgresql/root.crt")),
    };
    let system = matches!(root, RootSource::System(_));
    let mode = given.unwrap_or(if system { SslMode::VerifyFull } else { default });
    if system && mode != SslMode::VerifyFull {
        return Err(invalid("\"sslrootcert=system\" needs \"sslmode=verify-full\""));
    }
    let negotiation = choice(params, "sslnegotiation", NEGOTIATIONS)?.unwrap_or_default();
    if negotiation == SslNegotiation::Direct && matches!(mode, SslMode::Allow | SslMode::Prefer) {
        return Err(invalid("\"sslnegotiation=direct\" needs \"sslmode=require\" or more"));
    }
    let channel_binding = choice(params, "channel_binding", CHANNEL_BINDINGS)?;
    let max = choice(params, "ssl_max_protocol_version", TLS_VERSIONS)?;
    if max == Some(TlsVersion::Older) {
        return Err(invalid(
            "\"ssl_max_protocol_version\" must be TLSv1.2 or TLSv1.3: older ones are unsafe",
        ));
    }
    let min = choice(params, "ssl_min_protocol_version", TLS_VERSIONS)?;
    if min == Some(TlsVersion::Tls13) && max == Some(TlsVersion::Tls12) {
        return Err(invalid("\"ssl_min_protocol_version\" is above \"ssl_max_protocol_version\""));
    }
    let file = |name, default: &str| match params.get(name) {
        Some(file) => Some(PathBuf::from(file)),
        None => environment.in_home(default).filter(|file| file.exists()),
    };
    Ok(TlsSettings {
        mode,
        negotiation,
        root,
        cert: file("sslcert", ".postgresql/postgresql.crt"),
        key: file("sslkey", ".postgresql/postgresql.key"),
        sni: choice(params, "sslsni", &[("0", false), ("1", true)])?.unwrap_or(true),
        only_tls13: min == Some(TlsVersion::Tls13),
        only_tls12: max == Some(TlsVersion::Tls12),
        channel_binding: channel_binding.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Use, resolve};

    const NASTY: &str = r"p@s/w?r#d%41 {x}'\";

    fn build(dsn: &str, environment: Environment) -> Result<ConnectTarget> {
        ConnectTarget::builder().dsn(dsn)?.environment(environment).build()
    }

    fn bare(dsn: &str) -> ConnectTarget {
        build(dsn, Environment::default()).unwrap()
    }

    fn refused(dsn: &str) -> String {
        build(dsn, Environment::default()).err().unwrap().to_string()
    }

    fn endpoints(target: &ConnectTarget) -> Vec<(&str, u16)> {
        target.hosts().collect()
    }

    #[test]
    fn b24_the_nasty_password_arrives_from_every_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pgpass");
        std::fs::write(&file, r"h:5432:d:u:p@s/w?r#d%41 {x}'\\").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let passfile = format!("host=h user=u dbname=d passfile='{}'", file.display());
        let from_environment = Environment::from([("PGPASSWORD", NASTY)]);
        let separate =
            ConnectTarget::builder().set("password", NASTY).unwrap().environment(Environment::default());
        for target in [
            bare("postgres://u:p%40s%2Fw%3Fr%23d%2541%20%7Bx%7D%27%5C@h/d"),
            bare(r"host=h user=u dbname=d password='p@s/w?r#d%41 {x}\'\\'"),
            bare(&passfile),
            build("host=h user=u dbname=d", from_environment).unwrap(),
            separate.build().unwrap(),
        ] {
            assert_eq!(target.password().unwrap().expose(), NASTY);
            assert!(!format!("{target:?}").contains("p@s"), "{target:?}");
        }
    }

    #[test]
    fn hosts_addresses_and_ports_stand_side_by_side() {
        let target = bare("host=a,b,c port=1,,3 user=u");
        assert_eq!(endpoints(&target), [("a", 1), ("b", 5432), ("c", 3)]);
        assert_eq!(endpoints(&bare("host=a,b port=7")), [("a", 7), ("b", 7)]);
        let target = bare("hostaddr=127.0.0.1,::1 host=a,b");
        assert_eq!(target.hosts[1].address, Some("::1".parse().unwrap()));
        assert_eq!(endpoints(&bare("hostaddr=::1")), [("::1", 5432)]);
        assert!(bare("postgres://%2Fvar%2Frun/d").hosts[0].is_socket());
        let listed =
            [Endpoint::new("::1", Some(5433)), Endpoint::new("/run/pg", None), Endpoint::new("h", None)];
        let target = ConnectTarget::builder().hosts(&listed).unwrap();
        let target = target.environment(Environment::default()).build().unwrap();
        assert_eq!(endpoints(&target), [("::1", 5433), ("/run/pg", 5432), ("h", 5432)]);
        for wrong in ["host=a,b port=1,2,3", "host=a,b hostaddr=::1", "port=0", "port=65536", "hostaddr=name"]
        {
            refused(wrong);
        }
    }

    #[test]
    fn a_ddl_names_the_target() {
        let ddl = [
            ("connector", "hologres"),
            ("endpoint", "h1:5433,[::1]:5434"),
            ("dbname", "shop"),
            ("tablename", "t"),
            ("username", "etl"),
            ("password", NASTY),
            ("connection.ssl.mode", "require"),
        ];
        let options = resolve(ddl.map(|(key, value)| (key.to_owned(), value.to_owned())), Use::Sink).unwrap();
        let target = ConnectTarget::of_options(&options).unwrap();
        assert_eq!(endpoints(&target), [("h1", 5433), ("::1", 5434)]);
        assert_eq!((target.dbname(), target.user()), ("shop", "etl"));
        assert_eq!(target.password().unwrap().expose(), NASTY);
        assert_eq!(target.ssl_mode(), SslMode::Require);
        assert_eq!(target.target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn tls_options_are_the_same_settings() {
        let options = TlsOptions::new().mode(SslMode::VerifyFull).root_cert("/r").cert("/c").key("/k");
        let given = ConnectTarget::builder().tls(&options).unwrap().environment(Environment::default());
        let parsed = bare("sslmode=verify-full sslrootcert=/r sslcert=/c sslkey=/k");
        assert_eq!(given.build().unwrap().tls, parsed.tls);
        let system = ConnectTarget::builder().tls(&TlsOptions::new().system_roots(true)).unwrap();
        assert_eq!(
            system.environment(Environment::default()).build().unwrap().tls,
            bare("sslrootcert=system").tls
        );
    }

    #[test]
    fn values_that_cannot_be_right_are_refused_without_being_shown() {
        for (dsn, name) in [
            ("sslmode=secret", "sslmode"),
            ("target_session_attrs=secret", "target_session_attrs"),
            ("connect_timeout=secret", "connect_timeout"),
            ("client_encoding=secret", "client_encoding"),
            ("requirepeer=secret", "requirepeer"),
            ("sslcrl=secret", "sslcrl"),
            ("gssencmode=require", "gssencmode"),
            ("replication=database", "replication"),
            ("sslmode=require sslrootcert=system", "sslrootcert"),
            ("sslnegotiation=direct", "sslnegotiation"),
        ] {
            let error = refused(dsn);
            assert!(error.contains(name) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn defaults_are_libpqs() {
        let target =
            build("user=u", Environment::from([("PGTZ", "Europe/Berlin"), ("PGOPTIONS", "-c a=b")])).unwrap();
        assert_eq!(target.dbname(), "u");
        assert_eq!(target.ssl_mode(), SslMode::Prefer);
        assert_eq!(target.options(), Some("-c TimeZone=Europe/Berlin -c a=b"));
        assert_eq!(target.target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(bare("fallback_application_name=f").application_name(), Some("f"));
        let declared = ConnectTarget::builder().default_ssl_mode(SslMode::Disable);
        assert_eq!(
            declared.environment(Environment::default()).build().unwrap().ssl_mode(),
            SslMode::Disable
        );
        let required = build("", Environment::from([("PGREQUIRESSL", "1")])).unwrap();
        assert_eq!(required.ssl_mode(), SslMode::Require);
        assert_eq!(bare("sslrootcert=system").ssl_mode(), SslMode::VerifyFull);
        assert_eq!(bare("tcp_user_timeout=1500").tcp_user_timeout, Some(Duration::from_millis(1500)));
    }
}
