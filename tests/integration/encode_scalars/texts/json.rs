use super::super::{Column, context};
use super::{check, none, strict};
use crate::encode_oracle::Oracle;

const JSON: &[&str] = &[
    "",
    " ",
    "null",
    "true",
    "false",
    " null\n",
    "nul",
    "nulls",
    "True",
    "0",
    "-0",
    "01",
    "-",
    "+1",
    "1.",
    ".5",
    "1.5",
    "1e5",
    "1E+5",
    "1e",
    "1e+",
    "-1.5e-3",
    "1a",
    "0x1",
    "1 2",
    "NaN",
    "Infinity",
    "\"\"",
    "\"a\"",
    "\"a",
    "a\"",
    "'a'",
    "\"é😀\"",
    "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
    "\"\\a\"",
    "\"\\u00e9\"",
    "\"\\u00E9\"",
    "\"\\u00g9\"",
    "\"\\u00\"",
    "\"\\u\"",
    "\"\\",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\ud83d\"",
    "\"\\ud83dx\"",
    "\"\\ud83d\\n\"",
    "\"\\u0000\"",
    "\"\\\\u0000\"",
    "{\"\\u0000\":1}",
    "[[\"\\u0000\"]]",
    "\"tab\tin\"",
    "\"line\nin\"",
    "\"\u{1}\"",
    "\"\u{7f}\"",
    "[]",
    "[ ]",
    "[1]",
    "[1,]",
    "[,1]",
    "[1,2",
    "[1 2]",
    "]",
    "[}",
    "{}",
    "{ }",
    "{\"a\":1}",
    "{\"a\": [1, {\"b\": null}], \"c\" : \"d\"}",
    "{\"a\":1,}",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "{1:1}",
    "{\"a\":1 \"b\":2}",
    "{,}",
    "{\"a\":1]",
    "[1]]",
    "[1] x",
    "{\"a\":1,\"a\":2}",
    "// c\n1",
    "1\u{a0}",
    "\u{feff}1",
    "[\"\\ud83d\\u0000\"]",
    "1e131071",
    "1e131072",
    "1e-16383",
    "1e-16384",
    "1e99999999999",
    "0e99999999999",
    "[1e200000]",
    "-1e-20000",
    "0e-20000",
    "[1e200000, x]",
    "\"\\u0000",
    "[\u{b}1]",
    "12345678901234567890.123456789012345678901234567890",
    "[1,2]\r\n\t ",
    "truefalse",
    "[true,false,null]",
    "{\"a\":1}{}",
    "\"\\uD83D\\uDE00\"",
    "\"\\u0001\"",
];

const JSON_PATTERN: &str = concat!(
    r#"[ ]?(\{("[ab]": ?(1|null|"x\\n"|\[1, ?2\]|\{\}),? ?){0,2}\}"#,
    r#"|\[(-?[0-9]{1,3}([.][0-9]{1,2})?(e-?[0-9])?,? ?){0,3}\]"#,
    r#"|"([a-zé ]|\\[bnrt"/\\]|\\u00[0-9a-f]{2}|\\ud83d(\\ude00)?){0,5}"|-?[0-9]{1,3}|true|null)[ ]?"#,
);

#[tokio::test]
async fn json_texts_read_as_by_the_server_e05_b10() {
    check("json", JSON, JSON_PATTERN, 40).await;
    check("jsonb", JSON, JSON_PATTERN, 34).await;
}

#[tokio::test]
async fn deeply_nested_json_is_read_or_refused_and_never_a_crash() {
    let nested = |depth: usize| format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
    let texts: Vec<_> = [2, 100, 6_000, 6_002, 10_000, 1_000_000].map(nested).into();
    let oracle = Oracle::new().await;
    for declared in ["json", "jsonb"] {
        let column = Column::new(&oracle, declared).await;
        assert_eq!(column.compare(&texts, strict, none).await, 3);
        let error = column.codec.encode_text(&nested(6_002), &mut context(), &mut Vec::new()).unwrap_err();
        assert_eq!((error.sqlstate, error.server_might_read), ("54001", true));
    }
}
