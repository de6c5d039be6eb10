//! Any text into any built-in type: a whole field or an error, never a panic, and nothing left behind by an error.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use pgsluice::catalog::{PgType, TypeKind};
use pgsluice::encode::{Codec, EncodeContext, KeyEquality, Zone};

const TYPES: &[&str] = &[
    "bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "text", "varchar", "bpchar", "name", "char",
    "xml", "bytea", "json", "jsonb", "uuid", "date", "time", "timetz", "timestamp", "timestamptz", "interval", "inet",
    "cidr", "macaddr", "macaddr8", "bit", "varbit",
];

fn built_in(name: &str) -> Arc<PgType> {
    Arc::new(PgType {
        oid: 1,
        sql_name: name.to_owned(),
        name: name.to_owned(),
        schema: "pg_catalog".to_owned(),
        kind: TypeKind::Base,
        array_oid: 2,
        binary: true,
    })
}

fuzz_target!(|input: (u8, i16, bool, bool, &str)| {
    let (number, typmod, array, remove_u0000, text) = input;
    let mut data_type = built_in(TYPES[usize::from(number) % TYPES.len()]);
    if array {
        let kind = TypeKind::Array { element: Arc::clone(&data_type), delimiter: ',' };
        data_type = Arc::new(PgType { kind, ..(*data_type).clone() });
    }
    let codec = Codec::new(&data_type, i32::from(typmod));
    let Some(zone) = Zone::named("Europe/Berlin") else { return };
    let mut context = EncodeContext::new(zone);
    context.remove_u0000 = remove_u0000;
    let mut out = b"before".to_vec();
    match codec.encode_text(text, &mut context, &mut out) {
        Ok(()) => {
            let length = i32::from_be_bytes(out[6..10].try_into().expect("a length"));
            assert_eq!(usize::try_from(length).ok(), Some(out.len() - 10));
            let mut key = Vec::new();
            if codec.key_equality() == KeyEquality::Client {
                codec.push_key(&out[10..], &mut key);
            }
        }
        Err(_) => assert_eq!(out, b"before"),
    }
});
