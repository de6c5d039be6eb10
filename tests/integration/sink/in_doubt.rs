//! COMMIT answers that are lost: settled by the transaction's status, or said to be unknown.

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{DeleteStrategy, SinkOptions};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};
use pgsluice_testcontainers::{Fault, Proxy};

use super::faulty::{Faulty, balanced, options};

const COMMIT: &str = "COMMIT\0";

const CUTS: [Fault; 3] = [Fault::Answer(COMMIT), Fault::Before(COMMIT), Fault::BeforeHalfOpen(COMMIT)];

async fn append(sink: &Sink, ids: std::ops::Range<i32>) {
    for id in ids {
        sink.write_values(RowKind::Insert, &[("id", Value::from(id))]).await.unwrap();
    }
}

#[tokio::test]
async fn b16_appends_without_a_key_stand_once_over_thirty_cuts_at_commit() {
    let faulty = Faulty::new("create table t (id int)").await;
    let sink = faulty.sink(options()).await;
    for round in 0..30 {
        faulty.proxy.inject(CUTS[round % CUTS.len()]);
        let from = i32::try_from(round).unwrap() * 20;
        append(&sink, from..from + 20).await;
        sink.flush().await.unwrap();
        assert_eq!(faulty.proxy.cuts(), round + 1);
        assert_eq!(faulty.number("select count(*) from t").await, i64::from(from) + 20);
    }
    assert_eq!(faulty.number("select count(distinct id) from t").await, 600);
    let stats = sink.close().await.unwrap().stats;
    balanced(stats);
    assert_eq!((stats.committed, stats.unknown, stats.failed), (600, 0, 0));
    assert_eq!(faulty.number("select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'").await, 0);
}

#[tokio::test]
async fn b16_appends_stand_once_wherever_the_connection_breaks() {
    let faulty = Faulty::new("create table t (id int)").await;
    let sink = faulty.sink(options().batch_rows(10_000)).await;
    let mut rows = 0;
    let mut faults =
        vec![Fault::Before("INSERT INTO"), Fault::Answer("INSERT INTO"), Fault::SentBytes(60_000)];
    faults.extend((0..10).map(|n| Fault::ReceivedBytes(n * 30)));
    for (round, fault) in faults.into_iter().enumerate() {
        faulty.proxy.inject(fault);
        append(&sink, rows..rows + 10_000).await;
        rows += 10_000;
        sink.flush().await.unwrap();
        assert_eq!(faulty.proxy.cuts(), round + 1, "{fault:?}");
        assert_eq!(faulty.number("select count(*) from t").await, i64::from(rows), "{fault:?}");
        assert_eq!(faulty.number("select count(distinct id) from t").await, i64::from(rows), "{fault:?}");
    }
    balanced(sink.close().await.unwrap().stats);
}

#[tokio::test]
async fn a_trigger_that_counts_sees_each_change_once() {
    let faulty = Faulty::new(
        "create table t (id int primary key, v int); create table audit (id int);
         create function note() returns trigger language plpgsql as
             'begin insert into audit values (new.id); return null; end';
         create trigger note after insert or update on t for each row execute function note()",
    )
    .await;
    let sink = faulty.sink(options()).await;
    for (round, cut) in CUTS.into_iter().enumerate() {
        faulty.proxy.inject(cut);
        for id in 0..50 {
            let v = i32::try_from(round).unwrap();
            let fields = [("id", Value::from(id)), ("v", Value::from(v))];
            sink.write_values(RowKind::Insert, &fields).await.unwrap();
        }
        sink.flush().await.unwrap();
        assert_eq!(faulty.proxy.cuts(), round + 1);
        let expected = (i64::try_from(round).unwrap() + 1) * 50;
        assert_eq!(faulty.number("select count(*) from audit").await, expected, "{cut:?}");
    }
    balanced(sink.close().await.unwrap().stats);
}

