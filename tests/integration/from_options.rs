//! Sinks from the strings of a connector's options alone, and passwords that are asked for at each connect.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgsluice::connection::{ConnectTarget, Pool, PoolOptions, Secret};
use pgsluice::options::{Use, WriteOptions, resolve};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, Result, RowKind, Value};
use pgsluice_testcontainers::{Database, Options, Server};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Client, NoTls};

const DEADLINE: Duration = Duration::from_secs(20);

async fn admin(server: &Server) -> Client {
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The options of a table `t`, over the ones that say where it is.
fn ddl(target: &ConnectTarget, more: &[(&str, &str)]) -> Vec<(String, String)> {
    let (host, port) = target.hosts().next().unwrap();
    let mut map = vec![
        ("connector".to_owned(), "postgres".to_owned()),
        ("endpoint".to_owned(), format!("{host}:{port}")),
        ("dbname".to_owned(), target.dbname().to_owned()),
        ("tablename".to_owned(), "t".to_owned()),
        ("username".to_owned(), target.user().to_owned()),
    ];
    if let Some(password) = target.password() {
        map.push(("password".to_owned(), password.expose().to_owned()));
    }
    for (key, value) in more {
        map.retain(|(other, _)| other != key);
        map.push(((*key).to_owned(), (*value).to_owned()));
    }
    map
}

async fn write_one(sink: &Sink, id: i32) {
    sink.write_values(RowKind::Insert, &[("id", Value::Int(id.into()))]).await.unwrap();
    sink.flush().await.unwrap();
}

async fn count(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn f_a99_f_a100_a_map_of_strings_opens_writes_and_names_itself() {
    let database = Database::new().await;
    let client = database.client().await;
    client.batch_execute("create table t(id int primary key)").await.unwrap();
    let target = ConnectTarget::parse(&database.url()).unwrap();
    let (host, port) = target.hosts().next().unwrap();
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = unused.local_addr().unwrap().port();
    drop(unused);
    let id = format!("a99_{}", "x".repeat(60));
    let map: Vec<(String, String)> = ddl(
        &target,
        &[
            ("connector", "fluss"),
            ("client.id", &id),
            ("client.connect-timeout", "15s"),
            ("connection.pool.name", "a99"),
        ],
    )
    .into_iter()
    .map(|(key, value)| match key.as_str() {
        "endpoint" => ("bootstrap.servers".to_owned(), format!("127.0.0.1:{dead},{host}:{port}")),
        _ => (key, value),
    })
    .collect();
    let sink = timeout(Duration::from_secs(15), Sink::from_options(map)).await.unwrap().unwrap();
    write_one(&sink, 1).await;
    let shown = format!("select count(*) from pg_stat_activity where application_name = '{}'", &id[..63]);
    assert_eq!(count(&client, &shown).await, 1);
    assert_eq!(count(&client, "select count(*) from t").await, 1);
    sink.close().await.unwrap();
    assert_eq!(sink.flush().await.unwrap_err().kind(), ErrorKind::Closed);
    // The pool goes with its last sink.
    drop(sink);
    let end = Instant::now() + DEADLINE;
    while count(&client, &shown).await > 0 {
        assert!(Instant::now() < end, "the pool's backend is still there");
        sleep(Duration::from_millis(20)).await;
    }

    let error = Sink::from_options([("connector", "postgres"), ("sink.no-such", "1")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    for words in ["`sink.no-such`", "`dbname` is required", "`tablename` is required"] {
        assert!(error.message().contains(words), "{error}");
    }
    let error = Sink::from_options(ddl(&target, &[("tablename", "no_such_table")])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// The server at another address of this machine.
async fn relay(server: u16) -> String {
    let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            let mut outer = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut inner, &mut outer).await.is_ok() });
        }
    });
    address
}

