//! The bulk modes: one transaction a lane up to the flush, all of it or nothing; and COPY's formats.

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{CopyFormat, SinkOptions, WriteMode};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};
use pgsluice_testcontainers::Fault;

use super::conformance::{Fixture, InMode, eventually, modes, play};
use super::faulty::{self, Faulty, balanced};

const BULK: [WriteMode; 2] = [WriteMode::CopyBulkLoad, WriteMode::CopyBulkLoadOnConflict];

/// Small batches, so that a load is many of them.
fn bulk(mode: WriteMode) -> SinkOptions {
    SinkOptions::new().write_mode(mode).copy_min_rows(2).batch_rows(3).flush_interval(None)
}

fn appends(ids: std::ops::RangeInclusive<i32>) -> String {
    ids.map(|id| format!("I id={id} v=v{id};")).collect()
}

#[tokio::test]
async fn h_j02_a_stored_key_undoes_the_whole_load_and_names_the_record() {
    let fixture =
        Fixture::new("create table t (id int primary key, v text); insert into t values (7, 'old')").await;
    let sink = fixture.sink("t", bulk(WriteMode::CopyBulkLoad)).await;
    play(&sink, &appends(1..=9)).await.unwrap();
    let error = sink.flush().await.unwrap_err();
    assert_eq!((error.sqlstate(), error.kind()), (Some("23505"), ErrorKind::Rejected), "{error}");
    assert!(error.to_string().contains("7"), "{error}");
    assert_eq!(fixture.table("t").await, "(7,old)");
    let stats = sink.stats();
    balanced(stats);
    assert_eq!((stats.accepted, stats.committed, stats.failed), (9, 0, 9));
    // The sink takes the replay, without the record that was refused.
    play(&sink, &format!("{} {}", appends(1..=6), appends(8..=9))).await.unwrap();
    sink.close().await.unwrap();
    assert_eq!(fixture.count("select count(*) from t").await, 9);
}

#[tokio::test]
async fn h_j02_a_key_twice_in_a_load_undoes_it() {
    for lanes in [1, 2] {
        let fixture = Fixture::new("create table t (id int primary key, v text)").await;
        let sink = fixture.sink("t", bulk(WriteMode::CopyBulkLoad).lanes(lanes)).await;
        play(&sink, &format!("{} I id=4 v=again", appends(1..=40))).await.unwrap();
        let error = sink.flush().await.unwrap_err();
        assert_eq!(error.sqlstate(), Some("23505"), "{error}");
        assert_eq!(fixture.count("select count(*) from t where v = 'again'").await, 0);
        balanced(sink.stats());
        assert_eq!(
            sink.stats().committed,
            u64::try_from(fixture.count("select count(*) from t").await).unwrap()
        );
    }
}

#[tokio::test]
async fn h_j04_nothing_is_visible_before_the_flush_and_all_is_after_it() {
    for mode in BULK {
        for lanes in [1, 3] {
            let fixture = Fixture::new("create table t (id int primary key, v text)").await;
            let sink = fixture.sink("t", bulk(mode).lanes(lanes)).await;
            for round in 1..=3 {
                let before = fixture.count("select count(*) from t").await;
                assert_eq!(before, (round - 1) * 50);
                let from = i32::try_from(before).unwrap() + 1;
                play(&sink, &appends(from..=from + 49)).await.unwrap();
                eventually("the server holds rows that nobody sees", async || {
                    fixture
                        .count("select count(*) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()")
                        .await
                        > 0
                })
                .await;
                assert_eq!(fixture.count("select count(*) from t").await, before);
                let report = sink.flush().await.unwrap();
                assert_eq!(report.stats.committed, u64::try_from(before).unwrap() + 50);
                assert_eq!(fixture.count("select count(*) from t").await, before + 50);
            }
            sink.close().await.unwrap();
            assert_eq!(
                fixture
                    .count("select count(*) from pg_stat_activity where state like 'idle in%' and datname = current_database()")
                    .await,
                0
            );
        }
    }
}

#[tokio::test]
async fn h_j05_a_stream_shows_its_rows_within_the_flush_interval() {
    for mode in modes() {
        let fixture = Fixture::new("create table t (id int primary key, v text)").await;
        let options =
            SinkOptions::new().in_mode(mode).flush_interval(Some(std::time::Duration::from_millis(50)));
        let sink = fixture.sink("t", options).await;
        play(&sink, &appends(1..=5)).await.unwrap();
        eventually("rows without a flush", async || fixture.count("select count(*) from t").await == 5).await;
        sink.close().await.unwrap();
    }
}

#[tokio::test]
async fn h_j07_a_close_without_records_sends_no_copy() {
    for mode in BULK.into_iter().chain([WriteMode::CopyStream]) {
        let faulty = Faulty::new("create table t (id int primary key)").await;
        let sink = faulty.sink(bulk(mode)).await;
        faulty.proxy.inject(Fault::Before("COPY "));
        sink.flush().await.unwrap();
        assert_eq!(sink.close().await.unwrap().stats.accepted, 0);
        assert_eq!(faulty.proxy.cuts(), 0);
    }
}

