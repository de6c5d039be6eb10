//! Section A, general: where the server is, and how it is reached.

use super::super::draft::{Connector, Draft};
use super::super::form::{Choice, Form};
use super::super::pool::MOST_CONNECTIONS;
use super::super::spec::{OptionSpec, Scope};
use super::super::tls::SslMode;
use super::super::unit::Bare;

const CONNECTORS: &[Choice] = &[
    Choice::set("hologres", |draft| draft.connector = Some(Connector::Hologres)),
    Choice::set("postgres", |draft| draft.connector = Some(Connector::Postgres)),
    Choice::set("fluss", |draft| draft.connector = Some(Connector::Fluss)),
];

const SSL_MODES: &[Choice] = &[
    Choice::set("disable", |draft| draft.tls.mode = Some(SslMode::Disable)),
    Choice::set("allow", |draft| draft.tls.mode = Some(SslMode::Allow)),
    Choice::set("prefer", |draft| draft.tls.mode = Some(SslMode::Prefer)),
    Choice::set("require", |draft| draft.tls.mode = Some(SslMode::Require)),
    Choice::set("verify-ca", |draft| draft.tls.mode = Some(SslMode::VerifyCa)),
    Choice::set("verify-full", |draft| draft.tls.mode = Some(SslMode::VerifyFull)),
];

/// Both names of the idle time: one unit is milliseconds, the other has its unit written.
pub(super) const fn idle_timeout(bare: Bare) -> Form {
    fn set(draft: &mut Draft, time: Option<std::time::Duration>) {
        draft.pool.idle_timeout = time;
    }
    Form::Duration { bare, zero: false, never: false, set: Some(set) }
}

/// Both names of the host list.
/// Both names of the retries of a batch.
pub(super) const RETRIES: Form = Form::Int {
    min: 0,
    max: i64::MAX,
    set: Some(|draft, retries| draft.sink.retry_count = u32::try_from(retries).unwrap_or(u32::MAX)),
};

pub(super) const HOSTS: Form = Form::Hosts(Some(|draft, hosts| draft.hosts = hosts));

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::works(
        "connector",
        Scope::Connection,
        Form::Choice(CONNECTORS),
        "whose option names and defaults hold; required in a DDL",
    ),
    OptionSpec::works(
        "dbname",
        Scope::Connection,
        Form::Text(Some(|draft, name| draft.dbname = Some(name))),
        "the database; required in a DDL; a suffix `@warehouse` needs a Hologres server",
    ),
    OptionSpec::works(
        "tablename",
        Scope::Connection,
        Form::Text(Some(|draft, name| draft.table = Some(name))),
        "the table: `t` or `schema.t`; quoted parts keep their case, `\"\"` is a quote, other parts fold to lower case; required in a DDL",
    ),
    OptionSpec::works(
        "username",
        Scope::Connection,
        Form::Text(Some(|draft, name| draft.username = Some(name))),
        "the role that logs in; not given: the environment decides",
    ),
    OptionSpec::works(
        "password",
        Scope::Connection,
        Form::Secret(Some(|draft, secret| draft.password = Some(secret))),
        "its password; not given: `PGPASSWORD` or a password file",
    ),
    OptionSpec::works(
        "endpoint",
        Scope::Connection,
        HOSTS,
        "where the server listens: one or more `host:port`, `[::1]:5432`, or a socket directory",
    ),
    OptionSpec::works(
        "connection.pool.size",
        Scope::Connection,
        Form::Int { min: 1, max: MOST_CONNECTIONS as i64, set: Some(|draft, size| draft.pool.size = size as usize) },
        "at most so many connections in the pool, whatever the number of tables; of several users the largest size counts",
    )
    .default("5"),
    OptionSpec::works(
        "connection.pool.name",
        Scope::Connection,
        Form::Text(Some(|draft, name| draft.pool.name = name)),
        "tables with the same name and the same target share one pool and its memory budget",
    )
    .default("default"),
    OptionSpec::hologres(
        "connection.fixed.enabled",
        Scope::Connection,
        "its light connections for fixed plans",
    ),
    OptionSpec::works(
        "connection.max-idle-ms",
        Scope::Connection,
        idle_timeout(Bare::Milliseconds),
        "a connection unused for so long since its return is closed; opened again on demand",
    )
    .default("60000"),
    OptionSpec::works(
        "connection.ssl.mode",
        Scope::Connection,
        Form::Choice(SSL_MODES),
        "TLS as libpq means it, on every connection; not given: the DSN's or the environment's, else disable in a DDL and prefer for a DSN",
    ),
    OptionSpec::works(
        "connection.ssl.root-cert.location",
        Scope::Connection,
        Form::Path(Some(|draft, file| draft.tls.root_cert = Some(file))),
        "PEM file of root certificates, read at each connect; with it `require` checks the chain too",
    ),
    OptionSpec::works(
        "retry-count",
        Scope::Connection,
        RETRIES,
        "retries after the first try; 0 is one try",
    )
    .default("10"),
    OptionSpec::works(
        "retry-sleep-step-ms",
        Scope::Connection,
        Form::Duration {
            bare: Bare::Milliseconds,
            zero: true,
            never: false,
            set: Some(|draft, step| draft.sink.retry_sleep_step = step.unwrap_or_default()),
        },
        "sleep before retry n is n steps; a shutdown ends it",
    )
    .default("5000"),
    OptionSpec::works(
        "meta-cache-ttl-ms",
        Scope::Connection,
        Form::Duration {
            bare: Bare::Milliseconds,
            zero: true,
            never: false,
            set: None,
        },
        "how long a table's schema is believed; dropped at once where the server says that it changed",
    )
    .default("600000")
    .not_yet(),
    OptionSpec::hologres(
        "serverless-computing.enabled",
        Scope::Connection,
        "bulk work on its shared machines",
    ),
];
