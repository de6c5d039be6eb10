//! `--create`.

use pgsluice_testcontainers::{Pooler, server};

use crate::harness::{Ran, Scene};

const TYPES: &str = "select attname || ' ' || format_type(atttypid, atttypmod) from pg_attribute \
                     where attrelid = 't'::regclass and attnum > 0 order by attnum";

async fn types(scene: &Scene) -> Vec<String> {
    scene.texts(TYPES).await.into_iter().map(Option::unwrap).collect()
}

#[tokio::test]
async fn types_are_inferred_over_the_whole_sample() {
    let scene = Scene::new("").await;
    let mut content = String::from("id,zip,price,at,\"Odd name\",late\n");
    for id in 1..=5000 {
        content.push_str(&format!("{id},0{id:04},{id}.50,2024-01-01 00:00:00+00,,{id}\n"));
    }
    content.push_str("5001,00000,1,2024-01-01T00:00:00Z,x,not a number\n");
    scene.file("t.csv", &content);
    scene
        .load("t.csv -t t --create --key id")
        .code(0)
        .says(&["create table \"t\" (\"id\" bigint, ", "primary key (\"id\")"]);
    assert_eq!(
        types(&scene).await,
        [
            "id bigint",
            "zip text",
            "price numeric",
            "at timestamp with time zone",
            "Odd name text",
            "late text"
        ]
    );
    assert_eq!(scene.count("t").await, 5001);
    scene.load("t.csv -t t --create").code(0).says(&["the table is there"]);
    assert_eq!(scene.count("t").await, 5001);
}

#[tokio::test]
async fn the_sample_of_a_pipe_is_not_lost() {
    let scene = Scene::new("").await;
    scene
        .load_stdin(
            "- -t t --create",
            b"{\"id\":1}\n{\"id\":2,\"tags\":[1],\"when\":\"2024-01-01\"}\n{\"id\":3,\"tags\":{}}\n",
        )
        .code(0);
    assert_eq!(types(&scene).await, ["id bigint", "tags jsonb", "when date"]);
    assert_eq!(scene.rows("t").await, ["(1,,)", "(2,[1],2024-01-01)", "(3,{},)"]);
}

#[tokio::test]
async fn given_types_and_a_dry_run() {
    let scene = Scene::new("").await;
    scene.file("t.csv", "1,a\n2,\n");
    scene.load("t.csv -t t --no-header --create").code(2).says(&["nothing names the columns"]);
    scene
        .load("t.csv -t t --no-header --create=id␣int,␣v␣text --dry-run")
        .code(0)
        .says(&["create table \"t\" (id int, v text)"]);
    assert_eq!(scene.texts("select to_regclass('t')::text").await, [None]);
    scene.load("t.csv -t t --no-header --create=id␣int,␣v␣text --key id").code(0);
    assert_eq!(scene.rows("t").await, ["(1,a)", "(2,)"]);
}

#[tokio::test]
async fn a_dry_run_finds_bad_records_and_sends_none() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("t.csv", "id,v\n1,a\nx,b\n3,c\n");
    let ran = scene
        .load("t.csv -t t --dry-run --max-errors 5 --summary json")
        .code(1)
        .says(&["line 3, column \"id\""]);
    assert_eq!(scene.count("t").await, 0);
    let summary = ran.summary();
    assert_eq!(
        (&summary["read"], &summary["written"], &summary["rejected"]),
        (&3.into(), &0.into(), &1.into())
    );
    scene.file("good.csv", "id,v\n1,a\n");
    scene.load("good.csv -t t --dry-run").code(0).says(&["dry run"]);
}

#[tokio::test]
async fn b25_a_load_makes_and_fills_its_table_behind_a_pooler() {
    let scene = Scene::new("").await;
    let pooler = Pooler::before(server().await, 1, 0).await;
    scene.file(
        "t.csv",
        (0..5000).map(|id| format!("{id},x\n")).fold("id,v\n".to_owned(), |all, line| all + &line),
    );
    let url = pooler.url(scene.database.name());
    for mode in ["INSERT", "AUTO"] {
        let arguments = format!("t.csv -t t --create --key id -w sink.write-mode={mode}");
        let mut command = scene.command(&arguments);
        Ran::of(command.env("DATABASE_URL", &url).output().unwrap()).code(0);
        assert_eq!(scene.count("t").await, 5000);
    }
}
