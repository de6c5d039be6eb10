//! Signals, and rows that come slowly.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Ran, Scene};

async fn wait_for_rows(scene: &Scene, rows: i64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while scene.count("t").await < rows {
        assert!(Instant::now() < deadline, "{} rows", scene.count("t").await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn start(scene: &Scene, arguments: &str) -> Child {
    let mut command = scene.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let status =
        std::process::Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn a_signal_stops_the_reading_and_says_how_many_rows_are_in() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let scene = Scene::new("create table t(id int primary key)").await;
        let mut child =
            start(&scene, "- -t t --format csv --summary json -w sink.insert.flush-interval-ms=50");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"id\n1\n2\n3\n").unwrap();
        // The pipe stays open: the rows must come without its end.
        wait_for_rows(&scene, 3).await;
        signal(&child, name);
        let ran = Ran::of(child.wait_with_output().unwrap()).code(code).says(&["3 records are committed"]);
        let summary = ran.summary();
        assert_eq!((&summary["written"], &summary["stopped"]), (&3.into(), &true.into()));
        drop(stdin);
    }
}

#[test]
fn a_signal_ends_a_load_that_waits_for_its_server() {
    // Takes connections and never answers.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u@{}/x", server.local_addr().unwrap());
    let mut command = crate::harness::pgsluice();
    command.args(["load", "Cargo.toml", "--format", "csv", "-t", "t", "-d", &url]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _held = server.accept().unwrap();
    signal(&child, "INT");
    Ran::of(child.wait_with_output().unwrap()).code(130).says(&["0 records are committed"]);
}
