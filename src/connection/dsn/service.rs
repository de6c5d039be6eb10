//! The service file: named groups of settings (`~/.pg_service.conf`).

use std::path::{Path, PathBuf};

use super::{Environment, Params, config_error};
use crate::Result;

/// Debian's directory, where `PGSYSCONFDIR` is not set.
const SYSTEM_DIRECTORY: &str = "/etc/postgresql-common";

/// Fills what is missing from the service that the DSN or `PGSERVICE` names.
///
/// # Errors
/// `Config` where the service, or the file that was named, is not there, or the file cannot be read.
pub(super) fn fill(params: &mut Params, environment: &Environment) -> Result<()> {
    let Some(service) = params.get("service").or_else(|| environment.get("PGSERVICE")).map(str::to_owned)
    else {
        return Ok(());
    };
    let named = params.get("servicefile").or_else(|| environment.get("PGSERVICEFILE")).map(PathBuf::from);
    let system =
        Path::new(environment.get("PGSYSCONFDIR").unwrap_or(SYSTEM_DIRECTORY)).join("pg_service.conf");
    let explicit = named.is_some();
    let user_file = named.or_else(|| environment.in_home(".pg_service.conf"));
    for (file, required) in user_file.map(|file| (file, explicit)).into_iter().chain([(system, false)]) {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if required || error.kind() != std::io::ErrorKind::NotFound => {
                return Err(config_error(format!("the service file cannot be read: {error}"))
                    .with_context("file", file.display().to_string()));
            }
            Err(_) => continue,
        };
        let found = section(&text, &service)
            .map_err(|error| error.with_context("file", file.display().to_string()))?;
        if let Some(settings) = found {
            for (name, value) in settings.0 {
                params.set_default(name, value);
            }
            return Ok(());
        }
    }
    Err(config_error("the service is in no service file").with_context("service", service))
}

/// The settings below `[service]`, where it is there.
fn section(text: &str, service: &str) -> Result<Option<Params>> {
    let mut found: Option<Params> = None;
    for (index, line) in text.lines().enumerate() {
        let at_line = |error: crate::Error| error.with_context("line", (index + 1).to_string());
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if name.strip_suffix(']') == Some(service) {
                found = Some(Params::default());
            }
            continue;
        }
        let Some(settings) = &mut found else { continue };
        let (name, value) =
            line.split_once('=').ok_or_else(|| at_line(config_error("the line lacks its \"=\"")))?;
        if matches!(name, "service" | "servicefile") {
            return Err(at_line(config_error("a service cannot name another one")));
        }
        settings.0.entry(super::keys::find(name).map_err(at_line)?.name).or_insert_with(|| value.to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "# comment\n[other]\nnonsense\n[mine]\nhost=db\npassword= a=b'\\ \n\n  port=5433\n[mine]\nhost=no\n";

    #[test]
    fn a_section_ends_at_the_next_one_and_values_are_verbatim() {
        let params = section(FILE, "mine").unwrap().unwrap();
        assert_eq!(params.get("host"), Some("db"));
        assert_eq!(params.get("password"), Some(" a=b'\\"));
        assert_eq!(params.get("port"), Some("5433"));
        assert!(section(FILE, "none").unwrap().is_none());
    }

    #[test]
    fn a_bad_line_of_the_section_is_named() {
        let error = section(FILE, "other").err().unwrap().to_string();
        assert!(error.contains("line 3"), "{error}");
        assert!(section("[a]\nservice=b", "a").is_err());
    }

    #[test]
    fn the_dsn_comes_before_the_service_and_the_service_before_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("services");
        std::fs::write(&file, "[s]\nhost=service\nport=1\nuser=service\n").unwrap();
        let environment = Environment::from([
            ("PGSERVICEFILE", file.to_str().unwrap()),
            ("PGSERVICE", "s"),
            ("PGUSER", "env"),
            ("PGDATABASE", "env"),
        ]);
        let mut params = Params::parse("host=dsn").unwrap();
        params.fill(&environment).unwrap();
        assert_eq!(params.get("host"), Some("dsn"));
        assert_eq!(params.get("port"), Some("1"));
        assert_eq!(params.get("user"), Some("service"));
        assert_eq!(params.get("dbname"), Some("env"));
        let mut params = Params::parse("service=missing").unwrap();
        assert!(params.fill(&environment).err().unwrap().to_string().contains("service missing"));
    }
}
