//! The server's own input functions as the judge of ours: the same text, read by both, must print the same.

use std::error::Error;

use bytes::BytesMut;
use pgsluice::encode::{Codec, EncodeContext, EncodeError, Zone};
use pgsluice_testcontainers::Database;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use tokio_postgres::Client;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A parameter whose bytes are ready.
#[derive(Debug)]
pub(crate) struct Raw(pub(crate) Vec<u8>);

impl ToSql for Raw {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A session whose texts are comparable, with a cast that answers with the SQLSTATE instead of failing.
pub(crate) struct Oracle {
    pub(crate) client: Client,
    _database: Database,
}

impl Oracle {
    pub(crate) async fn new() -> Self {
        let database = Database::new().await;
        let client = database.client().await;
        client
            .batch_execute(
                "set datestyle = 'ISO, MDY'; set intervalstyle = postgres;
                 create function try_query(source text, query text) returns text language plpgsql as $$
                 declare result text;
                 begin
                     execute query using source into result;
                     return result;
                 exception when others then return '!' || sqlstate;
                 end $$",
            )
            .await
            .unwrap();
        Self { client, _database: database }
    }

    /// The server's reading of each text as `type_name`: what it prints, or `!` and the SQLSTATE.
    pub(crate) async fn reads(&self, type_name: &str, texts: &[String]) -> Vec<String> {
        self.answers(&format!("select ($1::{type_name})::text"), texts).await
    }

    /// The server's answer to a query with each text as its parameter: a text, or `!` and the SQLSTATE.
    pub(crate) async fn answers(&self, query: &str, texts: &[String]) -> Vec<String> {
        let sql = "select try_query(t, $2) from unnest($1::text[]) with ordinality u(t, n) order by n";
        let rows = self.client.query(sql, &[&texts, &query]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// What the server prints for bodies of a type; `type_name` is without a length.
    pub(crate) async fn prints(&self, type_name: &str, bodies: &[Vec<u8>]) -> Vec<String> {
        let oid: u32 =
            self.client.query_one("select $1::text::regtype::oid", &[&type_name]).await.unwrap().get(0);
        let mut array = Vec::new();
        array.extend_from_slice(&1_u32.to_be_bytes());
        array.extend_from_slice(&0_u32.to_be_bytes());
        array.extend_from_slice(&oid.to_be_bytes());
        array.extend_from_slice(&u32::try_from(bodies.len()).unwrap().to_be_bytes());
        array.extend_from_slice(&1_u32.to_be_bytes());
        for body in bodies {
            array.extend_from_slice(body);
        }
        if bodies.is_empty() {
            return Vec::new();
        }
        let sql = format!("select x::text from unnest($1::{type_name}[]) with ordinality u(x, n) order by n");
        let rows = self.client.query(&sql, &[&Raw(array)]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Compares both readings of each text, and the SQLSTATE of each refusal; returns how many texts were read here. A
    /// refusal that says that a server might read the text is no claim.
    pub(crate) async fn compare(
        &self,
        codec: &Codec,
        (type_name, declared): (&str, &str),
        zone: &str,
        texts: &[String],
    ) -> usize {
        self.compare_refusals(codec, (type_name, declared), zone, texts, |ours, theirs| ours == theirs).await
    }

    /// As `compare`, for random texts that may be wrong in two ways at once: any data error is as good as another.
    pub(crate) async fn compare_random(
        &self,
        codec: &Codec,
        (type_name, declared): (&str, &str),
        zone: &str,
        texts: &[String],
    ) -> usize {
        let same = |ours: &str, theirs: &str| ours[..3] == theirs[..3];
        self.compare_refusals(codec, (type_name, declared), zone, texts, same).await
    }

    async fn compare_refusals(
        &self,
        codec: &Codec,
        (type_name, declared): (&str, &str),
        zone: &str,
        texts: &[String],
        same: fn(&str, &str) -> bool,
    ) -> usize {
        self.client.batch_execute(&format!("set timezone = '{zone}'")).await.unwrap();
        let mut cx = EncodeContext::new(Zone::named(zone).unwrap());
        let theirs = self.reads(declared, texts).await;
        let mut bodies = Vec::new();
        let mut read = Vec::new();
        let mut differences = Vec::new();
        for (text, theirs) in texts.iter().zip(theirs) {
            match field(codec, text, &mut cx) {
                Ok(_) if theirs.starts_with('!') => {
                    differences.push(format!("{text:?}: read here, server {theirs}"))
                }
                Ok(body) => {
                    bodies.push(body);
                    read.push((text, theirs));
                }
                Err(error) if error.server_might_read => {}
                Err(error) if same(&format!("!{}", error.sqlstate), &theirs) => {}
                Err(error) => differences.push(format!("{text:?}: {} here, server {theirs}", error.sqlstate)),
            }
        }
        let printed = self.prints(type_name, &bodies).await;
        for ((text, theirs), ours) in read.iter().zip(&printed) {
            if ours != theirs {
                differences.push(format!("{text:?}: {ours} here, server {theirs}"));
            }
        }
        assert!(differences.is_empty(), "{declared} in {zone}:\n{}", differences.join("\n"));
        read.len()
    }
}

/// The field of a text.
pub(crate) fn field(codec: &Codec, text: &str, cx: &mut EncodeContext) -> Result<Vec<u8>, EncodeError> {
    let mut out = vec![7];
    let result = codec.encode_text(text, cx, &mut out);
    match result {
        Ok(()) => Ok(out.split_off(1)),
        Err(error) => {
            assert_eq!(out, [7], "{text:?}: bytes left behind");
            Err(error)
        }
    }
}

/// So many samples of a strategy, the same in each run.
pub(crate) fn samples<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// `texts`, and of each some with a character changed, left out or put in.
pub(crate) fn with_typos(texts: Vec<String>, alphabet: &'static str) -> Vec<String> {
    let characters: Vec<char> = alphabet.chars().collect();
    let changes = samples(&(proptest::num::usize::ANY, proptest::num::usize::ANY, 0..3_u8), texts.len());
    let typos = texts.iter().zip(changes).map(|(text, (at, pick, how))| {
        let mut text: Vec<char> = text.chars().collect();
        let at = at % (text.len() + 1);
        let character = characters[pick % characters.len()];
        match how {
            0 if at < text.len() => text[at] = character,
            1 if at < text.len() => {
                text.remove(at);
            }
            _ => text.insert(at, character),
        }
        text.into_iter().collect()
    });
    let typos: Vec<String> = typos.collect();
    texts.into_iter().chain(typos).collect()
}
