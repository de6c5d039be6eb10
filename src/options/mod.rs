//! Every option: one registry of keys, typed structs for code, maps of texts for DDLs, files and command lines.
//!
//! The registry holds each key with its type, default, scope, what it means on a Postgres server and whether this
//! version carries it out; documentation, error texts and hints at the nearest key are made from it.
//!
//! ```
//! use pgsluice::options::{Use, resolve};
//!
//! let ddl = [
//!     ("connector", "hologres"),
//!     ("endpoint", "db:5432"),
//!     ("dbname", "shop"),
//!     ("tablename", "public.orders"),
//!     ("sink.on-conflict-action", "INSERT_OR_IGNORE"),
//! ];
//! let resolved = resolve(ddl.map(|(key, value)| (key.to_owned(), value.to_owned())), Use::Sink)?;
//! assert_eq!(resolved.table, "public.orders");
//! # Ok::<(), pgsluice::Error>(())
//! ```

mod draft;
mod endpoint;
mod fault;
mod form;
mod given;
mod pairs;
mod pool;
mod registry;
pub mod render;
mod resolve;
mod secret;
mod sink;
mod source_text;
mod spec;
mod tls;
mod unit;
mod written;

pub use draft::{Connector, TargetSessionAttrs};
pub use endpoint::Endpoint;
pub use pool::{PoolOptions, Pooler};
pub use registry::{Section, sections};
pub use resolve::{Resolved, Use, WriteOptions, resolve};
pub use secret::Secret;
pub use sink::{ConflictAction, CopyFormat, DeleteStrategy, RejectPolicy, SinkOptions, WriteMode};
#[cfg(feature = "cli")]
pub use source_text::from_toml;
pub use source_text::split_pair;
pub use spec::{Build, OptionSpec, Scope, Verdict};
pub use tls::{ChannelBinding, SslMode, SslNegotiation, TlsOptions};
