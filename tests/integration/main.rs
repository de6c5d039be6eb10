//! The integration tests: real servers, one binary, a module a concern.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // the traps are the library's

mod cancel;
mod catalog;
mod connection;
mod encode_containers;
mod encode_datetime;
mod encode_oracle;
mod encode_scalars;
mod from_options;
mod options;
mod secrets;
mod servers;
mod sink;
mod tls;
