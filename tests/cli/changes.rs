//! `--op-column`: a file of changes.

use std::path::Path;

use crate::harness::Scene;

const ORDERS: &str = "create table orders(order_id bigint primary key, customer text not null, status text not null, \
                      qty int not null, amount numeric(10,2) not null, note text, placed_at timestamptz not null)";

#[tokio::test]
async fn the_examples_load_and_their_changes_apply() {
    let scene = Scene::new(ORDERS).await;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let load = |file: &str, more: &str| {
        let mut command = scene.command(&format!("-t orders --time-zone UTC --summary json{more}"));
        command.arg(data.join(file));
        crate::harness::Ran::of(command.output().unwrap())
    };
    let ran = load("orders.csv", "").code(0);
    assert_eq!(ran.summary()["written"], 200);
    assert_eq!(scene.count("orders").await, 200);
    let empty = scene.texts("select count(*)::text from orders where note = ''").await;
    assert_ne!(empty, [Some("0".to_owned())], "the file shows '' beside NULL");
    let changes = load("orders_changes.csv", " --op-column op").code(0);
    assert_eq!(changes.summary()["rejected"], 0);
    let gone = scene.texts("select count(*)::text from orders where order_id in (1003, 1077, 1150)").await;
    assert_eq!(gone, [Some("0".to_owned())]);
    let after = scene.texts("select status || ' ' || count(*) from orders where order_id > 1200 or order_id = 1010 group by status order by 1").await;
    assert_eq!(after, [Some("new 10".to_owned()), Some("returned 1".to_owned())]);
}

#[tokio::test]
async fn every_spelling_of_a_change_and_a_word_that_is_none() {
    let scene = Scene::new(
        "create table t(id int primary key, v text); insert into t values (1,'a'),(2,'b'),(3,'c')",
    )
    .await;
    scene.file("c.csv", "id,what,v\n1,u,A\n2,-D,\n3,d,\n4,+I,d\n5,R,e\n6,insert,f\n7,,g\n4,-U,d\n4,+U,D\n");
    scene
        .load("c.csv -t t --op-column what --max-errors 2")
        .code(1)
        .says(&["c.csv line 7: the op column", "c.csv line 8: the op column"]);
    assert_eq!(scene.rows("t").await, ["(1,A)", "(4,D)", "(5,e)"]);
    scene.file("c.ndjson", "{\"op\":\"D\",\"id\":1}\n{\"op\":\"c\",\"id\":9,\"v\":\"z\"}\n{\"id\":5}\n");
    scene
        .load("c.ndjson -t t --op-column op --max-errors 1")
        .code(1)
        .says(&["c.ndjson line 3: the op column"]);
    assert_eq!(scene.rows("t").await, ["(4,D)", "(5,e)", "(9,z)"]);
    scene.load("c.csv -t t --op-column nope").code(2).says(&["\"nope\""]);
}
