//! Behind PgBouncer in transaction mode.

use std::time::Duration;

use futures::future::try_join_all;
use pgsluice::connection::{ConnectTarget, Pool, PoolOptions, Pooler, connect};
use pgsluice::options::{RejectPolicy, SinkOptions, WriteMode, WriteOptions};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};
use pgsluice_testcontainers::{Database, Pooler as Bouncer, server};
use tokio::time::Instant;

use super::error_of;

/// Seconds that the writers write for; CI's are few.
const SECONDS: &str = "PGSLUICE_TEST_POOLER_SECONDS";

const WRITERS: i64 = 16;

const MODES: [WriteMode; 4] = [WriteMode::Insert, WriteMode::CopyStream, WriteMode::Auto, WriteMode::Insert];

/// What a writer has of its own: a keyed table with an enum, a table to append to, or one whose key the server compares.
fn setup(writer: i64) -> String {
    match writer % 4 {
        0 | 1 => format!("create table w{writer} (id bigint primary key, v bigint not null, mood mood)"),
        2 => format!("create table w{writer} (id bigint, v bigint not null, mood mood)"),
        _ => format!("create table w{writer} (id numeric primary key, v bigint not null, mood mood)"),
    }
}

/// Writes batch after batch into a table of its own until the time is up; the rows that must be there.
async fn write(pool: Pool, writer: i64, end: Instant) -> pgsluice::Result<(i64, i64, u64)> {
    let table = format!("w{writer}");
    let keyed = writer % 4 != 2;
    let mut round = 0;
    let mut rows = 0;
    let mut written = 0;
    while Instant::now() < end || round < 3 {
        // Each opens the table anew, which reads the catalog.
        let mode = MODES[(writer / 4) as usize];
        let options = SinkOptions::new()
            .write_mode(mode)
            .batch_rows(50)
            .reject_policy(RejectPolicy::Skip { limit: None });
        let sink = Sink::open(&pool, &table, options.lanes(1 + usize::from(keyed))).await?;
        for _ in 0..4 {
            round += 1;
            for n in 0..100 {
                let id = if keyed { n } else { round * 100 + n };
                let mood = if n % 2 == 0 { "ok" } else { "bad" };
                let fields =
                    [("id", Value::from(id)), ("v", Value::from(round)), ("mood", Value::from(mood))];
                sink.write_values(RowKind::Insert, &fields).await?;
            }
            if keyed && round % 3 == 0 {
                sink.write_values(RowKind::Delete, &[("id", Value::from(7))]).await?;
            }
            sink.flush().await?;
            rows = match keyed {
                true => 100 - i64::from(round % 3 == 0),
                false => rows + 100,
            };
        }
        let stats = sink.close().await?.stats;
        assert_eq!((stats.committed, stats.rejected), (stats.accepted, 0), "{stats:?}");
        written += stats.committed;
    }
    Ok((rows, round, written))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b25_sixteen_writers_over_two_server_connections_write_exactly_their_rows() {
    let seconds = std::env::var(SECONDS).map_or(4, |text| text.parse().expect(SECONDS));
    for max_prepared_statements in [0, 100] {
        let database = Database::new().await;
        let admin = database.client().await;
        admin.batch_execute("create type mood as enum ('ok', 'bad')").await.unwrap();
        for writer in 0..WRITERS {
            admin.batch_execute(&setup(writer)).await.unwrap();
        }
        let bouncer = Bouncer::before(server().await, 2, max_prepared_statements).await;
        let target = ConnectTarget::parse(&bouncer.url(database.name())).unwrap();
        let end = Instant::now() + Duration::from_secs(seconds);
        let writers = (0..WRITERS).map(|writer| {
            let target = target.clone();
            tokio::spawn(async move {
                // As many client connections as there are writers.
                let options = PoolOptions::named(format!("bouncer{}", writer % 4))
                    .size(4)
                    .pooler((writer % 2 == 0).then_some(Pooler::Transaction));
                let pool = Pool::open_target(target, options).await?;
                assert!(pool.is_pooled());
                write(pool, writer, end).await
            })
        });
        let mut records = 0;
        for (writer, result) in try_join_all(writers).await.unwrap().into_iter().enumerate() {
            let (rows, round, written) = result.unwrap_or_else(|error| panic!("writer {writer}: {error:?}"));
            let sql = format!("select count(*), max(v) from w{writer}");
            let stored = admin.query_one(&sql, &[]).await.unwrap();
            assert_eq!((stored.get(0), stored.get(1)), (rows, round), "writer {writer}");
            records += written;
        }
        let sql = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
        let backends: i64 = admin.query_one(sql, &[]).await.unwrap().get(0);
        assert!((1..=2).contains(&backends), "{backends} server connections");
        eprintln!(
            "16 writers, max_prepared_statements {max_prepared_statements}: {records} records in {seconds} s"
        );
    }
}

#[tokio::test]
async fn b25_a_pooler_shows_itself_at_the_login_unless_an_option_says_what_it_is() {
    let database = Database::new().await;
    let bouncer = Bouncer::before(server().await, 2, 0).await;
    let through = ConnectTarget::parse(&bouncer.url(database.name())).unwrap();
    let direct = ConnectTarget::parse(&database.url()).unwrap();
    for (target, option, pooled) in [
        (&direct, None, false),
        (&direct, Some(Pooler::Transaction), true),
        (&through, None, true),
        (&through, Some(Pooler::Transaction), true),
        (&through, Some(Pooler::None), false),
    ] {
        let options = PoolOptions::named("seen").pooler(option);
        let pool = Pool::open_target(target.clone(), options).await.unwrap();
        let session = pool.get().await.unwrap();
        assert_eq!((pool.is_pooled(), session.is_pooled()), (pooled, pooled), "{option:?}");
        drop(session);
        pool.close().await;
    }
    // Of several users the most careful word holds for the pool.
    let user = |pooler| PoolOptions::named("several").pooler(pooler);
    let first = Pool::open_target(through.clone(), user(Some(Pooler::None))).await.unwrap();
    assert!(!first.is_pooled());
    let second = Pool::open_target(through.clone(), user(Some(Pooler::Transaction))).await.unwrap();
    assert!(first.is_pooled() && second.is_pooled());

    for (value, pooler) in [("none", Pooler::None), ("transaction", Pooler::Transaction)] {
        let options = WriteOptions::from_map([("connection.pooler", value)]).unwrap();
        assert_eq!(options.pool.pooler, Some(pooler));
    }
    assert_eq!(
        WriteOptions::from_map([("connection.pooler", "session")]).unwrap_err().kind(),
        ErrorKind::Config
    );
}

#[tokio::test]
async fn b25_tls_and_start_up_options_before_a_pooler_say_what_to_do() {
    let database = Database::new().await;
    let bouncer = Bouncer::before(server().await, 1, 0).await;
    let through = |keyword, value| {
        let builder = ConnectTarget::builder().dsn(&bouncer.url(database.name())).unwrap();
        builder.set(keyword, value).unwrap().build().unwrap()
    };
    let options = PoolOptions::default();
    let error = error_of(connect(&through("options", "-c work_mem=1MB"), &options)).await;
    assert!(error.hint().is_some_and(|hint| hint.contains("alter role")), "{error:?}");
    let error = error_of(connect(&through("sslmode", "require"), &options)).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[tokio::test]
async fn b25_a_named_statement_of_anothers_connection_names_the_option() {
    let database = Database::new().await;
    let bouncer = Bouncer::before(server().await, 1, 0).await;
    let options = PoolOptions::named("strange").pooler(Pooler::None);
    let pool = Pool::open(&bouncer.url(database.name()), options).await.unwrap();
    let session = pool.get().await.unwrap();
    // Made twice on the one server connection, as two clients of the pooler would.
    session.batch_execute("prepare named as select 1").await.unwrap();
    let error = session.batch_execute("prepare named as select 1").await.unwrap_err();
    let error = session.failure("look", &error);
    assert_eq!(error.sqlstate(), Some("42P05"));
    assert!(error.hint().is_some_and(|hint| hint.contains("connection.pooler=transaction")), "{error:?}");
}
