use proptest::strategy::Strategy;

use super::Column;
use crate::encode_oracle::{Oracle, samples, with_typos};

fn strict(ours: &str, theirs: &str) -> bool {
    ours == theirs
}

/// A random text may be wrong in two ways at once: any data error is as good as another.
fn same_class(ours: &str, theirs: &str) -> bool {
    ours[..2] == theirs[..2]
}

fn none(_: &str) -> bool {
    false
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn generated(pattern: &'static str, count: usize) -> Vec<String> {
    samples(&pattern, count)
}

/// Hand-picked texts with the exact code, random ones of `pattern` and their typos with any data error.
async fn check(declared: &str, texts: &[&str], pattern: &'static str, least: usize) {
    check_but(declared, texts, pattern, least, none).await;
}

async fn check_but(
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
    let random = with_typos(generated(pattern, 1_500), " \t+-.,:_0123456789aefinxEFINX{}[]\"'\\/é😀");
    column.compare(&random, same_class, deviates).await;
}

const BOOLEANS: &[&str] = &[
    "t",
    "tr",
    "tru",
    "true",
    "TRUE",
    "tRuE",
    "y",
    "ye",
    "yes",
    "on",
    "1",
    "f",
    "fa",
    "fals",
    "false",
    "n",
    "no",
    "of",
    "off",
    "OFF",
    "0",
    " true ",
    "\tno\n",
    "\u{b}t\u{c}\r",
    "o",
    "",
    " ",
    "truer",
    "yess",
    "2",
    "01",
    "10",
    "nope",
    "offs",
    "ont",
    "true false",
    "é",
    "\u{a0}t",
];

#[tokio::test]
async fn boolean_texts_read_as_by_the_server() {
    check(
        "boolean",
        BOOLEANS,
        "[ ]{0,2}(t|T|f|F|y|n|o|1|0|tr|fa|ye|of|on|off|true|false|yes|no)[ a-z]{0,2}",
        24,
    )
    .await;
}

const INTEGERS: &[&str] = &[
    "0",
    "-0",
    "+0",
    "1",
    "-1",
    "+5",
    " 7 ",
    "\t-8\n",
    "\u{b}9\u{c}",
    "007",
    "32767",
    "32768",
    "-32768",
    "-32769",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "-99999999999999999999999",
    "00000000000000000000000000012",
    "-00000000000000000000000000012",
    "",
    " ",
    "-",
    "+",
    "+-1",
    "--1",
    "- 1",
    "+ 1",
    "1 2",
    "1.0",
    "1e3",
    "1a",
    "a",
    "0x",
    "0x1F",
    "0o17",
    "0b101",
    "1_000",
    "_1",
    "1_",
    "1__0",
    "0x_1F",
    "-0x1F",
    "0xG",
    "é",
    "\u{a0}1",
    "１",
    "99999999999999999999x",
    "-18446744073709551615",
    "18446744071562067968",
    "-2147483649",
];

#[tokio::test]
async fn integer_texts_read_as_by_the_server() {
    for declared in ["smallint", "integer", "bigint", "oid"] {
        check(declared, INTEGERS, "[ ]{0,2}[+-]?0{0,2}([0-9]{1,6}|[0-9]{9,11}|[0-9]{18,21})[ ]{0,2}", 12)
            .await;
    }
}

const FLOATS: &[&str] = &[
    "0",
    "-0",
    "+0.0",
    "1",
    "-1.5",
    ".5",
    "5.",
    "-.5e1",
    "1e5",
    "1E+5",
    "1e-5",
    "1e+",
    "1e",
    "e5",
    ".",
    "",
    " ",
    " 1.25 ",
    "\t1\n",
    "NaN",
    "nan",
    "NAN",
    "-nan",
    "+NaN",
    "nan(1)",
    "Infinity",
    "infinity",
    "-Infinity",
    "+infinity",
    "inf",
    "-INF",
    "+inf",
    "infin",
    "infinityx",
    "Inf ",
    "nanx",
    "1e38",
    "3.4028235e38",
    "3.4028236e38",
    "3.5e38",
    "-1e39",
    "1e39",
    "1e45",
    "1.1754944e-38",
    "1e-40",
    "1.4e-45",
    "1e-45",
    "7e-46",
    "7.1e-46",
    "1e-46",
    "-1e-50",
    "0e-400",
    "0.0e999999999999",
    "1e308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1.8e308",
    "1e309",
    "-1e400",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "5e-324",
    "4.9e-324",
    "2.5e-324",
    "2.4e-324",
    "2e-324",
    "1e-400",
    "1e999999999999999999999",
    "-1e-999999999999999999999",
    "0x1F",
    "0x1p3",
    "0x",
    "1_000",
    "1,5",
    "1.2.3",
    "--1",
    "+-1",
    "1 2",
    "12abc",
    "9007199254740993",
    "9007199254740992.99999999999999999999",
    "9007199254740993.00000000000000000001",
    "1e23",
    "8.41e21",
    "9.5367431640625e-7",
    "16777217",
    "16777216.99999",
    "0.1",
    "0.3",
    "123456789012345678901234567890",
    "0.000000000000000000000000000000000000000000001",
    "١",
    "1d",
    "1f",
    "0.50000000000000001",
    "2.47032822920623272088284396434110686182e-324",
    "2.47032822920623272088284396434110686183e-324",
    "7.006492321624085354618e-46",
    "7.006492321624085354619e-46",
    "340282346638528859811704183484516925440",
    "340282356779733661637539395458142568447",
    "340282356779733661637539395458142568448",
];

#[tokio::test]
async fn float_texts_read_as_by_the_server() {
    for declared in ["real", "double precision"] {
        check(declared, FLOATS, "[ ]?[+-]?([0-9]{0,20}[.]?[0-9]{1,25})(e[+-]?[0-9]{1,3})?[ ]?", 40).await;
        check(declared, &[], "[+-]?[1-9][.][0-9]{1,18}e-?(3[0-9]|4[0-9]|29[0-9]|30[0-9]|31[0-9]|32[0-5])", 0)
            .await;
    }
}

const NUMERICS: &[&str] = &[
    "0",
    "-0",
    "-0.00",
    "+1",
    "1",
    "-1",
    "44.123456",
    "5000000000.000001",
    "-5000000000.000001",
    "0.0001",
    "0.00001",
    "10000",
    "9999.9999",
    "100000000",
    "1e-10",
    "12345678901234567890.1234567890",
    "-0.5",
    "16.211",
    "1.239",
    "1.235",
    "1.245",
    "-1.235",
    "9999999999.994",
    "9999999999.995",
    "9999999999.999",
    "99999999999",
    "-9999999999.995",
    "999.995",
    "99.995",
    "0.005",
    "0.0049",
    "-0.005",
    "-0.004",
    "0.05",
    "0.5",
    "5",
    "49",
    "50",
    "500",
    "499",
    "550",
    "949",
    "950",
    "999",
    "99950",
    "99949",
    "12345678",
    "999999999999",
    "0.00000000000000000001",
    "1e3",
    "1E3",
    "1e+3",
    "1.5e-3",
    ".5",
    "5.",
    "-.5",
    "+.5e1",
    ".",
    "",
    " ",
    "e1",
    "1e",
    "1e+",
    "1e 5",
    "1e5.",
    "1 2",
    " 12 ",
    "\t-3.10\n",
    "NaN",
    "nan",
    "-NaN",
    "+nan",
    " NaN ",
    "nanx",
    "Infinity",
    "-Infinity",
    "+Infinity",
    "inf",
    "-inf",
    "+INF",
    "infinit",
    "infinityy",
    "inf inity",
    "0x1F",
    "0o17",
    "0b1",
    "1_000",
    "1__0",
    "_1",
    "1_",
    "1.0_1",
    "1e1_0",
    "1e131071",
    "1e131072",
    "9.9e131071",
    "1e-16383",
    "1e-16384",
    "0e-16383",
    "0e-16384",
    "0e131072",
    "0e999999",
    "1e1000000000",
    "1e1073741822",
    "1e1073741823",
    "1e-1073741823",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "0e99999999999999999999",
    "00000000000000000000000000000000001.10",
    "0.000000000000000000000000000",
    "100000000000000000000000000000000000000000",
    "9999999999999999999999999999999999999999999.99999999999999999999999999999999999999999999",
    "--1",
    "+-1",
    "1..2",
    "1.2.3",
    "1,000",
    "é",
    "12a",
    "0.3333333333333333333333333333333333",
    "170141183460469231731687303715884105727",
    "0.00012345",
    "0.0000995",
    "0.00000949",
    "0.0000095",
    "0.00009995",
    "123400000000",
    "1234e-10",
    "12340000e-4",
    "95e-3",
    "5e-3",
    "5e1",
    "5e2",
];

const NUMERIC_PATTERN: &str =
    "[ ]?[+-]?(0{0,5}[0-9]{0,14}[.]?(0{0,6}|9{0,9}|5)[0-9]{1,12})(e[+-]?[0-9]{1,2})?[ ]?";

#[tokio::test]
async fn numeric_texts_read_as_by_the_server_digit_for_digit_b12_m03_m09() {
    check("numeric", NUMERICS, NUMERIC_PATTERN, 70).await;
    for declared in [
        "numeric(38,10)",
        "numeric(12,2)",
        "numeric(3,0)",
        "numeric(6,5)",
        "numeric(2,-1)",
        "numeric(3,-3)",
        "numeric(5,-5)",
        "numeric(3,5)",
        "numeric(2,6)",
        "numeric(1000,1000)",
        "numeric(1000,-1000)",
        "numeric(1,1)",
    ] {
        check(declared, NUMERICS, NUMERIC_PATTERN, 2).await;
    }
}

#[tokio::test]
async fn numerics_of_any_length_read_as_by_the_server() {
    let digits = |count: usize| "7".repeat(count);
    let long = [
        digits(131_072),
        digits(131_073),
        format!("0.{}", digits(16_383)),
        format!("0.{}", digits(16_384)),
        format!("{}.{}", digits(131_072), digits(16_383)),
        format!("{}.5", "9".repeat(4000)),
        format!("{}e-3000", digits(4000)),
        format!("0.{}1", "0".repeat(16_382)),
        format!("1{}", "0".repeat(131_071)),
        format!("{}1", "0".repeat(200_000)),
        format!("-{}.{}", "9".repeat(5001), "9".repeat(3)),
    ];
    let oracle = Oracle::new().await;
    for declared in ["numeric", "numeric(1000,2)", "numeric(10,-990)"] {
        let column = Column::new(&oracle, declared).await;
        column.compare(&long, strict, none).await;
    }
}

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
            .encode_text(&"n".repeat(64), &mut super::context(), &mut Vec::new())
            .unwrap_err()
            .sqlstate,
        "42622"
    );
    assert_eq!(
        Column::new(&oracle, "\"char\"")
            .await
            .codec
            .encode_text("ab", &mut super::context(), &mut Vec::new())
            .unwrap_err()
            .sqlstate,
        "22001"
    );
}

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
    check(
        "bytea",
        BYTEAS,
        "\\\\\\\\x([0-9a-fA-F]{2}[ \n]?){0,8}|([a-zé]|\\\\\\\\[0-3][0-7]{2}|\\\\\\\\\\\\\\\\){0,6}",
        14,
    )
    .await;
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

