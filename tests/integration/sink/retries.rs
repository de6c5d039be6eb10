//! Connections and transactions that fail, and are tried again.

use std::time::Duration;

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};
use pgsluice_testcontainers::{Fault, Options, Proxy, Server};

use super::faulty::{Faulty, balanced, number, options, terminate, until};

const KEYED: &str = "create table t (id int primary key, v int)";

async fn upsert(sink: &Sink, ids: std::ops::Range<i32>, v: i32) {
    for id in ids {
        let fields = [("id", Value::from(id)), ("v", Value::from(v))];
        sink.write_values(RowKind::Insert, &fields).await.unwrap();
    }
}

#[tokio::test]
async fn b16_keyed_rows_have_their_last_value_wherever_the_connection_breaks() {
    let faulty = Faulty::new(KEYED).await;
    let sink = faulty.sink(options().lanes(2)).await;
    let faults = [
        Fault::Before("INSERT INTO"),
        Fault::SentBytes(100_000),
        Fault::Answer("INSERT INTO"),
        Fault::BeforeHalfOpen("INSERT INTO"),
        Fault::ReceivedBytes(1),
    ];
    for (round, fault) in faults.into_iter().enumerate() {
        let v = i32::try_from(round).unwrap();
        faulty.proxy.inject(fault);
        upsert(&sink, 0..10_000, v).await;
        sink.flush().await.unwrap();
        assert_eq!(faulty.proxy.cuts(), round + 1, "{fault:?}");
        let right = format!("select count(*) from t where v = {v} and id between 0 and 9999");
        assert_eq!(faulty.number(&right).await, 10_000, "{fault:?}");
    }
    assert_eq!(faulty.number("select count(*) from t").await, 10_000);
    balanced(sink.close().await.unwrap().stats);
}

/// The writer's statement waits for a lock while its session is ended.
#[tokio::test]
async fn h_f08_a_writer_that_is_terminated_in_mid_flush_is_tried_again() {
    for table in [KEYED, "create table t (id int, v int)"] {
        let faulty = Faulty::new(table).await;
        let sink = faulty.sink(options()).await;
        let locker = faulty.database.client().await;
        locker.batch_execute("begin; lock table t in share mode").await.unwrap();
        upsert(&sink, 0..500, 1).await;
        let flush = tokio::spawn({
            let sink = sink.clone();
            async move { sink.flush().await }
        });
        let waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        until("the writer waits", async || faulty.number(&format!("select count(*) {waiting}")).await > 0)
            .await;
        faulty.client.execute(&format!("select pg_terminate_backend(pid) {waiting}"), &[]).await.unwrap();
        until("a retry", async || {
            sink.stats().retries > 0 || sink.stats().pending() == 0 || {
                faulty.number(&format!("select count(*) {waiting}")).await > 0
            }
        })
        .await;
        locker.batch_execute("commit").await.unwrap();
        flush.await.unwrap().unwrap();
        assert_eq!(faulty.number("select count(*) from t").await, 500);
        assert_eq!(faulty.number("select count(distinct id) from t").await, 500);
        balanced(sink.close().await.unwrap().stats);
    }
}

#[tokio::test]
async fn b16_a_server_restart_is_waited_for() {
    let server = Server::own(Options::new()).await;
    let database = server.database().await;
    database.client().await.batch_execute("create table t (id int)").await.unwrap();
    let pool = Pool::open(&database.url(), PoolOptions::named("restart")).await.unwrap();
    let sink = Sink::open(&pool, "t", options().retry_sleep_step(Duration::from_millis(50)).retry_count(100))
        .await
        .unwrap();
    let append = async |from: i32| {
        for id in from..from + 1000 {
            sink.write_values(RowKind::Insert, &[("id", Value::from(id))]).await.unwrap();
        }
    };
    append(0).await;
    sink.flush().await.unwrap();
    append(1000).await;
    let ((), flushed) = tokio::join!(server.restart(), async {
        let flushed = sink.flush().await;
        append(2000).await;
        flushed.and(sink.flush().await)
    });
    flushed.unwrap();
    let client = database.client().await;
    assert_eq!(number(&client, "select count(*) from t").await, 3000);
    assert_eq!(number(&client, "select count(distinct id) from t").await, 3000);
    balanced(sink.close().await.unwrap().stats);
}

#[tokio::test]
async fn b20_dead_pooled_connections_are_replaced_without_a_retry() {
    let faulty = Faulty::new("create table t (id int, v int)").await;
    // Four connections rest in the pool.
    let held = futures::future::try_join_all((0..4).map(|_| faulty.pool.get())).await.unwrap();
    drop(held);
    let sink = faulty.sink(options().retry_count(0)).await;
    faulty.terminate().await;
    upsert(&sink, 0..10, 1).await;
    let stats = sink.close().await.unwrap().stats;
    assert_eq!((stats.committed, stats.retries), (10, 0));
}

