//! Text field → column bytes: time and allocations, a type at a time and for a whole row.
#![allow(missing_docs)] // criterion's macros

use std::alloc::System;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pgsluice::catalog::{PgType, TypeKind};
use pgsluice::encode::{Codec, EncodeContext, Zone};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The columns of the `events` table: type, typmod, a field.
const EVENTS: [(&str, i32, &str); 7] = [
    ("int8", -1, "1234567890123"),
    ("int4", -1, "-48213"),
    ("float8", -1, "0.7311290013"),
    ("numeric", (12 << 16 | 2) + 4, "48213.77"),
    ("text", -1, "customer-000048213"),
    ("timestamptz", -1, "2024-03-10 02:30:00.123456+00"),
    ("bool", -1, "true"),
];

/// The other scalar types.
const OTHERS: [(&str, i32, &str); 22] = [
    ("int2", -1, "-4821"),
    ("oid", -1, "48213"),
    ("float4", -1, "0.73112"),
    ("numeric", -1, "12345678901234567890.1234567890"),
    ("varchar", 36, "customer-000048213"),
    ("bpchar", 24, "customer-000048213"),
    ("name", -1, "customer"),
    ("char", -1, "c"),
    ("bytea", -1, "\\xdeadbeefdeadbeefdeadbeefdeadbeef"),
    ("json", -1, r#"{"id": 48213, "tags": ["a", "b"], "price": 12.5, "ok": true}"#),
    ("jsonb", -1, r#"{"id": 48213, "tags": ["a", "b"], "price": 12.5, "ok": true}"#),
    ("uuid", -1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("date", -1, "2024-03-10"),
    ("time", -1, "02:30:00.123456"),
    ("timestamp", -1, "2024-03-10 02:30:00"),
    ("interval", -1, "1 day 02:30:00"),
    ("inet", -1, "192.168.100.28/24"),
    ("cidr", -1, "2001:db8::/32"),
    ("macaddr", -1, "08:00:2b:01:02:03"),
    ("macaddr8", -1, "08:00:2b:01:02:03:04:05"),
    ("bit", 8, "01011010"),
    ("varbit", 20, "01011010"),
];

fn codec(name: &str, typmod: i32) -> Codec {
    let data_type = PgType {
        oid: 0,
        sql_name: name.to_owned(),
        name: name.to_owned(),
        schema: "pg_catalog".to_owned(),
        kind: TypeKind::Base,
        array_oid: 0,
        binary: true,
    };
    Codec::new(&Arc::new(data_type), typmod)
}

/// Appends the row's fields.
fn encode(codecs: &[(Codec, &str)], cx: &mut EncodeContext, out: &mut Vec<u8>) {
    for (codec, text) in codecs {
        codec.encode_text(black_box(text), cx, out).expect("a field of the type");
    }
}

/// Rows encoded one after the other into a buffer that has grown before.
const ROWS: usize = 1_000;

fn allocations_per_row(codecs: &[(Codec, &str)]) -> f64 {
    let mut cx = EncodeContext::new(Zone::utc());
    let mut out = Vec::with_capacity(1 << 16);
    let region = Region::new(ALLOCATOR);
    for _ in 0..ROWS {
        out.clear();
        encode(codecs, &mut cx, &mut out);
    }
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / ROWS as f64
}

fn run(criterion: &mut Criterion) {
    let mut cx = EncodeContext::new(Zone::utc());
    let mut out = Vec::with_capacity(1 << 16);
    let mut group = criterion.benchmark_group("field");
    for (name, typmod, text) in EVENTS.into_iter().chain(OTHERS) {
        let field = [(codec(name, typmod), text)];
        let id = format!("{name} {text}");
        println!("{id}: {} allocations", allocations_per_row(&field));
        group.bench_function(BenchmarkId::from_parameter(id), |bencher| {
            bencher.iter(|| {
                out.clear();
                encode(&field, &mut cx, &mut out);
                black_box(&out);
            });
        });
    }
    group.finish();

    let row = EVENTS.map(|(name, typmod, text)| (codec(name, typmod), text));
    println!("events row: {} allocations", allocations_per_row(&row));
    let mut group = criterion.benchmark_group("row");
    group.throughput(Throughput::Elements(1));
    group.bench_function("events", |bencher| {
        bencher.iter(|| {
            out.clear();
            encode(&row, &mut cx, &mut out);
            black_box(&out);
        });
    });
    group.finish();
}

criterion_group!(benches, run);
criterion_main!(benches);
