//! The integration tests: real servers, one binary, a module a concern.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // the traps are the library's

mod catalog;
mod sink;
mod connection;
mod encode_containers;
mod encode_datetime;
mod encode_oracle;
mod options;
mod servers;
