//! The TLS modes against a real server whose certificates change, our answer beside psql's: docs/tls.md.

mod authority;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pgsluice::connection::{ConnectTarget, Environment, PoolOptions, connect};
use pgsluice::options::{ChannelBinding, SslMode, SslNegotiation, TlsOptions};
use pgsluice::{ErrorKind, Result};
use pgsluice_testcontainers::{CERTIFICATE_ROLE, Options, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Client, NoTls};

use authority::{Authority, Certified, Kind};

const DEADLINE: Duration = Duration::from_secs(20);

const MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

/// What the document says around the table.
const HEAD: &str = "# TLS

What becomes of a connection in each mode of `connection.ssl.mode` (`sslmode`, `PGSSLMODE`), against a server that takes
both encrypted and plain sessions. The integration tests make this table anew at each run, from servers with these
certificates, and fail where it has changed; each cell is also psql's own answer, and where psql says something else, both
are shown.

- **TLS**: an encrypted session.
- **plain**: a session in plain text.
- **refused**: an error, and no session.

";

const TAIL: &str = "
A root certificate that is given is always used: `require` checks the chain then, and so do `allow` and `prefer` once they
encrypt. `prefer` falls back to plain text where the server has no TLS, or refuses the encrypted login by its rules; never
because a check failed, where libpq does. `verify-ca` and `verify-full` without a root are an error, never something weaker.

An Ed25519 certificate names no hash that a password's proof could be bound to; libpq gives up there, pgsluice logs in without
channel binding unless `connection.ssl.channel-binding=require`.

A certificate whose key is itself of the type RSA-PSS is refused: rustls has no such keys. RSA keys whose certificates are
signed by RSA-PSS work.

The files are read at each connect, so renewed ones count without a restart. Keys:
`connection.ssl.root-cert.location`, `connection.ssl.system-roots`, `connection.ssl.cert`, `connection.ssl.key`,
`connection.ssl.channel-binding`, `connection.ssl.negotiation`: see [the options](options.md).
";

/// One line of the table.
struct Case<'a> {
    words: &'static str,
    server: &'a Certified,
    root: Option<&'a Path>,
    host: &'static str,
    client: Login<'a>,
}

/// Who logs in.
#[derive(Clone, Copy)]
enum Login<'a> {
    Password,
    /// The role whose every login needs a certificate, with one or without.
    Certificate(Option<&'a Certified>),
}

/// A server whose certificates can be changed.
struct Changing {
    server: Server,
    admin: Client,
    password: String,
}

