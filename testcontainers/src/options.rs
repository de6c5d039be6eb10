//! What a server is started with.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::certificates::CERTIFICATE_ROLE;

/// Settings of every server. Nothing survives the run, so nothing waits for a disk.
const SETTINGS: [(&str, &str); 14] = [
    ("wal_level", "logical"),
    ("max_prepared_transactions", "50"),
    ("max_connections", "300"),
    ("max_wal_senders", "30"),
    ("max_replication_slots", "30"),
    ("password_encryption", "scram-sha-256"),
    ("shared_buffers", "256MB"),
    ("max_wal_size", "512MB"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("log_timezone", "UTC"),
    ("timezone", "UTC"),
    ("lc_messages", "C"),
    ("jit", "off"),
];

/// How a server of one's own differs from the shared one.
#[derive(Debug, Clone, Default, Hash)]
pub struct Options {
    pub(crate) version: Option<u32>,
    settings: Vec<(String, String)>,
    hba: Vec<String>,
    pub(crate) without_tls: bool,
    pub(crate) server_certificate: Option<(String, String)>,
}

impl Options {
    /// A server like the shared one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The major version, instead of the run's.
    #[must_use]
    pub fn version(mut self, major: u32) -> Self {
        self.version = Some(major);
        self
    }

    /// A setting for the command line (`-c name=value`).
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A line of `pg_hba.conf` before the usual ones; the first line that fits a connection decides.
    #[must_use]
    pub fn hba(mut self, line: &str) -> Self {
        self.hba.push(line.to_owned());
        self
    }

    /// No TLS at all.
    #[must_use]
    pub fn without_tls(mut self) -> Self {
        self.without_tls = true;
        self
    }

    /// Another certificate (chain) and key than the generated ones, as PEM texts.
    #[must_use]
    pub fn server_certificate(mut self, chain: &str, key: &str) -> Self {
        self.server_certificate = Some((chain.to_owned(), key.to_owned()));
        self
    }

    /// The arguments of `postgres`, with TLS files and `pg_hba.conf` in `directory` as the server sees it.
    pub(crate) fn arguments(&self, directory: &str) -> Vec<String> {
        let mut settings: Vec<(String, String)> =
            SETTINGS.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        settings.push(("hba_file".to_owned(), format!("{directory}/pg_hba.conf")));
        if !self.without_tls {
            settings.push(("ssl".to_owned(), "on".to_owned()));
            settings.push(("ssl_ca_file".to_owned(), format!("{directory}/ca.pem")));
            settings.push(("ssl_cert_file".to_owned(), format!("{directory}/server.pem")));
            settings.push(("ssl_key_file".to_owned(), format!("{directory}/server.key")));
        }
        settings.extend(self.settings.iter().cloned());
        settings.iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]).collect()
    }

    /// `pg_hba.conf`: own lines, the certificate's role, then passwords for all.
    pub(crate) fn hba_file(&self) -> String {
        let mut lines = self.hba.clone();
        lines.push("local all all trust".to_owned());
        if !self.without_tls {
            lines.push(format!("hostssl all {CERTIFICATE_ROLE} all cert"));
        }
        lines.push("host all all all scram-sha-256".to_owned());
        lines.push("host replication all all scram-sha-256".to_owned());
        lines.join("\n") + "\n"
    }

    /// Tells servers apart that were started with different settings.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self, self.arguments(""), self.hba_file()).hash(&mut hasher);
        hasher.finish()
    }
}
