//! The exit codes, and what does not change them.

use std::process::Stdio;

use crate::harness::{Ran, Scene, pgsluice, words};

fn run(arguments: &str) -> Ran {
    Ran::of(pgsluice().args(words(arguments)).output().unwrap())
}

#[test]
fn usage_is_two_and_flags_to_come_are_named() {
    run("load").code(2);
    run("load x.csv -t t --no-such-flag").code(2);
    for flag in ["--jobs 2", "--resume", "--changelog debezium", "--truncate", "--truncate=fast"] {
        let name = flag.split([' ', '=']).next().unwrap();
        run(&format!("load x.csv -t t {flag}")).code(2).says(&[name, "not available yet"]);
    }
    run("load missing.csv -t t -d postgres://127.0.0.1:1/x").code(2).says(&["missing.csv"]);
    run("load Cargo.toml -t t -d nonsense=1").code(2).says(&["nonsense"]);
}

#[test]
fn no_server_is_three() {
    run("load Cargo.toml -t t --format csv -d postgres://u:hush@127.0.0.1:1/x?connect_timeout=5").code(3);
}

#[test]
fn options_and_completions_are_shown() {
    assert!(run("options").code(0).stdout.contains("sink.write-mode"));
    assert!(run("options --format markdown").code(0).stdout.contains("| key"));
    serde_json::from_str::<serde_json::Value>(&run("options --format json").code(0).stdout).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&format!("completions {shell}")).code(0).stdout.contains("pgsluice"));
    }
}

#[tokio::test]
async fn the_servers_refusals_have_their_codes() {
    let scene = Scene::new("create table t(id int primary key)").await;
    scene.file("t.csv", "id\n1\n");
    let ran = scene.load("t.csv -t missing --summary json").code(2).says(&["missing"]);
    assert_eq!((&ran.summary()["exit_code"], &ran.summary()["written"]), (&2.into(), &0.into()));
    assert!(ran.summary()["error"].as_str().unwrap().contains("missing"));
    let url = scene.database.url();
    let (head, _) = url.rsplit_once('/').unwrap();
    scene.load(&format!("t.csv -t t -d {head}/no_such_database")).code(3);
    let role = format!("r{}", std::process::id());
    scene.client.batch_execute(&format!("create role {role} login password 'r'")).await.unwrap();
    let (_, place) = url.rsplit_once('@').unwrap();
    let as_role = format!("postgres://{role}:r@{place}");
    let ran = scene.load(&format!("t.csv -t t -d {as_role}"));
    scene.client.batch_execute(&format!("drop role {role}")).await.unwrap();
    ran.code(2).says(&["permission denied"]);
}

#[tokio::test]
async fn b33_a_closed_standard_output_changes_nothing() {
    let scene = Scene::new("create table t(id int primary key)").await;
    scene.file("t.csv", "id\n1\n");
    let mut child = scene
        .command("t.csv -t t --summary json")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(scene.count("t").await, 1);
    let mut child = pgsluice().arg("options").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let code = scene
        .command("t.csv -t t --summary json")
        .stdout(full)
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .code();
    assert_eq!(code, Some(6));
}

#[tokio::test]
async fn progress_is_told_in_every_form() {
    let scene = Scene::new("create table t(id int primary key)").await;
    scene.file("t.csv", "id\n1\n2\n");
    let ran = scene.load("t.csv -t t --progress never").code(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    scene.load("t.csv -t t --progress json").code(0);
    scene.load("t.csv -t t --progress plain").code(0).says(&["t: 2 read, 2 written, 0 rejected"]);
}
