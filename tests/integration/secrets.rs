//! The password is nowhere to be seen: errors, causes, Debug, logs at the finest level.

use std::error::Error as _;
use std::io;
use std::sync::{Mutex, OnceLock};

use pgsluice::connection::{ConnectTarget, Environment, Pool, PoolOptions, connect};
use pgsluice::options::{Use, WriteOptions, resolve, split_pair};
use pgsluice::sink::Sink;
use pgsluice::{Error, ErrorKind};
use pgsluice_testcontainers::{Options, Server};
use tokio_postgres::NoTls;

const NASTY: &str = r"p@s/w?r#d%41 {x}'\";
const IN_URL: &str = "p%40s%2Fw%3Fr%23d%2541%20%7Bx%7D%27%5C";

/// Pieces that nothing but the password has.
const PIECES: [&str; 6] = ["p@s", "w?r#d", "r#d", "d%41", "{x}'", IN_URL];

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Takes down what this crate and those below it log.
struct Taken;

impl io::Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl log::Log for Taken {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {}: {}\n", record.level(), record.target(), record.args());
        LOG.lock().unwrap().extend_from_slice(line.as_bytes());
    }

    fn flush(&self) {}
}

fn take_down_logs() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        log::set_logger(&Taken).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(|| Taken).init();
    });
}

#[track_caller]
fn clean(what: &str, text: &str) {
    for piece in PIECES {
        assert!(!text.contains(piece), "{what} shows {piece:?}: {text}");
    }
}

/// The error, its Debug, and each cause in both forms.
#[track_caller]
fn clean_error(what: &str, error: &Error) {
    clean(what, &format!("{error} {error:?} {error:#?} {}", error.message()));
    let mut cause = error.source();
    while let Some(current) = cause {
        clean(what, &format!("{current} {current:?}"));
        cause = current.source();
    }
}

#[tokio::test]
async fn b24_the_nasty_password_is_in_no_error_no_debug_and_no_log() {
    take_down_logs();
    let server = Server::own(Options::new()).await;
    let (admin, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = format!(
        "create role nasty login superuser password '{}'; create role other login password 'x'; create table t(id int)",
        NASTY.replace('\'', "''")
    );
    admin.batch_execute(&sql).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let passfile = folder.path().join("pgpass");
    std::fs::write(&passfile, format!("*:*:*:*:{}\n", NASTY.replace('\\', "\\\\"))).unwrap();
    let stored = folder.path().join("stored");
    std::fs::write(&stored, format!("{NASTY}\n")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let port = server.port();
    let services = folder.path().join("services");
    std::fs::write(&services, format!("[nasty]\nhost=127.0.0.1\nport={port}\npassword={NASTY}\n")).unwrap();

    // Every form, for a role, a database and a port that are right or wrong.
    let quoted = NASTY.replace('\\', "\\\\").replace('\'', "\\'");
    let forms = |user: &str, dbname: &str, port: u16| -> Vec<ConnectTarget> {
        let words = format!("host=127.0.0.1 port={port} user={user} dbname={dbname} connect_timeout=20");
        let build = |dsn: &str, environment: Environment| {
            ConnectTarget::builder().dsn(dsn).unwrap().environment(environment).build().unwrap()
        };
        let ddl = [
            ("connector", "postgres"),
            ("endpoint", &*format!("127.0.0.1:{port}")),
            ("dbname", dbname),
            ("tablename", "t"),
            ("username", user),
            ("password", NASTY),
            ("connection.ssl.mode", "require"),
        ];
        let options = resolve(ddl.map(|(key, value)| (key.to_owned(), value.to_owned())), Use::Sink).unwrap();
        clean("resolved options", &format!("{options:?}"));
        let bare = || ConnectTarget::builder().environment(Environment::default()).dsn(&words).unwrap();
        let command = format!("cat '{}'", stored.display());
        vec![
            build(&format!("postgres://{user}:{IN_URL}@127.0.0.1:{port}/{dbname}"), Environment::default()),
            build(
                &format!("postgres://127.0.0.1:{port}/{dbname}?user={user}&password={IN_URL}"),
                Environment::default(),
            ),
            build(&format!("{words} password='{quoted}'"), Environment::default()),
            build(&words, Environment::from([("PGPASSWORD", NASTY)])),
            build(&words, Environment::from([("PGPASSFILE", passfile.to_str().unwrap())])),
            build(
                &format!("service=nasty port={port} user={user} dbname={dbname}"),
                Environment::from([("PGSERVICEFILE", services.to_str().unwrap())]),
            ),
            bare().set("password", NASTY).unwrap().build().unwrap(),
            bare().password_command(command.into()).build().unwrap(),
            bare().password_with(async || Ok::<_, io::Error>(NASTY.into())).build().unwrap(),
            ConnectTarget::of_options(&options).unwrap(),
        ]
    };
    let options = PoolOptions::named("secrets");
    for target in forms("nasty", "postgres", port) {
        clean("target", &format!("{target:?} {target:#?}"));
        let pool = Pool::open_target(target, options.clone()).await.unwrap();
        clean("pool", &format!("{pool:?} {pool:#?}"));
        let session = pool.get().await.unwrap();
        let user: String = session.query_one("select current_user::text", &[]).await.unwrap().get(0);
        assert_eq!(user, "nasty");
        let failed = session.batch_execute("select no_such_column").await.unwrap_err();
        clean_error("a failed statement", &session.failure("look", &failed));
        drop(session);
        clean_error(
            "a table that is not there",
            &Sink::open(&pool, "no_such", Default::default()).await.unwrap_err(),
        );
        pool.close().await;
    }
    for (what, user, dbname, port, kind) in [
        ("a database that is not there", "nasty", "no_such", port, ErrorKind::Authentication),
        ("a role that is not there", "nobody", "postgres", port, ErrorKind::Authentication),
        ("a wrong password", "other", "postgres", port, ErrorKind::Authentication),
        ("a port where nothing listens", "nasty", "postgres", 1, ErrorKind::Connection),
    ] {
        for target in forms(user, dbname, port) {
            let error = connect(&target, &options).await.err().expect(what);
            assert_eq!(error.kind(), kind, "{what}: {error}");
            clean_error(what, &error);
        }
    }

    // Strings that are broken because the password was pasted as it is.
    for dsn in [
        format!("postgres://nasty:{NASTY}@127.0.0.1:{port}/postgres"),
        format!("postgres://nasty:{NASTY}/postgres"),
        format!("host=127.0.0.1 user=nasty password={NASTY}"),
        format!("host=127.0.0.1 user=nasty password='{NASTY}'"),
        format!("host=127.0.0.1 {NASTY}=1"),
        format!("postgres://h/d?{IN_URL}=1"),
        format!("host=h password='{quoted}' sslmode={NASTY}"),
        format!("postgres://nasty:{IN_URL}@h/d?nonsense=1"),
    ] {
        if let Err(error) = ConnectTarget::parse(&dsn) {
            clean_error("a broken DSN", &error);
        }
    }
    clean_error("a pair without =", &split_pair(NASTY).unwrap_err());
    for pairs in [[("password", NASTY)], [("connection.password-command", NASTY)]] {
        match WriteOptions::from_map(pairs) {
            Ok(options) => clean("options", &format!("{options:?}")),
            Err(error) => clean_error("options", &error),
        }
    }

    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "nothing was logged: {log}");
    for line in log.lines() {
        // What this test itself sent as a statement is the library's to log.
        if !line.contains("create role nasty") {
            clean("the log", line);
        }
    }
}
