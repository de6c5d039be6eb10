//! Tests of the built command against a real server.
#![allow(clippy::unwrap_used)]

mod atomic;
mod changes;
mod check;
mod create;
mod csv;
mod exit_codes;
mod harness;
mod inputs;
mod ndjson;
mod oracle;
mod rejects;
mod signals;
