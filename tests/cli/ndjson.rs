//! NDJSON through the command.

use crate::harness::Scene;

#[tokio::test]
async fn b35_lines_of_different_shape() {
    let scene = Scene::new("create table t(id int primary key, v int default 9)").await;
    scene.file(
        "b35.ndjson",
        "{\"id\":1,\"v\":5}\n{\"id\":2}\n{\"v\":null,\"id\":3}\n{\"id\":4,\"v\":6,\"extra\":true}\n\n{\"id\":5,\"V\":1}\n\
         {\"id\":6,\"v\":1,\"v\":2}\n[7,8]\n{\"id\":8,\"v\":",
    );
    let ran = scene.load("b35.ndjson -t t --max-errors 9 --summary json").code(1).says(&[
        "line 4, column \"extra\"",
        "line 6, column \"V\"",
        "line 8: the line is no JSON object",
        "line 9: the line ends within its JSON object",
    ]);
    assert_eq!(scene.rows("t").await, ["(1,5)", "(2,9)", "(3,)", "(6,2)"]);
    let summary = ran.summary();
    assert_eq!(
        (&summary["read"], &summary["written"], &summary["rejected"]),
        (&8.into(), &4.into(), &4.into())
    );
    scene.load("b35.ndjson -t t --max-errors 9 --ignore-unknown").code(1);
    assert_eq!(scene.rows("t").await, ["(1,5)", "(2,9)", "(3,)", "(4,6)", "(5,9)", "(6,2)"]);
}

#[tokio::test]
async fn json_values_go_into_columns_of_every_kind() {
    let scene = Scene::new(
        "create table t(id int primary key, n numeric, t text, j jsonb, raw json, a int[], b boolean, at timestamptz)",
    )
    .await;
    scene.file(
        "t.ndjson",
        r#"{"id":1,"n":123456789012345678901234567890.10,"t":"a\u00e9\n\"","j":{"k":[1.50,null]},"raw":"str","a":[1,null,3],"b":true,"at":"2024-01-01T00:00:00Z"}
{"id":"2","n":"1.5","t":7.10,"j":"x","raw":null,"a":"{4,5}","b":"f"}
"#,
    );
    scene.load("t.ndjson -t t --time-zone UTC").code(0);
    let texts = scene
        .texts("select concat_ws('|', id, n, t, j, raw, a, b, at at time zone 'UTC') from t order by id")
        .await;
    let expected = [
        "1|123456789012345678901234567890.10|aé\n\"|{\"k\": [1.50, null]}|\"str\"|{1,NULL,3}|t|2024-01-01 00:00:00",
        "2|1.5|7.10|\"x\"|{4,5}|f",
    ];
    assert_eq!(texts, expected.map(|text| Some(text.to_owned())));
}

#[tokio::test]
async fn a_composite_beside_a_type_that_travels_as_text() {
    let scene = Scene::new(
        "create type pair as (a int, b text); \
         create table t(id int, co pair, m money, v text, primary key (id, co))",
    )
    .await;
    scene.file("t.ndjson", "{\"id\":1,\"co\":\"(1,x)\",\"m\":\"1.50\",\"v\":\"y\"}\n");
    scene.load("t.ndjson -t t").code(0);
    let rows = scene.texts("select id || ' ' || co::text || ' ' || m::numeric || ' ' || v from t").await;
    assert_eq!(rows, [Some("1 (1,x) 1.50 y".to_owned())]);
    scene.file("gone.ndjson", "{\"op\":\"-D\",\"id\":1,\"co\":\"(1,x)\"}\n");
    scene.load("gone.ndjson -t t --op-column op").code(0);
    assert_eq!(scene.count("t").await, 0);
}
