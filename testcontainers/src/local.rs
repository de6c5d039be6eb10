//! Servers from the machine's own PostgreSQL binaries.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::certificates::Certificates;
use crate::options::Options;

/// The `bin` directory of a PostgreSQL.
#[derive(Debug, Clone)]
pub(crate) struct Binaries {
    pub(crate) directory: PathBuf,
    pub(crate) version: u32,
}

impl Binaries {
    /// The newest that is installed, or that of a version.
    pub(crate) fn find(version: Option<u32>) -> Option<Self> {
        let mut found: Vec<Self> = candidates().into_iter().filter_map(Self::at).collect();
        found.retain(|binaries| version.is_none_or(|wanted| wanted == binaries.version));
        found.into_iter().max_by_key(|binaries| binaries.version)
    }

    fn at(directory: PathBuf) -> Option<Self> {
        if !directory.join("initdb").exists() {
            return None;
        }
        let output = Command::new(directory.join("postgres")).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = text.split_whitespace().nth(2)?; // postgres (PostgreSQL) 15.19 (Debian …)
        let version = number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        Some(Self { directory, version })
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    for (parent, prefix) in
        [("/usr/lib/postgresql", ""), ("/usr", "pgsql-"), ("/opt/homebrew/opt", "postgresql@")]
    {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        candidates.extend(
            entries
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
                .map(|e| e.path().join("bin")),
        );
    }
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        candidates.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    candidates
}

/// A server from local binaries.
#[derive(Debug)]
pub(crate) struct LocalServer {
    binaries: Binaries,
    data: PathBuf,
    log: PathBuf,
    arguments: Vec<String>,
    child: Option<Child>,
}

/// Where a server named `name` keeps its data: in memory where there is room.
pub(crate) fn data_directory(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let free = Command::new("df").args(["-Pk", "/dev/shm"]).output().ok().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().nth(1)?.split_whitespace().nth(3)?.parse::<u64>().ok()
    });
    let roomy = free.is_some_and(|kilobytes| kilobytes > 2 << 20) && memory.is_dir();
    if roomy { memory.join(name) } else { std::env::temp_dir().join(name) }
}

impl LocalServer {
    /// Makes the data directory and its files; `start` brings the server up.
    pub(crate) fn create(
        binaries: Binaries,
        data: PathBuf,
        port: u16,
        password: &str,
        options: &Options,
        certificates: &Certificates,
    ) -> Result<Self, String> {
        match fs::remove_dir_all(&data) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("{}: {error}", data.display()));
            }
            _ => {}
        }
        fs::create_dir(&data).map_err(|e| format!("{}: {e}", data.display()))?;
        own(&data, 0o700)?;
        let secret = data.with_extension("password");
        write(&secret, &format!("{password}\n"))?;
        let locale = if cfg!(target_os = "linux") { "C.UTF-8" } else { "C" };
        let mut initdb = as_server_user(&binaries.directory.join("initdb"))?;
        initdb.args(["--no-sync", "--username=postgres", "--encoding=UTF8", "--auth=scram-sha-256"]);
        initdb
            .arg(format!("--locale={locale}"))
            .arg(format!("--pwfile={}", secret.display()))
            .arg("-D")
            .arg(&data);
        let output = initdb.output();
        let _ = fs::remove_file(&secret);
        let output = output.map_err(|e| format!("initdb: {e}"))?;
        if !output.status.success() {
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&output.stderr)));
        }

        let (server, server_key) = match &options.server_certificate {
            Some((chain, key)) => (chain, key),
            None => (&certificates.server, &certificates.server_key),
        };
        write(&data.join("ca.pem"), &certificates.authority)?;
        write(&data.join("server.pem"), server)?;
        write(&data.join("server.key"), server_key)?;
        write(&data.join("pg_hba.conf"), &options.hba_file())?;
        let mut arguments = options.arguments(&data.display().to_string());
        for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories=", &format!("port={port}")] {
            arguments.extend(["-c".to_owned(), setting.to_owned()]);
        }
        Ok(Self { binaries, log: data.join("server.log"), data, arguments, child: None })
    }

    /// Starts the server process; it may take a while until it answers.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        write(&self.log, "")?;
        let log = fs::OpenOptions::new()
            .append(true)
            .open(&self.log)
            .map_err(|e| format!("{}: {e}", self.log.display()))?;
        let child = as_server_user(&self.binaries.directory.join("postgres"))?
            .arg("-D")
            .arg(&self.data)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0) // an interrupt at the terminal is not for the server: its reaper ends it
            .spawn()
            .map_err(|e| format!("postgres: {e}"))?;
        self.child = Some(child);
        Ok(())
    }

    /// Whether the server runs, and what it last said where it does not.
    pub(crate) fn check_running(&mut self) -> Result<(), String> {
        let ended = self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
        if !ended {
            return Ok(());
        }
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        Err(format!("the server ended:\n{}", lines[lines.len().saturating_sub(20)..].join("\n")))
    }

    /// Sends a signal to the server's main process and waits until it has ended.
    pub(crate) fn end(&mut self, signal: &str) -> Result<(), String> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        send(signal, &[child.id()])?;
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("the server did not end at SIG{signal}"))
    }

    /// Sends a signal to all of the server's processes.
    pub(crate) fn signal_all(&self, signal: &str) -> Result<(), String> {
        let Some(child) = &self.child else { return Err("the server does not run".to_owned()) };
        let mut processes = vec![child.id()];
        processes.extend(children(child.id()));
        send(signal, &processes)
    }
}

fn send(signal: &str, processes: &[u32]) -> Result<(), String> {
    let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
    // A backend may end while the signals go out: only the first, the main process, must take its.
    let script = format!(
        "kill -{signal} {} && {{ kill -{signal} {} 2>/dev/null; true; }}",
        numbers[0],
        numbers.join(" ")
    );
    match Command::new("sh").args(["-c", &script]).status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("SIG{signal} could not be sent to the server: {other:?}")),
    }
}

fn children(parent: u32) -> Vec<u32> {
    let listing = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
    let listing =
        listing.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let pairs = listing.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    pairs.filter(|&(_, its_parent)| its_parent == parent).map(|(pid, _)| pid).collect()
}

/// The user that the server runs as, since it refuses root; none where the tests do not run as root.
fn server_user() -> Result<Option<(u32, u32)>, String> {
    let id = |arguments: &[&str]| -> Option<u32> {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    };
    if id(&["-u"]) != Some(0) {
        return Ok(None);
    }
    match (id(&["-u", "postgres"]), id(&["-g", "postgres"])) {
        (Some(user), Some(group)) => Ok(Some((user, group))),
        _ => Err("the tests run as root, a server cannot, and there is no user `postgres`: add one (useradd postgres)".to_owned()),
    }
}

pub(crate) fn as_server_user(program: &Path) -> Result<Command, String> {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir("/");
    if let Some((user, group)) = server_user()? {
        command.uid(user).gid(group);
    }
    Ok(command)
}

/// Writes a file that the server's user, and nobody else, may read.
fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    own(path, 0o600)
}

fn own(path: &Path, mode: u32) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)?;
    match server_user()? {
        Some((user, group)) => chown(path, Some(user), Some(group)).map_err(failed),
        None => Ok(()),
    }
}