const ADDRESSES: &[&str] = &[
    "1.2.3.4",
    "1.2.3.4/32",
    "1.2.3.4/24",
    "1.2.3.4/0",
    "0.0.0.0/0",
    "1.2.3.4/33",
    "1.2.3.4/",
    "1.2.3.4/032",
    "1.2.3.4/-1",
    "1.2.3.4/4294967304",
    "1.2.3",
    "1.2.3/24",
    "1.2.3/32",
    "1.2/16",
    "10/8",
    "10./8",
    "10.1/8",
    "10.1./16",
    "10.1/9",
    "/8",
    "",
    " 1.2.3.4",
    "1.2.3.4 ",
    "256.1.1.1",
    "1.2.3.4.",
    "1.2.3.4.5",
    "01.002.3.4",
    "1..2.3",
    ".1.2.3",
    "a.b.c.d",
    "1.2.3.4/a",
    "1.2.3.4/8/8",
    "10.1",
    "10",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "192.168",
    "192.168.1",
    "192.168.1.5/24",
    "128.1",
    "128",
    "191",
    "192",
    "223.1",
    "224",
    "224.1",
    "224.0.0",
    "225",
    "225.1.2",
    "239",
    "240",
    "240.1",
    "255",
    "127",
    "0",
    "0x0a01",
    "0xa",
    "0x0a010203",
    "0x0a01020304",
    "0x",
    "0xg",
    "0x0a/8",
    "0X0A01/16",
    "0xa/4",
    "192.168.1/25",
    "192.168.1.128/25",
    "0.0/0",
    "::",
    "::1",
    "::/0",
    "::/128",
    "::1/128",
    "1::/129",
    "::/08",
    "::/00",
    "2001:db8::/32",
    "2001:db8::1/32",
    "2001:db8::",
    "2001:db8",
    "2001:db8/32",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8/128",
    "1:2:3:4:5:6:7:8/64",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "1::8",
    "1::2::3",
    ":1",
    ":::",
    "1:",
    "1:2:3:4:5:6:7:",
    "12345::",
    "fffff::",
    "FFFF::abcd",
    "::1.2.3.4",
    "::ffff:1.2.3.4",
    "::ffff:1.2.3.4/96",
    "::ffff:1.2.3.0/120",
    "1:2:3:4:5:6:1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3",
    "::1.2",
    "::1.",
    "::1..2",
    "::.1",
    "::1.2.3.4.5",
    "::01.2.3.4",
    "::1.2.3.04",
    "::0.0.3.4",
    "::00.1.2.3",
    "::256.1.1.1",
    "::1.2.3.4/",
    "::1.2.3.4/129",
    "::1.2.3./120",
    "::1.2.3.4x",
    "::1/4294967304",
    "fe80::1%eth0",
    " ::1",
    "::1 ",
    "::g",
    "1::2:/64",
    "1:/16",
    "::/",
    "::ffff:1.2.3.4/033",
    "a::1.2.3.4:5",
    "::a.2.3.4",
    "1.2.3.4:80",
    "::/1280",
];

