//! What the server says of a table: read-only catalog queries, by OID, and the pure model that they fill.

mod cache;
mod key;
mod load;
mod missing;
mod model;
mod name;
mod nearest;
mod predicate;
#[cfg(test)]
pub(crate) mod sample;
mod types;

pub use cache::SchemaCache;
pub use key::{Key, conflict_key};
pub use load::load_table;
pub use model::{Column, Identity, PgType, Relation, RelationKind, Table, TableName, TypeKind, UniqueIndex};
