//! The exit codes: a contract with scripts.

use std::process::ExitCode;

use pgsluice::load::{Ending, Outcome};
use pgsluice::{Error, ErrorKind};

/// What the process ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is in.
    Success,
    /// Rows were rejected; all others are in, unless too many were.
    Rejected,
    /// Usage or configuration; an input, table or grant is missing.
    Usage,
    /// The server could not be reached, or refused the user.
    Connection,
    /// Another error of the server.
    Server,
    /// The answer to a COMMIT was lost.
    Unknown,
    /// A local input or output failed.
    LocalIo,
    /// A signal, by its number.
    Signal(u8),
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Rejected => 1,
            Self::Usage => 2,
            Self::Connection => 3,
            Self::Server => 4,
            Self::Unknown => 5,
            Self::LocalIo => 6,
            Self::Signal(number) => 128 + number,
        }
    }

    /// The code of an error.
    pub(crate) fn of_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Data | ErrorKind::Rejected => Self::Rejected,
            ErrorKind::Config | ErrorKind::NotFound | ErrorKind::Permission | ErrorKind::Unsupported => {
                Self::Usage
            }
            ErrorKind::Connection | ErrorKind::Authentication | ErrorKind::Timeout => Self::Connection,
            ErrorKind::OutcomeUnknown => Self::Unknown,
            ErrorKind::Io => Self::LocalIo,
            _ => Self::Server,
        }
    }

    /// The code of a load; `signal` is the number of the one that stopped it.
    pub(crate) fn of_outcome(outcome: &Outcome, signal: Option<u8>) -> Self {
        match &outcome.ending {
            Ending::Failed(error) => Self::of_error(error),
            Ending::Interrupted => Self::Signal(signal.unwrap_or(2)),
            Ending::TooManyRejected => Self::Rejected,
            _ if outcome.summary.rejected > 0 => Self::Rejected,
            _ => Self::Success,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_error_has_its_code() {
        for (kind, code) in [
            (ErrorKind::Config, 2),
            (ErrorKind::NotFound, 2),
            (ErrorKind::Permission, 2),
            (ErrorKind::Unsupported, 2),
            (ErrorKind::Data, 1),
            (ErrorKind::Rejected, 1),
            (ErrorKind::Connection, 3),
            (ErrorKind::Authentication, 3),
            (ErrorKind::Timeout, 3),
            (ErrorKind::Schema, 4),
            (ErrorKind::Server, 4),
            (ErrorKind::Closed, 4),
            (ErrorKind::Bug, 4),
            (ErrorKind::OutcomeUnknown, 5),
            (ErrorKind::Io, 6),
        ] {
            assert_eq!(Exit::of_error(&Error::new(kind, "test", "")).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn signals_are_128_and_their_number() {
        assert_eq!((Exit::Signal(2).code(), Exit::Signal(15).code()), (130, 143));
        assert_eq!((Exit::Success.code(), Exit::Usage.code()), (0, 2));
    }
}
