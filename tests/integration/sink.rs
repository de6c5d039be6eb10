//! The sink on a real server.

mod conformance;
mod deletes;
mod folding;
mod lifecycle;
mod model;
mod policy;
mod rejects;
mod targets;
mod write_faults;
