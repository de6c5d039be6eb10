//! Waits that are healthy, and servers that change their roles.

use std::time::Duration;

use pgsluice::connection::{ConnectTarget, Pool, PoolOptions};
use pgsluice::options::{SinkOptions, TargetSessionAttrs};
use pgsluice::sink::Sink;
use pgsluice::{RowKind, Value};
use pgsluice_testcontainers::{Database, Options, Server};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, NoTls};

use super::{DEADLINE, named, target_with, until};

async fn plain(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn upsert(sink: &Sink, ids: std::ops::Range<i32>) {
    for id in ids {
        sink.write_values(RowKind::Insert, &[("id", Value::from(id))]).await.unwrap();
    }
}

async fn count(client: &Client) -> i64 {
    client.query_one("select count(*) from t", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn b20_keepalive_and_user_timeout_spare_a_connection_that_waits_for_a_lock() {
    let database = Database::new().await;
    let admin = database.client().await;
    admin.batch_execute("create table t (id int)").await.unwrap();
    admin.batch_execute("begin; lock table t").await.unwrap();
    // Far shorter than the wait, so that probes go out and the timeout passes while nothing but the lock is waited for.
    let target = target_with(&database, &[("keepalives_interval", "1")]);
    let second = Duration::from_secs(1);
    let options = named("waits").size(1).keepalive(second).tcp_user_timeout(second);
    let pool = Pool::open_target(target, options).await.unwrap();
    let session = pool.get().await.unwrap();
    session.dirty();
    let waiting = session.batch_execute("insert into t values (1)");
    let release = async {
        let sql = "select count(*) from pg_stat_activity where application_name = 'waits' and wait_event_type = 'Lock'";
        let looks = database.client().await;
        until("it waits", async || looks.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 1).await;
        sleep(5 * second).await;
        admin.batch_execute("commit").await.unwrap();
    };
    let (written, ()) = timeout(DEADLINE, async { tokio::join!(waiting, release) }).await.unwrap();
    written.unwrap();
    session.clean();
    assert_eq!(count(&admin).await, 1);
}

#[tokio::test]
async fn b21_a_server_that_turns_read_only_is_left_for_the_writable_one() {
    let (first, second) = tokio::join!(Server::own(Options::new()), Server::own(Options::new()));
    let (one, two) = (plain(&first.url("postgres")).await, plain(&second.url("postgres")).await);
    for server in [&one, &two] {
        server
            .batch_execute(
                "create role etl login superuser password 'same'; create table t (id int primary key)",
            )
            .await
            .unwrap();
    }
    let target = ConnectTarget::builder()
        .dsn(&format!(
            "host={},{} port={},{} user=etl password=same dbname=postgres",
            first.host(),
            second.host(),
            first.port(),
            second.port()
        ))
        .unwrap()
        .build()
        .unwrap()
        .with_target_session_attrs(TargetSessionAttrs::ReadWrite);
    let pool = Pool::open_target(target, PoolOptions::named("switch").size(2)).await.unwrap();
    let step = Duration::from_millis(50);
    let sink = Sink::open(&pool, "t", SinkOptions::new().retry_sleep_step(step)).await.unwrap();
    upsert(&sink, 0..100).await;
    sink.flush().await.unwrap();
    assert_eq!((count(&one).await, count(&two).await), (100, 0));

    // The connections stay open: only the server's answer tells.
    one.batch_execute("alter system set default_transaction_read_only = on").await.unwrap();
    one.batch_execute("select pg_reload_conf()").await.unwrap();
    until("it is read-only", async || {
        let fresh = plain(&first.url("postgres")).await;
        fresh.query_one("show default_transaction_read_only", &[]).await.unwrap().get::<_, &str>(0) == "on"
    })
    .await;
    upsert(&sink, 100..300).await;
    let stats = timeout(DEADLINE, sink.flush()).await.unwrap().unwrap().stats;
    assert_eq!((stats.committed, stats.failed, stats.unknown), (300, 0, 0), "{stats:?}");
    assert!(stats.retries > 0, "{stats:?}");
    assert_eq!((count(&one).await, count(&two).await), (100, 200));
    assert_eq!(pool.get().await.unwrap().server().port, second.port());
}
