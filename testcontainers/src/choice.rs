//! Which server a run gets.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::local::Binaries;
use crate::{Options, docker};

/// The versions that the images are built for and that CI runs.
pub const VERSIONS: [u32; 3] = [15, 17, 18];

/// The version in a container when none is named.
pub const DEFAULT_VERSION: u32 = 17;

/// A way to get a server.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Docker(u32),
    Local(Binaries),
    /// A server that somebody else runs.
    Url(String),
}

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Demand {
    server: Option<String>,
    version: Option<u32>,
    url: Option<String>,
}

impl Demand {
    pub(crate) fn from_environment() -> Result<Self, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let version =
            match variable("PGSLUICE_TEST_VERSION") {
                Some(text) => Some(text.parse().map_err(|_| {
                    format!("PGSLUICE_TEST_VERSION is {text:?}: name a major version like 17")
                })?),
                None => None,
            };
        Ok(Self { server: variable("PGSLUICE_TEST_SERVER"), version, url: variable("DATABASE_URL") })
    }

    /// The same for a server of one's own, which somebody else's cannot be.
    pub(crate) fn own(mut self, options: &Options) -> Self {
        self.url = None;
        self.server = self.server.filter(|server| server != "url");
        self.version = options.version.or(self.version);
        self
    }

    pub(crate) fn version(&self) -> Option<u32> {
        self.version
    }

    /// Whether a container is the first choice; asked before the engine is, which takes longer than to look whether the
    /// run's container is there.
    pub(crate) fn prefers_docker(&self) -> bool {
        match self.server.as_deref() {
            None => self.version.is_some() || self.url.is_none(),
            named => named == Some("docker"),
        }
    }

    /// The version that a container gets.
    pub(crate) fn docker_version(&self) -> u32 {
        self.version.unwrap_or(DEFAULT_VERSION)
    }

    /// The source, found by asking the machine.
    pub(crate) fn source(&self) -> Result<Source, String> {
        let url = || self.url.clone().ok_or("PGSLUICE_TEST_SERVER=url needs DATABASE_URL".to_owned());
        let local = || Binaries::find(self.version).map(Source::Local);
        match self.server.as_deref() {
            Some("docker") if docker::runs() => Ok(Source::Docker(self.docker_version())),
            Some("docker") => {
                Err("PGSLUICE_TEST_SERVER=docker, but no Docker engine answers: start one".to_owned())
            }
            Some("local") => local()
                .ok_or_else(|| self.nothing("PGSLUICE_TEST_SERVER=local, but no such server is installed")),
            Some("url") => Ok(Source::Url(url()?)),
            Some(other) => Err(format!("PGSLUICE_TEST_SERVER is {other:?}: one of docker, local, url")),
            None if self.prefers_docker() => {
                if docker::runs() {
                    return Ok(Source::Docker(self.docker_version()));
                }
                local()
                    .or_else(|| self.url.clone().map(Source::Url))
                    .ok_or_else(|| self.nothing("no test server"))
            }
            None => Ok(Source::Url(url()?)),
        }
    }

    fn nothing(&self, what: &str) -> String {
        let version = self.version.map_or(String::new(), |version| format!("-{version}"));
        format!(
            "{what}. Start a Docker engine, or install PostgreSQL (on Debian: apt-get install postgresql{version}), \
             or name a server in DATABASE_URL"
        )
    }
}

/// The run's name, part of all its servers' names: processes with the same one share servers.
pub(crate) fn run() -> String {
    std::env::var("PGSLUICE_TEST_RUN").unwrap_or_else(|_| {
        let mut hasher = DefaultHasher::new();
        env!("CARGO_MANIFEST_DIR").hash(&mut hasher);
        format!("{:08x}", hasher.finish() as u32)
    })
}

/// Seconds that an unused shared server waits for the next process of its run.
pub(crate) fn linger() -> u32 {
    std::env::var("PGSLUICE_TEST_LINGER").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(server: Option<&str>, version: Option<u32>, url: Option<&str>) -> Demand {
        Demand { server: server.map(str::to_owned), version, url: url.map(str::to_owned) }
    }

    #[test]
    fn a_url_is_used_where_nothing_else_is_demanded() {
        let source = demand(None, None, Some("postgres://h/d")).source();
        assert!(matches!(source, Ok(Source::Url(url)) if url == "postgres://h/d"));
        assert!(demand(None, Some(15), Some("postgres://h/d")).prefers_docker());
        assert!(demand(Some("docker"), None, Some("postgres://h/d")).prefers_docker());
        assert!(!demand(Some("url"), Some(15), Some("postgres://h/d")).prefers_docker());
    }

    #[test]
    fn a_wrong_demand_says_what_is_right() {
        assert!(demand(Some("podman"), None, None).source().is_err_and(|e| e.contains("docker, local, url")));
        assert!(demand(Some("url"), None, None).source().is_err_and(|e| e.contains("DATABASE_URL")));
        assert!(
            demand(Some("local"), Some(3), None).source().is_err_and(|e| e.contains("install postgresql-3"))
        );
    }
}
