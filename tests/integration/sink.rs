//! The sink on a real server.

mod model;
