//! The error for a table that is not there, with what was probably meant.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::TableName;
use super::load::OPERATION;
use super::nearest::nearest;
use crate::error::{Error, ErrorKind, from_server};

/// The relations that a user may have meant, in the schema that was named or else in all, those of the search path first.
const CANDIDATES: &str = "
    select n.nspname::text, c.relname::text
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'f') and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    order by n.nspname = $1 desc, n.nspname = any (pg_catalog.current_schemas(false)) desc, 1, 2
    limit 10000";

/// The error of a name that the server does not resolve.
pub(super) async fn not_found(client: &Client, name: &TableName) -> Error {
    let rows = match client.query_typed(CANDIDATES, &[(&name.schema, Type::TEXT)]).await {
        Ok(rows) => rows,
        Err(error) => return from_server(OPERATION, &error).with_context("table", name.to_string()),
    };
    let there: Vec<TableName> =
        rows.iter().map(|row| TableName { schema: Some(row.get(0)), name: row.get(1) }).collect();
    let error =
        Error::new(ErrorKind::NotFound, OPERATION, "no such table").with_context("table", name.to_string());
    match hint(name, &there) {
        Some(hint) => error.with_hint(hint),
        None => error.with_hint("a name without schema is looked for along the search path"),
    }
}

fn hint(name: &TableName, there: &[TableName]) -> Option<String> {
    if let Some(elsewhere) = there.iter().find(|other| other.name == name.name) {
        return Some(format!("there is {elsewhere}"));
    }
    let near = |schema: Option<&String>| {
        let names = there.iter().filter(|other| schema.is_none() || other.schema.as_ref() == schema);
        let found = nearest(&name.name, names.clone().map(|other| other.name.as_str()))?;
        names.into_iter().find(|other| other.name == found)
    };
    let found = near(name.schema.as_ref()).or_else(|| near(None))?;
    let quoting = if found.name.eq_ignore_ascii_case(&name.name) {
        " (a name with capitals stands in double quotes)"
    } else {
        ""
    };
    Some(format!("did you mean {found}?{quoting}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_of(wanted: &str) -> Option<String> {
        let there = [
            TableName::new(Some("public"), "orders").unwrap(),
            TableName::new(Some("Sales"), "Lines").unwrap(),
            TableName::new(Some("Sales"), "customers").unwrap(),
        ];
        hint(&TableName::parse(wanted).unwrap(), &there)
    }

    #[test]
    fn the_hint_names_the_other_schema_the_other_case_or_the_near_name() {
        assert_eq!(hint_of("customers").unwrap(), r#"there is "Sales"."customers""#);
        assert!(hint_of("sales.lines").unwrap().starts_with(r#"did you mean "Sales"."Lines"? (a name"#));
        assert_eq!(hint_of("order").unwrap(), r#"did you mean "public"."orders"?"#);
        assert_eq!(hint_of("warehouse"), None);
    }
}