#[tokio::test]
async fn nulls_set_by_a_delete_are_not_set_again_over_the_row_that_followed() {
    let faulty = Faulty::new("create table t (id int primary key, a int, b int default 7)").await;
    let sink = faulty.sink(options().delete_strategy(DeleteStrategy::NonPkFieldToNull)).await;
    faulty.proxy.inject(Fault::Answer(COMMIT));
    // The delete finds nothing; the insert leaves the default of b.
    sink.write_values(RowKind::Delete, &[("id", Value::from(1))]).await.unwrap();
    sink.write_values(RowKind::Insert, &[("id", Value::from(1)), ("a", Value::from(2))]).await.unwrap();
    sink.close().await.unwrap();
    assert_eq!(faulty.proxy.cuts(), 1);
    assert_eq!(faulty.number("select count(*) from t where a = 2 and b = 7").await, 1);
}

#[tokio::test]
async fn rejects_of_a_batch_whose_commit_answer_was_lost_are_told() {
    let faulty = Faulty::new("create table t (id int check (id <> 13))").await;
    let sink = faulty.sink(options()).await;
    faulty.proxy.inject(Fault::Answer(COMMIT));
    append(&sink, 0..20).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!(faulty.proxy.cuts(), 1);
    let positions: Vec<u64> = error.rejects().iter().map(|reject| reject.position).collect();
    assert_eq!((error.kind(), positions), (ErrorKind::Rejected, vec![14]));
    assert_eq!(faulty.number("select count(*) from t").await, 19);
    balanced(sink.stats());
}

/// With no retry left the question is still asked.
#[tokio::test]
async fn one_try_is_enough_to_settle() {
    let faulty = Faulty::new("create table t (id int)").await;
    let sink = faulty.sink(options().retry_count(0)).await;
    faulty.proxy.inject(Fault::Answer(COMMIT));
    append(&sink, 0..5).await;
    assert_eq!(sink.flush().await.unwrap().stats.committed, 5);
    faulty.proxy.inject(Fault::Before(COMMIT));
    append(&sink, 5..10).await;
    let error = sink.flush().await.unwrap_err();
    let stats = sink.stats();
    assert_eq!((error.kind(), stats.failed, stats.unknown), (ErrorKind::Connection, 5, 0), "{error}");
    assert_eq!(faulty.number("select count(*) from t").await, 5);
    balanced(stats);
}

#[tokio::test]
async fn a_server_that_does_not_tell_leaves_the_outcome_unknown_and_ends_the_sink() {
    let faulty =
        Faulty::new("create table t (id int); revoke execute on function pg_current_xact_id() from public")
            .await;
    let role = format!("etl_{}", faulty.database.name());
    faulty
        .client
        .batch_execute(&format!(
            "create role {role} login password 'etl'; grant insert, select on t to {role}"
        ))
        .await
        .unwrap();
    let proxy = Proxy::before(&faulty.database.url()).await;
    let url = proxy.url(&faulty.database.url());
    let url = format!("postgres://{role}:etl{}", &url[url.find('@').unwrap()..]);
    let pool = Pool::open(&url, PoolOptions::named("plain")).await.unwrap();
    let sink = Sink::open(&pool, "t", SinkOptions::new()).await.unwrap();
    append(&sink, 0..5).await;
    sink.flush().await.unwrap();
    proxy.inject(Fault::Answer("INSERT INTO"));
    append(&sink, 5..10).await;
    let error = sink.flush().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert_eq!(error.context("records"), Some("6 to 10 (5 records)"));
    let stats = sink.stats();
    assert_eq!((stats.committed, stats.unknown, stats.failed), (5, 5, 0));
    balanced(stats);
    let again = sink.write_values(RowKind::Insert, &[("id", Value::from(1))]).await.unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
    drop((sink, pool));
    let gone = format!("drop owned by {role}; drop role {role}");
    super::faulty::terminate(&faulty.client).await;
    faulty.client.batch_execute(&gone).await.unwrap();
}
