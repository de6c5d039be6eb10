//! `--atomic`: all or nothing, and nobody sees a part.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::harness::{Ran, Scene};

const SMALL: &str = "-w sink.insert.batch-size=100 -w sink.copy.min-rows=2";

fn rows(ids: std::ops::RangeInclusive<u32>, qty: u32) -> String {
    ids.map(|id| format!("{id},{qty}\n")).collect()
}

#[tokio::test]
async fn a_reader_that_polls_sees_the_old_rows_or_the_new_ones() {
    for key in ["primary key", ""] {
        let scene = Scene::new(&format!(
            "create table t(id int {key}, qty int); insert into t select i, 1 from generate_series(1, 1000) i"
        ))
        .await;
        scene.file("o.csv", format!("id,qty\n{}", rows(501..=60_000, 2)));
        let mut child = scene
            .command(&format!("o.csv -t t --atomic --summary json {SMALL}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let seen = "(select count(*) || ' ' || coalesce(sum(qty), 0) as seen from t) s";
        let new = if key.is_empty() { "60500 120000" } else { "60000 119500" };
        let mut polls = 0;
        while child.try_wait().unwrap().is_none() {
            let now = scene.texts(&format!("select seen from {seen}")).await[0].clone().unwrap();
            assert!(now == "1000 1000" || now == new, "{now}");
            polls += 1;
        }
        let ran = Ran::of(child.wait_with_output().unwrap()).code(0);
        assert_eq!(ran.summary()["written"], 59_500);
        assert!(polls > 5, "{polls} polls");
        assert_eq!(scene.texts(&format!("select seen from {seen}")).await[0].as_deref(), Some(new));
    }
}

#[tokio::test]
async fn what_the_server_or_the_reader_refuses_leaves_nothing() {
    let cases = [
        // The server's CHECK, at the end and in the middle.
        format!("{}501,-1\n", rows(1..=500, 1)),
        format!("{}201,-1\n{}", rows(1..=200, 1), rows(202..=500, 1)),
        // No number.
        format!("{}501,many\n", rows(1..=500, 1)),
        // No CSV: a quote that never ends.
        format!("{}501,\"1\n", rows(1..=500, 1)),
    ];
    for (case, content) in cases.iter().enumerate() {
        let scene = Scene::new("create table t(id int primary key, qty int check (qty > 0))").await;
        scene.file("o.csv", format!("id,qty\n{content}"));
        let ran = scene.load(&format!("o.csv -t t --atomic --summary json {SMALL}")).code(1);
        assert_eq!(scene.count("t").await, 0, "case {case}");
        assert_eq!(ran.summary()["written"], 0);
        assert_eq!(ran.summary()["stopped"], true);
    }
}

#[tokio::test]
async fn rejects_within_the_limit_leave_the_others_and_one_more_leaves_nothing() {
    let content = format!("id,qty\n{}201,-1\n202,many\n{}", rows(1..=200, 1), rows(203..=500, 1));
    for (limit, code, stored) in
        [("--max-errors 2", 1, 498), ("--max-errors 1", 1, 0), ("--rejects bad.csv", 1, 498)]
    {
        let scene = Scene::new("create table t(id int primary key, qty int check (qty > 0))").await;
        scene.file("o.csv", &content);
        let ran = scene.load(&format!("o.csv -t t --atomic {limit} --summary json {SMALL}")).code(code);
        assert_eq!(scene.count("t").await, stored, "{limit}");
        assert_eq!(ran.summary()["written"], stored, "{limit}");
        assert_eq!(ran.summary()["rejected"], 2, "{limit}");
        assert_eq!(ran.summary()["stopped"], stored == 0, "{limit}");
    }
}

#[tokio::test]
async fn a_signal_leaves_nothing() {
    let scene = Scene::new("create table t(id int primary key, qty int)").await;
    let mut child = scene
        .command(&format!("- -t t --format csv --atomic --summary json {SMALL}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("id,qty\n{}", rows(1..=50_000, 1)).as_bytes()).unwrap();
    let open = "select count(*)::text from pg_stat_activity where datname = current_database() and state = 'idle in transaction'";
    let deadline = Instant::now() + Duration::from_secs(20);
    while scene.texts(open).await[0].as_deref() == Some("0") {
        assert!(Instant::now() < deadline, "no transaction is open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let status =
        std::process::Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let ran = Ran::of(child.wait_with_output().unwrap()).code(143);
    assert_eq!(ran.summary()["written"], 0);
    assert_eq!(scene.count("t").await, 0);
    drop(stdin);
}

#[tokio::test]
async fn the_settings_that_it_stands_for_are_refused_beside_it() {
    let scene = Scene::new("create table t(id int primary key)").await;
    scene.file("o.csv", "id\n1\n");
    for setting in ["sink.write-mode=INSERT", "bucket.num=2"] {
        scene.load(&format!("o.csv -t t --atomic -w {setting}")).code(2).says(&["--atomic"]);
    }
    assert_eq!(scene.count("t").await, 0);
}

#[tokio::test]
async fn a_stored_key_in_an_appending_bulk_load_leaves_nothing_and_names_the_record() {
    let scene =
        Scene::new("create table t(id int primary key, qty int); insert into t values (300, 0)").await;
    scene.file("o.csv", format!("id,qty\n{}", rows(1..=500, 1)));
    let ran = scene.load(&format!("o.csv -t t --summary json -w sink.write-mode=COPY_BULK_LOAD {SMALL}"));
    let ran = ran.code(1).says(&["301"]);
    assert_eq!(scene.count("t").await, 1);
    assert_eq!(ran.summary()["written"], 0);
}
