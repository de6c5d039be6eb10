//! The sink on a real server.

mod bed;
mod conformance;
mod deletes;
mod folding;
mod lifecycle;
mod model;
mod names;
mod policy;
mod rejects;
mod server_keys;
mod structs;
mod targets;
mod text_values;
mod time_zone;
mod types;
mod u0000;
mod values;
mod write_faults;