#[tokio::test]
async fn h_j08_the_order_of_a_records_columns_is_free() {
    for mode in BULK {
        let fixture = Fixture::new("create table t (a int primary key, b text, c int default 5)").await;
        let sink = fixture.sink("t", bulk(mode)).await;
        play(&sink, "I c=1 b=x a=1; I b=y a=2; I a=3 c=null; I c=4 a=4 b=null; I a=5").await.unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,x,1) (2,y,5) (3,,) (4,,4) (5,,5)");
    }
}

#[tokio::test]
async fn h_j06_columns_that_are_not_given_stay() {
    for mode in [WriteMode::CopyStream, WriteMode::CopyBulkLoadOnConflict] {
        let setup = "create table t (id int primary key, name text, v int); insert into t select i, 'old', i from generate_series(1, 5) i";
        let fixture = Fixture::new(setup).await;
        let sink = fixture.sink("t", bulk(mode)).await;
        play(&sink, "I id=1 name=a; I id=2 name=b; I id=3 name=c; I id=6 name=d; D id=5; I id=1 v=9")
            .await
            .unwrap();
        sink.close().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,a,9) (2,b,2) (3,c,3) (4,old,4) (6,d,)");
    }
}

#[tokio::test]
async fn h_j10_both_formats_give_the_same_table() {
    let columns = "id int primary key, b bool, i2 int2, i8 int8, f float8, n numeric, words text, c char(4), by bytea, d date, ts timestamp,
                   tz timestamptz, iv interval, u uuid, j json, jb jsonb, ia int[], ta text[], bi bit(5), r int4range";
    let setup = format!("create table t ({columns}); create table other (like t including all)");
    let texts: [&[&str]; 20] = [
        &["1", "2", "3", "4", "5"],
        &["t", "f", "t", "f", "t"],
        &["-32768", "32767", "0", "1", "2"],
        &["-9223372036854775808", "9223372036854775807", "0", "1", "2"],
        &["NaN", "-Infinity", "1.5", "-0", "1e300"],
        &["NaN", "-0.00001", "123456789012345678901234567890.5", "0", "1e30"],
        &["a\tb\nc\rd", "\\N", "\\.", "", "é€𝄞"],
        &["a", "ab", "abc", "abcd", ""],
        &["\\x00ff", "\\x", "\\x5c", "\\x0a0d09", "\\x4e"],
        &["infinity", "-infinity", "2024-02-29", "0001-01-01", "4713-01-01 BC"],
        &["infinity", "-infinity", "2024-02-29 23:59:59.999999", "1970-01-01", "2000-01-01"],
        &[
            "infinity",
            "-infinity",
            "2024-02-29 23:59:59.999999+02",
            "1970-01-01 00:00Z",
            "2000-01-01 00:00-08",
        ],
        &["1 mon -2 days 03:00:00.5", "0", "-1 year", "24:00:00", "1 day"],
        &[
            "00000000-0000-0000-0000-000000000000",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "00000000-0000-0000-0000-000000000001",
            "00000000-0000-0000-0000-000000000002",
        ],
        &["{\"a\": \"x\\ty\"}", "null", "[1, 2]", "\"\"", "1.0"],
        &["{\"a\": \"x\\ty\"}", "null", "[1, 2]", "\"\"", "1.0"],
        &["{1,NULL,3}", "{}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{-1}"],
        &["{a,NULL,\"NULL\",\"\"}", "{}", "{\"a\\\\b\"}", "{\"x,y\"}", "{\"\\\"\"}"],
        &["01010", "00000", "11111", "00001", "10000"],
        &["[1,5)", "empty", "(,3)", "[7,)", "(,)"],
    ];
    for mode in [WriteMode::CopyStream, WriteMode::CopyBulkLoad, WriteMode::CopyBulkLoadOnConflict] {
        let fixture = Fixture::new(&setup).await;
        let names: Vec<String> =
            columns.split(',').map(|column| column.split_whitespace().next().unwrap().to_owned()).collect();
        for (table, format) in [("t", CopyFormat::Binary), ("other", CopyFormat::Text)] {
            let sink = fixture.sink(table, bulk(mode).copy_format(format)).await;
            for row in 0..5 {
                let fields: Vec<(&str, Value<'_>)> = names
                    .iter()
                    .zip(texts)
                    .map(|(name, values)| (name.as_str(), Value::from(values[row])))
                    .collect();
                sink.write_values(RowKind::Insert, &fields).await.unwrap();
            }
            sink.write_values(RowKind::Insert, &[("id", Value::from(6))]).await.unwrap();
            sink.close().await.unwrap();
        }
        let differing =
            "select count(*) from t full join other o on t.id = o.id where t::text is distinct from o::text";
        assert_eq!(fixture.count(differing).await, 0);
        // What the server itself reads in these texts.
        for (name, values) in names.iter().zip(texts).skip(1) {
            for (row, text) in values.iter().enumerate() {
                let kind = fixture.text(&format!("select format_type(atttypid, atttypmod) from pg_attribute where attrelid = 't'::regclass and attname = '{name}'")).await;
                let literal = text.replace('\'', "''");
                let same = format!(
                    "select count(*) from t where id = {} and \"{name}\"::text = '{literal}'::{kind}::text",
                    row + 1
                );
                assert_eq!(fixture.count(&same).await, 1, "{name} {text}");
            }
        }
    }
}

#[tokio::test]
async fn h_j12_after_the_loss_of_the_connection_the_replay_gives_exactly_the_source() {
    for mode in BULK {
        for lanes in [1, 2] {
            let faulty = Faulty::new("create table t (id int primary key, v text)").await;
            let sink = faulty
                .sink(faulty::options().write_mode(mode).copy_min_rows(2).batch_rows(3).lanes(lanes))
                .await;
            play(&sink, &appends(1..=20)).await.unwrap();
            sink.flush().await.unwrap();
            let stored = faulty.number("select count(*) from t").await;
            assert_eq!(stored, 20);
            play(&sink, &appends(21..=50)).await.unwrap();
            eventually("a transaction of the load", async || {
                faulty.number("select count(*) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()").await > 0
            })
            .await;
            faulty.terminate().await;
            let error = sink.flush().await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Connection), "{error}");
            balanced(sink.stats());
            // What the lost lane held is gone; with two lanes the other may have ended with it or not at all.
            assert_eq!(faulty.number("select count(*) from t").await, 20);
            play(&sink, &appends(21..=50)).await.unwrap();
            sink.close().await.unwrap();
            assert_eq!(faulty.number("select count(*) from t").await, 50);
        }
    }
}

