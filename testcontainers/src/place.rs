//! Where a server's files lie, who uses it, and who ends it.
//!
//! A server outlives the process that started it, since nextest gives each test a process of its own. Every user holds a
//! shared lock on a file; a detached shell script (`reaper.sh`) waits for the exclusive one and then ends the server.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const REAPER: &str = include_str!("reaper.sh");

/// The directory of one server.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    directory: PathBuf,
    name: String,
}

/// How the reaper ends the server.
#[derive(Debug, Clone)]
pub(crate) struct Reaping {
    /// `docker` or `local`, as `reaper.sh` knows them.
    pub(crate) engine: &'static str,
    /// The container's name or the data directory.
    pub(crate) target: String,
    /// Seconds without a user after which the server ends.
    pub(crate) linger: u32,
}

/// Held while a server is started or looked at; the reaper ends a server under the same lock.
#[derive(Debug)]
pub(crate) struct Starting(#[expect(dead_code, reason = "the lock is the value")] File);

/// Keeps the server up while it lives.
#[derive(Debug)]
pub(crate) struct InUse(#[expect(dead_code, reason = "the lock is the value")] File);

impl Place {
    /// The place of the server `key` in the run `run`.
    pub(crate) fn new(run: &str, key: &str) -> Self {
        let name = format!("{}{key}", prefix(run));
        Self { directory: root().join(&name), name }
    }

    /// The server's name, unique on this machine: also the container's.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Takes both locks, waiting while another process starts or ends this server.
    pub(crate) fn enter(&self) -> Result<(Starting, InUse), String> {
        loop {
            fs::create_dir_all(&self.directory).map_err(|e| format!("{}: {e}", self.directory.display()))?;
            let path = self.file("start.lock");
            // The reaper removes the directory: it may vanish at any of these steps, and a lock on a removed file is none.
            let Ok(start) = open(&path) else { continue };
            start.lock().map_err(|e| format!("{}: {e}", path.display()))?;
            let Ok(there) = fs::metadata(&path) else { continue };
            let ours = start.metadata().map_err(|e| format!("{}: {e}", path.display()))?;
            if there.ino() != ours.ino() {
                continue;
            }
            let path = self.file("users.lock");
            let users = open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            users.lock_shared().map_err(|e| format!("{}: {e}", path.display()))?;
            return Ok((Starting(start), InUse(users)));
        }
    }

    /// Starts the reaper, before the server, so that there is no moment in which a killed process leaves a server behind.
    pub(crate) fn watch(&self, reaping: &Reaping) -> Result<(), String> {
        let text = format!("{}\n{}\n{}\n", reaping.engine, reaping.target, reaping.linger);
        fs::write(self.file("reap"), text).map_err(|e| format!("{}: {e}", self.file("reap").display()))?;
        spawn_reaper(&self.directory)
    }

    /// The container that the server runs in.
    pub(crate) fn container(&self) -> Option<String> {
        let text = fs::read_to_string(self.file("reap")).ok()?;
        let mut lines = text.lines();
        (lines.next()? == "docker").then_some(lines.next()?.to_owned())
    }

    /// Gives the server a reaper if it has lost its own.
    pub(crate) fn keep_watched(&self) -> Result<(), String> {
        match open(&self.file("reaper.lock")).map(|file| file.try_lock().is_ok()) {
            Ok(true) => spawn_reaper(&self.directory),
            _ => Ok(()),
        }
    }
}

/// Gives servers that an earlier run left without a reaper (a killed session, a crashed machine) one that ends them.
pub(crate) fn sweep() {
    for directory in entries(&root(), "") {
        let orphaned = directory.join("reap").exists()
            && open(&directory.join("reaper.lock")).is_ok_and(|f| f.try_lock().is_ok());
        if orphaned && let Err(error) = spawn_reaper(&directory) {
            eprintln!("pgsluice-testcontainers: {error}");
        }
    }
}

/// What is still there of a run's servers: directories, containers, data.
pub fn leftovers(run: &str) -> Vec<String> {
    let prefix = prefix(run);
    let mut found: Vec<String> = [root(), PathBuf::from("/dev/shm"), std::env::temp_dir()]
        .iter()
        .flat_map(|parent| entries(parent, &prefix))
        .map(|path| path.display().to_string())
        .collect();
    if let Ok(output) = Command::new("docker")
        .args(["ps", "--all", "--format", "{{.Names}}", "--filter"])
        .arg(format!("name={prefix}"))
        .output()
    {
        found.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
    }
    found
}

fn prefix(run: &str) -> String {
    format!("pgsluice-test-{run}-")
}

fn root() -> PathBuf {
    let user = std::env::var("USER").unwrap_or_else(|_| "tests".to_owned());
    std::env::temp_dir().join(format!("pgsluice-servers-{user}"))
}

fn entries(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
        .collect()
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn spawn_reaper(directory: &Path) -> Result<(), String> {
    let mut child = Command::new("sh")
        .args(["-c", REAPER, "pgsluice-test-reaper"])
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0) // an interrupt at the terminal goes to the tests, not to who cleans up after them
        .spawn()
        .map_err(|e| format!("sh: {e}"))?;
    let mut answer = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout)
            .read_line(&mut answer)
            .map_err(|e| format!("the reaper of test servers: {e}"))?;
    }
    match answer.trim() {
        "watching" | "watched" => Ok(()),
        _ => Err("the script that ends test servers did not start: it needs `flock` (package util-linux)"
            .to_owned()),
    }
}