const ADDRESS_PATTERN: &str = "[0-9]{1,3}([.][0-9]{1,3}){0,4}[.]?(/[0-9]{1,2})?|0x[0-9a-f]{1,9}(/[0-9]{1,2})?|([0-9a-f]{0,4}:){1,7}[0-9a-f]{0,4}(/[0-9]{1,3})?|::([0-9a-f]{1,4}:){0,5}[0-9]{1,2}([.][0-9]{0,3}){1,4}(/[0-9]{1,3})?";

#[tokio::test]
async fn network_texts_read_as_by_the_server() {
    check("inet", ADDRESSES, ADDRESS_PATTERN, 40).await;
    check("cidr", ADDRESSES, ADDRESS_PATTERN, 40).await;
    // Most random networks have bits beyond their width: those that have none, too.
    check(
        "cidr",
        &[],
        "[0-9]{1,2}([.](0|64|128)){0,3}(/(8|16|24|10|32))?|([1-9a-f]{1,3}:){1,3}:(/(16|32|48|128))?",
        0,
    )
    .await;
}

const MACS: &[&str] = &[
    "08:00:2b:01:02:03",
    "08-00-2b-01-02-03",
    "08002b:010203",
    "08002b-010203",
    "0800.2b01.0203",
    "0800-2b01-0203",
    "08002b010203",
    "08002B010203",
    " 08:00:2b:01:02:03 ",
    "8:0:2b:1:2:3",
    "8002b:010203",
    "08002b01020",
    "08002b0102034",
    "08:00:2b:01:02",
    "08:00:2b:01:02:03:04",
    "08:00:2b-01:02:03",
    "123:0:0:0:0:0",
    "08:00:2b:01:02:0300",
    "g8:00:2b:01:02:03",
    "",
    " ",
    "08:00:2b:01:02:03:04:05",
    "08-00-2b-01-02-03-04-05",
    "08002b:0102030405",
    "08002b-0102030405",
    "0800.2b01.0203.0405",
    "0800-2b01-0203-0405",
    "08002b01:02030405",
    "08002b0102030405",
    "08:00:2b:01:02:03 x",
    "08002b010203x",
    "08002b0102030405x",
    "08002b010203xx",
    "08:00:2b:01:02:03:",
    "08:00-2b:01:02:03",
    "0x8:0:2b:1:2:3",
    "+8:0:2b:1:2:3",
    "8: 0:2b:1:2:3",
    "fffffffff:0:2b:1:2:3",
    "100000001:0:2b:1:2:3",
    "08 00 2b 01 02 03",
    "08:00:2b:01:02:é",
    "08002b0102030405 ",
    "08:00:2b:01:02:0",
    "0-0-0-0-0-0",
    "00000001:0:0:0:0:0",
    "8:0:2b:1:2:3\n",
];

