//! CSV through the command.

use crate::harness::Scene;

const B32: &str = "1,\"\",\"\",\n2,x,,\"\"\n3,NULL,\"NULL\",4\n4,\\N,\\N,5\n";

#[tokio::test]
async fn b32_empty_is_null_and_quoted_empty_is_a_text() {
    let scene = Scene::new("create table t(id int, t text not null, n text, i int)").await;
    scene.file("b32.csv", B32);
    // `""` is no integer, and nothing else is wrong.
    scene
        .load("b32.csv -t t --no-header --max-errors 1")
        .code(1)
        .says(&["b32.csv line 2, column \"i\"", "22P02"]);
    assert_eq!(scene.rows("t").await, ["(1,\"\",\"\",)", "(3,NULL,NULL,4)", "(4,\"\\\\N\",\"\\\\N\",5)"]);
    scene.client.batch_execute("truncate t").await.unwrap();
    scene.load("b32.csv -t t --no-header --force-null i").code(0);
    assert_eq!(scene.rows("t").await[1], "(2,x,,)");
}

#[tokio::test]
async fn b32_the_null_string_and_the_force_lists() {
    let scene = Scene::new("create table t(id int, t text, n text, i int)").await;
    scene.file("b32.csv", B32);
    scene
        .load("b32.csv -t t --no-header --null NULL --force-null n --force-not-null t --max-errors 2")
        .code(1)
        .says(&["line 1, column \"i\"", "line 2, column \"i\""]);
    assert_eq!(scene.rows("t").await, ["(3,NULL,,4)", "(4,\"\\\\N\",\"\\\\N\",5)"]);
    scene.client.batch_execute("truncate t").await.unwrap();
    scene.load("b32.csv -t t --no-header --null \\N --max-errors 9").code(1);
    assert_eq!(scene.rows("t").await, ["(3,NULL,NULL,4)", "(4,,,5)"]);
    scene.load("b32.csv -t t --no-header --force-null x").code(2).says(&["--force-null", "\"x\""]);
}

#[tokio::test]
async fn b31_a_quoted_newline_is_never_a_cut() {
    let scene = Scene::new("create table t(id int primary key, t text); create table o(like t)").await;
    let mut content = String::from("id,t\n");
    for id in 1..=100_000 {
        if id % 7 == 0 {
            content.push_str(&format!("{id},\"line1\nline2, \"\"q\"\" \r\n end\"\n"));
        } else {
            content.push_str(&format!("{id},row {id}\n"));
        }
    }
    scene.file("big.csv", &content);
    scene.load("big.csv -t t").code(0);
    let sink =
        scene.client.copy_in::<_, bytes::Bytes>("copy o from stdin (format csv, header)").await.unwrap();
    let mut sink = std::pin::pin!(sink);
    futures::SinkExt::send(&mut sink, bytes::Bytes::from(content)).await.unwrap();
    sink.finish().await.unwrap();
    let sum = |table| format!("select count(*) || md5(string_agg(t::text, ',' order by id)) from {table} t");
    assert_eq!(scene.texts(&sum("t")).await, scene.texts(&sum("o")).await);
}

#[tokio::test]
async fn b31_five_megabytes_in_one_field_and_an_open_quote() {
    let scene = Scene::new("create table t(id int primary key, t text)").await;
    let field =
        "a line of a hundred bytes, or nearly so many, which is here again and again until the field is large"
            .to_owned() + "\n";
    let field = field.repeat(50_000);
    scene.file("t.csv", format!("id,t\n1,\"{field}\"\n2,x\n3,\"never\nclosed\n"));
    scene.load("t.csv -t t").code(1).says(&["line 50004", "the quote opens on line 50004", "22P04"]);
    let md5 = scene.texts("select md5(t) from t where id = 1 and md5(t) = md5(repeat(E'a line of a hundred bytes, or nearly so many, which is here again and again until the field is large\\n', 50000))").await;
    assert_eq!(md5.len(), 1);
    assert_eq!(scene.count("t").await, 2);
}

