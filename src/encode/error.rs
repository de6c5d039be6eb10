//! Why a value cannot be a column's.

use std::borrow::Cow;

/// A value that the column cannot hold. The words hold no value; column, source kind and position are added by the
/// caller, who knows them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (SQLSTATE {sqlstate})")]
pub struct EncodeError {
    /// The code that the server gives for such a value.
    pub sqlstate: &'static str,
    /// What is wrong, without the value.
    pub reason: Cow<'static, str>,
    /// True where a live server might still read the text: the hint is `sink.text-values`.
    pub server_might_read: bool,
}

impl EncodeError {
    /// The value is wrong for any server.
    pub fn new(sqlstate: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { sqlstate, reason: reason.into(), server_might_read: false }
    }

    /// The text may be one that only a live server can read (DateStyle forms, `now`, locale money).
    pub fn server_only(sqlstate: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { sqlstate, reason: reason.into(), server_might_read: true }
    }
}