#[tokio::test]
async fn h_l06_f_a100_tls_from_strings_and_a_lone_standby_is_an_error() {
    let server = Server::own(Options::new()).await;
    let client = admin(&server).await;
    client.batch_execute("create table t(id int primary key)").await.unwrap();
    let target = ConnectTarget::parse(&server.url("postgres")).unwrap();
    let root = server.authority().display().to_string();
    let verified =
        [("connection.ssl.mode", "verify-full"), ("connection.ssl.root-cert.location", root.as_str())];
    let named = |name: &'static str| [("connection.pool.name", name), ("client.id", name)];
    let sink = Sink::from_options(ddl(
        &target,
        &[
            &verified[..],
            &named("l06"),
            &[("bucket.num", "3"), ("connection.ssl.channel-binding", "require")],
        ]
        .concat(),
    ))
    .await
    .unwrap();
    for id in 0..3000 {
        sink.write_values(RowKind::Insert, &[("id", Value::Int(id.into()))]).await.unwrap();
    }
    sink.flush().await.unwrap();
    let of_pool = "from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'l06'";
    assert!(count(&client, &format!("select count(*) {of_pool}")).await >= 1);
    assert_eq!(count(&client, &format!("select count(*) {of_pool} and not ssl")).await, 0);
    sink.close().await.unwrap();

    let no_root =
        Sink::from_options(ddl(&target, &[("connection.ssl.mode", "verify-full")])).await.unwrap_err();
    assert_eq!(no_root.kind(), ErrorKind::Config);
    assert!(no_root.to_string().contains("connection.ssl.root-cert.location"), "{no_root}");
    // The same server under an address that its certificate does not name.
    let relay = relay(server.port()).await;
    let wrong_host = [&verified[..], &[("endpoint", relay.as_str())]].concat();
    let wrong = Sink::from_options(ddl(&target, &wrong_host)).await.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Authentication, "{wrong}");
    assert!(wrong.message().contains("certificate"), "{wrong}");

    // A server that only replays: restarted with the mark of a standby, and without a primary.
    client.batch_execute("copy (select) to program 'touch standby.signal'").await.unwrap();
    drop(client);
    server.restart().await;
    let lone = Sink::from_options(ddl(&target, &named("standby"))).await.unwrap_err();
    assert_eq!(lone.kind(), ErrorKind::Connection);
    assert!(lone.to_string().contains("read-only"), "{lone}");
    assert!(lone.is_retryable());
    let any = [&named("any")[..], &[("connection.target-session-attrs", "any")]].concat();
    Sink::from_options(ddl(&target, &any)).await.unwrap();
    // A load asks for a server that takes writes where neither its options nor its DSN say otherwise.
    let write = |pairs: &[(&str, &str)]| WriteOptions::from_map(pairs.iter().copied()).unwrap();
    let pool = async |dsn: &str, write: &WriteOptions| -> Result<Pool> {
        Pool::open_target(ConnectTarget::of_write_options(dsn, write)?, write.pool.clone()).await
    };
    let url = server.url("postgres");
    assert!(pool(&url, &write(&[])).await.unwrap_err().to_string().contains("read-only"));
    pool(&url, &write(&[("connection.target-session-attrs", "standby")])).await.unwrap();
    pool(&format!("{url}?target_session_attrs=any"), &write(&[])).await.unwrap();
}

/// The password of a role, at the server and where it is asked for.
async fn rotate(client: &Client, role: &str, password: &str) {
    let quoted = password.replace('\'', "''");
    client.batch_execute(&format!("alter role {role} login password '{quoted}'")).await.unwrap();
}

fn store(file: &Path, password: &str) {
    std::fs::write(file, format!("{password}\n")).unwrap();
}

/// Ends the pool's backends, so that the next user connects again.
async fn cut(client: &Client, name: &str) {
    let end = Instant::now() + DEADLINE;
    let sql = format!(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = '{name}'"
    );
    while count(client, &sql).await > 0 {
        assert!(Instant::now() < end, "the backends do not end");
        sleep(Duration::from_millis(10)).await;
    }
    // Longer than the rest for which a connection is trusted without being asked.
    sleep(Duration::from_millis(600)).await;
}

#[tokio::test]
async fn a_rotating_password_is_asked_for_at_each_connect() {
    let server = Server::own(Options::new()).await;
    let client = admin(&server).await;
    client.batch_execute("create role rotating").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it's secret");
    let command = format!("cat \"{}\"", file.display());
    let target = ConnectTarget::parse(&server.url("postgres")).unwrap();
    let mut map = ddl(
        &target,
        &[
            ("username", "rotating"),
            ("connection.password-command", &command),
            ("connection.pool.name", "command"),
            ("client.id", "command"),
            ("connection.pool.size", "1"),
        ],
    );
    map.retain(|(key, _)| key != "password");
    let options = resolve(map, Use::Sink).unwrap();
    let by_command = ConnectTarget::of_options(&options).unwrap();

    let kept = Arc::new(Mutex::new(String::new()));
    let vault = Arc::clone(&kept);
    let by_callback = ConnectTarget::builder()
        .dsn(&server.url("postgres"))
        .unwrap()
        .set("user", "rotating")
        .unwrap()
        .password_with(move || {
            let now = vault.lock().unwrap().clone();
            async move { Ok::<_, std::io::Error>(Secret::new(now)) }
        })
        .build()
        .unwrap();
    let callback_options = PoolOptions::named("callback").application_name("callback").size(1);

    let first = r"p@s/w?r#d%41 {x}'\";
    rotate(&client, "rotating", first).await;
    store(&file, first);
    *kept.lock().unwrap() = first.to_owned();
    let pools = [
        Pool::open_target(by_command, options.pool).await.unwrap(),
        Pool::open_target(by_callback, callback_options).await.unwrap(),
    ];
    for password in ["second", " third with blanks "] {
        rotate(&client, "rotating", password).await;
        for pool in &pools {
            pool.get().await.unwrap().batch_execute("select 1").await.unwrap();
            cut(&client, pool.name()).await;
            let error = pool.get().await.err().expect("the old password is refused");
            assert_eq!((error.kind(), error.sqlstate()), (ErrorKind::Authentication, Some("28P01")));
        }
        store(&file, password);
        *kept.lock().unwrap() = password.to_owned();
        for pool in &pools {
            pool.get().await.unwrap().batch_execute("select 1").await.unwrap();
        }
    }
    std::fs::remove_file(&file).unwrap();
    cut(&client, "command").await;
    let error = pools[0].get().await.err().expect("no password");
    assert_eq!((error.kind(), error.context("pool")), (ErrorKind::Authentication, Some("command")));
    assert!(error.to_string().contains("connection.password-command"), "{error}");
    assert!(!format!("{error:?} {pools:?}").contains("secret"), "{error:?}");
}