impl Changing {
    /// `authority` is who the server takes client certificates from.
    async fn start(authority: &Path) -> Self {
        // Settings of the command line cannot be changed later.
        let options = Options::new()
            .without_tls()
            .hba(&format!("hostssl all {CERTIFICATE_ROLE} all cert"))
            .hba(&format!("hostnossl all {CERTIFICATE_ROLE} all reject"));
        let server = Server::own(options).await;
        let (admin, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
        tokio::spawn(connection);
        let target = ConnectTarget::parse(&server.url("postgres")).unwrap();
        let password = target.password().unwrap().expose().to_owned();
        let changing = Self { server, admin, password };
        changing.put("clients.crt", authority).await;
        changing.set("ssl_ca_file", "clients.crt").await;
        changing
    }

    /// Puts a file into the data directory.
    async fn put(&self, name: &str, file: &Path) {
        let hex: String = std::fs::read(file).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        // Through the server itself: where its files lie is not the same everywhere.
        let sql = format!(
            "copy (select encode(decode('{hex}', 'hex'), 'base64')) to program \
             'umask 077; sed ''s/\\\\n//g'' | base64 -d > {name}'"
        );
        self.admin.batch_execute(&sql).await.unwrap();
    }

    async fn set(&self, name: &str, value: &str) {
        self.admin.batch_execute(&format!("alter system set {name} = '{value}'")).await.unwrap();
    }

    /// Makes the server read its settings and certificates, and waits until it has.
    async fn reload(&self) {
        let loaded = "select pg_conf_load_time()::text";
        let before: String = self.admin.query_one(loaded, &[]).await.unwrap().get(0);
        self.admin.batch_execute("select pg_reload_conf()").await.unwrap();
        let end = Instant::now() + DEADLINE;
        while self.admin.query_one(loaded, &[]).await.unwrap().get::<_, String>(0) == before {
            assert!(Instant::now() < end, "the server does not reload");
            sleep(Duration::from_millis(5)).await;
        }
    }

    async fn present(&self, certified: &Certified) {
        self.put("server.crt", &certified.certificate).await;
        self.put("server.key", &certified.key).await;
        self.set("ssl_cert_file", "server.crt").await;
        self.set("ssl_key_file", "server.key").await;
        self.set("ssl", "on").await;
        self.reload().await;
    }

    async fn without_tls(&self) {
        self.set("ssl", "off").await;
        self.reload().await;
    }

    /// The settings of one connect, as keyword and value.
    fn settings(&self, case: &Case<'_>) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("host", case.host.to_owned()),
            ("hostaddr", "127.0.0.1".to_owned()),
            ("port", self.server.port().to_string()),
            ("dbname", "postgres".to_owned()),
            ("password", self.password.clone()),
        ];
        settings.push((
            "user",
            match case.client {
                Login::Password => "postgres".to_owned(),
                Login::Certificate(_) => CERTIFICATE_ROLE.to_owned(),
            },
        ));
        settings
    }
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

const ENCRYPTED: &str = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

/// Whether our session is encrypted.
async fn ours(settings: &[(&str, String)], tls: &TlsOptions) -> Result<bool> {
    let mut builder = ConnectTarget::builder().environment(Environment::default()).tls(tls)?;
    for (keyword, value) in settings {
        builder = builder.set(keyword, value)?;
    }
    let connection = connect(&builder.build()?, &PoolOptions::new().connect_timeout(DEADLINE)).await?;
    let encrypted = connection.query_one(ENCRYPTED, &[]).await.unwrap().get(0);
    connection.close().await;
    Ok(encrypted)
}

/// The same of psql.
fn psqls(settings: &[(&str, String)], mode: &str, case: &Case<'_>, home: &Path) -> Option<bool> {
    let mut settings = settings.to_vec();
    settings.push(("sslmode", mode.to_owned()));
    if let Some(root) = case.root {
        settings.push(("sslrootcert", path(root)));
    }
    if let Login::Certificate(Some(certified)) = case.client {
        settings.push(("sslcert", path(&certified.certificate)));
        settings.push(("sslkey", path(&certified.key)));
    }
    let words: Vec<String> = settings.iter().map(|(keyword, value)| format!("{keyword}='{value}'")).collect();
    let output = Command::new("psql")
        .args(["-X", "-A", "-t", "-c", ENCRYPTED])
        .arg(words.join(" "))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .output()
        .unwrap_or_else(|error| {
            panic!("psql: {error}: install it (Debian: apt-get install postgresql-client)")
        });
    match String::from_utf8_lossy(&output.stdout).trim() {
        "t" => Some(true),
        "f" => Some(false),
        _ => None,
    }
}

fn outcome(encrypted: Option<bool>) -> &'static str {
    match encrypted {
        Some(true) => "TLS",
        Some(false) => "plain",
        None => "refused",
    }
}

/// The cells of a case, one a mode.
async fn cells(changing: &Changing, case: &Case<'_>, home: &Path) -> Vec<String> {
    let settings = changing.settings(case);
    let mut cells = Vec::new();
    for (name, mode) in MODES {
        let mut tls = TlsOptions::new().mode(mode);
        if let Some(root) = case.root {
            tls = tls.root_cert(root);
        }
        if let Login::Certificate(Some(certified)) = case.client {
            tls = tls.cert(&certified.certificate).key(&certified.key);
        }
        let answer = ours(&settings, &tls).await;
        if let Err(error) = &answer {
            assert!(
                matches!(
                    error.kind(),
                    ErrorKind::Authentication | ErrorKind::Unsupported | ErrorKind::Config
                ),
                "{} {name}: {error:?}",
                case.words
            );
            assert!(!format!("{error:?}").contains(&changing.password), "{error:?}");
        }
        let ours = outcome(answer.ok());
        let psqls = outcome(psqls(&settings, name, case, home));
        cells.push(if ours == psqls { ours.to_owned() } else { format!("{ours} (psql: {psqls})") });
    }
    cells
}

