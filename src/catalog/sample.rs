//! Tables for unit tests, without a server.

use std::sync::Arc;

use super::{Column, Identity, PgType, Relation, RelationKind, Table, TableName, TypeKind, UniqueIndex};

/// `public.t` with `int` columns of these names, the first `key` of them the primary key.
pub(crate) fn table(names: &[&str], key: usize) -> Table {
    let int4 = Arc::new(PgType {
        oid: 23,
        sql_name: "integer".to_owned(),
        name: "int4".to_owned(),
        schema: "pg_catalog".to_owned(),
        kind: TypeKind::Base,
        array_oid: 1007,
        binary: true,
    });
    let column = |(position, name): (usize, &&str)| Column {
        attnum: i16::try_from(position + 1).unwrap(),
        name: (*name).to_owned(),
        data_type: Arc::clone(&int4),
        typmod: -1,
        not_null: position < key,
        default: None,
        identity: Identity::None,
        generated: false,
        equating_collation: None,
    };
    let primary = UniqueIndex {
        name: "t_pkey".to_owned(),
        columns: (0..key).collect(),
        primary: true,
        predicate: None,
        deferrable: false,
        nulls_not_distinct: false,
        plain_equality: vec![true; key],
        own_collation: vec![true; key],
        own_operator: vec![true; key],
    };
    Table {
        relation: Relation {
            name: TableName { schema: Some("public".to_owned()), name: "t".to_owned() },
            oid: 16384,
            kind: RelationKind::Table,
            row_type: 16386,
            row_array_type: 16385,
        },
        columns: names.iter().enumerate().map(column).collect(),
        unique_indexes: if key > 0 { vec![primary] } else { Vec::new() },
        partition_columns: Vec::new(),
        other_unique: Vec::new(),
        checks: Vec::new(),
        before_insert_triggers: false,
        triggers: false,
        instead_of_triggers: false,
        deferrable_constraints: false,
        self_reference: false,
        row_security: false,
        insert_rules: false,
        temporary_tables: true,
        insertable: true,
        temporary: false,
    }
}
