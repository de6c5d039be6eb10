//! The oracle of the CSV rules: the server's own COPY over the same bytes.

use futures::SinkExt;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio_postgres::Client;

use crate::harness::Scene;

/// One file, and how it is read.
#[derive(Debug, Clone)]
struct Case {
    columns: usize,
    content: String,
    quote: char,
    escape: char,
    null: &'static str,
}

/// Cells that are mostly whole, some of them broken, in lines that mostly end alike.
fn cases() -> impl Strategy<Value = Case> {
    let part = prop::sample::select(vec![
        "a", "b", "é", "N", " ", "Q", "QQ", "QxQ", "Qx,yQ", "Q,", "E", "EQ", "QEQQ", "QEEQ", "Qa\nbQ",
        "Qa\r\nbQ", "Qa\rQ", "\r", "\n", "",
    ]);
    let cell = prop_oneof![
        4 => prop::sample::select(vec!["", "QQ", "1", "N", "QNQ", "x y", "Qa\nbQ", "Qa,QQbQ", "aQb,cQd"]).prop_map(str::to_owned),
        1 => prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat()),
    ];
    let line_end = prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]);
    (
        1..4_usize,
        prop::collection::vec(prop::collection::vec(cell, 3), 0..6),
        line_end,
        any::<bool>(),
        prop::sample::select(vec![('"', '"'), ('\'', '\''), ('"', '\\'), ('\'', '"')]),
        prop::sample::select(vec!["", "N", "a"]),
    )
        .prop_map(|(columns, rows, line_end, ended, (quote, escape), null)| {
            let lines: Vec<String> = rows.iter().map(|cells| cells[..columns].join(",")).collect();
            let mut content = lines.join(line_end);
            if ended && !lines.is_empty() {
                content.push_str(line_end);
            }
            let content = content.replace('Q', &quote.to_string()).replace('E', &escape.to_string());
            Case { columns, content, quote, escape, null }
        })
}

/// The rows that COPY makes of the case; none where it refuses it.
async fn copied(client: &Client, case: &Case) -> Option<Vec<String>> {
    let quoted = |text: &str| format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
    let copy = format!(
        "copy oracle{} from stdin (format csv, quote {}, escape {}, null {})",
        case.columns,
        quoted(&case.quote.to_string()),
        quoted(&case.escape.to_string()),
        quoted(case.null)
    );
    let sink = client.copy_in::<_, bytes::Bytes>(&copy).await.unwrap();
    let mut sink = std::pin::pin!(sink);
    sink.send(bytes::Bytes::from(case.content.clone())).await.unwrap();
    sink.finish().await.ok()?;
    let sql = format!("select t::text from oracle{} t order by 1", case.columns);
    Some(client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect())
}

#[test]
fn b32_every_csv_means_what_copy_says_it_means() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut tables = String::new();
    for columns in 1..=3 {
        let list = ["a text", "b text", "c text"][..columns].join(", ");
        tables
            .push_str(&format!("create table oracle{columns}({list}); create table ours{columns}({list});"));
    }
    let scene = runtime.block_on(Scene::new(&tables));
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&cases(), |case| {
        let clear = "truncate oracle1, oracle2, oracle3, ours1, ours2, ours3";
        runtime.block_on(scene.client.batch_execute(clear)).unwrap();
        let expected = runtime.block_on(copied(&scene.client, &case));
        scene.file("case.csv", &case.content);
        let mut command = scene.command(&format!("case.csv --no-header -t ours{}", case.columns));
        command.args([
            "--quote",
            &case.quote.to_string(),
            "--escape",
            &case.escape.to_string(),
            "--null",
            case.null,
        ]);
        let ran = crate::harness::Ran::of(command.output().unwrap());
        match expected {
            Some(rows) => {
                prop_assert_eq!(ran.code, Some(0), "{}", ran.stderr);
                let ours = runtime.block_on(scene.rows(&format!("ours{}", case.columns)));
                prop_assert_eq!(ours, rows);
            }
            None => prop_assert_eq!(ran.code, Some(1), "{}", ran.stderr),
        }
        Ok(())
    });
    outcome.unwrap();
}
