//! The variables that libpq reads, taken from the process once or given by hand.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Environment variables, as libpq sees them.
#[derive(Clone, Default)]
pub struct Environment(HashMap<String, String>);

impl Environment {
    /// The process's variables. Those that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("PG") || matches!(name.as_str(), "HOME" | "SSL_CERT_FILE"))
            .collect()
    }

    /// The value of a variable; an empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A file below the home directory.
    pub(crate) fn in_home(&self, path: &str) -> Option<PathBuf> {
        Some(Path::new(self.get("HOME")?).join(path))
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}
