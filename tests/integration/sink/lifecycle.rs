//! From open to close: clones, ages, memory, cancelled calls, lost connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt, stream};
use pgsluice::options::{RejectPolicy, SinkOptions};
use pgsluice::sink::{Chunk, Sink};
use pgsluice::{ErrorKind, Record, RowKind, Value};

use super::conformance::{Fixture, InMode, eventually, modes, play};

const PLAIN: &str = "create table t (id int primary key, v text)";

fn quiet(options: SinkOptions) -> SinkOptions {
    options.flush_interval(None)
}

async fn rows(fixture: &Fixture) -> i64 {
    fixture.count("select count(*) from t").await
}

#[tokio::test]
async fn f_a33_a_flush_covers_all_clones() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode)).lanes(3)).await;
        let clones: Vec<Sink> = (0..5).map(|_| sink.clone()).collect();
        for id in 0..100 {
            play(&clones[id % 5], &format!("I id={id} v=x")).await.unwrap();
        }
        assert_eq!(rows(&fixture).await, 0);
        let report = clones[0].flush().await.unwrap();
        assert_eq!((report.stats.committed, report.stats.pending()), (100, 0));
        assert_eq!(rows(&fixture).await, 100);
    }
}

#[tokio::test]
async fn h_l07_every_call_after_close_says_so() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        let clone = sink.clone();
        let mut columns = sink.columns(&["id", "v"]).unwrap();
        play(&sink, "I id=1 v=a").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,a)");
        let record = Record::new(RowKind::Insert).field("id", 2);
        for error in [
            play(&clone, "I id=2 v=b").await.unwrap_err(),
            clone.write_record(record).await.unwrap_err(),
            columns.write(RowKind::Insert, &[Value::from(2)]).await.unwrap_err(),
            clone.write_chunk(Chunk::new()).await.unwrap_err(),
            clone.flush().await.unwrap_err(),
            sink.close().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Closed);
            assert!(error.to_string().contains("already closed"), "{error}");
        }
        assert_eq!(fixture.table("t").await, "(1,a)");
    }
}

/// Counts warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicU64>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn dropped_without_close_what_is_pending_is_discarded_with_a_warning() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let dropped = |sink: Sink| {
            let warnings = Warnings::default();
            tracing::subscriber::with_default(warnings.clone(), || drop(sink));
            warnings.0.load(Ordering::Relaxed)
        };
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        play(&sink, "I id=1 v=a; F; I id=2 v=b").await.unwrap();
        let clone = sink.clone();
        assert_eq!(dropped(clone), 0, "a clone is left");
        assert_eq!(dropped(sink), 1);
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        play(&sink, "I id=3 v=c; F").await.unwrap();
        assert_eq!(dropped(sink), 0, "nothing was pending");
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        play(&sink, "I id=4 v=d").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(dropped(sink), 0, "it was closed");
        assert_eq!(fixture.table("t").await, "(1,a) (3,c) (4,d)");
    }
}

