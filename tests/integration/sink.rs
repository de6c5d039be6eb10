//! The sink on a real server.

mod bed;
mod bulk;
mod conformance;
mod deletes;
mod faulty;
mod folding;
mod in_doubt;
mod lifecycle;
mod model;
mod names;
mod policy;
mod rejects;
mod retries;
mod server_keys;
mod structs;
mod table_changes;
mod targets;
mod text_values;
mod time_zone;
mod types;
mod u0000;
mod values;
mod write_faults;
