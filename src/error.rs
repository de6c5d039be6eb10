//! The one error type: what kind, in which operation, what to do next; never a row's values, never a secret.

mod server;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use server::{ServerFault, from_server, is_data};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What an [`Error`] is about; the base of exit codes and of retry rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option, a pair of options or a call that cannot be right whatever the server says.
    Config,
    /// A table, column, index or file that is named and not there.
    NotFound,
    /// The right is missing (SQLSTATE 42501).
    Permission,
    /// Something this server, or this version of pgsluice, cannot do.
    Unsupported,
    /// A record that the client refused before it was accepted: it stays the caller's.
    Data,
    /// Accepted records that were rejected; [`Error::rejects`] names them. The sink goes on.
    Rejected,
    /// The server could not be reached, or the connection broke.
    Connection,
    /// User, password or certificate were refused (SQLSTATE 28, 3D).
    Authentication,
    /// The table changed under the running job (SQLSTATE 42703, 42P01, 42804).
    Schema,
    /// A deadline passed.
    Timeout,
    /// The sink, lookup or pool was closed before.
    Closed,
    /// The server answered with another error.
    Server,
    /// The answer to a COMMIT was lost: the outcome is neither success nor failure.
    OutcomeUnknown,
    /// A local file or stream failed.
    Io,
    /// A rule of pgsluice itself was broken.
    Bug,
}

impl ErrorKind {
    fn words(self) -> &'static str {
        match self {
            Self::Config => "configuration",
            Self::NotFound => "not found",
            Self::Permission => "permission denied",
            Self::Unsupported => "not supported",
            Self::Data => "bad record",
            Self::Rejected => "records rejected",
            Self::Connection => "connection",
            Self::Authentication => "authentication",
            Self::Schema => "schema changed",
            Self::Timeout => "timed out",
            Self::Closed => "closed",
            Self::Server => "server error",
            Self::OutcomeUnknown => "outcome unknown",
            Self::Io => "input or output",
            Self::Bug => "internal error",
        }
    }
}

/// A record that was not written, and why. Never holds the record's values in its text.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reject {
    /// The caller's token, else the count of records since open (the first is 1).
    pub position: u64,
    /// The five characters of the SQLSTATE.
    pub sqlstate: String,
    /// The column, where one is to blame and known.
    pub column: Option<String>,
    /// The constraint, where one is to blame and known.
    pub constraint: Option<String>,
    /// What is wrong, in words without values.
    pub reason: String,
    /// The record as the input had it, where the writer of the record attached it.
    pub raw: Option<Bytes>,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}", self.position)?;
        if let Some(column) = &self.column {
            write!(f, ", column \"{column}\"")?;
        }
        write!(f, ": {} (SQLSTATE {})", self.reason, self.sqlstate)
    }
}

impl fmt::Debug for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reject({self})")
    }
}

/// Kind, operation, words, context and cause of a failure. Cheap to clone: a sink that has ended gives the same
/// error to each later call.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    operation: &'static str,
    message: String,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    sqlstate: Option<String>,
    rejects: Vec<Reject>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` in `operation` (a verb phrase: "open sink", "parse DSN").
    pub fn new(kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            operation,
            message: message.into(),
            context: Vec::new(),
            hint: None,
            sqlstate: None,
            rejects: Vec::new(),
            source: None,
        }))
    }

    fn map(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Adds a named fact (`table`, `column`, `file`); never a row's value, never a secret.
    #[must_use]
    pub fn with_context(self, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.map(|inner| inner.context.push((name, value)))
    }

    /// Says what to do next.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.map(|inner| inner.hint = Some(hint))
    }

    /// Attaches the five characters of a SQLSTATE.
    #[must_use]
    pub fn with_sqlstate(self, code: impl Into<String>) -> Self {
        let code = code.into();
        self.map(|inner| inner.sqlstate = Some(code))
    }

    /// Attaches the rejected records.
    #[must_use]
    pub fn with_rejects(self, rejects: Vec<Reject>) -> Self {
        self.map(|inner| inner.rejects = rejects)
    }

    /// Attaches the cause. It must print neither values nor secrets: server errors come through `from_server`.
    #[must_use]
    pub fn with_source(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.map(|inner| inner.source = Some(Arc::new(source)))
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The words alone, without operation, context and hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The value of a named fact.
    pub fn context(&self, name: &str) -> Option<&str> {
        self.0.context.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// What to do next, where it is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The server's SQLSTATE, where one was seen.
    pub fn sqlstate(&self) -> Option<&str> {
        self.0.sqlstate.as_deref()
    }

    /// The records that were rejected since the last flush.
    pub fn rejects(&self) -> &[Reject] {
        &self.0.rejects
    }

    /// True where the same call may succeed later without a change: lost connections, deadlocks, a server that starts.
    pub fn is_retryable(&self) -> bool {
        match self.sqlstate() {
            Some(code) => server::is_retryable(code),
            None => matches!(self.kind(), ErrorKind::Connection | ErrorKind::Timeout),
        }
    }
}

/// One line: operation, kind, words, facts, SQLSTATE, hint.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}: {}", inner.operation, inner.kind.words(), inner.message)?;
        for (name, value) in &inner.context {
            write!(f, "; {name} {value}")?;
        }
        if let Some(code) = &inner.sqlstate {
            write!(f, " (SQLSTATE {code})")?;
        }
        if let Some(hint) = &inner.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// The line of `Display`, then the rejected records and the causes.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        for reject in &self.0.rejects {
            write!(f, "\n  {reject}")?;
        }
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}