/// Polls `future` some times, then drops it.
async fn polled<F: Future>(times: u32, future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    for _ in 0..times {
        if let std::task::Poll::Ready(output) = futures::poll!(future.as_mut()) {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_may_be_dropped_at_any_await() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let options = quiet(SinkOptions::new().in_mode(mode)).memory(16 << 10).batch_bytes(4 << 10).lanes(2);
        let sink = fixture.sink("t", options).await;
        let (mut taken, mut dropped) = (Vec::new(), 0);
        let text = "x".repeat(1000);
        for id in 0..2000_i32 {
            let fields = [("id", Value::from(id)), ("v", Value::from(text.as_str()))];
            let times = 1 + id.unsigned_abs() * 7 % 5;
            match polled(times, sink.write_values(RowKind::Insert, &fields)).await {
                Some(result) => {
                    result.unwrap();
                    taken.push(id);
                }
                None => dropped += 1,
            }
            if id % 97 == 0 {
                polled(times, sink.flush()).await.transpose().unwrap();
            }
            if dropped > taken.len() {
                sink.flush().await.unwrap();
            }
        }
        assert!(dropped > 50 && taken.len() > 50, "{dropped} dropped, {} taken", taken.len());
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed), (taken.len() as u64, taken.len() as u64));
        let ids: Vec<i32> = fixture
            .client
            .query("select id from t order by id", &[])
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect();
        assert_eq!(ids, taken);
        let open = "select count(*) from pg_stat_activity where datname = current_database()
                    and state like 'idle in transaction%'";
        assert_eq!(fixture.count(open).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b09_a_quiet_batch_is_written_at_its_age() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let interval = Duration::from_secs(1);
        let options = SinkOptions::new().in_mode(mode).batch_rows(1000).flush_interval(interval);
        let sink = fixture.sink("t", options).await;
        // The best of some tries: a machine under load is late by itself.
        let mut best = Duration::MAX;
        for round in 0..5 {
            let start = Instant::now();
            play(&sink, &format!("I id={round}1 v=a; I id={round}2 v=b; I id={round}3 v=c")).await.unwrap();
            eventually("the batch is visible", async || rows(&fixture).await == 3 * (round + 1)).await;
            best = best.min(start.elapsed());
            if best <= interval.mul_f64(1.1) {
                break;
            }
        }
        assert!(best >= interval.mul_f64(0.9) && best <= interval.mul_f64(1.1), "{best:?}");
        play(&sink, "I id=1001 v=a").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.count("select count(*) from t where id = 1001").await, 1);
    }
}

#[tokio::test]
async fn f_a32_no_age_at_all_and_an_aggressive_flush_write_at_once() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let at_once = SinkOptions::new().in_mode(mode).flush_interval(Duration::ZERO);
        let aggressive = quiet(SinkOptions::new().in_mode(mode).aggressive_flush(true));
        for (n, options) in [at_once, aggressive].into_iter().enumerate() {
            let sink = fixture.sink("t", options).await;
            for id in 0..3 {
                play(&sink, &format!("I id={id} v={n}")).await.unwrap();
                let seen = format!("select count(*) from t where id = {id} and v = '{n}'");
                eventually("the row is visible", async || fixture.count(&seen).await == 1).await;
            }
            sink.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn f_a29_a_small_memory_never_deadlocks() {
    for mode in modes() {
        for lanes in [1, 3] {
            let fixture = Fixture::new(PLAIN).await;
            let options = quiet(SinkOptions::new().in_mode(mode)).memory(64 << 10).batch_bytes(32 << 10);
            let sink = fixture.sink("t", options.batch_rows(1_000_000).lanes(lanes)).await;
            let text = "x".repeat(1000);
            let writing = async {
                for id in 0..1000 {
                    let fields = [("id", Value::from(id)), ("v", Value::from(text.as_str()))];
                    sink.write_values(RowKind::Insert, &fields).await.unwrap();
                }
                sink.close().await.unwrap()
            };
            let report = tokio::time::timeout(Duration::from_secs(60), writing).await.unwrap();
            assert_eq!(report.stats.committed, 1000);
            assert_eq!(rows(&fixture).await, 1000);
        }
    }
}

#[tokio::test]
async fn f_a30_a_record_larger_than_the_memory_fails_alone() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let options = quiet(SinkOptions::new().in_mode(mode)).memory(64 << 10).batch_bytes(32 << 10);
        let large = "x".repeat(100 << 10);
        let large = [("id", Value::from(2)), ("v", Value::from(large.as_str()))];
        let sink = fixture.sink("t", options.clone()).await;
        play(&sink, "I id=1 v=a").await.unwrap();
        let error = sink.write_values(RowKind::Insert, &large).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("client.writer.buffer.memory-size"), "{error}");
        play(&sink, "I id=3 v=c").await.unwrap();
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed), (2, 2));
        assert_eq!(fixture.table("t").await, "(1,a) (3,c)");

        let sink = fixture.sink("t", options.reject_policy(RejectPolicy::Skip { limit: None })).await;
        play(&sink, "I id=4 v=d").await.unwrap();
        sink.write_values(RowKind::Insert, &large).await.unwrap();
        play(&sink, "I id=5 v=e").await.unwrap();
        let report = sink.close().await.unwrap();
        assert_eq!((report.stats.accepted, report.stats.committed, report.stats.rejected), (3, 2, 1));
        assert_eq!((report.rejects[0].position, report.rejects[0].sqlstate.as_str()), (2, "54000"));
    }
}

