//! From a failed connect, or a lost connection, to an [`Error`] that says what to do.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use crate::error::from_server;
use crate::{Error, ErrorKind};

pub(super) const CONNECT: &str = "connect";

/// The error of a connect that failed at `endpoint`.
pub(super) fn connect_error(error: &tokio_postgres::Error, endpoint: &str) -> Error {
    let mapped = from_server(CONNECT, error);
    let mapped = if error.as_db_error().is_some() { mapped } else { client_side(error, mapped) };
    let mapped = match error.code() {
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => {
            mapped.with_hint("use a smaller connection.pool.size, or raise the server's max_connections")
        }
        // PgBouncer's words; a server knows all that we send.
        Some(code) if *code == SqlState::PROTOCOL_VIOLATION && mapped.message().contains("startup parameter") => {
            mapped.with_hint(
                "a pooler refuses a start-up option: set it for the role (alter role … set …) instead of in the DSN or PGOPTIONS",
            )
        }
        _ => mapped,
    };
    mapped.with_context("server", endpoint)
}

/// What the client itself found wrong: the library gives it as text only, but for the causes.
fn client_side(error: &tokio_postgres::Error, mapped: Error) -> Error {
    let words = mapped.message().to_owned();
    let of = |kind, words: &str| Error::new(kind, CONNECT, words);
    if words.contains("password missing") {
        return of(ErrorKind::Authentication, "the server asks for a password and none is given")
            .with_hint("give one in the DSN, in PGPASSWORD or in the password file");
    }
    if words.contains("server does not support TLS") {
        return of(ErrorKind::Unsupported, "the server has no TLS and sslmode asks for it")
            .with_hint("switch TLS on at the server, or choose sslmode=prefer");
    }
    if words.starts_with("authentication error") {
        return of(ErrorKind::Authentication, &words);
    }
    match tls_cause(error) {
        Some(cause @ rustls::Error::InvalidCertificate(_)) => {
            of(ErrorKind::Authentication, &format!("the server's certificate is refused: {cause}"))
                .with_hint("check sslrootcert, the certificate's dates and the host's name")
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            of(ErrorKind::Authentication, &format!("the server ends the TLS handshake: {alert:?}"))
                .with_hint("it may ask for a client certificate: sslcert, sslkey")
        }
        Some(cause) => of(ErrorKind::Unsupported, &format!("the TLS handshake failed: {cause}")),
        None => mapped,
    }
}

/// The TLS error among the causes; one that passed through a stream is wrapped in an `io::Error`.
fn tls_cause(error: &tokio_postgres::Error) -> Option<&rustls::Error> {
    let mut cause = error.source();
    while let Some(current) = cause {
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        cause = match current.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => current.source(),
        };
    }
    None
}

/// True where the server refused this kind of session (encrypted or plain) and may take the other.
pub(super) fn is_refused_session(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// The error of `operation` on a connection: where it only says "closed", the reason that the connection's own task
/// has seen stands in its place.
pub(super) fn operation_error(
    operation: &'static str,
    error: &tokio_postgres::Error,
    last: Option<&Error>,
) -> Error {
    let mapped = from_server(operation, error);
    match (error.code(), last) {
        (None, Some(last)) => lost(operation, last),
        (Some(code), _) if is_strange_statement(code) => {
            mapped.with_hint("behind a pooler in transaction mode set connection.pooler=transaction")
        }
        _ => mapped,
    }
}

/// A prepared statement that is not there, or there already: made on another server connection.
fn is_strange_statement(code: &SqlState) -> bool {
    *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT
}

/// The error of `operation` on a connection that ended with `last`.
pub(super) fn lost(operation: &'static str, last: &Error) -> Error {
    let lost = Error::new(last.kind(), operation, format!("the connection was lost: {}", last.message()));
    match last.sqlstate() {
        Some(code) => lost.with_sqlstate(code),
        None => lost,
    }
}
