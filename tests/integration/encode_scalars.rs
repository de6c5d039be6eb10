//! Scalar types against the server: its input functions read the same texts, its operators compare the same keys.

mod casts;
mod keys;
mod texts;
mod values;

use std::sync::Arc;

use pgsluice::catalog::{PgType, TypeKind};
use pgsluice::encode::{Codec, EncodeContext, Zone};

use crate::encode_oracle::{Oracle, Raw, field};

/// The catalog's entry of a built-in type.
fn built_in(name: &str) -> Arc<PgType> {
    Arc::new(PgType {
        oid: 0,
        sql_name: name.to_owned(),
        name: name.to_owned(),
        schema: "pg_catalog".to_owned(),
        kind: TypeKind::Base,
        array_oid: 0,
        binary: true,
    })
}

fn context() -> EncodeContext {
    EncodeContext::new(Zone::utc())
}

/// A column of one type on the server.
struct Column<'o> {
    oracle: &'o Oracle,
    /// `pg_type.typname`.
    type_name: String,
    /// As declared, with its length.
    declared: String,
    codec: Codec,
}

impl<'o> Column<'o> {
    async fn new(oracle: &'o Oracle, declared: &str) -> Self {
        let client = &oracle.client;
        client
            .batch_execute(&format!(
                "drop table if exists probe; create table probe (v {declared});
                 create or replace function try_store(source text) returns text language plpgsql as $$
                 declare result text;
                 begin
                     execute format('insert into probe values (%L) returning ''='' || format(''%%s'', v)', source)
                         into result;
                     return result;
                 exception when others then return '!' || sqlstate;
                 end $$"
            ))
            .await
            .unwrap();
        let sql = "select typname::text, atttypmod from pg_attribute a join pg_type t on t.oid = atttypid
                   where attrelid = 'probe'::regclass and attnum = 1";
        let row = client.query_one(sql, &[]).await.unwrap();
        let type_name: String = row.get(0);
        let codec = Codec::new(&built_in(&type_name), row.get(1));
        Self { oracle, type_name, declared: declared.to_owned(), codec }
    }

    /// `pg_catalog."char"[]`, quoted.
    fn array_type(&self) -> String {
        format!("pg_catalog.\"{}\"[]", self.type_name)
    }

    /// What each text is in the column, by literal assignment: `=` and the value, or `!` and the SQLSTATE.
    async fn stored(&self, texts: &[String]) -> Vec<String> {
        let sql = "select try_store(t) from unnest($1::text[]) with ordinality u(t, n) order by n";
        let rows = self.oracle.client.query(sql, &[&texts]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// An array parameter of fields.
    async fn array(&self, fields: &[Vec<u8>]) -> Raw {
        let sql = "select oid from pg_type where typname = $1::text::name and typnamespace = 'pg_catalog'::regnamespace";
        let oid: u32 = self.oracle.client.query_one(sql, &[&self.type_name]).await.unwrap().get(0);
        let mut array = Vec::new();
        for word in [1, 0, oid, u32::try_from(fields.len()).unwrap(), 1] {
            array.extend_from_slice(&word.to_be_bytes());
        }
        array.extend(fields.concat());
        Raw(array)
    }

    /// What the server prints for fields.
    async fn printed(&self, fields: &[Vec<u8>]) -> Vec<String> {
        if fields.is_empty() {
            return Vec::new();
        }
        let sql = format!(
            "select '=' || format('%s', v) from unnest($1::{}) with ordinality u(v, n) order by n",
            self.array_type()
        );
        let rows = self.oracle.client.query(&sql, &[&self.array(fields).await]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Compares both readings of each text; how many were read here. A refusal that says that a server might read the
    /// text makes no claim; `deviates` names the texts that are refused here on purpose.
    async fn compare(
        &self,
        texts: &[String],
        same: fn(&str, &str) -> bool,
        deviates: fn(&str) -> bool,
    ) -> usize {
        let theirs = self.stored(texts).await;
        let mut differences = Vec::new();
        let mut fields = Vec::new();
        let mut read = Vec::new();
        let mut cx = context();
        for (text, theirs) in texts.iter().zip(&theirs) {
            match field(&self.codec, text, &mut cx) {
                Ok(field) => {
                    fields.push(field);
                    read.push((text, theirs));
                }
                Err(error) if error.server_might_read || deviates(text) => {}
                Err(error) if theirs.strip_prefix('!').is_some_and(|code| same(error.sqlstate, code)) => {}
                Err(error) => {
                    differences.push(format!("{text:?}: {} here, server {theirs:?}", error.sqlstate))
                }
            }
        }
        for ((text, theirs), ours) in read.iter().zip(self.printed(&fields).await) {
            if ours != **theirs {
                differences.push(format!("{text:?}: {ours:?} here, server {theirs:?}"));
            }
        }
        let count = differences.len();
        differences.truncate(40);
        assert!(differences.is_empty(), "{}: {count} differences\n{}", self.declared, differences.join("\n"));
        read.len()
    }
}
