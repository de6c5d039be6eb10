//! Futures that are dropped at any await: nothing is stuck, nothing is half done, and no stranger's transaction is met.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures::future::join_all;
use pgsluice::connection::{ConnectTarget, Pool, PoolOptions};
use pgsluice::options::SinkOptions;
use pgsluice::sink::Sink;
use pgsluice::{RowKind, Value};
use pgsluice_testcontainers::{Database, Options, Server};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Client, NoTls};

const ROUNDS: u64 = 500;
const DEADLINE: Duration = Duration::from_secs(30);

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Polls the future so many times at most, then drops it. True where it was ready before.
async fn dropped_after<F: Future>(polls: u64, future: F) -> bool {
    let mut future: Pin<Box<F>> = Box::pin(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn count(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

async fn write(sink: &Sink, id: i64) -> pgsluice::Result<()> {
    sink.write_values(RowKind::Insert, &[("id", Value::Int(id.into()))]).await
}

#[tokio::test]
async fn b19_a_future_dropped_at_any_await_leaves_a_pool_of_one_whole() {
    let database = Database::new().await;
    let admin = database.client().await;
    admin
        .batch_execute("create table t(id bigint primary key); create table marks(id bigint)")
        .await
        .unwrap();
    let target = ConnectTarget::parse(&database.url()).unwrap();
    let options = || PoolOptions::named("dropped").application_name("dropped").size(1);
    let pool = Pool::open_target(target.clone(), options()).await.unwrap();
    // Small batches, no timer, and memory for a few rows, so that writes wait too.
    let sink_options = || SinkOptions::new().batch_rows(3).flush_interval(None).batch_bytes(512).memory(1024);
    let sink = Sink::open(&pool, "t", sink_options()).await.unwrap();
    let mut random = Random(0x5eed_2026);
    let mut ready = [0_u64; 6];
    let mut dropped = [0_u64; 6];
    let mut surely = BTreeSet::new();
    for round in 0..ROUNDS {
        let id = i64::try_from(round).unwrap() * 100;
        let call = random.below(6);
        let polls = 1 + random.below(5);
        let done = match call {
            // A pool of its own, so that it connects.
            0 => {
                let own = options().name("opened");
                dropped_after(polls, Pool::open_target(target.clone(), own)).await
            }
            1 => {
                let work = async {
                    let session = pool.get().await.unwrap();
                    session.dirty();
                    session.batch_execute("begin; insert into marks values (-1)").await.unwrap();
                    session.batch_execute("select pg_sleep(0.002); rollback").await.unwrap();
                    session.clean();
                };
                dropped_after(polls, work).await
            }
            2 => {
                let work = async {
                    for n in 0..24 {
                        write(&sink, id + n).await.unwrap();
                    }
                };
                dropped_after(polls, work).await
            }
            3 => {
                write(&sink, id).await.unwrap();
                surely.insert(id);
                dropped_after(polls, sink.flush()).await
            }
            4 => {
                let own = Sink::open(&pool, "t", sink_options()).await.unwrap();
                write(&own, id).await.unwrap();
                dropped_after(polls, own.close()).await
            }
            _ => dropped_after(polls, Sink::open(&pool, "t", sink_options())).await,
        };
        let of_call = if done { &mut ready } else { &mut dropped };
        of_call[usize::try_from(call).unwrap()] += 1;

        // The marker, through the same pool of one.
        let marker = async {
            let session = pool.get().await.unwrap();
            session.dirty();
            let mark = i64::try_from(round).unwrap();
            session.execute("insert into marks values ($1)", &[&mark]).await.unwrap();
            session.clean();
        };
        timeout(DEADLINE, marker).await.unwrap_or_else(|_| panic!("round {round}, call {call}: stuck"));
    }
    // Each call was seen to end and to be dropped, or the test tests nothing.
    assert!(dropped.iter().all(|&count| count > 2), "{dropped:?}, ready {ready:?}");
    timeout(DEADLINE, sink.flush()).await.unwrap().unwrap();
    let stats = sink.stats();
    assert_eq!((stats.accepted, stats.pending(), stats.rejected), (stats.committed, 0, 0), "{stats:?}");

    let stored = admin.query("select id from marks order by id", &[]).await.unwrap();
    let stored: Vec<i64> = stored.iter().map(|row| row.get(0)).collect();
    assert_eq!(stored, (0..i64::try_from(ROUNDS).unwrap()).collect::<Vec<_>>());
    let rows = admin.query("select id from t", &[]).await.unwrap();
    let rows: BTreeSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    assert!(surely.is_subset(&rows), "{:?}", surely.difference(&rows));

    let own = "from pg_stat_activity where application_name = 'dropped'";
    let end = Instant::now() + DEADLINE;
    while count(&admin, &format!("select count(*) {own}")).await > 1 {
        assert!(Instant::now() < end, "more than one backend");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(&admin, &format!("select count(*) {own} and state like 'idle in%'")).await, 0);
    // The one permit is there: two users in turn, and never two at once.
    let session = timeout(DEADLINE, pool.get()).await.unwrap().unwrap();
    let mut second = pin!(pool.get());
    assert!(futures::poll!(second.as_mut()).is_pending());
    drop(session);
    timeout(DEADLINE, second).await.unwrap().unwrap();
    assert!(pool.connections() <= 1);
}

#[tokio::test]
async fn b22_fifty_sinks_on_a_pool_of_five_stay_within_five_backends() {
    let server = Server::own(Options::new().set("max_connections", "20")).await;
    let (admin, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    admin.batch_execute("create table t(id bigint primary key)").await.unwrap();
    let target = ConnectTarget::parse(&server.url("postgres")).unwrap();
    let sinks = (0..50).map(|number| {
        let target = target.clone();
        async move {
            let options = PoolOptions::named("fifty").application_name("fifty").size(5);
            let pool = Pool::open_target(target, options).await.unwrap();
            let sink = Sink::open(&pool, "t", SinkOptions::new().batch_rows(20)).await.unwrap();
            for n in 0..200 {
                write(&sink, number * 1000 + n).await.unwrap();
            }
            sink.close().await.unwrap().stats.committed
        }
    });
    let watch = async {
        let mut most = 0;
        loop {
            let sql = "select count(*) from pg_stat_activity where application_name = 'fifty'";
            most = most.max(count(&admin, sql).await);
            assert!(most <= 5, "{most} backends");
            sleep(Duration::from_millis(5)).await;
        }
    };
    let written = tokio::select! {
        written = timeout(2 * DEADLINE, join_all(sinks)) => written.unwrap(),
        () = watch => unreachable!(),
    };
    assert_eq!(written, vec![200; 50]);
    assert_eq!(count(&admin, "select count(*) from t").await, 50 * 200);
}
