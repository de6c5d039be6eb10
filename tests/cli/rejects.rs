//! Bad records: how many are borne, where they go, and what is said.

use crate::harness::Scene;

/// A thousand rows, sixty of them bad: thirty that the client refuses and thirty that the server does.
fn sixty_bad() -> String {
    let mut content = String::from("id,qty\r\n");
    for id in 1..=1000 {
        let qty = match id % 50 {
            10 => "many".to_owned(),
            20 => "-1".to_owned(),
            30 => "\"1\r\n2\"".to_owned(),
            _ => id.to_string(),
        };
        content.push_str(&format!("{id},{qty}\r\n"));
    }
    content
}

#[tokio::test]
async fn b33_within_the_limit_all_others_are_in_and_the_file_can_be_loaded_again() {
    let scene = Scene::new(
        "create table t(id int primary key, qty int check (qty > 0)); create table all_(id int, qty text)",
    )
    .await;
    scene.file("o.csv", sixty_bad());
    let ran = scene.load("o.csv -t t --max-errors 100 --rejects bad.csv --summary json").code(1);
    let summary = ran.summary();
    assert_eq!(
        (&summary["read"], &summary["written"], &summary["rejected"]),
        (&1000.into(), &940.into(), &60.into())
    );
    assert_eq!(summary["stopped"], false);
    assert_eq!(scene.count("t").await, 940);
    let reasons: Vec<serde_json::Value> = scene
        .read("bad.csv.reasons.ndjson")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(reasons.len(), 60);
    let codes = |code: &str| reasons.iter().filter(|reason| reason["sqlstate"] == code).count();
    assert_eq!((codes("22P02"), codes("23514")), (40, 20));
    // Line 11 is the record 10; behind record 30 a line more was read.
    let at = |id: u64| 1 + id + (id + 19) / 50;
    assert!(
        reasons
            .iter()
            .any(|reason| reason["line"] == at(60) && reason["column"] == "qty" && reason["file"] == "o.csv")
    );
    assert!(scene.read("bad.csv").starts_with("id,qty\r\n"));
    scene.load("bad.csv -t all_").code(0);
    assert_eq!(scene.count("all_").await, 60);
}

#[tokio::test]
async fn b33_above_the_limit_it_stops_and_says_what_is_in() {
    let scene = Scene::new("create table t(id int primary key, qty int check (qty > 0))").await;
    scene.file("o.csv", sixty_bad());
    let ran = scene
        .load("o.csv -t t --max-errors 50 --rejects bad.csv --summary json")
        .code(1)
        .says(&["records are committed", "load the same input again"]);
    let summary = ran.summary();
    assert_eq!(summary["stopped"], true);
    assert_eq!(summary["written"], scene.count("t").await);
    let rejected = summary["rejected"].as_u64().unwrap();
    assert!(rejected > 50, "{rejected}");
    assert_eq!(scene.read("bad.csv.reasons.ndjson").lines().count() as u64, rejected);
}

#[tokio::test]
async fn b33_the_first_error_ends_it_and_names_file_line_column_and_cause() {
    let scene = Scene::new("create table t(id int primary key, qty smallint)").await;
    let mut content = String::from("id,qty\n");
    for id in 1..=30_000 {
        content.push_str(&format!(
            "{id},{}\n",
            if id == 12_344 { "40000".into() } else { (id % 9).to_string() }
        ));
    }
    scene.file("o.csv", &content);
    let ran = scene.load("o.csv -t t --summary json").code(1).says(&[
        "o.csv line 12345, column \"qty\"",
        "22003",
        "12343 records are committed",
        "--max-errors",
    ]);
    let summary = ran.summary();
    assert_eq!((&summary["stopped"], &summary["written"]), (&true.into(), &12_343.into()));
    assert_eq!(scene.count("t").await, 12_343);
}

#[tokio::test]
async fn a_wrong_count_of_fields_is_that_records_fault() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("t.csv", "id,v\n1,a\n2\n3,b,c\n\n4,d\n");
    scene.load("t.csv -t t --max-errors 3").code(1).says(&[
        "line 3, column \"v\": the record has 1 field instead of 2 (SQLSTATE 22P04)",
        "line 4: the record has 3 fields instead of 2",
        "line 5, column \"v\"",
    ]);
    assert_eq!(scene.rows("t").await, ["(1,a)", "(4,d)"]);
}

#[tokio::test]
async fn inputs_of_one_rejects_file_have_one_header_and_are_not_written_over() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("a.csv", "id,v\n1,a\n");
    scene.file("b.csv", "v,id\nb,2\n");
    scene.load("a.csv b.csv -t t --rejects r.csv").code(2).says(&["b.csv", "one rejects file"]);
    scene.load("a.csv -t t --rejects a.csv").code(2).says(&["one of the inputs"]);
    assert_eq!(scene.read("a.csv"), "id,v\n1,a\n");
    scene.load("a.csv b.csv -t t").code(0);
    scene.load("a.csv -t t --rejects missing/r.csv").code(6);
}

#[tokio::test]
async fn a_record_that_no_memory_can_hold_takes_no_other_with_it() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("t.csv", format!("id,v\n1,a\n2,{}\n3,c\n", "x".repeat(9 << 20)));
    scene
        .load("t.csv -t t --max-errors 1 -w client.writer.buffer.memory-size=8mb -w sink.insert.batch-byte-size=1mb")
        .code(1)
        .says(&["t.csv line 3", "54000", "client.writer.buffer.memory-size"]);
    assert_eq!(scene.rows("t").await, ["(1,a)", "(3,c)"]);
}

/// One bad value deep in a file, that the client refuses, or only the server: a CHECK, a NOT NULL.
#[tokio::test]
async fn one_bad_value_at_line_200_000_stops_the_load_or_is_set_aside() {
    let scene = Scene::new("create table t(id int primary key, qty int not null check (qty > 0))").await;
    for (bad, sqlstate) in [("many", "22P02"), ("-1", "23514"), ("", "23502")] {
        let mut content = String::from("id,qty\n");
        for line in 2..=210_000 {
            let qty = if line == 200_000 { bad.to_owned() } else { line.to_string() };
            content.push_str(&format!("{line},{qty}\n"));
        }
        scene.file("o.csv", &content);
        let stopped = scene.load("o.csv -t t").code(1).says(&["o.csv", "200000", "qty", sqlstate]);
        let committed = scene.count("t").await;
        assert!((1..210_000).contains(&committed));
        assert!(stopped.stderr.replace(',', "").contains(&committed.to_string()), "{}", stopped.stderr);

        scene.load("o.csv -t t --max-errors 5 --rejects r.csv").code(1);
        assert_eq!(scene.count("t").await, 209_998);
        assert_eq!(scene.read("r.csv"), format!("id,qty\n200000,{bad}\n"));
        scene.file("r.csv.repaired.csv", scene.read("r.csv").replace(&format!("00,{bad}\n"), "00,7\n"));
        scene.load("r.csv.repaired.csv -t t").code(0);
        assert_eq!(scene.count("t").await, 209_999);
        scene.client.batch_execute("truncate t").await.unwrap();
    }
}
