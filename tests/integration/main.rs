//! The integration tests: real servers, one binary, a module a concern.
#![allow(clippy::unwrap_used)]

mod catalog;
mod sink;
mod connection;
mod options;
mod smoke;
