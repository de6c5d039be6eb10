//! What the server says of a table: read-only catalog queries, by OID, and the pure model that they fill.

mod model;

pub use model::{
    Column, Identity, PgType, Relation, RelationKind, Table, TableName, TypeKind, UniqueIndex,
};
