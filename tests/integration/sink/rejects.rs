//! Records that the server refuses: they are named, their neighbours commit, and the books are right.

use std::time::Duration;

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{ConflictAction, DeleteStrategy, RejectPolicy, SinkOptions};
use pgsluice::sink::Sink;
use pgsluice::{ErrorKind, Record, RowKind, Value};

use super::conformance::{Case, Fixture, InMode, eventually, modes, play, told};

const CHECKED: &str = "create table t (id int primary key, v int constraint positive check (v > 0))";

fn skip() -> SinkOptions {
    SinkOptions::new().reject_policy(RejectPolicy::Skip { limit: None })
}

fn balanced(sink: &Sink) {
    let stats = sink.stats();
    assert_eq!(
        stats.accepted,
        stats.committed + stats.rejected + stats.failed + stats.unknown + stats.pending(),
        "{stats:?}"
    );
}

async fn rejected(sink: &Sink, records: u64) {
    eventually("the rejects are known", async || sink.stats().rejected == records).await;
}

#[tokio::test]
async fn h_f01_fail_tries_all_and_the_next_call_names_all_rejected() {
    for mode in modes() {
        let fixture = Fixture::new(CHECKED).await;
        let sink = fixture.sink("t", SinkOptions::new().in_mode(mode).batch_rows(4)).await;
        play(&sink, "I id=1 v=1; I id=2 v=-1; I id=3 v=3; I id=4 v=-1").await.unwrap();
        rejected(&sink, 2).await;
        balanced(&sink);
        let error = play(&sink, "I id=5 v=5").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected);
        let both = [(2, "23514", Some("positive")), (4, "23514", Some("positive"))];
        assert_eq!(told(error.rejects()), both);
        assert!(!error.to_string().contains("-1"), "a value in {error}");
        assert_eq!(sink.stats().accepted, 4, "the call that returns the error takes nothing");
        play(&sink, "I id=5 v=5").await.unwrap();
        let error = sink.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected, "a flush covers what another call has told");
        assert_eq!(told(error.rejects()), both);
        sink.flush().await.unwrap();
        assert_eq!(fixture.table("t").await, "(1,1) (3,3) (5,5)");
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed, stats.rejected, stats.pending()), (5, 3, 2, 0));
    }
}

#[tokio::test]
async fn a_reject_reaches_the_next_call_of_any_clone_and_each_flush_once() {
    let fixture = Fixture::new(CHECKED).await;
    let sink = fixture.sink("t", SinkOptions::new().batch_rows(1)).await;
    let other = sink.clone();
    play(&sink, "I id=1 v=-1").await.unwrap();
    rejected(&sink, 1).await;
    assert_eq!(told(play(&other, "I id=2 v=1").await.unwrap_err().rejects()).len(), 1);
    play(&sink, "I id=2 v=1; I id=3 v=-1").await.unwrap();
    let error = other.flush().await.unwrap_err();
    assert_eq!(told(error.rejects()), [(1, "23514", Some("positive")), (3, "23514", Some("positive"))]);
    other.flush().await.unwrap();
    play(&sink, "I id=4 v=4").await.unwrap();
    sink.close().await.unwrap();
    assert_eq!(fixture.table("t").await, "(2,1) (4,4)");
}

#[tokio::test]
async fn h_f04_an_error_of_a_flush_by_age_reaches_the_next_call() {
    let setup = "create table t (id int primary key, v int not null)";
    for mode in modes() {
        let fixture = Fixture::new(setup).await;
        let options = SinkOptions::new().in_mode(mode).flush_interval(Duration::from_millis(50));
        let sink = fixture.sink("t", options).await;
        play(&sink, "I id=0 v=0; I id=1 v=null").await.unwrap();
        rejected(&sink, 1).await;
        let error = play(&sink, "I id=2 v=2").await.unwrap_err();
        assert_eq!(told(error.rejects()), [(2, "23502", Some("v"))]);
        play(&sink, "I id=2 v=2").await.unwrap();
        assert_eq!(sink.flush().await.unwrap_err().kind(), ErrorKind::Rejected);
        assert_eq!(fixture.table("t").await, "(0,0) (2,2)");
    }
}