#[tokio::test]
async fn h_f10_b21_a_server_that_is_read_only_for_a_while_is_waited_for() {
    let faulty = Faulty::new(KEYED).await;
    let sink = faulty.sink(options().retry_count(10_000)).await;
    let name = faulty.database.name();
    let set = |sql: &str| format!("alter database {name} {sql} default_transaction_read_only");
    faulty.client.batch_execute(&format!("{} = on", set("set"))).await.unwrap();
    faulty.terminate().await;
    upsert(&sink, 0..100, 1).await;
    let flush = tokio::spawn({
        let sink = sink.clone();
        async move { sink.flush().await }
    });
    until("two retries", async || sink.stats().retries >= 2).await;
    assert_eq!(sink.stats().pending(), 100);
    faulty.client.batch_execute(&set("reset")).await.unwrap();
    flush.await.unwrap().unwrap();
    assert_eq!(faulty.number("select count(*) from t").await, 100);
    balanced(sink.stats());
}

#[tokio::test]
async fn h_f17_without_retries_a_server_that_is_down_is_tried_once() {
    let faulty = Faulty::new("create table t (id int, v int)").await;
    let sink = faulty.sink(options().retry_count(0)).await;
    faulty.proxy.refuse(true);
    faulty.proxy.cut_all();
    let before = faulty.proxy.connects().len();
    upsert(&sink, 0..10, 1).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    assert_eq!(error.context("records not committed"), Some("1 to 10 (10 records)"));
    assert_eq!(faulty.proxy.connects().len() - before, 1);
    assert_eq!((sink.stats().failed, sink.stats().retries), (10, 0));
    balanced(sink.stats());
}

#[tokio::test]
async fn h_f18_the_sleeps_grow_by_the_step() {
    let faulty = Faulty::new("create table t (id int, v int)").await;
    let sink = faulty.sink(options().retry_sleep_step(Duration::from_millis(100)).retry_count(3)).await;
    faulty.proxy.refuse(true);
    faulty.proxy.cut_all();
    let before = faulty.proxy.connects().len();
    upsert(&sink, 0..10, 1).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!(error.context("retries"), Some("3"), "{error}");
    assert!(error.context("first error").is_some());
    let connects = faulty.proxy.connects()[before..].to_vec();
    assert_eq!(connects.len(), 4);
    for (n, pair) in connects.windows(2).enumerate() {
        let slept = pair[1] - pair[0];
        let step = Duration::from_millis(100) * u32::try_from(n + 1).unwrap();
        assert!(slept >= step && slept < step + Duration::from_secs(2), "retry {}: {slept:?}", n + 1);
    }
    balanced(sink.stats());
}

#[tokio::test]
async fn a_sleep_ends_with_the_sink_and_holds_no_connection() {
    let faulty = Faulty::new(KEYED).await;
    let url = faulty.proxy.url(&faulty.database.url());
    // The greatest size asked for holds while anybody uses the pool.
    let pool = Pool::open(&url, PoolOptions::named("ends").size(7)).await.unwrap();
    let slow = options().retry_sleep_step(Duration::from_secs(3600)).delivery_timeout(None);
    let sink = Sink::open(&pool, "t", slow.aggressive_flush(true)).await.unwrap();
    faulty.proxy.refuse(true);
    faulty.proxy.cut_all();
    upsert(&sink, 0..10, 1).await;
    until("a retry", async || sink.stats().retries == 1).await;
    until("no connection", async || pool.connections() == 0).await;
    faulty.proxy.refuse(false);
    drop((sink, pool));
    until("the lane ends", async || {
        let again = Pool::open(&url, PoolOptions::named("ends").size(1)).await.unwrap();
        again.size() == 1
    })
    .await;
}

#[tokio::test]
async fn the_delivery_timeout_ends_retries_and_silence() {
    let faulty = Faulty::new("create table t (id int, v int)").await;
    let timeout = Duration::from_millis(400);
    let sink = faulty.sink(options().delivery_timeout(timeout).retry_count(u32::MAX)).await;
    let silent = faulty.sink(options().delivery_timeout(timeout)).await;
    faulty.proxy.stall(true);
    upsert(&silent, 0..10, 1).await;
    let error = silent.flush().await.unwrap_err();
    assert_eq!((error.kind(), silent.stats().failed), (ErrorKind::Timeout, 10), "{error}");
    balanced(silent.stats());
    faulty.proxy.refuse(true);
    faulty.proxy.cut_all();
    faulty.proxy.stall(false);
    upsert(&sink, 0..10, 1).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!((error.kind(), sink.stats().failed), (ErrorKind::Timeout, 10), "{error}");
    assert!(sink.stats().retries > 0 && error.context("first error").is_some(), "{error:?}");
    balanced(sink.stats());
    assert_eq!(faulty.number("select count(*) from t").await, 0);
}

/// A trigger that raises `code` for the first `times` batches.
fn raising(code: &str, times: u32) -> String {
    format!(
        "create table t (id int primary key, v int unique); create sequence tries;
         create function fail() returns trigger language plpgsql as $$
             begin
                 if nextval('tries') <= {times} then raise exception 'not now' using errcode = '{code}'; end if;
                 return null;
             end $$;
         create trigger fail after insert on t for each statement execute function fail()"
    )
}

