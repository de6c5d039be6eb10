//! A fresh database, a folder for files, and the command.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use pgsluice_testcontainers::Database;
use tempfile::TempDir;
use tokio_postgres::Client;

/// What a test works with.
pub(crate) struct Scene {
    pub(crate) database: Database,
    pub(crate) client: Client,
    folder: TempDir,
}

impl Scene {
    /// A database in which `sql` was run.
    pub(crate) async fn new(sql: &str) -> Self {
        let database = Database::new().await;
        let client = database.client().await;
        client.batch_execute(sql).await.unwrap();
        Self { database, client, folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// `pgsluice load` with these arguments (separated by blanks; `␣` stands for a blank within one).
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = pgsluice();
        command.current_dir(self.folder.path()).arg("load").args(words(arguments));
        command.env("DATABASE_URL", self.database.url()).stdin(Stdio::null());
        command
    }

    pub(crate) fn load(&self, arguments: &str) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn load_stdin(&self, arguments: &str, input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A command that ends early leaves the rest unread.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran::of(output)
    }

    /// The rows of a query over one text column.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<Option<String>> {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// The table's rows as the server writes them, sorted.
    pub(crate) async fn rows(&self, table: &str) -> Vec<String> {
        let sql = format!("select whole_row::text from {table} whole_row order by 1");
        self.texts(&sql).await.into_iter().map(Option::unwrap).collect()
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        self.client.query_one(&format!("select count(*) from {table}"), &[]).await.unwrap().get(0)
    }
}

/// The built command, without the variables that would name a server.
pub(crate) fn pgsluice() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgsluice"));
    for variable in ["DATABASE_URL", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE"] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn words(arguments: &str) -> Vec<String> {
    arguments.split(' ').map(|word| word.replace('␣', " ")).collect()
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Asserts the exit code; shows what was said where it is another.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error holds each of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
        self
    }

    /// The JSON summary.
    #[track_caller]
    pub(crate) fn summary(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }
}