#[tokio::test]
async fn what_the_client_refuses_stays_the_callers_under_fail_and_is_counted_under_skip() {
    let fixture = Fixture::new(CHECKED).await;
    let sink = fixture.sink("t", SinkOptions::new()).await;
    play(&sink, "I id=1 v=1").await.unwrap();
    let error = play(&sink, "I id=2 v=3000000000").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.sqlstate(), error.context("column")),
        (ErrorKind::Data, Some("22003"), Some("v"))
    );
    let stats = sink.close().await.unwrap().stats;
    assert_eq!((stats.accepted, stats.committed, stats.rejected), (1, 1, 0));

    let sink = fixture.sink("t", skip()).await;
    play(&sink, "I id=2 v=3000000000; I id=3 v=3; I v=4; I id=4 v=-4").await.unwrap();
    let report = sink.close().await.unwrap();
    assert_eq!(
        told(&report.rejects),
        [(1, "22003", Some("v")), (3, "23502", Some("id")), (4, "23514", Some("positive"))]
    );
    assert_eq!((report.stats.accepted, report.stats.committed, report.stats.rejected), (4, 1, 3));
    assert_eq!(fixture.table("t").await, "(1,1) (3,3)");

    // Texts for the server are cut by nobody.
    let fixture = Fixture::new("create table t (id int primary key, v varchar(3))").await;
    let sink = fixture.sink("t", skip().text_values(true)).await;
    play(&sink, "I id=1 v=abc; I id=2 v=abcd; I id=3 v=äöü").await.unwrap();
    assert_eq!(told(&sink.close().await.unwrap().rejects), [(2, "22001", Some("v"))]);
    assert_eq!(fixture.table("t").await, "(1,abc) (3,äöü)");
}

#[tokio::test]
async fn h_f15_skip_leaves_the_bad_record_out() {
    let script = "I id=1 v=1; I id=2 v=-2";
    Case::new(CHECKED)
        .options(skip())
        .reports(script, "(1,1)", |report| {
            assert_eq!(report.stats.rejected, 1);
            assert_eq!(told(&report.rejects), [(2, "23514", Some("positive"))]);
            assert_eq!(report.rejects_not_kept, 0);
        })
        .await;
}

#[tokio::test]
async fn skip_with_a_limit_ends_the_sink_at_one_more() {
    for mode in modes() {
        let fixture = Fixture::new(CHECKED).await;
        let options = SinkOptions::new().in_mode(mode).batch_rows(1);
        let sink = fixture.sink("t", options.reject_policy(RejectPolicy::Skip { limit: Some(2) })).await;
        play(&sink, "I id=1 v=-1; I id=2 v=2; I id=3 v=-3").await.unwrap();
        assert_eq!(sink.flush().await.unwrap().rejects.len(), 2);
        play(&sink, "I id=4 v=-4").await.unwrap();
        let error = sink.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected);
        assert!(error.to_string().contains("limit"), "{error}");
        for again in [play(&sink, "I id=5 v=5").await.unwrap_err(), sink.flush().await.unwrap_err()] {
            assert_eq!(again.to_string(), error.to_string());
        }
        balanced(&sink);
        assert_eq!(sink.stats().accepted, 4);
        assert_eq!(fixture.table("t").await, "(2,2)");
    }
}

