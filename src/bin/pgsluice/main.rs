//! The `pgsluice` command.
fn main() {}
