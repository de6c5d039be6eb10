//! From a map of texts to typed options, with every fault in one error.

use super::draft::{Connector, Draft, TargetSessionAttrs};
use super::endpoint::Endpoint;
use super::given::{Given, sink_only, sink_or_connection};
use super::pool::PoolOptions;
use super::secret::Secret;
use super::sink::{SinkOptions, WriteMode};
use super::tls::TlsOptions;
use super::{fault, pairs, registry};
use crate::Result;

/// What the table of a DDL is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Use {
    /// For writing.
    Sink,
}

/// What the options of a connector DDL say.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resolved {
    /// `connector`: whose names and defaults hold.
    pub connector: Connector,
    /// `tablename`, as it was written: `t`, `schema.t`, quoted parts.
    pub table: String,
    /// `endpoint` or `bootstrap.servers`; empty: the environment decides.
    pub hosts: Vec<Endpoint>,
    /// Which of several servers will do: for a sink one that takes writes.
    pub target_session_attrs: TargetSessionAttrs,
    /// `dbname`.
    pub dbname: String,
    /// `username`; not given: the environment decides.
    pub username: Option<String>,
    /// `password`; not given: the environment or the password file.
    pub password: Option<Secret>,
    /// `connection.password-command`: run at each connect.
    pub password_command: Option<Secret>,
    /// Encryption.
    pub tls: TlsOptions,
    /// The pool.
    pub pool: PoolOptions,
    /// How the sink writes.
    pub sink: SinkOptions,
}

/// What `-w key=value` and an options file say of a load whose target is named elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// How the sink writes.
    pub sink: SinkOptions,
    /// The pool.
    pub pool: PoolOptions,
    /// Encryption.
    pub tls: TlsOptions,
    /// `connection.target-session-attrs`; not given: the DSN's, else one that takes writes.
    pub target_session_attrs: Option<TargetSessionAttrs>,
    /// `connection.password-command`: run at each connect, over what the DSN says.
    pub password_command: Option<Secret>,
}

/// Reads the options of a connector DDL.
///
/// # Errors
/// `Config`, operation "read options": every unknown, doubled, illegal, missing or contradicting key and every illegal
/// pair, all in one message; values of secret keys are never in it.
pub fn resolve(map: impl IntoIterator<Item = (String, String)>, use_: Use) -> Result<Resolved> {
    let mut given = Given::read(map);
    let mut draft = Draft::default();
    for key in ["connector", "dbname", "tablename"] {
        if !given.names(key) {
            given.fault(format!("`{key}` is required"));
        }
    }
    if given.is("connector", "fluss") {
        registry::fluss_defaults(&given, &mut draft);
    }
    given.fill(&mut draft);
    let mut faults = finish(given, &mut draft);
    if draft.dbname.as_deref().is_some_and(|name| name.contains('@')) {
        faults.push(
            "`dbname` has a suffix after `@`: it names a warehouse, which only a Hologres server has; leave it out"
                .to_owned(),
        );
    }
    let bulk = matches!(draft.sink.write_mode, WriteMode::CopyBulkLoad | WriteMode::CopyBulkLoadOnConflict);
    if bulk && draft.sink.lanes > draft.pool.size {
        faults.push(format!(
            "`bucket.num` ({}) is above `connection.pool.size` ({}): a lane of a bulk mode holds its connection",
            draft.sink.lanes, draft.pool.size
        ));
    }
    fault::none(faults)?;
    let pool = draft.pool.checked()?;
    let session = match use_ {
        Use::Sink => TargetSessionAttrs::ReadWrite,
    };
    Ok(Resolved {
        connector: draft.connector.unwrap_or(Connector::Postgres),
        table: draft.table.unwrap_or_default(),
        hosts: draft.hosts,
        target_session_attrs: draft.target_session_attrs.unwrap_or(session),
        dbname: draft.dbname.unwrap_or_default(),
        username: draft.username,
        password: draft.password,
        password_command: draft.password_command,
        tls: draft.tls,
        pool,
        sink: draft.sink,
    })
}

/// The faults of keys, pairs and fields.
fn finish(given: Given, draft: &mut Draft) -> Vec<String> {
    let pairs = pairs::faults(&given);
    let mut faults = given.into_faults();
    faults.extend(pairs);
    draft.settle(&mut faults);
    faults.extend(draft.sink.faults());
    faults.extend(draft.pool.faults());
    faults
}

impl WriteOptions {
    /// Reads sink and connection keys over the defaults.
    ///
    /// # Errors
    /// As [`resolve`]; keys that name the target, and those of scans and look-ups, are faults.
    pub fn from_map<K: AsRef<str>, V: AsRef<str>>(map: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let mut options = Self::default();
        options.apply(map)?;
        Ok(options)
    }

    /// Reads sink and connection keys over the present values. Untouched where it fails.
    ///
    /// # Errors
    /// As [`WriteOptions::from_map`].
    pub fn apply<K: AsRef<str>, V: AsRef<str>>(
        &mut self,
        map: impl IntoIterator<Item = (K, V)>,
    ) -> Result<()> {
        let mut given = Given::read(map);
        given.restrict(sink_or_connection);
        let mut draft = Draft {
            sink: self.sink.clone(),
            pool: self.pool.clone(),
            tls: self.tls.clone(),
            target_session_attrs: self.target_session_attrs,
            password_command: self.password_command.clone(),
            ..Draft::default()
        };
        given.fill(&mut draft);
        fault::none(finish(given, &mut draft))?;
        *self = Self {
            sink: draft.sink,
            pool: draft.pool.checked()?,
            tls: draft.tls,
            target_session_attrs: draft.target_session_attrs,
            password_command: draft.password_command,
        };
        Ok(())
    }
}

impl SinkOptions {
    /// Reads sink keys over the defaults.
    ///
    /// # Errors
    /// As [`resolve`]; keys that are not a sink's are faults.
    pub fn from_map<K: AsRef<str>, V: AsRef<str>>(map: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let mut options = Self::default();
        options.apply(map)?;
        Ok(options)
    }

    /// Reads sink keys over the present values. Untouched where it fails.
    ///
    /// # Errors
    /// As [`SinkOptions::from_map`].
    pub fn apply<K: AsRef<str>, V: AsRef<str>>(
        &mut self,
        map: impl IntoIterator<Item = (K, V)>,
    ) -> Result<()> {
        let mut given = Given::read(map);
        given.restrict(sink_only);
        let mut draft = Draft { sink: self.clone(), ..Draft::default() };
        given.fill(&mut draft);
        fault::none(finish(given, &mut draft))?;
        *self = draft.sink;
        Ok(())
    }
}