#[tokio::test]
async fn positions_are_the_callers_tokens_or_the_count_since_open() {
    let fixture = Fixture::new(CHECKED).await;
    let sink = fixture.sink("t", skip().delete_strategy(DeleteStrategy::IgnoreDelete).batch_rows(2)).await;
    let bad = |id: i32| Record::new(RowKind::Insert).field("id", id).field("v", -1);
    sink.write_record(bad(1)).await.unwrap();
    sink.write_record(Record { position: Some(700), ..bad(2) }).await.unwrap();
    sink.write_record(Record { position: Some(7), ..bad(3).field("id", 4) }).await.unwrap();
    sink.write_record(Record { position: Some(1), ..Record::new(RowKind::Delete).field("id", 9) })
        .await
        .unwrap();
    sink.write_record(bad(5)).await.unwrap();
    let report = sink.flush().await.unwrap();
    assert_eq!(
        told(&report.rejects),
        [
            (1, "23514", Some("positive")),
            (5, "23514", Some("positive")),
            (7, "42701", Some("id")),
            (700, "23514", Some("positive"))
        ]
    );
    sink.write_record(bad(6)).await.unwrap();
    assert_eq!(told(&sink.close().await.unwrap().rejects), [(6, "23514", Some("positive"))]);
}

#[tokio::test]
async fn positions_within_a_chunk_count_the_records_that_are_dropped() {
    let fixture = Fixture::new(CHECKED).await;
    let sink = fixture.sink("t", skip().delete_strategy(DeleteStrategy::IgnoreDelete).lanes(2)).await;
    let mut encoder = sink.encoder(&["id", "v"]).unwrap();
    for round in 0..2 {
        let mut chunk = pgsluice::sink::Chunk::new();
        for (kind, id) in
            [(RowKind::Insert, 1), (RowKind::Delete, 2), (RowKind::Insert, 3), (RowKind::Insert, 4)]
        {
            let mut row = encoder.row(&mut chunk, kind, 0);
            row.value(0, &Value::from(id)).unwrap();
            row.value(1, &Value::from(if id == 3 { 1 } else { -1 })).unwrap();
            row.finish(Some(format!("line {id}").into())).unwrap();
        }
        assert_eq!(chunk.len(), 4);
        sink.write_chunk(chunk).await.unwrap();
        let mut rejects = sink.flush().await.unwrap().rejects;
        rejects.sort_by_key(|reject| reject.position);
        let raw: Vec<_> =
            rejects.iter().map(|reject| (reject.position - 4 * round, reject.raw.clone())).collect();
        assert_eq!(raw, [(1, Some("line 1".into())), (4, Some("line 4".into()))]);
    }
    let stats = sink.close().await.unwrap().stats;
    assert_eq!((stats.accepted, stats.committed, stats.without_effect, stats.rejected), (8, 4, 2, 4));
}

/// A table with a rule, and how a record breaks it.
struct Rule {
    setup: &'static str,
    options: SinkOptions,
    good: fn(i32) -> String,
    bad: &'static str,
    sqlstate: &'static str,
    blamed: Option<&'static str>,
}

fn rules() -> Vec<Rule> {
    let plain = |id: i32| id.to_string();
    vec![
        Rule {
            setup: "create table t (id int primary key, v text constraint short check (length(v) < 9))",
            options: skip(),
            good: plain,
            bad: "much-too-long",
            sqlstate: "23514",
            blamed: Some("short"),
        },
        Rule {
            setup: "create table t (id int primary key, v text not null)",
            options: skip(),
            good: plain,
            bad: "null",
            sqlstate: "23502",
            blamed: Some("v"),
        },
        Rule {
            setup:
                "create table t (id int primary key, v text);
                    create function refuse() returns trigger language plpgsql as $$ begin
                        if new.v = 'bad' then raise 'no such thing'; end if; return new; end $$;
                    create trigger refuse before insert or update on t for each row execute function refuse()",
            options: skip(),
            good: plain,
            bad: "bad",
            sqlstate: "P0001",
            blamed: None,
        },
        Rule {
            setup: "create table r (v text primary key); insert into r select generate_series(0, 6000)::text;
                    create table t (id int primary key, v text constraint known references r)",
            options: skip(),
            good: plain,
            bad: "unknown",
            sqlstate: "23503",
            blamed: Some("known"),
        },
        Rule {
            setup: "create table r (v text primary key); insert into r select generate_series(0, 6000)::text;
                    create table t (id int primary key,
                                    v text constraint known references r deferrable initially deferred)",
            options: skip(),
            good: plain,
            bad: "unknown",
            sqlstate: "23503",
            blamed: Some("known"),
        },
        Rule {
            setup: "create table t (id int primary key, v text constraint once unique);
                    insert into t values (-1, 'taken')",
            options: skip(),
            good: plain,
            bad: "taken",
            sqlstate: "23505",
            blamed: Some("once"),
        },
        Rule {
            setup: "create domain short as text constraint short check (length(value) < 9);
                    create table t (id int primary key, v short)",
            options: skip(),
            good: plain,
            bad: "much-too-long",
            sqlstate: "23514",
            blamed: Some("v"),
        },
        Rule {
            setup: "create table t (id int primary key, v date)",
            options: skip().text_values(true),
            good: |id| format!("20{:02}-01-01", id % 100),
            bad: "31-31-31",
            sqlstate: "22008",
            blamed: Some("v"),
        },
        Rule {
            setup: "create table t (id int, v text constraint short check (length(v) < 9))",
            options: skip(),
            good: plain,
            bad: "much-too-long",
            sqlstate: "23514",
            blamed: Some("short"),
        },
    ]
}

