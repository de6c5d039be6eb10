use std::borrow::Cow;

use pgsluice::Value;
use pgsluice::record::{Date, Numeric, Timestamp};
use proptest::prelude::*;

use super::{Column, context};
use crate::encode_oracle::{Oracle, samples};

fn json(text: &str) -> Value<'static> {
    Value::Json(Cow::Owned(text.to_owned()))
}

fn text(text: &str) -> Value<'static> {
    Value::Text(Cow::Owned(text.to_owned()))
}

fn bytes(bytes: &[u8]) -> Value<'static> {
    Value::Bytes(Cow::Owned(bytes.to_vec()))
}

fn numeric(text: &str) -> Value<'static> {
    Value::Numeric(text.parse().unwrap())
}

/// `=` and what the server prints for the value, `!` and the SQLSTATE, or `null`.
async fn results(oracle: &Oracle, declared: &str, values: &[Value<'_>]) -> Vec<String> {
    let column = Column::new(oracle, declared).await;
    let mut fields = Vec::new();
    let mut results = Vec::new();
    for value in values {
        let mut field = Vec::new();
        results.push(match column.codec.encode_value(value, &mut context(), &mut field) {
            Ok(()) if field == [0xFF; 4] => "null".to_owned(),
            Ok(()) => {
                fields.push(field);
                String::new()
            }
            Err(error) => format!("!{}", error.sqlstate),
        });
    }
    let mut printed = column.printed(&fields).await.into_iter();
    results
        .into_iter()
        .map(|result| if result.is_empty() { printed.next().unwrap() } else { result })
        .collect()
}

async fn check(declared: &str, cases: &[(Value<'_>, &str)]) {
    let oracle = Oracle::new().await;
    let values: Vec<_> = cases.iter().map(|(value, _)| value.clone()).collect();
    for ((at, (value, expected)), result) in
        cases.iter().enumerate().zip(results(&oracle, declared, &values).await)
    {
        assert_eq!(result, *expected, "{declared}: case {at}, {}", value.kind());
    }
}

#[tokio::test]
async fn integers_take_whole_numbers_of_any_kind_and_never_round_b11_m05() {
    check(
        "integer",
        &[
            (Value::Int(12), "=12"),
            (Value::Int(3_000_000_000), "!22003"),
            (Value::Int(i128::from(i32::MIN)), "=-2147483648"),
            (Value::Int(i128::from(i32::MIN) - 1), "!22003"),
            (Value::Float8(12222.0), "=12222"),
            (Value::Float8(-0.0), "=0"),
            (Value::Float8(0.5), "!22P02"),
            (Value::Float8(f64::NAN), "!22003"),
            (Value::Float8(f64::INFINITY), "!22003"),
            (Value::Float8(2_147_483_648.0), "!22003"),
            (Value::Float8(1e300), "!22003"),
            (Value::Float4(16_777_216.0), "=16777216"),
            (numeric("7.000"), "=7"),
            (numeric("7.1"), "!22P02"),
            (numeric("0.00"), "=0"),
            (numeric("1e40"), "!22003"),
            (numeric("NaN"), "!22003"),
            (text(" 12 "), "=12"),
            (json("12"), "=12"),
            (json(" 1.0"), "=1"),
            (json("1e3"), "=1000"),
            (json("1.5"), "!22P02"),
            (json("1e400"), "!22003"),
            (json("\"12\""), "=12"),
            (json("null"), "null"),
            (json("true"), "!42804"),
            (json("[1]"), "!42804"),
            (json("{"), "!22P02"),
            (Value::Bool(true), "!42804"),
            (bytes(&[0, 0, 0, 12]), "!42804"),
            (Value::Array(vec![]), "!42804"),
            (Value::Date(Date(1)), "!42804"),
            (Value::Null, "null"),
        ],
    )
    .await;
    check("smallint", &[(Value::Int(40_000), "!22003"), (Value::Int(-32_768), "=-32768")]).await;
    check(
        "bigint",
        &[
            (Value::Int(i128::from(i64::MAX)), "=9223372036854775807"),
            (Value::Int(i128::from(u64::MAX)), "!22003"),
            (Value::Float8(9_223_372_036_854_775_808.0), "!22003"),
        ],
    )
    .await;
    check("oid", &[(Value::Int(4_294_967_295), "=4294967295"), (Value::Int(-1), "!22003")]).await;
}

#[tokio::test]
async fn floats_take_numbers_and_refuse_integers_that_they_cannot_hold_b11_m05() {
    check(
        "double precision",
        &[
            (Value::Int(12), "=12"),
            (Value::Int(9_007_199_254_740_992), "=9.007199254740992e+15"),
            (Value::Int(9_007_199_254_740_993), "!22003"),
            (Value::Int(i128::MAX), "!22003"),
            (Value::Int(i128::MIN), "=-1.7014118346046923e+38"),
            (Value::Float4(0.1), "=0.10000000149011612"),
            (Value::Float8(-0.0), "=-0"),
            (Value::Float8(f64::NAN), "=NaN"),
            (numeric("0.1"), "=0.1"),
            (numeric("NaN"), "=NaN"),
            (numeric("-Infinity"), "=-Infinity"),
            (numeric("1e400"), "!22003"),
            (json("0.1"), "=0.1"),
            (json("\"Infinity\""), "=Infinity"),
            (Value::Bool(true), "!42804"),
        ],
    )
    .await;
    check(
        "real",
        &[
            (Value::Float8(1e39), "!22003"),
            (Value::Float8(1e-50), "!22003"),
            (Value::Float8(0.1), "=0.1"),
            (Value::Float8(f64::NEG_INFINITY), "=-Infinity"),
            (Value::Int(16_777_216), "=1.6777216e+07"),
            (Value::Int(16_777_217), "!22003"),
            (text("1e39"), "!22003"),
        ],
    )
    .await;
}

#[tokio::test]
async fn numeric_takes_every_number_by_its_own_digits_b11_b12() {
    check(
        "numeric",
        &[
            (Value::Int(12), "=12"),
            (Value::Int(i128::MIN), "=-170141183460469231731687303715884105728"),
            (Value::Float8(0.1), "=0.1"),
            (Value::Float4(0.1), "=0.1"),
            (Value::Float8(1e22), "=10000000000000000000000"),
            (Value::Float8(1.5e-7), "=0.00000015"),
            (Value::Float8(-0.0), "=0"),
            (Value::Float8(f64::NAN), "=NaN"),
            (Value::Float8(f64::NEG_INFINITY), "=-Infinity"),
            (numeric("1.00"), "=1.00"),
            (numeric("-Infinity"), "=-Infinity"),
            (json("1.10"), "=1.10"),
            (
                json("12345678901234567890.123456789012345678901234567890"),
                "=12345678901234567890.123456789012345678901234567890",
            ),
            (json("\"1e3\""), "=1000"),
            (Value::Bool(true), "!42804"),
        ],
    )
    .await;
    check(
        "numeric(18,2)",
        &[
            (Value::Float8(12222.0), "=12222.00"),
            (Value::Float8(0.125), "=0.13"),
            (Value::Int(i128::MAX), "!22003"),
            (numeric("1.005"), "=1.01"),
            (numeric("NaN"), "=NaN"),
            (numeric("Infinity"), "!22003"),
            (Value::Float8(f64::INFINITY), "!22003"),
            (Value::Numeric(Numeric::from_scaled(-12_345, 3).unwrap()), "=-12.35"),
        ],
    )
    .await;
}

#[tokio::test]
async fn text_types_take_the_text_of_a_value() {
    check(
        "text",
        &[
            (Value::Int(12), "=12"),
            (Value::Bool(true), "=true"),
            (Value::Bool(false), "=false"),
            (Value::Float8(1e20), "=1e+20"),
            (Value::Float8(1.5e-7), "=1.5e-07"),
            (Value::Float8(0.0001), "=0.0001"),
            (Value::Float8(123_456.75), "=123456.75"),
            (Value::Float8(-100.0), "=-100"),
            (Value::Float8(f64::INFINITY), "=Infinity"),
            (Value::Float4(0.1), "=0.1"),
            (numeric("-1.10"), "=-1.10"),
            (bytes("é".as_bytes()), "=é"),
            (bytes(&[0xFF]), "!22021"),
            (Value::Uuid([0xA0; 16]), "=a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0"),
            (json("\"a\\u00e9\\n\\ud83d\\ude00\\\\\""), "=aé\n😀\\"),
            (json("\"\\ud83d\""), "!22P02"),
            (json("\"\\u0000\""), "!22021"),
            (json("\"a\"\0"), "!22P02"),
            (json("\0\"a\""), "!22P02"),
            (json(" 1.50 "), "=1.50"),
            (json("true"), "=true"),
            (json(" {\"a\": [1]} "), "={\"a\": [1]}"),
            (json("null"), "null"),
            (Value::Date(Date(0)), "=2000-01-01"),
            (Value::TimestampTz(Timestamp(1)), "=2000-01-01 00:00:00.000001+00"),
            (Value::Array(vec![]), "!42804"),
            (text("a\0b"), "!22021"),
        ],
    )
    .await;
    check(
        "varchar(2)",
        &[(Value::Int(123), "!22001"), (Value::Bool(true), "!22001"), (Value::Int(12), "=12")],
    )
    .await;
    check("char(4)", &[(Value::Int(12), "=12  "), (json("\"é\""), "=é   ")]).await;
}

#[tokio::test]
async fn floats_become_the_text_that_the_server_prints() {
    let oracle = Oracle::new().await;
    let edges = [
        0.0,
        -0.0,
        1e15,
        999_999_999_999_999.0,
        1e14,
        0.0001,
        0.000_099,
        123.456,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
    ];
    let random = samples(&any::<u64>(), 1_000).into_iter().map(f64::from_bits);
    let small = samples(&(-1_000_000_000_i64..1_000_000_000, 0..12), 1_000)
        .into_iter()
        .map(|(mantissa, scale)| mantissa as f64 / 10_f64.powi(scale));
    let floats: Vec<f64> =
        edges.into_iter().chain(random).chain(small).filter(|float| float.is_finite()).collect();
    let doubles: Vec<_> = floats.iter().map(|float| Value::Float8(*float)).collect();
    assert_eq!(
        results(&oracle, "text", &doubles).await,
        results(&oracle, "double precision", &doubles).await
    );
    let singles: Vec<_> = floats.iter().map(|float| Value::Float4(*float as f32)).collect();
    assert_eq!(results(&oracle, "text", &singles).await, results(&oracle, "real", &singles).await);
}

#[tokio::test]
async fn other_types_take_their_own_kind_and_text() {
    check(
        "boolean",
        &[
            (Value::Bool(true), "=t"),
            (Value::Int(1), "!42804"),
            (json("true"), "=t"),
            (json("\"off\""), "=f"),
            (json("1"), "!42804"),
            (Value::Float8(1.0), "!42804"),
        ],
    )
    .await;
    check(
        "bytea",
        &[
            (bytes(&[0, 1, 2, 3]), "=\\x00010203"),
            (text("\\x0001"), "=\\x0001"),
            (json("\"a\""), "=\\x61"),
            (Value::Int(1), "!42804"),
            (text("a\0"), "!22021"),
        ],
    )
    .await;
    check(
        "uuid",
        &[
            (Value::Uuid([1; 16]), "=01010101-0101-0101-0101-010101010101"),
            (bytes(&[2; 16]), "=02020202-0202-0202-0202-020202020202"),
            (bytes(&[2; 15]), "!22P03"),
            (json("\"{01010101010101010101010101010101}\""), "=01010101-0101-0101-0101-010101010101"),
            (Value::Int(1), "!42804"),
        ],
    )
    .await;
    check(
        "inet",
        &[
            (text("::1"), "=::1"),
            (json("\"10/8\""), "=10.0.0.0/8"),
            (json("1"), "!42804"),
            (bytes(&[1]), "!42804"),
        ],
    )
    .await;
    check("bit(3)", &[(text("101"), "=101"), (json("\"10\""), "!22026")]).await;
}

#[tokio::test]
async fn json_takes_documents_and_writes_other_values_as_json() {
    let list = Value::Array(vec![
        Value::Null,
        Value::Int(1),
        text("a\"\\\n\u{1}é"),
        Value::Bool(true),
        json("{\"k\":1}"),
        Value::Array(vec![]),
    ]);
    let printed = "=[null,1,\"a\\\"\\\\\\n\\u0001é\",true,{\"k\":1},[]]";
    check(
        "json",
        &[
            (json("{\"a\": 1}"), "={\"a\": 1}"),
            (json("null"), "=null"),
            (json("{a}"), "!22P02"),
            (text("[1]"), "=[1]"),
            (list.clone(), printed),
            (Value::Int(-5), "=-5"),
            (Value::Float8(1e20), "=1e+20"),
            (Value::Float8(f64::NAN), "!22P02"),
            (numeric("1.10"), "=1.10"),
            (numeric("NaN"), "!22P02"),
            (Value::Date(Date(0)), "=\"2000-01-01\""),
            (Value::Uuid([1; 16]), "=\"01010101-0101-0101-0101-010101010101\""),
            (bytes(&[1]), "!42804"),
            (Value::Null, "null"),
        ],
    )
    .await;
    check(
        "jsonb",
        &[
            (json("{\"a\":1.0}"), "={\"a\": 1.0}"),
            (json("null"), "=null"),
            (Value::Bool(true), "=true"),
            (json("\"\\u0000\""), "!22P05"),
        ],
    )
    .await;
}

/// H-E01, H-E05: what is left and how often something was taken out.
#[tokio::test]
async fn u0000_is_taken_out_and_counted_e01_e02_e05_b10() {
    let oracle = Oracle::new().await;
    let mut cx = context();
    cx.remove_u0000 = true;
    for (declared, source, expected) in [
        ("text", "\0 123", "= 123"),
        ("text", "123\0", "=123"),
        ("text", "\0 1\0 23\0", "= 1 23"),
        ("varchar(3)", "1\0\0", "=1"),
        ("varchar(3)", "\0a\0b\0c\0", "=abc"),
        ("char(4)", "a\0", "=a   "),
        ("json", "{\"k\\u0000\": [\"a\\u0000b\", \"\0\"]}", "={\"k\": [\"ab\", \"\"]}"),
        ("jsonb", "{\"k\\u0000\": [\"a\\u0000b\", \"\0\"]}", "={\"k\": [\"ab\", \"\"]}"),
        ("jsonb", "\"\\\\\\u0000\"", "=\"\\\\\""),
        ("jsonb", "\"\\\\u0000\"", "=\"\\\\u0000\""),
        ("json", "\"\\\\\\\\u0000\\u0000\"", "=\"\\\\\\\\u0000\""),
    ] {
        let column = Column::new(&oracle, declared).await;
        let mut field = Vec::new();
        let before = cx.removed_u0000;
        column.codec.encode_text(source, &mut cx, &mut field).unwrap();
        assert_eq!(column.printed(&[field]).await, [expected], "{declared} {source:?}");
        let changed = u64::from(source != "\"\\\\u0000\"");
        assert_eq!(cx.removed_u0000 - before, changed, "{declared} {source:?}");
    }
    for broken in ["\\u0000", "1\\u0000", "\"\\u00\\u000000\"", "1\u{0}2", "\"\\ud83d\\u0000\\ude00\""] {
        let column = Column::new(&oracle, "jsonb").await;
        assert_eq!(
            column.codec.encode_text(broken, &mut cx, &mut Vec::new()).unwrap_err().sqlstate,
            "22P02",
            "{broken:?}"
        );
    }
}