const MAC_PATTERN: &str = "([0-9a-f]{1,2}[:-]){5}[0-9a-f]{1,3}|([0-9a-fA-F]{2}[:.-]?){5,8}|[0-9a-f]{4}([.-][0-9a-f]{4}){2,3}|[0-9a-f]{5,6}[:-][0-9a-f]{4,6}|[0-9a-f]{11,13}";

#[tokio::test]
async fn mac_texts_read_as_by_the_server() {
    check("macaddr", MACS, MAC_PATTERN, 10).await;
    check("macaddr8", MACS, MAC_PATTERN, 16).await;
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
        check(declared, BITS, "[01]{0,9}|x[0-9a-f]{0,6}|b[01]{1,6}", 1).await;
    }
}

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

const JSON_PATTERN: &str = "[ ]?(\\{(\"[ab]\": ?(1|null|\"x\\\\\\\\n\"|\\[1, ?2\\]|\\{\\}),? ?){0,2}\\}|\\[(-?[0-9]{1,3}([.][0-9]{1,2})?(e-?[0-9])?,? ?){0,3}\\]|\"([a-zé ]|\\\\\\\\[bnrtu\"/]|\\\\\\\\u00[0-9a-f]{2}|\\\\\\\\ud83d){0,5}\"|-?[0-9]{1,3}|true|null)[ ]?";

#[tokio::test]
async fn json_texts_read_as_by_the_server_e05_b10() {
    check("json", JSON, JSON_PATTERN, 40).await;
    check("jsonb", JSON, JSON_PATTERN, 40).await;
}

#[tokio::test]
async fn deeply_nested_json_is_read_or_refused_and_never_a_crash() {
    let nested = |depth: usize| format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
    let texts: Vec<_> = [2, 100, 6_000, 6_002, 10_000, 1_000_000].map(nested).into();
    let oracle = Oracle::new().await;
    for declared in ["json", "jsonb"] {
        let column = Column::new(&oracle, declared).await;
        assert_eq!(column.compare(&texts, strict, none).await, 3);
        let error =
            column.codec.encode_text(&nested(6_002), &mut super::context(), &mut Vec::new()).unwrap_err();
        assert_eq!((error.sqlstate, error.server_might_read), ("54001", true));
    }
}

#[tokio::test]
async fn any_text_reads_as_by_the_server_in_every_scalar_type() {
    let any =
        samples(&"[^\\x00]{0,12}".prop_filter("no empty sign", |text: &String| !text.contains('\0')), 800);
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
