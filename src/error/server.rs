//! From a server's answer to an [`Error`]: SQLSTATE to kind, and only words that can hold no value of a row.

use tokio_postgres::error::DbError;

use super::{Error, ErrorKind};

/// What a data error says of a record, without values. MESSAGE, DETAIL and CONTEXT of class 22 and 23 hold values,
/// so our own words for the code stand instead; the text of a RAISE (P0001) is its author's and is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerFault {
    pub(crate) sqlstate: String,
    pub(crate) column: Option<String>,
    pub(crate) constraint: Option<String>,
    pub(crate) reason: String,
    /// One field by itself may be to blame, which the server does not name: its type cannot hold it.
    pub(crate) of_field: bool,
    /// The row of a COPY into this relation that was refused, from 1.
    pub(crate) copied_row: Option<u64>,
}

impl ServerFault {
    pub(crate) fn new(db: &DbError) -> Self {
        let code = db.code().code();
        let reason = match code {
            "P0001" => db.message().to_owned(),
            _ => match words(code) {
                Some(words) => match db.constraint() {
                    Some(constraint) => format!("{words} \"{constraint}\""),
                    None => words.to_owned(),
                },
                None => "the server refused the record".to_owned(),
            },
        };
        Self {
            sqlstate: code.to_owned(),
            column: db.column().map(str::to_owned),
            constraint: db.constraint().map(str::to_owned),
            reason,
            of_field: db.column().is_none()
                && (code.starts_with("22")
                    || is_unreadable(db)
                    || code == "23514" && db.datatype().is_some()),
            copied_row: None,
        }
    }
}

/// Our words for the codes of data errors.
fn words(code: &str) -> Option<&'static str> {
    Some(match code {
        "21000" => "a row would be changed twice by one statement",
        "22001" => "the value is too long for the column",
        "22003" => "the number is out of range for the column",
        "22007" | "22008" => "not a date or time that the column can hold",
        "22021" => "invalid byte sequence for the encoding",
        "22026" => "the bit string's length does not match the column",
        "22P02" => "not a valid text form of the column's type",
        "22P03" => "not a valid binary form of the column's type",
        "22P05" => "a character that the database cannot hold",
        "22030" => "a JSON object with a doubled key",
        "22032" => "not valid JSON",
        "2200M" | "2200N" | "2200S" | "2200T" => "not valid XML",
        "23000" | "23001" => "a constraint refuses the row",
        "23502" => "NULL in a column that is NOT NULL",
        "23503" => "no such row in the referenced table, by foreign key",
        "23505" => "the key is stored already, by unique constraint",
        "23514" => "refused by check constraint",
        "23P01" => "overlaps a stored row, by exclusion constraint",
        "42501" => "refused by row security, or a right is missing",
        "42622" => "the name is too long",
        // Asked for only where a text is to blame.
        "XX000" | "42601" | "42602" | "42704" | "42725" | "42883" | "42P01" => {
            "not a text that the column's type can read"
        }
        "44000" => "refused by the view's check option",
        "54000" => "too large for the server",
        _ if code.starts_with("22") => "a value that the column cannot hold",
        _ if code.starts_with("23") => "refused by a constraint",
        _ => return None,
    })
}

/// Codes that input functions give for texts: a syntax error (hstore, ltree, tsquery, jsonpath), or a name that is not
/// there (regclass, regtype, regproc, aclitem).
const UNREADABLE: &[&str] = &["42601", "42602", "42704", "42725", "42883", "42P01"];

/// True where such a code is about a text and not about the statement, whose own errors say where in it they are.
fn is_unreadable(db: &DbError) -> bool {
    let code = db.code().code();
    // Up to 15 hstore has no code for it.
    UNREADABLE.contains(&code) && db.position().is_none()
        || code == "XX000" && db.file() == Some("hstore_io.c")
}

/// True for the errors that one record causes: they are narrowed down to it.
pub(crate) fn is_data(db: &DbError) -> bool {
    is_data_code(db.code().code()) || is_unreadable(db)
}

fn is_data_code(code: &str) -> bool {
    matches!(code.get(..2), Some("21" | "22" | "23" | "54")) || matches!(code, "P0001" | "44000" | "42622")
}

/// True for the errors that go away by themselves: lost connections, deadlocks, servers that start or switch over.
pub(super) fn is_retryable(code: &str) -> bool {
    matches!(code.get(..2), Some("08" | "53"))
        || matches!(
            code,
            "57P01" | "57P02" | "57P03" | "57014" | "25P03" | "40001" | "40P01" | "55P03" | "25006"
        )
}

fn kind(code: &str) -> ErrorKind {
    match code {
        "42501" => ErrorKind::Permission,
        "42P01" | "42703" | "42804" => ErrorKind::Schema,
        "57P01" | "57P02" | "57P03" | "25006" => ErrorKind::Connection,
        "57014" | "25P03" => ErrorKind::Timeout,
        _ if is_data_code(code) => ErrorKind::Rejected,
        _ => match code.get(..2) {
            Some("08" | "53") => ErrorKind::Connection,
            Some("28" | "3D") => ErrorKind::Authentication,
            Some("0A") => ErrorKind::Unsupported,
            _ => ErrorKind::Server,
        },
    }
}

/// The error of `operation` that the client library reports. Its source chain ends here: the library's own text
/// may hold values.
pub(crate) fn from_server(operation: &'static str, error: &tokio_postgres::Error) -> Error {
    if let Some(db) = error.as_db_error() {
        let code = db.code().code();
        let message = if is_data(db) { ServerFault::new(db).reason } else { db.message().to_owned() };
        let mut mapped = Error::new(kind(code), operation, message).with_sqlstate(code);
        if let Some(table) = db.table() {
            mapped = mapped.with_context("table", table);
        }
        if let Some(column) = db.column() {
            mapped = mapped.with_context("column", column);
        }
        return mapped;
    }
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    Error::new(ErrorKind::Connection, operation, words)
}
