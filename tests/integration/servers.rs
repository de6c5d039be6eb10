//! The test servers themselves.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pgsluice_testcontainers::{Database, Options, Server, leftovers, server};
use tokio_postgres::{Client, NoTls};

/// Set in the child that `a_killed_run_leaves_nothing` starts and kills.
const TO_BE_KILLED: &str = "PGSLUICE_TEST_TO_BE_KILLED";

async fn text(client: &Client, query: &str) -> String {
    client.query_one(query, &[]).await.unwrap().get(0)
}

async fn poll_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < deadline, "not within 60 s: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_fresh_database_answers() {
    let database = Database::new().await;
    let client = database.client().await;
    assert_eq!(text(&client, "select current_database()::text").await, database.name());
    assert_eq!(text(&client, "select count(*)::text from pg_tables where schemaname = 'public'").await, "0");
}

#[tokio::test]
async fn the_version_is_the_demanded_one() {
    let database = Database::new().await;
    let client = database.client().await;
    let version = text(&client, "select (current_setting('server_version_num')::int / 10000)::text").await;
    assert_eq!(version, server().await.version().to_string());
    if let Ok(demanded) = std::env::var("PGSLUICE_TEST_VERSION") {
        assert_eq!(version, demanded);
    }
}

#[tokio::test]
async fn the_server_is_set_up_for_replication_and_prepared_transactions() {
    let database = Database::new().await;
    let client = database.client().await;
    assert_eq!(text(&client, "show wal_level").await, "logical");
    assert_ne!(text(&client, "show max_prepared_transactions").await, "0");
}

#[tokio::test]
async fn two_databases_at_once_see_nothing_of_each_other() {
    let (one, other) = tokio::join!(Database::new(), Database::new());
    one.client().await.batch_execute("create table t (v int)").await.unwrap();
    assert!(other.client().await.batch_execute("select from t").await.is_err());
}

#[tokio::test]
async fn a_database_is_gone_after_drop_whatever_uses_it() {
    let database = Database::new().await;
    let name = database.name().to_owned();
    let client = database.client().await;
    client.batch_execute("create table t (v int)").await.unwrap();
    let prepare = format!("begin; insert into t values (1); prepare transaction 'of {name}'");
    client.batch_execute(&prepare).await.unwrap();
    drop(database);
    let count = format!("select count(*)::text from pg_database where datname = '{name}'");
    let watcher = Database::new().await;
    assert_eq!(text(&watcher.client().await, &count).await, "0");
}

#[tokio::test]
async fn only_the_password_opens_the_server() {
    let server = Server::own(Options::new()).await;
    let wrong = server.url("postgres").replace("//postgres:", "//postgres:not");
    let error = tokio_postgres::connect(&wrong, NoTls).await.map(drop).unwrap_err();
    assert_eq!(error.code().map(|code| code.code()), Some("28P01"), "{error:?}");
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    assert_eq!(text(&client, "show ssl").await, "on");
    assert!(
        text(&client, "select rolpassword from pg_authid where rolname = 'postgres'")
            .await
            .starts_with("SCRAM")
    );
}

#[tokio::test]
async fn a_server_of_ones_own_obeys_and_keeps_its_data() {
    let options = Options::new().set("work_mem", "5MB").hba("host all reader all trust").without_tls();
    let server = Server::own(options).await;
    let (host, port) = (server.host().to_owned(), server.port());
    let database = server.database().await;
    let client = database.client().await;
    assert_eq!(text(&client, "show work_mem").await, "5MB");
    assert_eq!(text(&client, "show ssl").await, "off");
    client.batch_execute("create role reader login; create table kept as select 1 as v").await.unwrap();
    let trusted = format!("postgres://reader@{host}:{port}/postgres");
    assert!(tokio_postgres::connect(&trusted, NoTls).await.is_ok());

    server.pause().await;
    let asked = tokio::time::timeout(Duration::from_millis(300), client.query_one("select 1", &[])).await;
    assert!(asked.is_err(), "a paused server answers nothing");
    server.unpause().await;
    assert_eq!(text(&client, "select v::text from kept").await, "1");

    server.restart().await;
    poll_until("the old session is gone", async || client.is_closed()).await;
    assert_eq!(text(&database.client().await, "select v::text from kept").await, "1");

    server.kill().await;
    assert!(TcpStream::connect((host.as_str(), port)).is_err(), "a killed server takes no connection");
    server.start().await;
    assert_eq!(server.port(), port);
    assert_eq!(text(&database.client().await, "select v::text from kept").await, "1");

    drop(database);
    drop(server);
    poll_until("the server ends with its value", async || TcpStream::connect((host.as_str(), port)).is_err())
        .await;
}

#[tokio::test]
async fn a_killed_run_leaves_nothing() {
    if std::env::var_os(TO_BE_KILLED).is_some() {
        let (server, _shared) = tokio::join!(Server::own(Options::new()), server());
        println!("\nserves at {}", server.port());
        std::future::pending::<()>().await;
    }
    let run = format!("killed{}", std::process::id());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "servers::a_killed_run_leaves_nothing", "--nocapture"])
        .env(TO_BE_KILLED, "1")
        .env("PGSLUICE_TEST_RUN", &run)
        .env("PGSLUICE_TEST_LINGER", "0")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let port = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .find_map(|line| line.unwrap().strip_prefix("serves at ")?.parse::<u16>().ok())
        .expect("the child starts a server");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(!leftovers(&run).is_empty(), "what is looked for is there while the run lives");

    child.kill().unwrap();
    child.wait().unwrap();
    poll_until("nothing is left of a killed run", async || leftovers(&run).is_empty()).await;
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
