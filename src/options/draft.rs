//! What the values of the registry are written into, before it is shared out.

use super::endpoint::Endpoint;
use super::pool::PoolOptions;
use super::secret::Secret;
use super::sink::{RejectPolicy, SinkOptions};
use super::tls::TlsOptions;

/// Whose names and defaults a DDL uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Connector {
    /// The Hologres connector's.
    Hologres,
    /// The same, for a Postgres server.
    Postgres,
    /// The Fluss connector's.
    Fluss,
}

/// Which of several servers will do; libpq's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TargetSessionAttrs {
    /// Each.
    #[default]
    Any,
    /// One that takes writes.
    ReadWrite,
    /// One that takes none.
    ReadOnly,
    /// One that is no standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby; where there is none, each.
    PreferStandby,
}

#[derive(Default)]
pub(super) struct Draft {
    pub(super) connector: Option<Connector>,
    pub(super) table: Option<String>,
    pub(super) hosts: Vec<Endpoint>,
    pub(super) dbname: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) password_command: Option<Secret>,
    pub(super) target_session_attrs: Option<TargetSessionAttrs>,
    pub(super) tls: TlsOptions,
    pub(super) pool: PoolOptions,
    pub(super) sink: SinkOptions,
    pub(super) reject_limit: Option<u64>,
}

impl Draft {
    /// Brings together what two keys say about one field.
    pub(super) fn settle(&mut self, faults: &mut Vec<String>) {
        let Some(given) = self.reject_limit else { return };
        match &mut self.sink.reject_policy {
            RejectPolicy::Skip { limit } => *limit = Some(given),
            RejectPolicy::Fail => faults.push(
                "`sink.reject-limit` with `sink.reject-policy` = fail: the first rejected record is an error already"
                    .to_owned(),
            ),
        }
    }
}
