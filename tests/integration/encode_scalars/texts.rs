mod bits_and_bytes;
mod json;
mod network;
mod numbers;
mod strings;

use super::Column;
use crate::encode_oracle::{Oracle, samples, with_typos};

pub(super) fn strict(ours: &str, theirs: &str) -> bool {
    ours == theirs
}

/// A random text may be wrong in two ways at once: any data error is as good as another.
pub(super) fn same_class(ours: &str, theirs: &str) -> bool {
    ours[..2] == theirs[..2]
}

pub(super) fn none(_: &str) -> bool {
    false
}

pub(super) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Hand-picked texts with the exact code, random ones of `pattern` and their typos with any data error.
pub(super) async fn check(declared: &str, texts: &[&str], pattern: &'static str, least: usize) {
    check_but(declared, texts, pattern, least, none).await;
}

pub(super) async fn check_but(
    declared: &str,
    texts: &[&str],
    pattern: &'static str,
    least: usize,
    deviates: fn(&str) -> bool,
) {
    let oracle = Oracle::new().await;
    let column = Column::new(&oracle, declared).await;
    let read = column.compare(&owned(texts), strict, deviates).await;
    assert!(read >= least, "{declared}: only {read} of the texts were read here");
    let random = with_typos(samples(&pattern, 1_500), " \t+-.,:_0123456789aefinxEFINX{}[]\"'\\/é😀");
    column.compare(&random, same_class, deviates).await;
}

#[tokio::test]
async fn any_text_reads_as_by_the_server_in_every_scalar_type() {
    let any = samples(&r"[^\x00]{0,12}", 800);
    let oracle = Oracle::new().await;
    for declared in [
        "boolean",
        "smallint",
        "bigint",
        "oid",
        "real",
        "double precision",
        "numeric",
        "numeric(4,1)",
        "text",
        "varchar(5)",
        "char(7)",
        "bytea",
        "json",
        "jsonb",
        "uuid",
        "inet",
        "cidr",
        "macaddr",
        "macaddr8",
        "bit(3)",
        "bit varying(9)",
    ] {
        Column::new(&oracle, declared).await.compare(&any, same_class, none).await;
    }
}
