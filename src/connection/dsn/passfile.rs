//! The password file: `host:port:database:user:password` lines.

use std::path::{Path, PathBuf};

use super::{Environment, Params};
use crate::options::Secret;

/// The text of the password file, where there is one that only its owner can read.
pub(in crate::connection) struct Passfile(Option<String>);

impl Passfile {
    /// Reads the file that the settings name, else `~/.pgpass`. A file that others can read is left alone, as by
    /// libpq, with a warning; so is one that cannot be read.
    pub(in crate::connection) fn read(params: &Params, environment: &Environment) -> Self {
        let file = params.get("passfile").map(PathBuf::from).or_else(|| environment.in_home(".pgpass"));
        Self(file.and_then(|file| read_private(&file)))
    }

    /// The first line that fits. A socket in the default directory goes by the name `localhost`.
    pub(in crate::connection) fn password(
        &self,
        host: &str,
        port: u16,
        dbname: &str,
        user: &str,
    ) -> Option<Secret> {
        let port = port.to_string();
        self.0.as_deref()?.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let mut rest = line;
            for wanted in [host, &port, dbname, user] {
                let (field, tail) = field(rest)?;
                if field != "*" && unescape(field) != wanted {
                    return None;
                }
                rest = tail;
            }
            Some(Secret::new(unescape(field(rest).map_or(rest, |(password, _)| password))))
        })
    }
}

/// The field before the first `:` without a backslash, and what follows it.
fn field(line: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((&line[..at], &line[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        match c {
            // A backslash at the very end stands for itself.
            '\\' => text.push(characters.next().unwrap_or('\\')),
            _ => text.push(c),
        }
    }
    text
}

fn read_private(file: &Path) -> Option<String> {
    let metadata = std::fs::metadata(file).ok()?;
    let problem = if !metadata.is_file() {
        Some("it is not a plain file")
    } else if is_open_to_others(&metadata) {
        Some("others can read it; its mode should be 0600")
    } else {
        None
    };
    if let Some(problem) = problem {
        tracing::warn!(file = %file.display(), problem, "the password file is not used");
        return None;
    }
    std::fs::read_to_string(file)
        .inspect_err(|error| tracing::warn!(file = %file.display(), %error, "the password file is not used"))
        .ok()
}

#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passfile(text: &str) -> Passfile {
        Passfile(Some(text.to_owned()))
    }

    fn found(file: &Passfile, host: &str, user: &str) -> Option<String> {
        file.password(host, 5432, "db", user).map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn the_first_line_that_fits_wins() {
        let file = passfile("#h:5432:db:u:comment\nh:1:db:u:port\nh:*:db:u:first\n*:*:*:*:any\n");
        assert_eq!(found(&file, "h", "u").as_deref(), Some("first"));
        assert_eq!(found(&file, "h", "v").as_deref(), Some("any"));
        assert_eq!(found(&passfile("h:5432:db:u"), "h", "u"), None);
    }

    #[test]
    fn b24_colons_and_backslashes_are_escaped() {
        let file = passfile("\\:\\:1:*:*:u\\\\:p@s/w?r#d%41 {x}'\\\\\nh:*:*:u:a\\:b:rest\n");
        assert_eq!(found(&file, "::1", "u\\").as_deref(), Some(r"p@s/w?r#d%41 {x}'\"));
        assert_eq!(found(&file, "h", "u").as_deref(), Some("a:b"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pass");
        std::fs::write(&file, "*:*:*:*:x").unwrap();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        assert!(read_private(&file).is_none());
        mode(0o600);
        assert!(read_private(&file).is_some());
    }
}
