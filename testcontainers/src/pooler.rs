//! PgBouncer in transaction mode before a server.
//!
//! Its shell ends it when the test's process, or the value, is gone: it reads from a pipe that nobody else holds.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::control::{connect, version_at};
use crate::docker;
use crate::launch::free_port;
use crate::local::as_server_user;
use crate::runtime::aside;
use crate::server::Server;
use crate::url::ServerUrl;

/// Its packages: 1.24 in the image that has PostgreSQL 17. Older ones know no `max_prepared_statements`.
const IMAGE: u32 = 17;

const NO_LOGIN: &str = "the server's URL has no user and password";

const START: Duration = Duration::from_secs(30);

/// `$1` is the configuration and `$2` who may log in; the rest is the program.
const SCRIPT: &str = r#"
d=$(mktemp -d) && printf '%s\n' "$1" >"$d/ini" && printf '%s\n' "$2" >"$d/users" || exit 1
shift 2
cd "$d" || exit 1
"$@" "$d/ini" >"$d/log" 2>&1 &
read -r _
cat "$d/log" >&2
kill -KILL $!
rm -rf "$d"
"#;

/// A PgBouncer; it ends with this value.
#[derive(Debug)]
pub struct Pooler {
    child: Child,
    url: ServerUrl,
}

impl Pooler {
    /// PgBouncer in transaction mode, with so many connections to the server for each database and user, and its
    /// `max_prepared_statements`, where it knows that.
    ///
    /// # Panics
    ///
    /// If there is none and it cannot be started; the message says what to install.
    pub async fn before(server: &Server, pool_size: usize, max_prepared_statements: usize) -> Self {
        let (host, port, url) = (server.host.clone(), server.port, server.url.clone());
        let container = server.container();
        let start =
            move || start(&host, port, &url, container.as_deref(), pool_size, max_prepared_statements);
        match aside(start).await {
            Ok(pooler) => pooler,
            Err(error) => panic!("{error}"),
        }
    }

    /// The URL of a database of the server, by way of the pooler. Without TLS.
    pub fn url(&self, database: &str) -> String {
        self.url.database_with(database, "sslmode=disable")
    }

    /// The rows of one of its own tables (`STATS`, `SERVERS`, …), each as `column=value` and blanks.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub async fn show(&self, what: &str) -> Vec<String> {
        let client = connect(&self.url("pgbouncer")).await.unwrap_or_else(|error| panic!("{error}"));
        let messages = client.simple_query(&format!("SHOW {what}")).await;
        let messages = messages.unwrap_or_else(|error| panic!("SHOW {what}: {error:?}"));
        let row = |message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                let cells = row.columns().iter().enumerate();
                let cells =
                    cells.map(|(at, column)| format!("{}={}", column.name(), row.get(at).unwrap_or("")));
                Some(cells.collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn start(
    host: &str,
    port: u16,
    url: &ServerUrl,
    container: Option<&str>,
    pool_size: usize,
    prepared: usize,
) -> Result<Pooler, String> {
    let own_port = free_port()?;
    let (user, password) = url.login().ok_or(NO_LOGIN)?;
    let (program, image, version) = match container {
        Some(_) => {
            let (name, tag) = docker::own_image(IMAGE)?;
            (PathBuf::from("pgbouncer"), Some(format!("{name}:{tag}")), (1, 24))
        }
        None => {
            let program = local().ok_or(
                "no PgBouncer: install it (on Debian: apt-get install pgbouncer), or test with containers",
            )?;
            let version = version(&program)?;
            (program, None, version)
        }
    };
    let mut settings = vec![
        ("listen_addr", if image.is_some() { "*" } else { "127.0.0.1" }.to_owned()),
        ("listen_port", if image.is_some() { 6432 } else { own_port }.to_string()),
        ("unix_socket_dir", String::new()),
        ("auth_type", "scram-sha-256".to_owned()),
        ("auth_file", "users".to_owned()),
        ("admin_users", user.to_owned()),
        ("pool_mode", "transaction".to_owned()),
        ("default_pool_size", pool_size.to_string()),
        ("max_client_conn", "500".to_owned()),
        // Databases are dropped by the tests, which its idle connections would hold up.
        ("server_idle_timeout", "5".to_owned()),
    ];
    if version >= (1, 21) {
        settings.push(("max_prepared_statements", prepared.to_string()));
    }
    let (host, port) = match container {
        Some(name) => (docker::address(name)?, 5432),
        None => (host.to_owned(), port),
    };
    let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let config = format!("[databases]\n* = host={host} port={port}\n[pgbouncer]\n{}", settings.join("\n"));
    let users = format!("\"{user}\" \"{password}\"");
    let mut command = match &image {
        Some(image) => {
            let mut command = Command::new("docker");
            command.args(["run", "--rm", "--interactive", "--user", "postgres", "--publish"]);
            command.arg(format!("127.0.0.1:{own_port}:6432")).arg(image).arg("sh");
            command
        }
        None => as_server_user(Path::new("sh"))?,
    };
    command.args(["-c", SCRIPT, "sh", &config, &users]).arg(&program);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|e| format!("PgBouncer: {e}"))?;
    let url = url.at("127.0.0.1", own_port).ok_or(NO_LOGIN)?;
    Pooler { child, url }.wait_until_ready()
}

impl Pooler {
    fn wait_until_ready(mut self) -> Result<Self, String> {
        let url = self.url.database_with("postgres", "sslmode=disable");
        let deadline = Instant::now() + START;
        loop {
            let error = match version_at(&url) {
                Ok(_) => return Ok(self),
                Err(error) => error,
            };
            if Instant::now() > deadline || !matches!(self.child.try_wait(), Ok(None)) {
                drop(self.child.stdin.take());
                let told = std::io::read_to_string(self.child.stderr.take().ok_or("no output")?);
                return Err(format!("PgBouncer does not answer: {error}\n{}", told.unwrap_or_default()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn local() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    directories.map(|directory| directory.join("pgbouncer")).find(|program| program.is_file())
}

/// `PgBouncer 1.18.0`, on the first line.
fn version(program: &Path) -> Result<(u32, u32), String> {
    let output = Command::new(program).arg("--version").output().map_err(|e| format!("pgbouncer: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Ok((major, minor)),
        _ => Err(format!("pgbouncer --version says {text:?}")),
    }
}
