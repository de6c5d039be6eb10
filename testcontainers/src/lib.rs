//! Real Postgres servers for tests: one server a run and version, one fresh database a test.
//!
//! ```no_run
//! use pgsluice_testcontainers::Database;
//!
//! # async fn example() {
//! let database = Database::new().await; // a fresh database, dropped with the value
//! let client = database.client().await; // a plain connection for setting up and looking
//! let url = database.url(); //             with user and password, for what is tested
//! # }
//! ```
//!
//! # Which server
//!
//! | `PGSLUICE_TEST_SERVER` | the server |
//! |---|---|
//! | `docker` | a container: the image `pgsluice-postgres:NN` or `postgres:NN` that is here, else `postgres:NN` pulled, else one that `images/build` makes of Debian's packages (no registry needed; root) |
//! | `local` | `initdb` and `postgres` of this machine (Debian: `apt-get install postgresql`), as user `postgres` where the tests run as root |
//! | `url` | what `DATABASE_URL` names: its role must be a superuser; no TLS, no server of one's own there |
//! | not set | `url` if `DATABASE_URL` is set and no version demanded; else `docker` if an engine answers; else `local`; else `url` |
//!
//! `PGSLUICE_TEST_VERSION` demands a major version: 15, 17 or 18; without it a container is version 17, and of local
//! servers the newest is taken. A test never skips: where no server can be had it panics and says what to install.
//!
//! # What a server is like
//!
//! Bound to 127.0.0.1, data in memory, no fsync, `wal_level=logical`, prepared transactions, UTC and C.UTF-8. The user
//! `postgres` logs in with a password (SCRAM), [`CERTIFICATE_ROLE`] with [`Server::client_certificate`]; both with
//! or without TLS, whose certificates are made anew for each server ([`Server::tls_url`]).
//! A test that pauses, restarts or kills a server, or needs other settings, starts one of its own with [`Server::own`].
//! [`Pooler::before`] puts PgBouncer before a server: the image's where that runs in a container, else the machine's own.
//!
//! # How long a server lives
//!
//! As long as a process of the run uses it, and `PGSLUICE_TEST_LINGER` seconds (10) more, since nextest gives each test
//! its own process. A detached script then ends it and removes its data, however the processes ended, SIGKILL included.
//! Processes with the same `PGSLUICE_TEST_RUN` (by default one name a checkout) share servers.

#![allow(clippy::disallowed_methods)] // it polls and connects plainly; the traps are the library's

mod certificates;
mod choice;
mod control;
mod database;
mod docker;
mod launch;
mod local;
mod options;
mod place;
mod pooler;
mod proxy;
mod runtime;
mod server;
mod url;

pub use certificates::CERTIFICATE_ROLE;
pub use choice::{DEFAULT_VERSION, VERSIONS};
pub use database::Database;
pub use options::Options;
pub use place::leftovers;
pub use pooler::Pooler;
pub use proxy::{Fault, Proxy};
pub use server::{Server, server};
