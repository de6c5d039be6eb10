use std::borrow::Cow;

use pgsluice::Value;
use proptest::prelude::*;

use super::{Column, context};
use crate::encode_oracle::{Oracle, samples};

/// The same number as a value of a source type.
fn value(source: &str, text: &str) -> Option<Value<'static>> {
    Some(match source {
        "int8" => Value::Int(text.parse::<i64>().ok()?.into()),
        "float4" => Value::Float4(text.parse().ok()?),
        "float8" => Value::Float8(text.parse().ok()?),
        "numeric" => Value::Numeric(text.parse().ok()?),
        "json" => Value::Json(Cow::Owned(text.to_owned())),
        _ => return None,
    })
}

/// Every number that is taken is what the server's cast makes of it, or, where that cast rounds to fifteen digits, of
/// its text; every number that is refused is refused by the cast, or does not come back from it.
async fn check(oracle: &Oracle, source: &str, targets: &[&str], texts: &[String]) {
    for declared in targets {
        let column = Column::new(oracle, declared).await;
        let cast = oracle.answers(&format!("select format('%s', ($1::{source})::{declared})"), texts).await;
        let of_text =
            oracle.answers(&format!("select format('%s', ($1::{source})::text::{declared})"), texts).await;
        let back = oracle
            .answers(&format!("select (($1::{source})::{declared}::{source} = $1::{source})::text"), texts)
            .await;
        let mut fields = Vec::new();
        let mut taken = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let Some(value) = value(source, text) else { continue };
            let mut field = Vec::new();
            match column.codec.encode_value(&value, &mut context(), &mut field) {
                Ok(()) => {
                    fields.push(field);
                    taken.push(at);
                }
                Err(error) => assert!(
                    cast[at].starts_with('!') || back[at] != "true",
                    "{text} from {source} to {declared}: {} here, server {}",
                    error.sqlstate,
                    cast[at]
                ),
            }
        }
        assert!(!taken.is_empty(), "{source} to {declared}: nothing was taken");
        for (at, ours) in taken.into_iter().zip(column.printed(&fields).await) {
            let ours = &ours[1..];
            assert!(
                ours == cast[at] || ours == of_text[at],
                "{} from {source} to {declared}: {ours} here, server {} or {}",
                texts[at],
                cast[at],
                of_text[at]
            );
        }
    }
}

const NUMBERS: &str = "-?([0-9]{1,5}|[0-9]{8,11}|[0-9]{15,19})([.](0|5|25|125|[0-9]{1,6}))?";

#[tokio::test]
async fn numbers_of_any_kind_are_exact_or_refused_b11() {
    let oracle = Oracle::new().await;
    let mut texts = samples(&NUMBERS, 400);
    for edge in
        ["0", "-0", "0.5", "1.5", "-2.5", "32767", "32768", "-32769", "2147483648", "9223372036854775807"]
    {
        texts.push(edge.to_owned());
    }
    let numbers = ["smallint", "integer", "bigint", "real", "double precision", "numeric"];
    let declared = ["numeric(12,2)", "numeric(20,4)", "numeric(4,-2)"];
    let whole: Vec<_> = texts.iter().filter(|text| text.parse::<i64>().is_ok()).cloned().collect();
    check(&oracle, "int8", &numbers, &whole).await;
    check(&oracle, "int8", &declared, &whole).await;
    check(&oracle, "int8", &["oid"], &whole).await;
    texts.extend(["NaN", "Infinity", "-Infinity", "1e30", "1e-30"].map(str::to_owned));
    for source in ["float4", "float8", "numeric"] {
        check(&oracle, source, &numbers, &texts).await;
    }
    for source in ["float4", "float8"] {
        check(&oracle, source, &declared, &texts).await;
    }
    check(&oracle, "numeric", &["numeric(20,4)"], &texts).await;
}

#[tokio::test]
async fn numerics_of_random_precision_and_scale_b12() {
    let oracle = Oracle::new().await;
    let shapes = samples(&(1..=60_i32, -20..=60_i32), 1_000);
    let texts =
        samples(&"-?[0-9]{0,25}(0|5|9{1,9})([.](0{0,6}|9{1,12})[0-9]{1,20})?(e-?[0-3]?[0-9])?", 8_000);
    for ((precision, scale), texts) in shapes.into_iter().zip(texts.chunks(8)) {
        let declared = format!("numeric({precision},{scale})");
        let codec =
            pgsluice::encode::Codec::new(&super::built_in("numeric"), (precision << 16 | scale & 0x7FF) + 4);
        oracle.compare_random(&codec, ("numeric", &declared), "UTC", texts).await;
    }
}

#[tokio::test]
async fn every_float_comes_back_from_seventeen_digits() {
    let oracle = Oracle::new().await;
    let doubles =
        samples(&any::<u64>(), 2_000).into_iter().map(f64::from_bits).filter(|float| float.is_finite());
    let doubles: Vec<_> = doubles.map(|float| format!("{float:.16e}")).collect();
    Column::new(&oracle, "double precision").await.compare(&doubles, |a, b| a == b, |_| false).await;
    let singles =
        samples(&any::<u32>(), 2_000).into_iter().map(f32::from_bits).filter(|float| float.is_finite());
    let singles: Vec<_> = singles.map(|float| format!("{float:.8e}")).collect();
    Column::new(&oracle, "real").await.compare(&singles, |a, b| a == b, |_| false).await;
}
