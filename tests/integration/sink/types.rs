//! Every type of a column and its array, from each kind of source, against what the server makes of the same texts.

use pgsluice::options::SinkOptions;
use pgsluice::{RowKind, Value};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::bed::{Bed, modes};

const SETUP: &str = "
    create extension citext; create extension hstore; create extension ltree; create extension cube;
    create extension isn; create extension intarray;
    create schema \"Oth er\";
    create type mood as enum ('ok', 'so so', 'bad');
    create type \"Oth er\".\"Mo.od\" as enum ('ok', 'Bad \"x\"');
    create domain short as varchar(5) check (value <> '');
    create domain shorter as short check (value <> 'long');
    create domain positive as int not null check (value > 0);
    create domain cents as numeric(6,2);
    create domain flags as bit(3);
    create domain numbers as int[] check (cardinality(value) < 9);
    create domain folded as citext;
    create type pair as (a int, \"B b\" text, c numeric(6,2), d int[]);
    create type priced as (n int, price money, j jsonb);
    create type nested as (p pair, m mood, s short);
    create type textrange as range (subtype = text);
    create domain pairs as pair;";

struct Type {
    sql: &'static str,
    texts: &'static [&'static str],
}

const fn of(sql: &'static str, texts: &'static [&'static str]) -> Type {
    Type { sql, texts }
}

/// Types whose binary form is written.
const BINARY: &[Type] = &[
    of("bool", &["t", "false", "yes", " on ", "0"]),
    of("int2", &["-32768", "32767", " 7 "]),
    of("int4", &["-2147483648", "2147483647", "+0"]),
    of("int8", &["-9223372036854775808", "9223372036854775807"]),
    of("oid", &["0", "4294967295", "-1"]),
    of("float4", &["1.5", "NaN", "-Infinity", "1e-45", "3.4028235e38", "-0"]),
    of("float8", &["0.1", "NaN", "inf", "5e-324", "1.7976931348623157e308", "-0"]),
    of(
        "numeric",
        &[
            "NaN",
            "Infinity",
            "-inf",
            "0.00",
            "-12345678901234567890.12345678901234567890",
            "1e1000",
            "1e-1000",
        ],
    ),
    of("numeric(12,2)", &["16.211", "-0.005", "9999999999.994", "NaN"]),
    of("numeric(3,-2)", &["12345", "-51", "NaN"]),
    of("text", &["", " a ", "NULL", "a\"b\\c'd", "line\nfeed\ttab", "{x,y}", "données 🐘"]),
    of("varchar", &["", "null", "é"]),
    of("varchar(3)", &["abc   ", "é🐘", ""]),
    of("char", &["a", " ", "é"]),
    of("char(5)", &["a", "abcde  ", ""]),
    of("\"char\"", &["a", "", "\\"]),
    of("name", &["Name", "a b", ""]),
    of("bytea", &["\\x00ff10", "", "abc", "a\\\\b\\001"]),
    of("json", &["{\"a\" : 1.10, \"a\":2}", "null", "\"x\"", "[1, \"b,\\\"\"]", " 1 "]),
    of("jsonb", &["{\"b\":1.10,\"a\":2}", "null", "\"x\"", "[1, \"b,\\\"\"]", "-0.0"]),
    of("uuid", &["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"]),
    of("date", &["2024-02-29", "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "20240310"]),
    of("time", &["04:05:06.789", "24:00", "00:00", "0405"]),
    of("time(1)", &["04:05:06.789", "23:59:59.97"]),
    of("timetz", &["04:05:06.789-08", "24:00+15:59:59", "00:00Z"]),
    of(
        "timestamp",
        &["2024-03-10 02:30", "infinity", "-infinity", "4713-01-01 BC", "294276-12-31T23:59:59.999999"],
    ),
    of("timestamp(0)", &["1999-12-31 23:59:59.6", "2024-01-01 00:00:00.5"]),
    of(
        "timestamptz",
        &[
            "2024-03-10T02:30:00+00",
            "2024-11-03T01:30:00-07",
            "infinity",
            "-infinity",
            "0044-03-15 00:00+00 BC",
            "294276-12-31 00:00Z",
        ],
    ),
    of("timestamptz(3)", &["2024-01-01 00:00:00.0005+00", "2024-01-01T00:00:00.12349Z"]),
    of(
        "interval",
        &["1 year 2 mons -3 days 04:05:06.7", "P1Y2M3DT4H", "-178000000 years", "@ 1 minute ago", "0"],
    ),
    of("interval(0)", &["00:00:00.6", "1 day 0.4 s"]),
    of("inet", &["10.0.0.1", "10.0.0.1/8", "::1", "2001:db8::/32", "::ffff:1.2.3.4/128"]),
    of("cidr", &["10.0.0.0/8", "10", "2001:db8::/32"]),
    of("macaddr", &["08:00:2b:01:02:03", "08002b-010203"]),
    of("macaddr8", &["08:00:2b:01:02:03:04:05", "08002b010203"]),
    of("bit", &["0", "1"]),
    of("bit(5)", &["01010", "b11111"]),
    of("varbit", &["", "0101010101", "xF0"]),
    of("varbit(6)", &["0", "010101"]),
    of("xml", &["<a>b &amp; c</a>", "text"]),
    of("mood", &["ok", "so so"]),
    of("\"Oth er\".\"Mo.od\"", &["ok", "Bad \"x\""]),
    of("short", &["a", "bcdef  "]),
    of("shorter", &["a", "é"]),
    of("cents", &["1.239", "-1"]),
    of("flags", &["010"]),
    of("numbers", &["{1,NULL,2}", "{}"]),
    of("folded", &["Abc"]),
    of("int4range", &["[1,5]", "empty", "(,)", "(1,7)"]),
    of("int8range", &["[1,9223372036854775806]", "empty"]),
    of("numrange", &["[1.0,1.00]", "(,2.5]", "[0.1,)"]),
    of("daterange", &["[2024-01-01,2024-01-31]", "(,infinity)"]),
    of("tsrange", &["[\"2024-01-01 00:00\",\"2024-01-02 00:00\")"]),
    of("tstzrange", &["[2024-01-01 00:00+00,2024-01-02 00:00+00]", "(,)"]),
    of("textrange", &["[a,b)", "[\"a,\\\"\",\"b c\"]"]),
    of("int4multirange", &["{}", "{[1,3],[7,9),[8,12]}"]),
    of("nummultirange", &["{[1.5,2],(3,)}"]),
    of("datemultirange", &["{[2024-01-01,2024-01-31]}"]),
    of("tstzmultirange", &["{[2024-01-01 00:00+00,2024-01-02 00:00+00)}"]),
    of("pair", &["(1,\"x, \\\"y\\\"\",2.345,\"{1,2}\")", "(,,,)", "(7,\"\",,{})"]),
    of("pairs", &["(1,x,2,{1})"]),
    of("nested", &["(\"(1,x,2.5,\"\"{1,2}\"\")\",ok,abc)", "(,\"so so\",)"]),
    of("hstore", &["a=>1, \"b c\"=>NULL", "", "\"k\\\"\"=>\"v,\""]),
    of("citext", &["Abc", "", "ä"]),
    of("ltree", &["Top.Science.Astronomy", ""]),
    of("lquery", &["Top.*{1,2}.Astro*@"]),
    of("ltxtquery", &["Europe & !Asia"]),
];

/// Types that only the server reads.
const SERVER: &[Type] = &[
    of("money", &["$1,234.56", "-12", "0.1"]),
    of("priced", &["(1,2.5,\"{\"\"a\"\": 1}\")"]),
    of("point", &["(1,2.5)", "(-0,1e300)"]),
    of("line", &["{1,2,3}"]),
    of("lseg", &["[(1,2),(3,4)]"]),
    of("box", &["(3,4),(1,2)"]),
    of("path", &["((1,2),(3,4))", "[(1,2)]"]),
    of("polygon", &["((1,2),(3,4),(5,6))"]),
    of("circle", &["<(1,2),3>"]),
    of("tsvector", &["a fat cat:3A,4", "'it''s':1"]),
    of("tsquery", &["fat & !rat:B", "'a b'"]),
    of("pg_lsn", &["16/B374D848", "0/0"]),
    of("txid_snapshot", &["10:20:10,14,15"]),
    of("pg_snapshot", &["10:20:10,14,15"]),
    of("xid", &["42"]),
    of("xid8", &["18446744073709551615"]),
    of("cid", &["7"]),
    of("tid", &["(0,1)"]),
    of("regclass", &["pg_class", "pg_catalog.pg_type"]),
    of("regtype", &["int4", "timestamp with time zone"]),
    of("regproc", &["now"]),
    of("regprocedure", &["abs(numeric)"]),
    of("regoper", &["||/"]),
    of("regoperator", &["+(integer,integer)"]),
    of("regrole", &["postgres"]),
    of("regnamespace", &["pg_catalog"]),
    of("regconfig", &["english"]),
    of("regdictionary", &["simple"]),
    of("regcollation", &["\"C\""]),
    of("aclitem", &["postgres=r/postgres"]),
    of("int2vector", &["1 2 3"]),
    of("oidvector", &["1 2 3"]),
    of("jsonpath", &["$.a[*] ? (@ > 1)"]),
    of("refcursor", &["cursor"]),
    of("cube", &["(1, 2, 3)", "(0),(1)"]),
    of("isbn13", &["978-0-393-04002-9"]),
    of("query_int", &["1&(2|3)"]),
];

/// A field by its text: an array as its elements.
#[derive(Clone)]
enum Cell {
    Text(String),
    List(Vec<Option<String>>),
    Null,
}

impl Cell {
    fn value(&self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::from(text.clone()),
            Self::List(texts) => Value::Array(texts.iter().cloned().map(Value::from).collect()),
            Self::Null => Value::Null,
        }
    }

    /// As JSON; a document stays one where the column is JSON.
    fn json(&self, is_json: bool) -> Value<'static> {
        let text = |text: &String| if is_json { text.clone() } else { serde_json::to_string(text).unwrap() };
        match self {
            Self::Text(source) => Value::Json(text(source).into()),
            Self::List(texts) => {
                let items: Vec<String> =
                    texts.iter().map(|item| item.as_ref().map_or("null".to_owned(), text)).collect();
                Value::Json(format!("[{}]", items.join(", ")).into())
            }
            Self::Null if is_json => Value::Null,
            Self::Null => Value::Json("null".into()),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => Some(text).serialize(serializer),
            Self::List(texts) => texts.serialize(serializer),
            Self::Null => serializer.serialize_none(),
        }
    }
}

/// A struct of as many fields as the table has columns.
struct Row<'a> {
    names: &'a [&'static str],
    id: i32,
    cells: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Row", self.names.len())?;
        row.serialize_field(self.names[0], &self.id)?;
        for (name, cell) in self.names[1..].iter().zip(self.cells) {
            row.serialize_field(name, cell)?;
        }
        row.end()
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A column of each type and one of its array, and the rows that go into them.
struct Case {
    columns: Vec<(String, bool)>,
    names: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Case {
    fn new(types: &[&Type]) -> Self {
        let mut case = Self { columns: Vec::new(), names: vec!["id"], rows: Vec::new() };
        let most = types.iter().map(|data_type| data_type.texts.len()).max().unwrap();
        case.rows = vec![Vec::new(); most + 1];
        for (n, data_type) in types.iter().enumerate() {
            let is_json = data_type.sql.starts_with("json") && data_type.sql != "jsonpath";
            case.columns.push((data_type.sql.to_owned(), is_json));
            case.columns.push((format!("{}[]", data_type.sql), is_json));
            case.names.push(Box::leak(format!("c{n}").into_boxed_str()));
            case.names.push(Box::leak(format!("a{n}").into_boxed_str()));
            for (at, row) in case.rows.iter_mut().enumerate() {
                if at == most {
                    row.extend([Cell::Null, Cell::Null]);
                    continue;
                }
                row.push(Cell::Text(data_type.texts[at % data_type.texts.len()].to_owned()));
                let mut list: Vec<_> = data_type.texts.iter().map(|text| Some((*text).to_owned())).collect();
                list.rotate_left(at % data_type.texts.len());
                if is_json {
                    // In a JSON array `null` is NULL, and the blanks around an element are the array's.
                    list.retain(|text| {
                        text.as_deref().is_some_and(|text| text != "null" && text == text.trim())
                    });
                }
                // An array in an array is a dimension; a domain over an array has no elements of NULL.
                if data_type.sql == "numbers" {
                    list.truncate(1);
                }
                list.push(None);
                if at == 1 {
                    list.clear();
                }
                row.push(Cell::List(list));
            }
        }
        case
    }

    fn create(&self, table: &str) -> String {
        let columns: Vec<String> = self.names[1..]
            .iter()
            .zip(&self.columns)
            .map(|(name, (sql, _))| format!("{name} {sql}"))
            .collect();
        format!("create table {table} (id int primary key, {})", columns.join(", "))
    }

    /// What the server itself makes of the texts.
    async fn fill(&self, bed: &Bed) {
        bed.run(&self.create("expected")).await;
        for (id, row) in self.rows.iter().enumerate() {
            let values: Vec<String> = row
                .iter()
                .zip(&self.columns)
                .map(|(cell, (sql, _))| match cell {
                    Cell::Null => "null".to_owned(),
                    Cell::Text(text) => quoted(text),
                    Cell::List(texts) => {
                        let items: Vec<String> = texts
                            .iter()
                            .map(|text| text.as_deref().map_or("null".to_owned(), quoted))
                            .collect();
                        format!("array[{}]::{sql}", items.join(", "))
                    }
                })
                .collect();
            bed.run(&format!("insert into expected values ({id}, {})", values.join(", "))).await;
        }
    }

    /// The texts of arrays as the server prints them.
    async fn texts(&self, bed: &Bed) -> Vec<Vec<Option<String>>> {
        let printed = bed.rows("select * from expected order by id").await;
        let fields = |(row, printed): (&Vec<Cell>, &Vec<String>)| {
            let cells = row.iter().zip(&printed[1..]);
            cells
                .map(|(cell, printed)| match cell {
                    Cell::Text(text) => Some(text.clone()),
                    Cell::List(_) => Some(printed.clone()),
                    Cell::Null => None,
                })
                .collect()
        };
        self.rows.iter().zip(&printed).map(fields).collect()
    }

    async fn compare(&self, bed: &Bed, what: &str) {
        let expected = bed.rows("select * from expected order by id").await;
        let written = bed.rows("select * from t order by id").await;
        assert_eq!(written.len(), expected.len(), "{what}");
        let mut wrong = Vec::new();
        for (written, expected) in written.iter().zip(&expected) {
            for (n, (written, expected)) in written.iter().zip(expected).enumerate().skip(1) {
                if written != expected {
                    wrong.push(format!("{}: {written} instead of {expected}", self.columns[n - 1].0));
                }
            }
        }
        assert!(wrong.is_empty(), "{what}: {wrong:#?}");
    }
}

async fn every_source(types: &[&Type], options: &SinkOptions) {
    let bed = Bed::new(SETUP).await;
    let case = Case::new(types);
    case.fill(&bed).await;
    let texts = case.texts(&bed).await;
    for source in ["text", "values", "struct", "json"] {
        let what = format!("from {source}, text-values {}", options.text_values);
        bed.run(&format!("drop table if exists t; {}", case.create("t"))).await;
        let sink = bed.sink("t", options.clone()).await;
        let mut columns = sink.columns(&case.names).unwrap();
        for (id, row) in case.rows.iter().enumerate() {
            let result = match source {
                "text" => {
                    let id = id.to_string();
                    let mut fields = vec![Some(id.as_str())];
                    fields.extend(texts[id.parse::<usize>().unwrap()].iter().map(Option::as_deref));
                    columns.write_text(RowKind::Insert, &fields).await
                }
                "struct" => {
                    let row = Row { names: &case.names, id: i32::try_from(id).unwrap(), cells: row };
                    sink.upsert(&row).await
                }
                _ => {
                    let mut values = vec![Value::from(i64::try_from(id).unwrap())];
                    values.extend(row.iter().zip(&case.columns).map(|(cell, (_, is_json))| match source {
                        "values" => cell.value(),
                        _ => cell.json(*is_json),
                    }));
                    columns.write(RowKind::Insert, &values).await
                }
            };
            result.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        }
        sink.close().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        case.compare(&bed, &what).await;
    }
}

/// Where the catalog says that a type is read by the server, all columns travel in arrays of their own.
#[tokio::test]
async fn every_type_and_its_array_f_a96_h_m01_h_m02_h_m03_h_m09_h_m11() {
    let binary: Vec<&Type> = BINARY.iter().collect();
    let all: Vec<&Type> = BINARY.iter().chain(SERVER).collect();
    for options in modes() {
        for types in [&binary, &all] {
            for text_values in [false, true] {
                every_source(types, &options.clone().text_values(text_values)).await;
            }
        }
    }
}

/// A domain that refuses NULL: a row of the table's type could not leave it out.
#[tokio::test]
async fn every_type_beside_a_domain_that_refuses_null() {
    for options in modes() {
        for text_values in [false, true] {
            let bed = Bed::new(SETUP).await;
            let types: Vec<&Type> = BINARY.iter().collect();
            let case = Case::new(&types);
            case.fill(&bed).await;
            bed.run(&case.create("t")).await;
            bed.run("alter table t add p positive default 3; alter table expected add p positive default 3")
                .await;
            let sink = bed.sink("t", options.clone().text_values(text_values)).await;
            let mut columns = sink.columns(&case.names).unwrap();
            for (id, row) in (0_i64..).zip(&case.rows) {
                let mut values = vec![Value::from(id)];
                values.extend(row.iter().map(Cell::value));
                columns.write(RowKind::Insert, &values).await.unwrap();
            }
            sink.close().await.unwrap();
            bed.run("alter table t drop p; alter table expected drop p").await;
            case.compare(&bed, "beside a domain").await;
        }
    }
}

/// Enum, domain, citext and composite as keys: written, upserted, deleted; and refused values name row and column.
#[tokio::test]
async fn user_defined_types_as_keys_b15() {
    let keys = [
        ("mood", "ok", "bad", Some("no")),
        ("short", "abc", "d", Some("")),
        ("shorter", "abc", "d", Some("long")),
        ("citext", "Abc", "d", None),
        ("folded", "Abc", "d", None),
        ("\"Oth er\".\"Mo.od\"", "ok", "Bad \"x\"", Some("bad")),
        ("mood[]", "{ok,bad}", "{}", Some("{no}")),
        ("pair", "(1,x,2.00,{1})", "(2,y,3.00,{})", Some("(x,,,)")),
        ("numbers", "{1,2}", "{}", Some("{1,2,3,4,5,6,7,8,9}")),
        ("int4range", "[1,5)", "empty", Some("[5,1)")),
    ];
    for (sql, first, second, bad) in keys {
        for beside in ["", ", beside money"] {
            for options in modes() {
                for text_values in [false, true] {
                    let what = format!("{sql}{beside} {text_values}");
                    let bed =
                        Bed::new(&format!("{SETUP} create table t (k {sql} primary key, v int{beside})"))
                            .await;
                    let options = super::bed::skipping(options.clone().text_values(text_values));
                    let sink = bed.sink("t", options).await;
                    for (key, value) in [(first, 1), (second, 2), (first, 3)] {
                        let fields = [("k", Value::from(key)), ("v", value.into())];
                        sink.write_values(RowKind::Insert, &fields).await.unwrap();
                    }
                    let rejects = sink.flush().await.unwrap().rejects;
                    assert!(rejects.is_empty(), "{what}: {rejects:?}");
                    sink.write_values(RowKind::Insert, &[("k", first.into()), ("v", 4.into())])
                        .await
                        .unwrap();
                    sink.write_values(RowKind::Delete, &[("k", second.into())]).await.unwrap();
                    sink.flush().await.unwrap();
                    assert_eq!(bed.lines("select k, v from t").await, [format!("{first}|4")], "{what}");
                    let Some(bad) = bad else { continue };
                    let bad = [("k", Value::from(bad)), ("v", 9.into())];
                    sink.write_values(RowKind::Insert, &bad).await.unwrap();
                    sink.write_values(RowKind::Insert, &[("k", second.into()), ("v", 5.into())])
                        .await
                        .unwrap();
                    let rejects = sink.flush().await.unwrap().rejects;
                    let [reject] = &rejects[..] else { panic!("{what}: {rejects:?}") };
                    assert!(["22P02", "23514", "22000"].contains(&&*reject.sqlstate), "{what}: {reject}");
                    assert_eq!(
                        (reject.position, reject.column.as_deref()),
                        (6, Some("k")),
                        "{what}: {reject}"
                    );
                    assert_eq!(bed.one("select count(*) from t").await, "2", "{what}");
                }
            }
        }
    }
}
