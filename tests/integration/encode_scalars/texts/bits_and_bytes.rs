use super::super::Column;
use super::{check, none, owned, same_class};
use crate::encode_oracle::Oracle;

const BYTEAS: &[&str] = &[
    "",
    "\\x",
    "\\x00",
    "\\xDEADbeef",
    "\\xde ad\nbe\tef\r",
    "\\xd e",
    "\\x0",
    "\\x0g",
    "\\xé",
    "\\X00",
    "abc",
    "é",
    "a\\\\b",
    "\\000",
    "\\377",
    "\\400",
    "\\37",
    "\\",
    "\\a",
    "a\\",
    "\\\\x41",
    "\\101\\102",
    " \\x41",
    "\\x 41 ",
    "\\089",
    "\\x41\u{b}42",
];

#[tokio::test]
async fn bytea_texts_read_as_by_the_server() {
    check("bytea", BYTEAS, r"\\x([0-9a-fA-F]{2}[ \n]?){0,8}|([a-zé]|\\[0-3][0-7]{2}|\\\\){0,6}", 13).await;
}

const UUIDS: &[&str] = &[
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
    "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
    "a0eebc999c0b4ef8bb6d6bb9bd380a11",
    "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
    "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
    "",
    "{}",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111",
    "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
    "a0e-ebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
    "-a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 ",
    "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "{{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}}",
    "a0-eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
];

#[tokio::test]
async fn uuid_texts_read_as_by_the_server() {
    check("uuid", UUIDS, "[{]?([0-9a-fA-F]{4}-?){7}[0-9a-f]{4}[}]?", 5).await;
}

const BITS: &[&str] = &[
    "",
    "0",
    "1",
    "01010",
    "b01010",
    "B01010",
    "x1",
    "xF",
    "X0a",
    "xg",
    "2",
    "01012",
    "0101",
    "010101",
    "000000000",
    " 01010",
    "01010 ",
    "b",
    "x",
    "0x1",
    "1111111111111111111",
    "x12345",
    "é",
    "bb1",
];

#[tokio::test]
async fn bit_texts_read_as_by_the_server_m02() {
    for declared in
        ["bit", "bit(1)", "bit(5)", "bit(8)", "bit(20)", "bit varying", "bit varying(6)", "bit varying(20)"]
    {
        // A literal's digits are checked before its length, a copied text's after it.
        let oracle = Oracle::new().await;
        Column::new(&oracle, declared).await.compare(&owned(BITS), same_class, none).await;
        check(declared, &[], "[01]{0,9}|x[0-9a-f]{0,6}|b[01]{1,6}", 0).await;
    }
}