#[tokio::test]
async fn b23_h_l06_every_mode_against_every_certificate_as_psql_answers() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let rsa = Authority::new(Kind::Rsa, folder.path(), "rsa");
    let other = Authority::new(Kind::P256, folder.path(), "other");
    let right = rsa.sign("server", "db.test", "DNS:db.test, IP:127.0.0.1");
    let named = rsa.sign("named", "db.test", "DNS:db.test");
    let expired = rsa.expired("expired", &right);
    let first_version = rsa.version_1("version_1", &right);
    let own_root = other.self_signed("own_root", "db.test");
    let client = rsa.sign("client", CERTIFICATE_ROLE, &format!("DNS:{CERTIFICATE_ROLE}"));
    let kinds = [
        ("RSA keys, RSA-PSS signatures", Kind::RsaPss),
        ("RSA-PSS keys", Kind::RsaPssKey),
        ("ECDSA P-256", Kind::P256),
        ("ECDSA P-384", Kind::P384),
        ("Ed25519", Kind::Ed25519),
    ]
    .map(|(words, kind)| {
        let authority = Authority::new(kind, folder.path(), &format!("{kind:?}"));
        let server = authority.sign("server", "db.test", "DNS:db.test");
        (words, authority, server)
    });

    let root: PathBuf = rsa.own.certificate.clone();
    let case = |words, server, root, host| Case { words, server, root, host, client: Login::Password };
    let mut cases = vec![
        case("right root (RSA)", &right, Some(root.as_path()), "db.test"),
        case("wrong root", &right, Some(other.own.certificate.as_path()), "db.test"),
        case("no root", &right, None, "db.test"),
        case("another name", &right, Some(root.as_path()), "other.test"),
        case("an address that the certificate names", &right, Some(root.as_path()), "127.0.0.1"),
        case("an address that it does not name", &named, Some(root.as_path()), "127.0.0.1"),
        case("expired", &expired, Some(root.as_path()), "db.test"),
        case("expired, no root", &expired, None, "db.test"),
        case("X.509 version 1", &first_version, Some(root.as_path()), "db.test"),
        case("X.509 version 1, no root", &first_version, None, "db.test"),
        case("self-signed, and its own root", &own_root, Some(own_root.certificate.as_path()), "db.test"),
    ];
    for (words, authority, server) in &kinds {
        cases.push(case(words, server, Some(authority.own.certificate.as_path()), "db.test"));
    }
    for (words, with) in [
        ("client certificate demanded, given", Some(&client)),
        ("client certificate demanded, none given", None),
    ] {
        let client = Login::Certificate(with);
        cases.push(Case { client, ..case(words, &right, Some(root.as_path()), "db.test") });
    }

    let changing = Changing::start(&rsa.own.certificate).await;
    let mut document = HEAD.to_owned();
    let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
    writeln!(document, "| server | {} |", names.join(" | ")).unwrap();
    writeln!(document, "|---|{}", "---|".repeat(MODES.len())).unwrap();
    for case in &cases {
        changing.present(case.server).await;
        let cells = cells(&changing, case, &home).await;
        writeln!(document, "| {} | {} |", case.words, cells.join(" | ")).unwrap();
    }
    changing.without_tls().await;
    let plain = case("no TLS", &right, Some(root.as_path()), "db.test");
    let cells = cells(&changing, &plain, &home).await;
    writeln!(document, "| {} | {} |", plain.words, cells.join(" | ")).unwrap();
    document.push_str(TAIL);

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tls.md");
    if std::env::var_os("PGSLUICE_BLESS").is_some() {
        std::fs::write(&file, &document).unwrap();
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stored == document,
        "docs/tls.md is stale: run this test with PGSLUICE_BLESS=1 and look at what changed:\n{document}"
    );
}

/// A way to the server that keeps the first byte of each connection.
async fn listening_proxy(port: u16) -> (u16, tokio::sync::mpsc::UnboundedReceiver<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own_port = listener.local_addr().unwrap().port();
    let (told, first_bytes) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            let mut outer = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let told = told.clone();
            tokio::spawn(async move {
                let first = inner.read_u8().await.unwrap();
                told.send(first).unwrap();
                outer.write_u8(first).await.unwrap();
                let _ = copy_bidirectional(&mut inner, &mut outer).await;
            });
        }
    });
    (own_port, first_bytes)
}

#[tokio::test]
async fn negotiation_direct_begins_with_tls_from_version_17_on() {
    /// The content type of a TLS handshake; a request in plain text begins with its length.
    const HANDSHAKE: u8 = 0x16;
    let server = Server::own(Options::new()).await;
    let (port, mut first_bytes) = listening_proxy(server.port()).await;
    let base = ConnectTarget::parse(&server.url("postgres")).unwrap();
    let attempt = async |negotiation| {
        let tls = TlsOptions::new()
            .mode(SslMode::VerifyFull)
            .root_cert(server.authority())
            .channel_binding(ChannelBinding::Require)
            .negotiation(negotiation);
        let settings = [
            ("host", "127.0.0.1".to_owned()),
            ("port", port.to_string()),
            ("dbname", "postgres".to_owned()),
            ("user", "postgres".to_owned()),
            ("password", base.password().unwrap().expose().to_owned()),
        ];
        timeout(DEADLINE, ours(&settings, &tls)).await.unwrap()
    };
    assert!(attempt(SslNegotiation::Postgres).await.unwrap());
    assert_eq!(first_bytes.recv().await, Some(0));
    let direct = attempt(SslNegotiation::Direct).await;
    assert_eq!(first_bytes.recv().await, Some(HANDSHAKE));
    if server.version() >= 17 {
        assert!(direct.unwrap());
    } else {
        // An older server takes the handshake for a request of an absurd length and closes.
        assert_eq!(direct.unwrap_err().kind(), ErrorKind::Connection);
    }
}
