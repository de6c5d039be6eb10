//! The sink on a real server.

mod conformance;
mod deletes;
mod faulty;
mod folding;
mod in_doubt;
mod lifecycle;
mod model;
mod policy;
mod rejects;
mod retries;
mod table_changes;
mod targets;
mod write_faults;
