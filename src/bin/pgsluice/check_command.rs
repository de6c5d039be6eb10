//! `pgsluice check`.

use std::fmt::Write;

use pgsluice::check::{CheckOptions, CheckReport, ColumnReport, TableReport, check};
use pgsluice::connection::ServerCheck;
use pgsluice::options::{WriteOptions, split_pair};
use pgsluice::{Error, ErrorKind, Result};

use crate::args::{CheckArgs, SummaryArg};
use crate::exit::Exit;
use crate::{print, report};

pub(crate) fn run(args: CheckArgs) -> Exit {
    let format = args.format;
    match found(args) {
        Ok(found) => {
            let told = print(&match format {
                SummaryArg::Text => text(&found),
                SummaryArg::Json => json(&found),
            });
            if told == Exit::Success && !found.is_complete() { Exit::Usage } else { told }
        }
        Err(error) => {
            report::error(&error);
            Exit::of_error(&error)
        }
    }
}

fn found(args: CheckArgs) -> Result<CheckReport> {
    let mut options = CheckOptions::new();
    let pairs = args.settings.iter().map(|pair| split_pair(pair)).collect::<Result<Vec<_>>>()?;
    options.write = WriteOptions::from_map(pairs)?;
    options.write.sink.key_columns = args.key.or(options.write.sink.key_columns);
    options.dsn = args.dsn;
    options.table = args.table;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Io, "start", error.to_string()))?;
    let found = runtime.block_on(check(options));
    // A connection that does not answer must not keep the process.
    runtime.shutdown_background();
    found
}

fn json(found: &CheckReport) -> String {
    let mut object = serde_json::to_value(found).unwrap_or_default();
    if let Some(object) = object.as_object_mut() {
        object.insert("complete".into(), found.is_complete().into());
    }
    format!("{object}\n")
}

fn text(found: &CheckReport) -> String {
    let tls = match &found.tls {
        None => "none: this session is not encrypted".to_owned(),
        Some(tls) => {
            let checked = match (tls.checked, &tls.verified_name) {
                (ServerCheck::ChainAndName, Some(name)) => format!("certificate verified for {name}"),
                (ServerCheck::Chain, _) => {
                    "certificate signed by a known root, its name not checked".to_owned()
                }
                _ => "certificate not checked".to_owned(),
            };
            format!("{}, {}, {checked}", tls.version, tls.cipher)
        }
    };
    let yes = |yes| if yes { "yes" } else { "no" };
    let mut out = String::new();
    for (name, value) in [
        ("server", format!("{}:{}, PostgreSQL {}", found.host, found.port, found.server_version)),
        ("tls", tls),
        (
            "pooler",
            match found.pooled {
                true => "yes: connection.pooler=transaction holds, nothing outlasts a transaction",
                false => "none seen",
            }
            .to_owned(),
        ),
        ("user", format!("{} in database {}", found.user, found.database)),
        ("time zone", found.time_zone.clone()),
        ("temporary tables", yes(found.temporary_tables).to_owned()),
        ("takes writes", yes(!found.read_only).to_owned()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name}: {value}");
    }
    if let Some(table) = &found.table {
        table_text(table, &mut out);
    }
    out
}

fn table_text(table: &TableReport, out: &mut String) {
    let key = table.key.as_ref().map_or("none, rows are appended".to_owned(), |key| key.join(", "));
    let grants: Vec<&str> = [
        ("INSERT", table.insert),
        ("SELECT", table.select),
        ("UPDATE", table.update),
        ("DELETE", table.delete),
    ]
    .into_iter()
    .filter_map(|(grant, held)| held.then_some(grant))
    .collect();
    let grants = if grants.is_empty() { "none".to_owned() } else { grants.join(", ") };
    let _ = writeln!(out, "{}: {}\nkey: {key}\ngrants: {grants}", table.kind, table.name);
    if table.row_security {
        let _ = writeln!(out, "row security: active for this user");
    }
    let _ = writeln!(out, "columns:");
    for column in &table.columns {
        let _ = writeln!(out, "  {}", column_text(column));
    }
    if table.missing.is_empty() {
        let _ = writeln!(out, "missing: nothing, sink.write-mode=INSERT can write it");
    } else {
        let _ = writeln!(out, "missing:");
        for words in &table.missing {
            let _ = writeln!(out, "  {words}");
        }
    }
}

fn column_text(column: &ColumnReport) -> String {
    let mut words = format!("{} {}", column.name, column.data_type);
    if column.not_null {
        words.push_str(" not null");
    }
    if let Some(identity) = column.identity {
        let _ = write!(words, " identity {identity}");
    }
    match (&column.default, column.generated) {
        (_, true) => words.push_str(" generated, never written"),
        (Some(default), _) => {
            let _ = write!(words, " default {default}");
        }
        _ => {}
    }
    words
}
