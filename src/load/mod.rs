//! load
mod create;
mod csv;
mod header;
mod input;
mod ndjson;
mod op;
