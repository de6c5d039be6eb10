//! What every write mode must give: a database for one test, changes as a script, and cases that hold in each mode
//! however the batches are cut.

use std::time::{Duration, Instant};

use pgsluice::connection::{Pool, PoolOptions};
use pgsluice::options::{SinkOptions, WriteMode};
use pgsluice::sink::{FlushReport, Sink};
use pgsluice::{Reject, Result, RowKind, Value};
use pgsluice_testcontainers::Database;
use tokio_postgres::Client;

/// The write modes whose tables must not differ after a flush.
pub(super) fn all_modes() -> Vec<Mode> {
    let bulk = Mode { write: WriteMode::CopyBulkLoadOnConflict, copy_min_rows: 2 };
    modes().into_iter().chain([bulk]).collect()
}

/// The modes among them that show rows after each batch.
pub(super) fn modes() -> Vec<Mode> {
    let small = |write| Mode { write, copy_min_rows: 2 };
    let default = SinkOptions::new().copy_min_rows;
    vec![
        Mode { write: WriteMode::Insert, copy_min_rows: default },
        small(WriteMode::CopyStream),
        small(WriteMode::Auto),
    ]
}

/// A write mode, and from how many rows on it copies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    pub(super) write: WriteMode,
    copy_min_rows: usize,
}

pub(super) trait InMode {
    fn in_mode(self, mode: Mode) -> Self;
}

impl InMode for SinkOptions {
    fn in_mode(self, mode: Mode) -> Self {
        self.write_mode(mode.write).copy_min_rows(mode.copy_min_rows)
    }
}

/// A database with the pool of the sinks under test.
pub(super) struct Fixture {
    pub(super) pool: Pool,
    pub(super) client: Client,
    pub(super) database: Database,
}

impl Fixture {
    /// `setup`: SQL that makes the tables.
    pub(super) async fn new(setup: &str) -> Self {
        let database = Database::new().await;
        let client = database.client().await;
        client.batch_execute(setup).await.unwrap();
        let pool = Pool::open(&database.url(), PoolOptions::named("sink").size(4)).await.unwrap();
        Self { pool, client, database }
    }

    pub(super) async fn sink(&self, table: &str, options: SinkOptions) -> Sink {
        Sink::open(&self.pool, table, options).await.unwrap()
    }

    pub(super) async fn execute(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    /// The rows of a table in order, each in its text form.
    pub(super) async fn table(&self, table: &str) -> String {
        self.text(&format!("select coalesce(string_agg(t::text, ' ' order by t), '') from {table} t")).await
    }

    /// The one text that `sql` answers.
    pub(super) async fn text(&self, sql: &str) -> String {
        self.client.query_one(sql, &[]).await.unwrap().get(0)
    }

    pub(super) async fn count(&self, sql: &str) -> i64 {
        self.client.query_one(sql, &[]).await.unwrap().get(0)
    }
}

/// Polls until `true` comes, for half a minute.
pub(super) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// `null`, an integer, or a text.
fn value(text: &str) -> Value<'_> {
    match text {
        "null" => Value::Null,
        _ => text.parse::<i64>().map_or(Value::from(text), Value::from),
    }
}

