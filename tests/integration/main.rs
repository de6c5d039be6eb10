//! The integration tests: real servers, one binary, a module a concern.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // the traps are the library's

mod cancel;
mod catalog;
mod sink;
mod connection;
mod from_options;
mod options;
mod secrets;
mod servers;
mod tls;
