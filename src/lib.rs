//! Rows into any database that speaks the Postgres protocol: exactly, and fast.

pub mod catalog;
pub mod check;
pub mod connection;
pub mod encode;
mod error;
#[cfg(feature = "cli")]
pub mod load;
pub mod options;
pub mod record;
pub mod sink;
mod sql;

pub use error::{Error, ErrorKind, Reject, Result};
pub use record::{Record, RowKind, Value};