/// Writes a script of changes, `I id=1 name=a; D id=1; -U id=1; +U id=2 name=null; F`, where F is a flush.
pub(super) async fn play(sink: &Sink, script: &str) -> Result<()> {
    for change in script.split(';').map(str::trim).filter(|change| !change.is_empty()) {
        let mut words = change.split_whitespace();
        let kind = match words.next() {
            Some("I") => RowKind::Insert,
            Some("-U") => RowKind::UpdateBefore,
            Some("+U") => RowKind::UpdateAfter,
            Some("D") => RowKind::Delete,
            Some("F") => {
                sink.flush().await?;
                continue;
            }
            other => panic!("no change: {other:?}"),
        };
        let fields: Vec<(&str, Value<'_>)> = words
            .map(|word| {
                let (name, text) = word.split_once('=').unwrap();
                (name, value(text))
            })
            .collect();
        sink.write_values(kind, &fields).await?;
    }
    Ok(())
}

/// Positions, SQLSTATEs and what is to blame, in the order of the positions.
pub(super) fn told(rejects: &[Reject]) -> Vec<(u64, &str, Option<&str>)> {
    let blame = |reject: &Reject| (reject.position, reject.sqlstate.clone());
    let mut sorted: Vec<&Reject> = rejects.iter().collect();
    sorted.sort_by_key(|reject| blame(reject));
    sorted
        .into_iter()
        .map(|reject| {
            let blamed = reject.column.as_deref().or(reject.constraint.as_deref());
            (reject.position, reject.sqlstate.as_str(), blamed)
        })
        .collect()
}

/// Changes that must give one table in every mode, with batches of any size, folded or not, in one lane or several.
pub(super) struct Case {
    setup: String,
    table: &'static str,
    select: String,
    options: SinkOptions,
    rows: &'static [usize],
    folding: &'static [bool],
    lanes: &'static [usize],
}

impl Case {
    /// `setup` makes the table `t`, and what is stored in it.
    pub(super) fn new(setup: &str) -> Self {
        Self {
            setup: setup.to_owned(),
            table: "t",
            select: all_of("t"),
            options: SinkOptions::new(),
            rows: &[1, 2, 3, 1000],
            folding: &[true, false],
            lanes: &[1, 3],
        }
    }

    /// The sink's table instead of `t`.
    pub(super) fn table(mut self, table: &'static str) -> Self {
        self.table = table;
        self.select = all_of(table);
        self
    }

    /// The one text to compare, instead of the table's rows.
    pub(super) fn select(mut self, sql: &str) -> Self {
        sql.clone_into(&mut self.select);
        self
    }

    pub(super) fn options(mut self, options: SinkOptions) -> Self {
        self.options = options;
        self
    }

    /// One batch, in one lane, folded or not: for what is seen of the statements.
    pub(super) fn one_batch(mut self, folding: &'static [bool]) -> Self {
        (self.rows, self.folding, self.lanes) = (&[1000], folding, &[1]);
        self
    }

    /// Plays the script in each way, and compares.
    pub(super) async fn gives(self, script: &str, expected: &str) {
        self.reports(script, expected, |report| assert_eq!(report.stats.rejected, 0)).await;
    }

    /// As [`gives`](Self::gives), and looks at the report of each.
    pub(super) async fn reports(self, script: &str, expected: &str, look: impl Fn(&FlushReport)) {
        let fixture = Fixture::new("").await;
        for mode in all_modes() {
            for &rows in self.rows {
                for &folding in self.folding {
                    for &lanes in self.lanes {
                        let way = format!("{mode:?}, batches of {rows}, folding {folding}, {lanes} lanes");
                        fixture.execute("drop schema public cascade; create schema public").await;
                        fixture.execute(&self.setup).await;
                        let options = self.options.clone().in_mode(mode).batch_rows(rows);
                        let options = options.deduplication(folding).lanes(lanes);
                        let sink = fixture.sink(self.table, options).await;
                        play(&sink, script).await.unwrap_or_else(|error| panic!("{way}: {error:?}"));
                        let report = sink.close().await.unwrap_or_else(|error| panic!("{way}: {error:?}"));
                        let stats = report.stats;
                        assert_eq!(stats.accepted, stats.committed + stats.rejected, "{way}");
                        assert_eq!(fixture.text(&self.select).await, expected, "{way}");
                        look(&report);
                    }
                }
            }
        }
    }
}

fn all_of(table: &str) -> String {
    format!("select coalesce(string_agg(t::text, ' ' order by t), '') from {table} t")
}

/// An audit table `log` that a row trigger of `t` fills: one line for each step, with `name` as the column shown.
pub(super) const AUDIT: &str = "
    create table log (n serial, line text);
    create function audit() returns trigger language plpgsql as $$ begin
        insert into log (line) values (case tg_op
            when 'INSERT' then 'ins ' || coalesce(new.name, '-')
            when 'UPDATE' then 'upd ' || coalesce(new.name, '-')
            else 'del' end);
        return null;
    end $$;
    create trigger audit after insert or update or delete on t for each row execute function audit();";

pub(super) const AUDIT_LOG: &str = "select coalesce(string_agg(line, ', ' order by n), '') from log";
