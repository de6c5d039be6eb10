//! Real Postgres servers for tests.
