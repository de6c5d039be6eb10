use super::{Column, context};
use crate::encode_oracle::{Oracle, field, samples};

/// Compares canonical keys pairwise with the server's `=`, and their order with its `<` where `ordered`.
async fn check(declared: &str, texts: &[&str], ordered: bool) {
    let oracle = Oracle::new().await;
    let column = Column::new(&oracle, declared).await;
    let fields: Vec<_> =
        texts.iter().map(|text| field(&column.codec, text, &mut context()).unwrap()).collect();
    let keys: Vec<_> = fields
        .iter()
        .map(|field| {
            let mut key = Vec::new();
            column.codec.push_key(&field[4..], &mut key);
            key
        })
        .collect();
    // `char(n) = char(n)` pads, and a collation must not decide the order.
    let sql = format!(
        "with v as (select v, n::int4 from unnest($1::{}) with ordinality u(v, n))
         select a.n - 1, b.n - 1, a.v = b.v, a.v < b.v from v a, v b",
        column.array_type()
    );
    let rows = oracle.client.query(&sql, &[&column.array(&fields).await]).await.unwrap();
    assert_eq!(rows.len(), texts.len() * texts.len());
    for row in rows {
        let [a, b] = [0, 1].map(|at| usize::try_from(row.get::<_, i32>(at)).unwrap());
        let pair = (texts[a], texts[b]);
        assert_eq!(keys[a] == keys[b], row.get::<_, bool>(2), "{declared} {pair:?}: equality");
        assert!(keys[a] == keys[b] || !keys[b].starts_with(&keys[a]), "{declared} {pair:?}: a prefix");
        if ordered {
            assert_eq!(keys[a] < keys[b], row.get::<_, bool>(3), "{declared} {pair:?}: order");
        }
    }
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn number_keys_are_equal_and_ordered_as_on_the_server() {
    let integers = ["0", "1", "-1", "255", "256", "-255", "-256", "-257", "32767", "-32768", "5", "+5"];
    for declared in ["smallint", "integer", "bigint"] {
        check(declared, &integers, true).await;
    }
    check("oid", &["0", "1", "256", "2147483648", "4294967295", "-1"], true).await;
    let mut floats = vec![
        "0", "-0", "1", "-1", "NaN", "-NaN", "inf", "-inf", "1e-40", "-1e-40", "1.5", "1.50", "3e38",
        "-3e38", "2", "-2",
    ];
    check("real", &floats, true).await;
    floats.extend(["1e308", "-1e308", "5e-324", "-5e-324"]);
    check("double precision", &floats, true).await;
    let mut numerics = vec![
        "0",
        "-0.000",
        "1",
        "1.0",
        "1.00",
        "-1",
        "-1.0",
        "10000",
        "10000.0000",
        "9999",
        "9999.9999",
        "0.0001",
        "0.00010",
        "0.00001",
        "-0.0001",
        "-10000",
        "-10000.0001",
        "-9999.9999",
        "1e100",
        "-1e100",
        "1e-100",
        "-1e-100",
        "NaN",
        "Infinity",
        "-Infinity",
        "100010000",
        "100000000",
        "100000001",
        "1e131071",
        "1e-16383",
        "-1e131071",
        "123456.789",
        "123456.7890",
        "123456.7891",
    ];
    check("numeric", &numerics, true).await;
    numerics.retain(|text| !text.contains("1e131071") && !text.contains("Inf"));
    check("numeric(300,100)", &numerics, true).await;
    let random = samples(&"-?[0-9]{1,9}([.][0-9]{1,9}0{0,4})?", 120);
    check("numeric", &borrowed(&random), true).await;
}

#[tokio::test]
async fn other_keys_are_equal_as_on_the_server() {
    check("boolean", &["true", "false", "1", "no"], true).await;
    let texts = ["", " ", "a", "a ", "a  ", " a", "ab", "b", "é", "A", "a\u{1}", "a\nb"];
    for declared in ["text", "varchar(4)", "char(4)", "bpchar"] {
        check(declared, &texts, false).await;
    }
    check("name", &texts, false).await;
    check("\"char\"", &["", "a", "b", "A", " "], true).await;
    check(
        "bytea",
        &["", "\\x00", "\\x0000", "\\x00ff", "\\xff", "\\xff00", "a", "\\x61", "\\x6100", "\\x01"],
        true,
    )
    .await;
    check(
        "uuid",
        &[
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "{A0EEBC999c0b4ef8bb6d6bb9bd380a11}",
            "00000000000000000000000000000000",
        ],
        true,
    )
    .await;
    let inets = [
        "10.0.0.1",
        "10.0.0.1/32",
        "10.0.0.1/8",
        "10.0.0.0/8",
        "::1",
        "::1/128",
        "::1/64",
        "::10.0.0.1",
        "0.0.0.0/0",
        "::/0",
        "10.0.0.2/8",
    ];
    check("inet", &inets, false).await;
    check("cidr", &["10", "10.0.0.0/8", "10.0/16", "::/0", "0/0", "0.0.0.0/32"], false).await;
    check("macaddr", &["08:00:2b:01:02:03", "08002b010203", "0:0:0:0:0:1", "ff:0:0:0:0:1"], true).await;
    check("macaddr8", &["08:00:2b:01:02:03", "08002bfffe010203", "0800.2b01.0203.0405"], true).await;
    let bits = [
        "",
        "0",
        "00",
        "1",
        "10",
        "01",
        "00000000",
        "000000000",
        "111111110",
        "11111111",
        "1111111100000000",
    ];
    check("bit varying", &bits, false).await;
    check("bit(3)", &["000", "001", "100", "111", "010"], true).await;
}
