//! Where records come from.

use std::io::Write;

use crate::harness::Scene;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

#[tokio::test]
async fn files_patterns_compression_and_standard_input() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("p-1.csv", "id,v\n1,a\n");
    scene.file("p-2.csv.gz", gzip(b"v,id\r\nb,2\r\n"));
    scene.file("p-3.tsv.zst", zstd::encode_all(&b"id\tv\n3\t\"c\td\"\n"[..], 1).unwrap());
    scene.file("p-4.jsonl", "{\"id\":4}");
    scene.load("p-* -t t").code(0);
    scene.load_stdin("- -t t", b"\xef\xbb\xbfid,v\n5,e").code(0);
    scene.load_stdin("- -t t", &gzip(b"{\"id\":6}\n")).code(0);
    assert_eq!(scene.rows("t").await, ["(1,a)", "(2,b)", "(3,\"c\td\")", "(4,)", "(5,e)", "(6,)"]);
    scene.load("q-* -t t").code(2).says(&["q-*"]);
}

#[tokio::test]
async fn other_encodings_are_read_and_wrong_bytes_name_their_line() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    scene.file("l.csv", b"id,v\n1,\xe9\n");
    scene.load("l.csv -t t").code(1).says(&["l.csv line 2, column \"v\"", "22021", "--encoding"]);
    scene.load("l.csv -t t --encoding latin1").code(0);
    scene.file("s.csv", b"id,v\n2,a\n3,\xff\n");
    scene
        .load("s.csv -t t --encoding shift_jis --max-errors 1")
        .code(1)
        .says(&["s.csv line 3, column \"v\""]);
    let wide: Vec<u8> = "\u{feff}id,v\n4,€\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    scene.file("w.csv", wide);
    scene.load("w.csv -t t").code(0);
    assert_eq!(scene.rows("t").await, ["(1,é)", "(2,a)", "(4,€)"]);
    scene.load("l.csv -t t --encoding klingon").code(2).says(&["klingon"]);
}

#[tokio::test]
async fn a_cut_archive_is_a_failed_input() {
    let scene = Scene::new("create table t(id int primary key, v text)").await;
    let whole = gzip("1,a\n".repeat(10_000).as_bytes());
    scene.file("t.csv.gz", &whole[..whole.len() - 10]);
    scene.load("t.csv.gz -t t --no-header").code(6).says(&["t.csv.gz", "committed"]);
}

#[tokio::test]
async fn options_come_from_a_file_and_the_pairs_win() {
    let scene =
        Scene::new("create table t(id int primary key, v text); insert into t values (1,'old')").await;
    scene.file("o.toml", "[sink]\non-conflict-action = \"INSERT_OR_IGNORE\"\n");
    scene.file("t.csv", "id,v\n1,new\n");
    scene.load("t.csv -t t --options o.toml").code(0);
    assert_eq!(scene.rows("t").await, ["(1,old)"]);
    scene.load("t.csv -t t --options o.toml -w sink.on-conflict-action=INSERT_OR_UPDATE").code(0);
    assert_eq!(scene.rows("t").await, ["(1,new)"]);
    scene.load("t.csv -t t -w sink.on-conflikt-action=x").code(2).says(&["sink.on-conflict-action"]);
    scene.load("t.csv -t t -w sink.reject-policy=skip").code(2).says(&["--max-errors"]);
    scene.load("t.csv -t t --options missing.toml").code(2);
}

#[tokio::test]
async fn a_key_can_be_named() {
    let scene = Scene::new("create table t(id int primary key, code text not null unique, v text)").await;
    scene.file("t.csv", "id,code,v\n1,a,x\n1,a,y\n");
    scene.load("t.csv -t t --key code").code(0);
    assert_eq!(scene.rows("t").await, ["(1,a,y)"]);
    scene.load("t.csv -t t --key v").code(2).says(&["v"]);
}
