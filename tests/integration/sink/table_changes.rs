//! Tables that change under a running sink.

use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, RowKind, Value};

use super::faulty::{Faulty, balanced, options};

const TABLES: [&str; 2] = ["create table t (id int primary key, v int)", "create table t (id int, v int)"];

async fn write(sink: &Sink, ids: std::ops::Range<i32>) {
    for id in ids {
        let fields = [("id", Value::from(id)), ("v", Value::from(id))];
        sink.write_values(RowKind::Insert, &fields).await.unwrap();
    }
}

#[tokio::test]
async fn h_f06_a_dropped_table_is_not_found_and_nothing_is_tried_again() {
    for table in TABLES {
        let faulty = Faulty::new(table).await;
        let sink = faulty.sink(options()).await;
        write(&sink, 0..10).await;
        sink.flush().await.unwrap();
        faulty.client.batch_execute("drop table t").await.unwrap();
        write(&sink, 10..20).await;
        let error = sink.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert_eq!(error.context("records not committed"), Some("11 to 20 (10 records)"));
        let stats = sink.stats();
        assert_eq!((stats.committed, stats.failed, stats.retries), (10, 10, 0));
        balanced(stats);
    }
}

#[tokio::test]
async fn h_f13_columns_that_are_added_meanwhile_change_nothing() {
    for table in TABLES {
        let faulty = Faulty::new(table).await;
        let sink = faulty.sink(options().retry_count(0)).await;
        for round in 0..10 {
            write(&sink, round * 100..(round + 1) * 100).await;
            sink.flush().await.unwrap();
            let add = format!("alter table t add column c{round} int not null default 7");
            faulty.client.batch_execute(&add).await.unwrap();
        }
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.committed, stats.retries), (1000, 0));
        assert_eq!(faulty.number("select count(*) from t where id = v and c0 + c9 = 14").await, 1000);
    }
}

#[tokio::test]
async fn a_table_that_is_made_anew_in_the_same_shape_is_written_on() {
    for table in TABLES {
        let faulty = Faulty::new(table).await;
        let sink = faulty.sink(options()).await;
        write(&sink, 0..10).await;
        sink.flush().await.unwrap();
        faulty.client.batch_execute(&format!("drop table t; {table}")).await.unwrap();
        write(&sink, 10..20).await;
        sink.close().await.unwrap();
        assert_eq!(faulty.number("select count(*) from t").await, 10);
    }
}

#[tokio::test]
async fn a_column_that_is_gone_or_of_another_type_is_named() {
    let gone = ("alter table t drop column v", "column \"v\" is gone");
    let changed = ("alter table t alter column v type text", "column \"v\" has another type now");
    for (table, (change, words)) in TABLES.iter().flat_map(|&table| [(table, gone), (table, changed)]) {
        let faulty = Faulty::new(table).await;
        let sink = faulty.sink(options()).await;
        write(&sink, 0..10).await;
        sink.flush().await.unwrap();
        faulty.client.batch_execute(change).await.unwrap();
        write(&sink, 10..20).await;
        let error = sink.flush().await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Schema, words), "{error}");
        assert_eq!((sink.stats().failed, sink.stats().retries), (10, 0));
        balanced(sink.stats());
    }
}