#[tokio::test]
async fn a_stream_is_forwarded_and_a_bad_record_ends_it() {
    let record = |id: i32| Record::new(RowKind::Insert).field("id", id).field("v", "x");
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        stream::iter(0..500).map(|id| Ok(record(id))).forward(sink).await.unwrap();
        assert_eq!(rows(&fixture).await, 500);

        let mut sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        sink.send(record(500)).await.unwrap();
        assert_eq!(rows(&fixture).await, 501, "send flushes");
        sink.feed(record(501)).await.unwrap();
        sink.feed(Record::new(RowKind::Insert).field("v", "x")).await.unwrap();
        let error = SinkExt::<Record>::flush(&mut sink).await.unwrap_err();
        assert_eq!((error.kind(), error.context("column")), (ErrorKind::Data, Some("id")));
        SinkExt::<Record>::close(&mut sink).await.unwrap();
        assert_eq!(rows(&fixture).await, 502);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clones_write_at_once() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let options = SinkOptions::new().in_mode(mode).batch_rows(50).lanes(3).memory(256 << 10);
        let sink = fixture.sink("t", options.batch_bytes(64 << 10)).await;
        let tasks: Vec<_> = (0..16)
            .map(|task| {
                let sink = sink.clone();
                tokio::spawn(async move {
                    for n in 0..200 {
                        play(&sink, &format!("I id={} v={task}", task * 1000 + n)).await.unwrap();
                        play(&sink, &format!("I id={} v=shared", 100_000 + n % 10)).await.unwrap();
                        if n % 50 == 0 {
                            sink.flush().await.unwrap();
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed), (6400, 6400));
        assert_eq!(rows(&fixture).await, 16 * 200 + 10);
    }
}

#[tokio::test]
async fn h_f08_a_lost_connection_loses_no_record_without_a_word() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        let mut locker = fixture.database.client().await;
        let lock = locker.transaction().await.unwrap();
        lock.batch_execute("lock table t in access exclusive mode").await.unwrap();
        play(&sink, "I id=1 v=a; I id=2 v=b").await.unwrap();
        let flushing = sink.clone();
        let flushing = tokio::spawn(async move { flushing.flush().await });
        let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock'";
        let client = fixture.database.client().await;
        eventually("the batch waits for the lock", async || {
            client.query_one(end, &[]).await.unwrap().get::<_, i64>(0) == 1
        })
        .await;
        lock.rollback().await.unwrap();
        let flushed = flushing.await.unwrap();
        let stats = sink.stats();
        match flushed {
            // Replayed over another connection.
            Ok(report) => {
                assert_eq!(report.stats.committed, 2);
                assert_eq!(fixture.table("t").await, "(1,a) (2,b)");
            }
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Connection | ErrorKind::OutcomeUnknown), "{error}");
                assert!(error.to_string().contains("\"public\".\"t\""), "{error}");
                assert!(error.to_string().contains("1 to 2"), "{error}");
                assert_eq!((stats.failed + stats.unknown, stats.committed, stats.pending()), (2, 0, 0));
                for again in [play(&sink, "I id=3 v=c").await.unwrap_err(), sink.flush().await.unwrap_err()] {
                    assert_eq!(again.to_string(), error.to_string());
                }
                assert_eq!(sink.stats().accepted, 2);
            }
        }
    }
}