/// Writes ids 1 to `rows`, those for which `is_bad` holds broken, in one batch.
async fn broken(rule: &Rule, rows: i32, is_bad: impl Fn(i32) -> bool) {
    for mode in modes() {
        let fixture = Fixture::new(rule.setup).await;
        let options = rule.options.clone().in_mode(mode).batch_rows(rows.try_into().unwrap());
        let sink = fixture.sink("t", options).await;
        let mut columns = sink.columns(&["id", "v"]).unwrap();
        for id in 1..=rows {
            let good = (rule.good)(id);
            let v = if is_bad(id) { rule.bad } else { good.as_str() };
            let v = (v != "null").then_some(v);
            columns.write_text(RowKind::Insert, &[Some(&id.to_string()), v]).await.unwrap();
        }
        let report = sink.close().await.unwrap();
        let bad: Vec<i32> = (1..=rows).filter(|&id| is_bad(id)).collect();
        let expected: Vec<_> =
            bad.iter().map(|&id| (u64::try_from(id).unwrap(), rule.sqlstate, rule.blamed)).collect();
        assert_eq!(told(&report.rejects), expected, "{}", rule.setup);
        let (all, bad_count) = (u64::try_from(rows).unwrap(), bad.len() as u64);
        let stats = report.stats;
        assert_eq!((stats.accepted, stats.committed, stats.rejected), (all, all - bad_count, bad_count));
        let ids = fixture
            .text("select coalesce(string_agg(id::text, ',' order by id), '') from t where id > 0")
            .await;
        let good: Vec<String> = (1..=rows).filter(|&id| !is_bad(id)).map(|id| id.to_string()).collect();
        assert!(ids == good.join(","), "{}: other rows than the good ones", rule.setup);
    }
}

#[tokio::test]
async fn one_bad_record_among_5000_is_found_whatever_refuses_it() {
    for rule in rules() {
        broken(&rule, 5000, |id| id == 3141).await;
    }
}

#[tokio::test]
async fn the_first_and_the_last_record_of_a_batch_are_found() {
    for rule in rules() {
        broken(&rule, 37, |id| id == 1 || id == 37).await;
    }
}

#[tokio::test]
async fn a_hundred_bad_records_among_5000() {
    for rule in rules().into_iter().take(2) {
        broken(&rule, 5000, |id| id % 50 == 7).await;
    }
}

#[tokio::test]
async fn all_records_bad() {
    for rule in rules() {
        broken(&rule, 40, |_| true).await;
    }
    broken(&rules()[0], 700, |_| true).await;
}