#[tokio::test]
async fn a_lost_answer_to_the_commit_of_a_load_is_settled() {
    for mode in BULK {
        let faulty = Faulty::new("create table t (id int, v text)").await;
        let sink = faulty.sink(faulty::options().write_mode(mode).copy_min_rows(2).batch_rows(3)).await;
        for (round, cut) in [Fault::Answer("COMMIT\0"), Fault::Before("COMMIT\0")].into_iter().enumerate() {
            play(&sink, &appends(1..=10)).await.unwrap();
            faulty.proxy.inject(cut);
            let flushed = sink.flush().await;
            assert_eq!(faulty.proxy.cuts(), round + 1);
            // Only the first COMMIT has reached the server.
            assert_eq!(flushed.is_ok(), round == 0, "{flushed:?}");
            assert_eq!(faulty.number("select count(*) from t").await, 10);
            balanced(sink.stats());
        }
    }
}

#[tokio::test]
async fn a_delete_in_an_append_is_refused_and_stays_the_callers() {
    let fixture = Fixture::new("create table t (id int primary key, v text)").await;
    let sink = fixture.sink("t", bulk(WriteMode::CopyBulkLoad)).await;
    play(&sink, "I id=1 v=a").await.unwrap();
    let error = play(&sink, "D id=1").await.unwrap_err();
    assert!(error.to_string().contains("COPY_BULK_LOAD"), "{error}");
    play(&sink, "I id=2 v=b").await.unwrap();
    sink.close().await.unwrap();
    assert_eq!(fixture.table("t").await, "(1,a) (2,b)");
}

#[tokio::test]
async fn more_lanes_than_connections_are_refused_where_each_lane_keeps_one() {
    let fixture = Fixture::new("create table t (id int primary key, v text)").await;
    for mode in BULK {
        let error = Sink::open(&fixture.pool, "t", bulk(mode).lanes(5)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(
            error.to_string().contains("bucket.num") && error.to_string().contains("connection.pool.size"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_staging_table_needs_the_grant_that_the_error_names() {
    let fixture = Fixture::new("create table t (id int primary key, v text)").await;
    let (database, role) = (fixture.database.name(), format!("{}_writer", fixture.database.name()));
    let setup = format!(
        "revoke temporary on database {database} from public; create role {role}; grant all on t to {role}"
    );
    fixture.execute(&setup).await;
    let url = format!("{}?options=-c%20role%3D{role}", fixture.database.url());
    let pool = Pool::open(&url, PoolOptions::named("no temp")).await.unwrap();
    let error = Sink::open(&pool, "t", bulk(WriteMode::CopyBulkLoadOnConflict)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permission);
    assert!(error.to_string().contains("TEMP"), "{error}");
    // AUTO goes without.
    let sink = Sink::open(&pool, "t", bulk(WriteMode::Auto)).await.unwrap();
    play(&sink, "I id=1 v=a; I id=1 v=b; I id=2 v=c").await.unwrap();
    sink.close().await.unwrap();
    assert_eq!(fixture.table("t").await, "(1,b) (2,c)");
    fixture.execute(&format!("drop owned by {role}; drop role {role}")).await;
}
