//! Servers in containers.

use std::path::Path;
use std::process::{Command, Output};

use testcontainers::core::{IntoContainerPort, Mount};
use testcontainers::runners::AsyncRunner;
use testcontainers::{CopyTargetOptions, GenericImage, ImageExt};

use crate::certificates::Certificates;
use crate::options::Options;
use crate::runtime::RUNTIME;

/// Where the server's files lie in the container.
const FILES: &str = "/etc/pgsluice";
/// The data directory's parent: the images declare a volume at their own default place, and 18 moved it.
const DATA: &str = "/pgsluice";
/// Becomes the official entrypoint once the server's user can read the key, which must not be readable to others.
const PREPARE: &str = r#"chown postgres /etc/pgsluice/server.key && exec docker-entrypoint.sh "$@""#;

/// Whether an engine answers.
pub(crate) fn runs() -> bool {
    Command::new("docker")
        .args(["version", "--format", "{{.Server.Version}}"])
        .output()
        .is_ok_and(|o| o.status.success())
}

/// What a container is made of.
pub(crate) struct Start<'a> {
    pub(crate) version: u32,
    pub(crate) name: &'a str,
    pub(crate) run: &'a str,
    pub(crate) port: u16,
    pub(crate) password: &'a str,
    pub(crate) options: &'a Options,
    pub(crate) certificates: &'a Certificates,
    /// Data in memory, lost when the container stops, and a container that goes away with its server.
    pub(crate) throwaway: bool,
}

impl Start<'_> {
    /// Starts the container. It stays until the reaper removes it.
    pub(crate) fn run(&self) -> Result<(), String> {
        let (image, tag) = image(self.version)?;
        // Left by a try that another process was killed in, or whose port was taken.
        let _ = docker(&["rm", "--force", "--volumes", self.name]);
        let certificates = self.certificates;
        let (server, server_key) = match &self.options.server_certificate {
            Some((chain, key)) => (chain, key),
            None => (&certificates.server, &certificates.server_key),
        };
        let hba = self.options.hba_file();
        let files = [
            ("ca.pem", &certificates.authority, 0o644),
            ("server.pem", server, 0o644),
            ("server.key", server_key, 0o600),
            ("pg_hba.conf", &hba, 0o644),
        ];
        let command = ["sh", "-c", PREPARE, "sh", "postgres"].map(str::to_owned).into_iter();
        let throwaway = self.throwaway;
        let mut request = GenericImage::new(image, tag)
            .with_container_name(self.name)
            .with_mapped_port(self.port, 5432.tcp())
            .with_label("org.pgsluice.run", self.run)
            .with_env_var("POSTGRES_PASSWORD", self.password)
            .with_env_var(
                "POSTGRES_INITDB_ARGS",
                "--no-sync --encoding=UTF8 --locale=C.UTF-8 --auth-host=scram-sha-256",
            )
            .with_env_var("PGDATA", format!("{DATA}/data"))
            .with_shm_size(512 << 20)
            // Whether the server takes connections is asked of the server itself: the log's line appears twice.
            .with_ready_conditions(Vec::new())
            .with_cmd(command.chain(self.options.arguments(FILES)))
            .with_host_config_modifier(move |host| {
                host.auto_remove = Some(throwaway);
                for binding in
                    host.port_bindings.iter_mut().flat_map(|all| all.values_mut()).flatten().flatten()
                {
                    binding.host_ip = Some("127.0.0.1".to_owned());
                }
            });
        if throwaway {
            request = request.with_mount(Mount::tmpfs_mount(DATA));
        }
        for (name, text, mode) in files {
            let target = CopyTargetOptions::new(format!("{FILES}/{name}")).with_mode(mode);
            request = request.with_copy_to(target, text.clone().into_bytes());
        }
        let container = RUNTIME.block_on(request.start()).map_err(|e| describe(&e))?;
        // Dropping the handle would remove the container, which other processes use; the reaper ends it.
        std::mem::forget(container);
        Ok(())
    }
}

/// Whether the container runs, and what it last said where it does not.
pub(crate) fn check_running(name: &str) -> Result<(), String> {
    let output = docker(&["inspect", "--format", "{{.State.Running}}", name])?;
    if output.trim() == "true" {
        return Ok(());
    }
    let logs = Command::new("docker").args(["logs", "--tail", "20", name]).output();
    let logs = logs.map(|o| String::from_utf8_lossy(&[o.stdout, o.stderr].concat()).into_owned());
    Err(format!("the server's container ended:\n{}", logs.unwrap_or_default()))
}

/// The container's address among containers.
pub(crate) fn address(name: &str) -> Result<String, String> {
    let format = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
    docker(&["inspect", "--format", format, name]).map(|address| address.trim().to_owned())
}

/// Runs a command of the Docker client.
pub(crate) fn docker(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("docker").args(arguments).output().map_err(|e| format!("docker: {e}"))?;
    succeeded(&output, &format!("docker {}", arguments.join(" ")))
}

/// The image of a version: one that is here, else the official one, else one made from Debian's packages.
fn image(version: u32) -> Result<(String, String), String> {
    let tag = version.to_string();
    let here = |name: &str| docker(&["image", "inspect", &format!("{name}:{tag}")]).is_ok();
    if here("pgsluice-postgres") {
        return Ok(("pgsluice-postgres".to_owned(), tag));
    }
    if here("postgres") || docker(&["pull", "--quiet", &format!("postgres:{tag}")]).is_ok() {
        return Ok(("postgres".to_owned(), tag));
    }
    build(&tag).map_err(|error| format!("no image postgres:{tag} is here, none can be pulled, and {error}"))
}

/// The image of a version that is made from Debian's packages, PgBouncer among them.
pub(crate) fn own_image(version: u32) -> Result<(String, String), String> {
    build(&version.to_string())
}

/// Makes the image, where it is not here.
fn build(tag: &str) -> Result<(String, String), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("images/build");
    let output = Command::new("bash")
        .arg(&script)
        .arg(tag)
        .output()
        .map_err(|e| format!("{}: {e}", script.display()))?;
    succeeded(&output, &script.display().to_string())?;
    Ok(("pgsluice-postgres".to_owned(), tag.to_owned()))
}

fn succeeded(output: &Output, what: &str) -> Result<String, String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{what} failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// An error with its sources: a server's own `Display` is only "db error".
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