#[tokio::test]
async fn h_f06_a_table_that_is_dropped_meanwhile_is_named() {
    for mode in modes() {
        let fixture = Fixture::new(PLAIN).await;
        let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode))).await;
        play(&sink, "I id=1 v=a; F; I id=2 v=b; I id=3 v=c").await.unwrap();
        fixture.execute("drop table t").await;
        let error = tokio::time::timeout(Duration::from_secs(20), sink.flush()).await.unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Schema | ErrorKind::NotFound), "{error}");
        assert!(error.to_string().contains("\"public\".\"t\""), "{error}");
        assert!(error.to_string().contains("2 to 3"), "{error}");
        let stats = sink.stats();
        assert_eq!((stats.accepted, stats.committed, stats.failed), (3, 1, 2));
        assert_eq!(sink.flush().await.unwrap_err().to_string(), error.to_string());
        assert_eq!(sink.close().await.unwrap_err().to_string(), error.to_string());
    }
}

#[tokio::test]
async fn options_that_cannot_be_right_are_refused_at_open() {
    let fixture = Fixture::new(PLAIN).await;
    for (options, named) in [
        (SinkOptions::new().batch_rows(0), "sink.insert.batch-size"),
        (SinkOptions::new().lanes(0), "bucket.num"),
        (SinkOptions::new().memory(64 << 10).batch_bytes(64 << 10), "client.writer.buffer.memory-size"),
        (SinkOptions::new().insert_only_columns(["nope"]), "nope"),
        (SinkOptions::new().time_zone("Nowhere/Town"), "Nowhere/Town"),
    ] {
        let error = Sink::open(&fixture.pool, "t", options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(named), "{error}");
    }
    let error = Sink::open(&fixture.pool, "missing", SinkOptions::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_that_others_hold_in_unfinished_batches_is_freed_for_who_waits() {
    for mode in modes() {
        let fixture = Fixture::new("create table t (id int, v text)").await;
        let options = quiet(SinkOptions::new().in_mode(mode)).memory(8 << 10).batch_bytes(4 << 10).lanes(2);
        let sink = fixture.sink("t", options).await;
        for round in 0..200 {
            let writes: Vec<_> = [7000, 500, 900, 300]
                .into_iter()
                .map(|length| {
                    let sink = sink.clone();
                    tokio::spawn(async move {
                        let text = "x".repeat(length);
                        let fields = [("id", Value::from(round)), ("v", Value::from(text))];
                        sink.write_values(RowKind::Insert, &fields).await.unwrap();
                    })
                })
                .collect();
            for write in writes {
                tokio::time::timeout(Duration::from_secs(20), write).await.unwrap().unwrap();
            }
        }
        assert_eq!(sink.close().await.unwrap().stats.committed, 800);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_record_that_a_clone_wrote_before_the_close_is_part_of_it() {
    for mode in modes() {
        for _ in 0..20 {
            let fixture = Fixture::new(PLAIN).await;
            let sink = fixture.sink("t", quiet(SinkOptions::new().in_mode(mode)).lanes(2)).await;
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    let sink = sink.clone();
                    tokio::spawn(async move {
                        for n in 0..u64::MAX {
                            if let Err(error) = play(&sink, &format!("I id={} v=x", n * 4 + writer)).await {
                                assert_eq!(error.kind(), ErrorKind::Closed);
                                return n;
                            }
                            tokio::task::yield_now().await;
                        }
                        unreachable!()
                    })
                })
                .collect();
            eventually("records come", async || sink.stats().accepted > 20).await;
            let stats = sink.close().await.unwrap().stats;
            let mut written = 0;
            for writer in writers {
                written += writer.await.unwrap();
            }
            assert_eq!((stats.accepted, stats.committed), (written, written));
            assert_eq!(fixture.count("select count(*) from t").await, i64::try_from(written).unwrap());
        }
    }
}
