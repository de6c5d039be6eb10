//! What a load tells while it runs. The engine emits, the caller draws.

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something that the user should know: a table was made, a time zone was chosen.
    Notice(&'a str),
    /// The sink is open and reading begins. The size is that of all inputs as stored, where each is known.
    Started {
        /// Bytes of all inputs.
        total_bytes: Option<u64>,
    },
    /// How far it is; several times a second, while the server is waited for too.
    Progress(Progress),
    /// A record was rejected.
    Rejected(&'a Rejected),
}

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Records read.
    pub read: u64,
    /// Records whose transaction committed.
    pub committed: u64,
    /// Records rejected.
    pub rejected: u64,
    /// Bytes read of the inputs as stored.
    pub bytes: u64,
}

/// A record that was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// The input.
    pub file: String,
    /// The line on which the record starts.
    pub line: u64,
    /// The column, where one is to blame.
    pub column: Option<String>,
    /// The constraint, where one is to blame.
    pub constraint: Option<String>,
    /// The SQLSTATE.
    pub sqlstate: String,
    /// What is wrong, in words without values.
    pub reason: String,
}

/// `orders.csv line 12345, column "qty": … (SQLSTATE 22P02)`
impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} line {}", self.file, self.line)?;
        if let Some(column) = &self.column {
            write!(f, ", column \"{column}\"")?;
        }
        write!(f, ": {} (SQLSTATE {})", self.reason, self.sqlstate)
    }
}
