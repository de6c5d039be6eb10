//! The integration tests: real servers, one binary, a module a concern.
#![allow(clippy::unwrap_used)]

mod catalog;
mod options;
mod smoke;