#[tokio::test]
async fn b04_headers_of_any_name() {
    let scene = Scene::new(
        r#"create schema "Sales"; create table "Sales"."Order.Lines"
           (id int primary key, "jsonData" text, "left" text, "a""b" text, "sp ace" text, "données" text)"#,
    )
    .await;
    scene.file("n.csv", "données,\"a\"\"b\",left,sp ace,jsonData,id\n6,5,4,3,2,1\n");
    let mut command = scene.command("n.csv -t");
    command.arg(r#""Sales"."Order.Lines""#);
    crate::harness::Ran::of(command.output().unwrap()).code(0);
    assert_eq!(scene.rows(r#""Sales"."Order.Lines""#).await, ["(1,2,4,5,3,6)"]);
}

#[tokio::test]
async fn headers_that_do_not_fit_are_found_before_the_first_row() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("a.csv", "id,v\n1,a\n");
    scene.file("b.csv", "id,V,extra\n2,b,c\n");
    scene.load("a.csv b.csv -t t").code(2).says(&["b.csv", "\"V\", \"extra\"", "did you mean \"v\"?"]);
    assert_eq!(scene.count("t").await, 0);
    scene.load("a.csv b.csv -t t --ignore-unknown").code(0);
    assert_eq!(scene.rows("t").await, ["(1,a)", "(2,)"]);
    scene.file("c.csv", "id,v,v\n2,b,c\n");
    scene.load("c.csv -t t").code(2).says(&["twice", "\"v\""]);
    scene.load("b.csv -t t --columns id").code(0);
}

#[tokio::test]
async fn generated_columns_are_refused_or_left_out() {
    let scene =
        Scene::new("create table t(id int primary key, v int, d int generated always as (v * 2) stored)")
            .await;
    scene.file("t.csv", "id,v,d\n5,7,14\n");
    scene.load("t.csv -t t").code(2).says(&["\"d\"", "sink.skip-generated-columns"]);
    scene.load("t.csv -t t -w sink.skip-generated-columns=true").code(0);
    scene.file("p.csv", "6,1\n");
    scene.load("p.csv -t t --no-header").code(0);
    scene.file("t.ndjson", "{\"id\":7,\"v\":2,\"d\":0}\n");
    scene.load("t.ndjson -t t").code(2).says(&["generated", "line 1"]);
    scene.load("t.ndjson -t t -w sink.skip-generated-columns=true").code(0);
    assert_eq!(scene.rows("t").await, ["(5,7,14)", "(6,1,2)", "(7,2,4)"]);
}

#[tokio::test]
async fn b10_a_nul_byte_is_refused_or_taken_out() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("t.csv", "id,v\n1,a\0b\n");
    scene.load("t.csv -t t").code(1).says(&["line 2, column \"v\"", "22021"]);
    let ran = scene.load("t.csv -t t --summary json -w sink.remove-u0000-in-text.enabled=true").code(0);
    assert_eq!(ran.summary()["removed_u0000"], 1);
    assert_eq!(scene.rows("t").await, ["(1,ab)"]);
}

#[tokio::test]
async fn b14_texts_without_offset_are_read_in_one_named_zone() {
    let scene = Scene::new("create table t(id int primary key, at timestamptz)").await;
    scene.file("t.csv", "id,at\n1,2024-07-01 12:00\n2,2024-07-01 12:00+00\n");
    for (zone, first) in [("America/Los_Angeles", "19:00"), ("Asia/Kolkata", "06:30")] {
        let mut command = scene.command("t.csv -t t --time-zone");
        command.arg(zone).env("TZ", "Europe/Berlin");
        crate::harness::Ran::of(command.output().unwrap()).code(0).says(&[zone]);
        let times = scene.texts("select to_char(at at time zone 'UTC', 'HH24:MI') from t order by id").await;
        assert_eq!(times, [Some(first.to_owned()), Some("12:00".to_owned())]);
    }
    let database = scene.texts("select current_database()::text").await[0].clone().unwrap();
    let set = format!("alter database {database} set timezone = 'Asia/Tokyo'");
    scene.client.batch_execute(&set).await.unwrap();
    scene.load("t.csv -t t").code(0).says(&["Asia/Tokyo"]);
    assert_eq!(
        scene.texts("select to_char(at at time zone 'UTC', 'HH24:MI') from t where id = 1").await,
        [Some("03:00".into())]
    );
}
