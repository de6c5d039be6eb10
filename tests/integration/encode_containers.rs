//! Arrays, ranges, composites and extension types against the server's own input functions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use pgsluice::Value;
use pgsluice::catalog::{TableName, load_table};
use pgsluice::encode::{Codec, EncodeContext, EncodeError, Wire, Zone};
use pgsluice::record::{Date, Timestamp};
use proptest::prelude::*;

use crate::encode_oracle::{Oracle, Raw, field, samples, with_typos};

/// A type of the server with its codec, made from the catalog as a sink makes it.
struct Declared<'o> {
    oracle: &'o Oracle,
    name: &'o str,
    codec: Codec,
    print: tokio_postgres::Statement,
    assign: String,
}

impl<'o> Declared<'o> {
    async fn new(oracle: &'o Oracle, name: &'o str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let probe = format!("probe_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        oracle.client.batch_execute(&format!("create table {probe} (v {name})")).await.unwrap();
        let table = load_table(&oracle.client, &TableName::parse(&probe).unwrap()).await.unwrap();
        let column = &table.columns[0];
        let codec = Codec::new(&column.data_type, column.typmod);
        let sql_name = &column.data_type.sql_name;
        let print = match codec.wire() {
            Wire::Binary => format!("select ($1::{sql_name})::text"),
            Wire::Text => format!("select ($1::text::{sql_name})::text"),
        };
        let print = oracle.client.prepare(&print).await.unwrap();
        let assign = format!("insert into {probe} values ($1::{sql_name}) returning v::text");
        Self { oracle, name, codec, print, assign }
    }

    /// What the server prints for a field, or `!` and the SQLSTATE with which it refuses it.
    async fn prints(&self, field: Vec<u8>) -> String {
        match self.oracle.client.query_one(&self.print, &[&Raw(field[4..].to_vec())]).await {
            Ok(row) => row.get(0),
            Err(error) => format!("!{}", error.code().unwrap().code()),
        }
    }

    /// Compares both readings of each text; returns how many were read here.
    async fn compare(&self, texts: &[String]) -> usize {
        let mut cx = EncodeContext::new(Zone::utc());
        let theirs = self.oracle.answers(&self.assign, texts).await;
        let mut differences = Vec::new();
        let mut read = 0;
        for (text, theirs) in texts.iter().zip(theirs) {
            let ours = match field(&self.codec, text, &mut cx) {
                Ok(field) => self.prints(field).await,
                Err(error) if error.server_might_read => continue,
                Err(error) => format!("!{}", error.sqlstate),
            };
            read += usize::from(!ours.starts_with('!'));
            // A text may be wrong in two ways; any data error is as good as another.
            if ours != theirs && !(ours.starts_with("!22") && theirs.starts_with("!22")) {
                differences.push(format!("{text:?}: {ours} here, server {theirs}"));
            }
        }
        assert!(differences.is_empty(), "{}:\n{}", self.name, differences.join("\n"));
        read
    }

    fn encode(&self, value: &Value<'_>) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        self.codec.encode_value(value, &mut EncodeContext::new(Zone::utc()), &mut out).map(|()| out)
    }

    /// What the server prints for a value.
    async fn value(&self, value: Value<'_>) -> String {
        match self.encode(&value) {
            Ok(field) => self.prints(field).await,
            Err(error) => format!("!{}", error.sqlstate),
        }
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn json(text: &str) -> Value<'_> {
    Value::Json(text.into())
}

fn list<'a>(items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
    Value::Array(items.into_iter().collect())
}

/// Must be read here, as int[] and as text[].
const ARRAYS: &[&str] = &[
    "{}",
    " { } ",
    "{1}",
    "{1,2}",
    "{1,NULL,null,3}",
    "{\"1\",\"2\"}",
    " { 1 , 2 } ",
    "{{1,2},{3,4}}",
    "{ {1} , {2} }",
    "{{{1},{2}},{{3},{4}}}",
    "[2:3]={1,2}",
    "[2]={1,2}",
    "[-1:0]={1,2}",
    "[0:1][2:2] = {{1},{2}}",
    "{\\1}",
    "{NULL}",
    "{{{{{{1}}}}}}",
    "[1:2]={{1},{2}}",
];

#[tokio::test]
async fn array_literals_are_the_servers_h_m01() {
    let oracle = Oracle::new().await;
    let mut cx = EncodeContext::new(Zone::utc());
    let more = [
        "",
        "{",
        "}",
        "{1",
        "1",
        "{1,}",
        "{,1}",
        "{,}",
        "{1,2}}",
        "{1 2}",
        "{{1,2},{3}}",
        "{{1},2}",
        "{1,{2}}",
        "{{}}",
        "{{},{}}",
        "{{{{{{{1}}}}}}}",
        "[2:1]={1}",
        "[1:3]={1,2}",
        "[1:2]{1,2}",
        "[a:b]={1,2}",
        "[1:2={1,2}",
        "[1:1][1:1]={1}",
        "{a}",
        "{ a b , c\td }",
        "{\"a b\",\"c,d\",\"e\\\"f\",\"g\\\\h\"}",
        "{a\\,b}",
        "{a\\ }",
        "{\\ a}",
        "{\"\"}",
        "{a\"b\"}",
        "{\"a\"b}",
        "{\"NULL\",N\\ULL,nul}",
        "{é,\"日本\"}",
        "{1}x",
        "x{1}",
        "{ \"a\" , \"b\" }",
        "{99999999999}",
        "[1:2147483647]={1}",
        "[99999999999:99999999999]={1}",
        "{+1, -0}",
        "{'a'}",
        "{\n1\n}",
    ];
    for name in ["int[]", "text[]", "varchar(2)[]", "date[]", "numeric(4,1)[]", "timestamp(0)[]", "text[][]"]
    {
        let declared = Declared::new(&oracle, name).await;
        declared.compare(&strings(&[ARRAYS, &more].concat())).await;
    }
    for name in ["int[]", "text[]"] {
        let declared = Declared::new(&oracle, name).await;
        for text in &ARRAYS[..ARRAYS.len() - 1] {
            assert!(field(&declared.codec, text, &mut cx).is_ok(), "{name} {text:?}");
        }
    }
    let dates =
        ["{2024-02-29,infinity,NULL,\"0044-03-15 BC\"}", "{2024-13-01}", "{{2024-01-01},{\"2024-01-02\"}}"];
    Declared::new(&oracle, "date[]").await.compare(&strings(&dates)).await;
    let moments = ["{\"2024-02-29 10:00:00.5\",2024-02-29T10:00:01.5}", "{epoch}"];
    Declared::new(&oracle, "timestamp(0)[]").await.compare(&strings(&moments)).await;
    Declared::new(&oracle, "numeric(4,1)[]").await.compare(&strings(&["{1.25,99.96,NaN}", "{1000}"])).await;
    Declared::new(&oracle, "box[]").await.compare(&strings(&["{(1,2),(3,4);(5,6),(7,8)}", "{}"])).await;
    Declared::new(&oracle, "money[]").await.compare(&strings(&["{1.5,NULL}", "{\"$2\"}"])).await;
}

#[tokio::test]
async fn any_array_literal_is_the_servers_or_refused() {
    let oracle = Oracle::new().await;
    let element = prop_oneof![
        4 => "[a-c0-9]{1,3}", 1 => Just("NULL".to_owned()), 2 => "\"([a-c ,{}]|\\\\\\\\|\\\\\"){0,4}\"", 1 => " ?[a-c] [a-c] ?",
        1 => "[a-c]\\\\[,} a]",
    ];
    let flat =
        || prop::collection::vec(element.clone(), 0..4).prop_map(|items| format!("{{{}}}", items.join(",")));
    let nested = (1..3_usize).prop_flat_map(move |length| {
        prop::collection::vec(prop::collection::vec("[a-c]{1,2}", length), 1..3).prop_map(|rows| {
            format!(
                "{{{}}}",
                rows.iter().map(|row| format!("{{{}}}", row.join(","))).collect::<Vec<_>>().join(", ")
            )
        })
    });
    let texts = with_typos(samples(&prop_oneof![3 => flat(), 2 => nested], 1200), "{}\",\\ NULLab1[]:=");
    let read = Declared::new(&oracle, "text[]").await.compare(&texts).await;
    assert!(read > texts.len() / 3, "only {read}");
    Declared::new(&oracle, "varchar(2)[]").await.compare(&texts).await;
}

#[tokio::test]
async fn lists_and_json_arrays_become_arrays_h_m01() {
    let oracle = Oracle::new().await;
    let ints = Declared::new(&oracle, "int[]").await;
    assert_eq!(ints.value(list([1.into(), 2.into()])).await, "{1,2}");
    assert_eq!(ints.value(list(["3".into(), "4".into()])).await, "{3,4}");
    assert_eq!(ints.value(json("[\"3\", 4, null]")).await, "{3,4,NULL}");
    assert_eq!(ints.value(json("\"{1,2}\"")).await, "{1,2}");
    assert_eq!(ints.value(list([])).await, "{}");
    assert_eq!(ints.value(json(" [] ")).await, "{}");
    let row = |from: i32| list([from.into(), (from + 1).into()]);
    assert_eq!(ints.value(list([row(1), row(3)])).await, "{{1,2},{3,4}}");
    assert_eq!(ints.value(json("[[1, 2], [3, null]]")).await, "{{1,2},{3,NULL}}");
    assert_eq!(ints.value(list([json("[1,2]"), row(3)])).await, "{{1,2},{3,4}}");
    for ragged in ["[[1,2],[3]]", "[[1],2]", "[1,[2]]", "[null,[2]]", "[[],[1]]"] {
        let code = ints.value(json(ragged)).await;
        assert!(["!2202E", "!42804"].contains(&code.as_str()), "{ragged}: {code}");
    }
    assert_eq!(ints.value(json("[3000000000]")).await, "!22003");
    assert_eq!(ints.value(json("[1.5]")).await, "!22P02", "never rounded");
    assert_eq!(ints.value(json("[true]")).await, "!42804");
    assert_eq!(ints.value(json("[1,]")).await, "!22P02");
    assert_eq!(ints.value(json("{\"a\":1}")).await, "!42804");
    assert_eq!(ints.value(Value::Int(1)).await, "!42804");
    assert_eq!(ints.value(json("[[[[[[[1]]]]]]]")).await, "!54000");

    let texts = Declared::new(&oracle, "text[]").await;
    assert_eq!(
        texts.value(json(r#"["a\"b", "c,d", "", "NULL", null, 1.10, true]"#)).await,
        r#"{"a\"b","c,d","","NULL",NULL,1.10,true}"#
    );
    let documents = Declared::new(&oracle, "jsonb[]").await;
    assert_eq!(
        documents.value(json(r#"[{"a": [1]}, [1, 2], "x", 1.10]"#)).await,
        r#"{"{\"a\": [1]}","[1, 2]","\"x\"",1.10}"#
    );
    let dates = Declared::new(&oracle, "date[]").await;
    assert_eq!(
        dates.value(list([Value::Date(Date(0)), Value::Null, "2024-02-29".into()])).await,
        "{2000-01-01,NULL,2024-02-29}"
    );
    let moments = Declared::new(&oracle, "timestamp(0)[]").await;
    assert_eq!(
        moments.value(list([Value::Timestamp(Timestamp(1_500_000))])).await,
        "{\"2000-01-01 00:00:02\"}"
    );
    let boxes = Declared::new(&oracle, "box[]").await;
    assert_eq!(boxes.value(list(["(1,2),(0,0)".into(), Value::Null])).await, "{(1,2),(0,0);NULL}");
    assert_eq!(
        boxes.value(json(r#"[["(1,2),(0,0)"], ["(3,4),(0,0)"]]"#)).await,
        "{{(1,2),(0,0)};{(3,4),(0,0)}}"
    );
}

#[tokio::test]
async fn array_keys_are_equal_as_on_the_server() {
    let oracle = Oracle::new().await;
    let mut cx = EncodeContext::new(Zone::utc());
    let cases = [
        (
            "interval[]",
            vec![
                "{}",
                "{1 day}",
                "{24:00}",
                "{NULL}",
                "{1 day,NULL}",
                "{NULL,1 day}",
                "{{1 day}}",
                "[2:2]={24:00}",
                "[2:2]={1 day}",
                "{30 days}",
                "{1 mon}",
            ],
        ),
        ("numeric[]", vec!["{1.0}", "{1.00}", "{1,0}", "{{1,2}}", "{{1},{2}}", "{1,2}", "{NaN}"]),
        ("text[]", vec!["{a,bc}", "{ab,c}", "{abc}", "{\"\"}", "{NULL}", "{}", "{a,NULL,b}", "{a,b,NULL}"]),
    ];
    for (name, texts) in cases {
        let declared = Declared::new(&oracle, name).await;
        let keys: Vec<Vec<u8>> = texts
            .iter()
            .map(|text| {
                let mut key = Vec::new();
                declared.codec.push_key(&field(&declared.codec, text, &mut cx).unwrap()[4..], &mut key);
                key
            })
            .collect();
        for (left, left_key) in texts.iter().zip(&keys) {
            for (right, right_key) in texts.iter().zip(&keys) {
                let sql = format!("select '{left}'::{name} = '{right}'::{name}");
                let equal: bool = oracle.client.query_one(&sql, &[]).await.unwrap().get(0);
                assert_eq!(left_key == right_key, equal, "{name} {left} = {right}");
                assert!(left == right || !right_key.starts_with(left_key) || equal, "{left} before {right}");
            }
        }
    }
}

#[tokio::test]
async fn ranges_are_the_servers() {
    let oracle = Oracle::new().await;
    let texts = strings(&[
        "[1,5)",
        "(1,5]",
        "[1,5]",
        "(1,5)",
        "[1,)",
        "(,5]",
        "[,5]",
        "(,)",
        "[,]",
        "empty",
        " EMPTY ",
        "[1,1]",
        "(1,1)",
        "[1,1)",
        "(1,2)",
        "[5,1]",
        "[\"1\",\"5\"]",
        "[ 1 , 5 ]",
        " [1,5) ",
        "[1,5",
        "1,5",
        "[1]",
        "[1,2,3]",
        "",
        "[1,5)x",
        "emptyx",
        "[a,b]",
        "[\"\",5]",
        "[\\1,5]",
        "[1\"2\",20]",
        "[\"1\"\"2\",3]",
        "[-2147483648,2147483647)",
        "[1,2147483647]",
        "(2147483647,)",
        "[2147483648,)",
        "[2024-01-01,2024-02-01]",
        "(2024-01-01,2024-01-02)",
        "[2024-02-01,2024-01-01]",
        "[-infinity,infinity]",
        "[,infinity)",
        "[5874897-12-31,5874897-12-31]",
        "[\"2024-01-01 10:00\",\"2024-01-01 11:00+02\")",
        "[2024-01-01T10:00Z,)",
        "[1.5,2.50]",
        "[2.5,1.5]",
        "[NaN,NaN]",
        "[1e3,2e3]",
        "(0.1,0.2)",
    ]);
    for name in ["int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"] {
        Declared::new(&oracle, name).await.compare(&texts).await;
    }
    oracle
        .client
        .batch_execute("create type textrange as range (subtype = text); create type moneyrange as range (subtype = money)")
        .await
        .unwrap();
    let words = strings(&[
        "[a,b]",
        "[\"a,b\",\"c\"\"d\")",
        "[a b,c]",
        "[b,a]",
        "(,\\))",
        "[\"\",)",
        "empty",
        "[\"a\"b\"c\",z]",
        "[\\\\,z]",
    ]);
    Declared::new(&oracle, "textrange").await.compare(&words).await;
    Declared::new(&oracle, "moneyrange").await.compare(&strings(&["[1,2]", "empty"])).await;

    let multi = strings(&[
        "{}",
        " { } ",
        "{[1,2)}",
        "{[1,2),[3,4)}",
        "{[1,3),[2,4)}",
        " { [1,2) , (5,9] } ",
        "{empty}",
        "{[1,2),empty,(,0)}",
        "{[1,2)",
        "[1,2)",
        "{[1,2)}x",
        "{[1,2),}",
        "{,}",
        "{[2,1)}",
        "{[1,2)[3,4)}",
        "",
        "{(,)}",
        "{[5,6),[1,2)}",
    ]);
    for name in ["int4multirange", "nummultirange", "int8multirange"] {
        Declared::new(&oracle, name).await.compare(&multi).await;
    }
    let ranges = Declared::new(&oracle, "daterange[]").await;
    ranges.compare(&strings(&["{\"[2024-01-01,2024-01-05]\",empty,NULL}"])).await;
    let ints = Declared::new(&oracle, "int4range").await;
    assert_eq!(ints.value(json("\"[1,5]\"")).await, "[1,6)");
    assert_eq!(ints.value(Value::Int(1)).await, "!22P02");
    assert!(ints.encode(&list([])).is_err());

    let bound =
        prop_oneof![3 => "-?[0-9]{1,3}", 1 => Just(String::new()), 1 => "\"[0-9]{1,2}\"", 1 => " [0-9]"];
    let random =
        (prop::sample::select(vec!["[", "("]), bound.clone(), bound, prop::sample::select(vec!["]", ")"]))
            .prop_map(|(open, lower, upper, close)| format!("{open}{lower},{upper}{close}"));
    let random = with_typos(samples(&random, 800), "[](),\"\\ 0123-e");
    for name in ["int4range", "numrange"] {
        Declared::new(&oracle, name).await.compare(&random).await;
    }
}

#[tokio::test]
async fn composites_are_the_servers() {
    let oracle = Oracle::new().await;
    oracle
        .client
        .batch_execute(
            "create domain short as varchar(3) check (value <> 'bad');
             create type inner_type as (a int, b text);
             create type outer_type as (n numeric(4,1), d date, i inner_type, t text[], s short, gone int, j jsonb);
             alter type outer_type drop attribute gone;
             create type one as (a text);
             create type odd as (a int, m money)",
        )
        .await
        .unwrap();
    let inner = Declared::new(&oracle, "inner_type").await;
    let texts = strings(&[
        "(1,a)",
        "(,)",
        "(1,)",
        "(1,\"\")",
        " (1,a) ",
        "( 1 , a )",
        "(1,\"a \"\"b\"\" \\c\")",
        "(1,a\"b\"c)",
        "(1,a\\,b)",
        "(1)",
        "(1,2,3)",
        "()",
        "",
        "1,a",
        "(1,a",
        "(1,a)x",
        "(x,a)",
        "(1,NULL)",
        "(1,(2))",
        "(1,\"(2,3)\")",
        "(99999999999,a)",
        "(1,é)",
        "(1,\"a\nb\")",
        "(1, )",
    ]);
    inner.compare(&texts).await;
    let read = inner.compare(&with_typos(texts, "(),\"\\ a1")).await;
    assert!(read > 10);
    Declared::new(&oracle, "one").await.compare(&strings(&["()", "(a)", "(\"\")", "(a,b)"])).await;
    let outer = Declared::new(&oracle, "outer_type").await;
    outer
        .compare(&strings(&[
            "(1.25,2024-02-29,\"(1,\"\"x y\"\")\",\"{a,\"\"b c\"\"}\",abc,\"{\"\"k\"\": 1}\")",
            "(,,,,,)",
            "(1,2,3,4,5)",
            "(1000,,,,,)",
            "(,,,,bad,)",
            "(,,,,long,)",
            "(,2024-13-01,,,,)",
        ]))
        .await;
    let arrays = Declared::new(&oracle, "inner_type[]").await;
    arrays.compare(&strings(&["{\"(1,a)\",NULL,\"(,)\"}", "{(1)}"])).await;
    Declared::new(&oracle, "odd").await.compare(&strings(&["(1,$2.50)"])).await;

    assert_eq!(inner.value(list([1.into(), "a b".into()])).await, "(1,\"a b\")");
    assert_eq!(inner.value(list([Value::Null, Value::Null])).await, "(,)");
    assert_eq!(inner.value(list([1.into()])).await, "!22P02");
    assert_eq!(inner.value(json(r#"{"b": "x", "a": 7}"#)).await, "(7,x)");
    assert_eq!(inner.value(json(r#"{"b": null}"#)).await, "(,)");
    assert_eq!(inner.value(json(r#"[7, "x\"y"]"#)).await, "(7,\"x\"\"y\")");
    assert_eq!(inner.value(json(r#"{"c": 1}"#)).await, "!22P02");
    assert_eq!(inner.value(json("\"(1,z)\"")).await, "(1,z)");
    assert_eq!(inner.value(json("1")).await, "!42804");
    let document = r#"{"n": 1.25, "d": "2024-02-29", "i": {"a": 1, "b": "x"}, "t": ["a", null], "s": "ab", "j": {"k": [1]}}"#;
    assert_eq!(outer.value(json(document)).await, r#"(1.3,2024-02-29,"(1,x)","{a,NULL}",ab,"{""k"": [1]}")"#);
    assert_eq!(
        arrays.value(json(r#"[{"a": 1, "b": "x"}, null, [2, "y"]]"#)).await,
        "{\"(1,x)\",NULL,\"(2,y)\"}"
    );
}

#[tokio::test]
async fn extension_types_are_the_servers() {
    let oracle = Oracle::new().await;
    oracle
        .client
        .batch_execute("create extension hstore; create extension citext; create extension ltree")
        .await
        .unwrap();
    let hstore = Declared::new(&oracle, "hstore").await;
    assert_eq!(hstore.codec.wire(), Wire::Binary);
    let texts = strings(&[
        "",
        " ",
        "a=>1",
        "a=>1,b=>2",
        " a => 1 , b => 2 ",
        "\"a b\"=>\"c,d\"",
        "a=>NULL",
        "a=>null",
        "a=>\"NULL\"",
        "a=>\"\"",
        "\"\"=>1",
        "\"a\\\"b\"=>\"c\\\\d\"",
        "a=>1,a=>2",
        "b=>1,aa=>2,c=>3",
        "é=>日本",
        "a=>1,",
        "a",
        "a=>",
        "=>1",
        "a=1",
        "a=>1 b=>2",
        "a=>b=>c",
        ",",
        "a=>1,,b=>2",
        "a>1",
        "a= >1",
        "a\\ b=>1",
        "\"a=>1",
        "a=>\"1\" ",
        "k\"=>1",
    ]);
    hstore.compare(&texts).await;
    let part = || prop_oneof![3 => "[a-c]{1,3}", 2 => "\"([a-c =>,]|\\\\\\\\|\\\\\"){0,4}\"", 1 => Just("NULL".to_owned())];
    let random = prop::collection::vec((part(), part()), 0..4).prop_map(|pairs| {
        pairs.iter().map(|(key, value)| format!("{key}=>{value}")).collect::<Vec<_>>().join(", ")
    });
    let random = with_typos(samples(&random, 600), "=>\",\\ ab");
    let read = hstore.compare(&random).await;
    assert!(read > random.len() / 3, "only {read}");
    assert_eq!(
        hstore.value(json(r#"{"b": null, "a": "x\"y", "n": 1.10, "t": true}"#)).await,
        r#""a"=>"x\"y", "b"=>NULL, "n"=>"1.10", "t"=>"true""#
    );
    assert_eq!(hstore.value(json("{}")).await, "");
    assert_eq!(hstore.value(json("[1]")).await, "!42804");
    assert_eq!(hstore.value(Value::Int(1)).await, "!42804");
    let arrays = Declared::new(&oracle, "hstore[]").await;
    arrays.compare(&strings(&["{\"a=>1\",NULL,\"\"}"])).await;
    assert_eq!(arrays.value(json(r#"[{"a": 1}, null]"#)).await, "{\"\\\"a\\\"=>\\\"1\\\"\",NULL}");

    let citext = Declared::new(&oracle, "citext").await;
    citext.compare(&strings(&["", "aBc", "é\t\"", "null"])).await;
    assert_eq!(citext.codec.wire(), Wire::Binary);
    assert_eq!(citext.value(json("\"aB\"")).await, "aB");
    assert_eq!(citext.value(Value::Int(7)).await, "7");
    for (name, texts) in [
        ("ltree", ["", "Top.Science", "a.b.c_1", "a..b", "a b", "é"]),
        ("lquery", ["*", "Top.*{1,2}.!a", "a|b", "{", "a@*", "é"]),
        ("ltxtquery", ["a & b", "!a", "a &", "(a|b)@", "", "é"]),
    ] {
        let declared = Declared::new(&oracle, name).await;
        assert_eq!(declared.codec.wire(), Wire::Binary);
        let theirs = oracle.reads(name, &strings(&texts)).await;
        for (text, theirs) in texts.iter().zip(theirs) {
            let ours = declared.value(Value::from(*text)).await;
            assert!(
                ours == theirs || ours.starts_with('!') && theirs.starts_with('!'),
                "{name} {text:?}: {ours} {theirs}"
            );
        }
    }
}

#[tokio::test]
async fn vectors_are_the_servers_where_pgvector_is() {
    let oracle = Oracle::new().await;
    let sql = "select count(*) from pg_available_extensions where name = 'vector'";
    if oracle.client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        return;
    }
    oracle.client.batch_execute("create extension vector").await.unwrap();
    let texts = strings(&[
        "[1,2,3]",
        " [ 1 , 2.5 , -3e2 ] ",
        "[1]",
        "[]",
        "[1,2]",
        "[1,2,3",
        "1,2,3",
        "[1,,3]",
        "[a,b,c]",
        "[1e40,1,1]",
        "[1e-50,0,0]",
        "[0.1,0.2,0.3]",
        "[16777217,3.4028235e38,1e-40]",
        "[NaN,1,1]",
        "[1,2,3]x",
        "[1,2,3,]",
        "[-0,+1,.5]",
        "[1.,2,3]",
    ]);
    for name in ["vector", "vector(3)"] {
        Declared::new(&oracle, name).await.compare(&texts).await;
    }
    let vector = Declared::new(&oracle, "vector(3)").await;
    assert_eq!(vector.value(json("[1, 2.5, -3e2]")).await, "[1,2.5,-300]");
    assert_eq!(
        vector.value(list([Value::Float4(0.1), Value::Float8(0.1), Value::Int(3)])).await,
        "[0.1,0.1,3]"
    );
    assert_eq!(vector.value(list([Value::Int(1)])).await, "!22000");
    let arrays = Declared::new(&oracle, "vector(2)[]").await;
    assert_eq!(arrays.value(json("[[1, 2], [3, 4]]")).await, "{\"[1,2]\",\"[3,4]\"}");
}

#[tokio::test]
async fn every_type_of_the_servers_catalog_has_a_codec_for_its_array() {
    let oracle = Oracle::new().await;
    let samples: BTreeMap<&str, &str> = [
        ("bool", "t"),
        ("int2", "1"),
        ("int4", "1"),
        ("int8", "1"),
        ("oid", "1"),
        ("float4", "1.5"),
        ("float8", "1.5"),
        ("numeric", "1.50"),
        ("text", "x"),
        ("varchar", "x"),
        ("bpchar", "x"),
        ("name", "x"),
        ("bytea", "\\x01"),
        ("json", "{}"),
        ("jsonb", "{}"),
        ("uuid", "00000000-0000-0000-0000-000000000001"),
        ("date", "2024-01-01"),
        ("time", "10:00:00"),
        ("timetz", "10:00:00+01"),
        ("timestamp", "2024-01-01 10:00:00"),
        ("timestamptz", "2024-01-01 10:00:00+00"),
        ("interval", "1 day"),
        ("inet", "10.0.0.1"),
        ("cidr", "10.0.0.0/8"),
        ("macaddr", "08:00:2b:01:02:03"),
        ("macaddr8", "08:00:2b:01:02:03:04:05"),
        ("bit", "1"),
        ("varbit", "10"),
        ("int4range", "[1,2)"),
        ("int4multirange", "{[1,2)}"),
        ("point", "(1,2)"),
        ("tsvector", "'a'"),
        ("pg_lsn", "0/1"),
        ("xml", "<a/>"),
    ]
    .into();
    oracle.client.batch_execute("set timezone = 'UTC'").await.unwrap();
    for (name, text) in samples {
        let array = format!("{name}[]");
        let declared = Declared::new(&oracle, &array).await;
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        let read = declared.compare(&[format!("{{\"{quoted}\",NULL}}")]).await;
        assert_eq!(read, 1, "{array}");
        let theirs = oracle.reads(&array, &[format!("{{\"{quoted}\"}}")]).await;
        assert_eq!(declared.value(list([text.into()])).await, theirs[0], "{array}");
    }
}
