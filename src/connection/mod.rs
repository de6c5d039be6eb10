//! Connections: where to (DSN, environment, files), how (TLS, deadlines, keepalive), and the named pools that share them.

mod builder;
mod connect;
mod driver;
mod dsn;
mod failure;
mod link;
mod password;
mod pool;
mod pooler;
mod server;
mod session;
mod target;
mod tls;

pub use builder::TargetBuilder;
pub use connect::connect;
pub use dsn::Environment;
pub use link::Connection;
pub use pool::Pool;
pub use server::ServerInfo;
pub use session::Session;
pub use target::{ConnectTarget, ServerCheck};

// What a pool is opened with belongs to opening it.
pub use crate::options::{PoolOptions, Pooler, Secret, SslMode, TargetSessionAttrs};