#[tokio::test]
async fn f_a34_serialization_failures_are_tried_again_as_often_as_asked() {
    let faulty = Faulty::new(&raising("40001", 2)).await;
    let sink = faulty.sink(options().retry_count(2)).await;
    upsert(&sink, 0..1, 1).await;
    let stats = sink.flush().await.unwrap().stats;
    assert_eq!((stats.committed, stats.retries), (1, 2));

    // 23505 is no reason to try again.
    upsert(&sink, 1..2, 1).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!(error.sqlstate(), Some("23505"), "{error}");
    assert_eq!((sink.stats().rejected, sink.stats().retries), (1, 2));
    balanced(sink.stats());

    let faulty = Faulty::new(&raising("40001", 2)).await;
    let sink = faulty.sink(options().retry_count(1)).await;
    upsert(&sink, 0..1, 1).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!((error.sqlstate(), error.context("retries")), (Some("40001"), Some("1")), "{error}");
    assert_eq!((sink.stats().failed, sink.stats().retries), (1, 1));
    balanced(sink.stats());
}

#[tokio::test]
async fn classes_that_pass_are_tried_again_and_others_are_not() {
    for code in ["08006", "53300", "57014", "40P01", "55P03", "57P03"] {
        let faulty = Faulty::new(&raising(code, 1)).await;
        let sink = faulty.sink(options()).await;
        upsert(&sink, 0..1, 1).await;
        let stats = sink.flush().await.unwrap().stats;
        assert_eq!((stats.committed, stats.retries), (1, 1), "{code}");
    }
    for code in ["42501", "0A000", "28000", "3D000", "XX000"] {
        let faulty = Faulty::new(&raising(code, 1)).await;
        let sink = faulty.sink(options()).await;
        upsert(&sink, 0..1, 1).await;
        let error = sink.flush().await.unwrap_err();
        assert_eq!((error.sqlstate(), sink.stats().retries), (Some(code), 0), "{error}");
        assert_eq!(sink.stats().failed, 1);
    }
}

/// A repeatable order that differs for each writer and round.
fn shuffled(seed: usize) -> Vec<i32> {
    let mut keys: Vec<i32> = (0..500).collect();
    let mut state = seed as u64 * 2 + 1;
    for at in (1..keys.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        keys.swap(at, (state >> 33) as usize % (at + 1));
    }
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_writers_of_the_same_keys_in_random_orders_do_not_fail() {
    const ROUNDS: usize = 20;
    let faulty = Faulty::new("create table t (id int primary key, v int, w int)").await;
    let pool = Pool::open(&faulty.database.url(), PoolOptions::named("deadlocks").size(8)).await.unwrap();
    let writers = (0..8).map(|writer| {
        let pool = pool.clone();
        tokio::spawn(async move {
            let sink = Sink::open(&pool, "t", options().batch_rows(500).retry_count(1000)).await.unwrap();
            for round in 0..ROUNDS {
                let v = i32::try_from(writer * ROUNDS + round).unwrap();
                for id in shuffled(writer * ROUNDS + round) {
                    let fields = [("id", Value::from(id)), ("v", Value::from(v)), ("w", Value::from(v))];
                    // Three statements a batch, each over keys of its own.
                    match (id as usize + round * 7 + writer) % 3 {
                        0 => sink.write_values(RowKind::Delete, &fields[..1]).await.unwrap(),
                        1 => sink.write_values(RowKind::Insert, &fields[..2]).await.unwrap(),
                        _ => sink.write_values(RowKind::Insert, &fields).await.unwrap(),
                    }
                }
                sink.flush().await.unwrap();
            }
            sink.close().await.unwrap().stats
        })
    });
    let mut retries = 0;
    for stats in futures::future::try_join_all(writers).await.unwrap() {
        balanced(stats);
        assert_eq!(stats.committed, 500 * ROUNDS as u64);
        retries += stats.retries;
    }
    eprintln!("8 writers, {} batches: {retries} retries", 8 * ROUNDS);
    let written = format!("select count(*) from t where v between 0 and {}", 8 * ROUNDS - 1);
    assert_eq!(faulty.number(&written).await, faulty.number("select count(*) from t").await);
}

#[tokio::test]
async fn a_pool_without_a_free_connection_is_a_reason_to_try_again() {
    let faulty = Faulty::new(KEYED).await;
    let proxy = Proxy::before(&faulty.database.url()).await;
    let small = PoolOptions::named("small").size(1).acquire_timeout(Duration::from_millis(50));
    let pool = Pool::open(&proxy.url(&faulty.database.url()), small).await.unwrap();
    let sink = Sink::open(&pool, "t", options().retry_count(10_000)).await.unwrap();
    let held = pool.get().await.unwrap();
    upsert(&sink, 0..10, 1).await;
    let flush = tokio::spawn({
        let sink = sink.clone();
        async move { sink.flush().await }
    });
    until("a retry", async || sink.stats().retries > 0).await;
    drop(held);
    flush.await.unwrap().unwrap();
    assert_eq!(faulty.number("select count(*) from t").await, 10);
    terminate(&faulty.client).await;
}