#[tokio::test]
async fn the_words_of_a_raise_are_passed_on_and_no_value_of_a_row() {
    let fixture = Fixture::new(rules()[2].setup).await;
    let sink = fixture.sink("t", skip()).await;
    play(&sink, "I id=4711 v=bad").await.unwrap();
    let rejects = sink.close().await.unwrap().rejects;
    assert_eq!(rejects[0].reason, "no such thing");
    let fixture = Fixture::new("create table t (id int primary key, v date)").await;
    let sink = fixture.sink("t", SinkOptions::new().text_values(true)).await;
    play(&sink, "I id=4711 v=secret").await.unwrap();
    let error = sink.flush().await.unwrap_err();
    assert_eq!(error.sqlstate(), Some("22007"));
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn a_bad_change_takes_no_good_one_of_its_key_with_it() {
    let only = |position: u64| {
        move |report: &pgsluice::sink::FlushReport| {
            assert_eq!(told(&report.rejects), [(position, "23514", Some("positive"))]);
        }
    };
    Case::new(CHECKED).options(skip()).reports("I id=1 v=5; I id=1 v=-1", "(1,5)", only(2)).await;
    let script = "I id=1 v=5; I id=1 v=-1; I id=2 v=2; I id=3 v=3; D id=3";
    Case::new(CHECKED).options(skip()).reports(script, "(1,5) (2,2)", only(2)).await;
    let replace = skip().on_conflict(ConflictAction::InsertOrReplace);
    Case::new(CHECKED).options(replace).reports("I id=1 v=5; D id=1; I id=1 v=-1", "", only(3)).await;
    let two = "create table t (id int primary key, v int constraint positive check (v > 0), w int)";
    Case::new(two)
        .options(skip())
        .reports("I id=1 v=5 w=1; I id=1 v=-1 w=2; I id=1 w=3", "(1,5,3)", only(2))
        .await;
}

#[tokio::test]
async fn h_f05_folding_off_only_the_bad_version_is_rejected() {
    let setup = "create table t (id int primary key, name text not null)";
    let script = "I id=0 name=aaa0; I id=0 name=null; I id=0 name=aaa2; I id=0 name=aaa3; I id=0 name=aaa4";
    Case::new(setup)
        .options(skip())
        .one_batch(&[false])
        .reports(script, "(0,aaa4)", |report| {
            assert_eq!(told(&report.rejects), [(2, "23502", Some("name"))]);
            assert_eq!(report.stats.committed, 4);
        })
        .await;
}

#[tokio::test]
async fn a_second_unique_constraint_keeps_the_order_of_arrival() {
    let setup =
        "create table t (id int primary key, code text unique); insert into t values (1, 'a'), (2, 'b')";
    Case::new(setup).gives("I id=2 code=c; I id=1 code=b", "(1,b) (2,c)").await;
    Case::new(setup).gives("I id=1 code=x; I id=2 code=a; I id=1 code=b", "(1,b) (2,a)").await;
    Case::new(setup)
        .gives("D id=2; I id=1 code=b; I id=2 code=a; I id=3 code=c; D id=3", "(1,b) (2,a)")
        .await;
    let script = "I id=3 code=b; I id=2 code=c; I id=4 code=b";
    Case::new(setup)
        .options(skip().deduplication(true))
        .one_batch(&[true, false])
        .reports(script, "(1,a) (2,c) (4,b)", |report| {
            assert_eq!(told(&report.rejects), [(1, "23505", Some("t_code_key"))])
        })
        .await;
}

#[tokio::test]
async fn a_reference_of_the_table_to_itself_keeps_parents_before_children() {
    let setup = "create table t (id int primary key, parent int references t)";
    Case::new(setup)
        .gives("I id=9; I id=5 parent=9; I id=1 parent=5; I id=2 parent=1", "(1,5) (2,1) (5,9) (9,)")
        .await;
    let stored = format!("{setup}; insert into t values (1, null), (2, 1), (3, 2)");
    Case::new(&stored).gives("D id=3; D id=2; D id=1; I id=7", "(7,)").await;
    // Halves of a batch with a bad record part parents from children.
    let chain: Vec<String> = (0..40).map(|n| format!("I id={} parent={}", 99 - n, 100 - n)).collect();
    let script = format!("I id=100; {}; I id=7 parent=8", chain.join(";"));
    let all: Vec<String> =
        (60..100).map(|id| format!("({id},{})", id + 1)).chain(["(100,)".to_owned()]).collect();
    Case::new(setup)
        .options(skip())
        .reports(&script, &all.join(" "), |report| {
            assert_eq!(told(&report.rejects), [(42, "23503", Some("t_parent_fkey"))]);
        })
        .await;
}

#[tokio::test]
async fn deferred_constraints_refuse_their_record_alone() {
    let setup = "create table r (id int primary key);
                 create table t (id int primary key, v int references r deferrable initially deferred,
                                 code text unique deferrable initially deferred);
                 insert into r values (1); insert into t values (0, 1, 'x')";
    let script = "I id=1 v=1 code=a; I id=2 v=2 code=b; I id=3 v=1 code=x; I id=4 v=1 code=d";
    Case::new(setup)
        .options(skip())
        .reports(script, "(0,1,x) (1,1,a) (4,1,d)", |report| {
            assert_eq!(
                told(&report.rejects),
                [(2, "23503", Some("t_v_fkey")), (3, "23505", Some("t_code_key"))]
            );
        })
        .await;
    let trigger = "create table t (id int primary key, v int);
                   create function refuse() returns trigger language plpgsql as $$ begin
                       if new.v < 0 then raise 'negative'; end if; return null; end $$;
                   create constraint trigger refuse after insert or update on t deferrable initially deferred
                       for each row execute function refuse()";
    Case::new(trigger)
        .options(skip())
        .reports("I id=1 v=1; I id=2 v=-1; I id=3 v=3", "(1,1) (3,3)", |report| {
            assert_eq!(told(&report.rejects), [(2, "P0001", None)]);
        })
        .await;
}

#[tokio::test]
async fn keys_that_only_the_server_tells_apart_are_narrowed_too() {
    let setup = "create extension citext;
                 create table t (id citext primary key, v int constraint positive check (v > 0))";
    let script = "I id=a v=1; I id=A v=-1; I id=B v=2; I id=c v=3; I id=b v=-1";
    Case::new(setup)
        .options(skip())
        .reports(script, "(a,1) (B,2) (c,3)", |report| {
            assert_eq!(
                told(&report.rejects),
                [(2, "23514", Some("positive")), (5, "23514", Some("positive"))]
            );
        })
        .await;
}

#[tokio::test]
async fn rejects_beyond_those_that_are_kept_are_counted() {
    let fixture = Fixture::new(CHECKED).await;
    let sink = fixture.sink("t", skip().batch_rows(64)).await;
    let mut columns = sink.columns(&["id", "v"]).unwrap();
    for id in 0..10_100 {
        // Refused by the client: quick.
        columns.write(RowKind::Insert, &[Value::from(id), Value::from("x")]).await.unwrap();
    }
    let report = sink.close().await.unwrap();
    assert_eq!((report.stats.rejected, report.rejects.len(), report.rejects_not_kept), (10_100, 10_000, 100));
}

#[tokio::test]
async fn a_row_that_row_security_refuses_is_rejected_alone() {
    let fixture = Fixture::new(
        "create table t (id int primary key, v text);
         alter table t enable row level security;
         create policy mine on t using (v <> 'theirs')",
    )
    .await;
    let role = format!("{}_writer", fixture.database.name());
    fixture.execute(&format!("create role {role}; grant all on t to {role}")).await;
    let url = format!("{}?options=-c%20role%3D{role}", fixture.database.url());
    let pool = Pool::open(&url, PoolOptions::named("row security")).await.unwrap();
    for mode in modes() {
        let sink = Sink::open(&pool, "t", skip().in_mode(mode)).await.unwrap();
        play(&sink, "I id=1 v=mine; I id=2 v=theirs; I id=3 v=mine").await.unwrap();
        let report = sink.close().await.unwrap();
        assert_eq!(told(&report.rejects), [(2, "42501", None)]);
        assert_eq!(fixture.table("t").await, "(1,mine) (3,mine)");
        fixture.execute("truncate t").await;
    }
    fixture.execute(&format!("drop owned by {role}; drop role {role}")).await;
}
