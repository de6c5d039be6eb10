use super::super::{Column, context};
use super::{check, check_but, none, owned, strict};
use crate::encode_oracle::Oracle;

/// SERVER.md 9: the server's literals cut what its receive functions refuse.
fn longer_than_a_name(text: &str) -> bool {
    text.len() > 63
}

fn longer_than_a_byte(text: &str) -> bool {
    text.len() > 1
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "abc",
    "abc   ",
    "   abc",
    "abcd",
    "abc  d",
    "abc\t",
    "abc\u{a0}",
    "éèê",
    "éèêë",
    "😀😀😀",
    "😀😀😀 ",
    "😀😀😀😀",
    "a😀 ",
    "\\",
    "\\x41",
    "\\101",
    "'",
    "\"",
    "line\nbreak",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
    "012345678901234567890123456789012345678901234567890123456789012",
    "    ",
    "      ",
];

#[tokio::test]
async fn text_types_read_as_by_the_server_e09() {
    for declared in ["text", "varchar", "varchar(3)", "char(3)", "char(1)", "char(5)", "bpchar"] {
        check(declared, TEXTS, "[a-c ]{0,6}|[é😀 ]{0,4}[ ]{0,3}|[\\x01-\\x7e]{0,8}", 3).await;
    }
    check_but("name", TEXTS, "[a-zé ]{0,40}", 20, longer_than_a_name).await;
    check_but("\"char\"", TEXTS, "[\\x01-\\x7e]", 3, longer_than_a_byte).await;
    let oracle = Oracle::new().await;
    assert_eq!(
        Column::new(&oracle, "name")
            .await
            .codec
            .encode_text(&"n".repeat(64), &mut context(), &mut Vec::new())
            .unwrap_err()
            .sqlstate,
        "42622"
    );
    assert_eq!(
        Column::new(&oracle, "\"char\"")
            .await
            .codec
            .encode_text("ab", &mut context(), &mut Vec::new())
            .unwrap_err()
            .sqlstate,
        "22001"
    );
}

/// Whether a document is well formed is the server's matter; these are.
const XML: &[&str] = &[
    "<a/>",
    "<a>é</a>",
    "text only",
    "",
    "<a/><b/>",
    "<?xml version=\"1.0\"?><a/>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>é</a>",
    "<?xml version=\"1.0\" encoding=\"latin1\"?><a/>",
    "<?xml version=\"1.0\" standalone=\"yes\"?><a/>",
    "<!-- no --><a b=\"c\">&amp;</a>",
];

#[tokio::test]
async fn xml_reads_as_by_the_server() {
    let oracle = Oracle::new().await;
    let column = Column::new(&oracle, "xml").await;
    assert_eq!(column.compare(&owned(XML), strict, none).await, XML.len() - 1);
}
