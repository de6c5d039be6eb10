//! Section D: keys that no other connector has.

use std::time::Duration;

use super::super::draft::{Draft, TargetSessionAttrs};
use super::super::form::{Choice, Form};
use super::super::pool::Pooler;
use super::super::sink::RejectPolicy;
use super::super::spec::{OptionSpec, Scope};
use super::super::tls::{ChannelBinding, SslNegotiation};
use super::super::unit::Bare;
use super::connection::idle_timeout;

const REJECT_POLICIES: &[Choice] = &[
    Choice::set("fail", |draft| draft.sink.reject_policy = RejectPolicy::Fail),
    Choice::set("skip", |draft| draft.sink.reject_policy = RejectPolicy::Skip { limit: None }),
    Choice::plain("dead-letter"),
];

const POOLERS: &[Choice] = &[
    Choice::set("none", |draft| draft.pool.pooler = Some(Pooler::None)),
    Choice::set("transaction", |draft| draft.pool.pooler = Some(Pooler::Transaction)),
];

const SESSIONS: &[Choice] = &[
    Choice::set("any", |draft| draft.target_session_attrs = Some(TargetSessionAttrs::Any)),
    Choice::set("read-write", |draft| draft.target_session_attrs = Some(TargetSessionAttrs::ReadWrite)),
    Choice::set("read-only", |draft| draft.target_session_attrs = Some(TargetSessionAttrs::ReadOnly)),
    Choice::set("primary", |draft| draft.target_session_attrs = Some(TargetSessionAttrs::Primary)),
    Choice::set("standby", |draft| draft.target_session_attrs = Some(TargetSessionAttrs::Standby)),
    Choice::set("prefer-standby", |draft| {
        draft.target_session_attrs = Some(TargetSessionAttrs::PreferStandby)
    }),
];

const CHANNEL_BINDINGS: &[Choice] = &[
    Choice::set("disable", |draft| draft.tls.channel_binding = Some(ChannelBinding::Disable)),
    Choice::set("prefer", |draft| draft.tls.channel_binding = Some(ChannelBinding::Prefer)),
    Choice::set("require", |draft| draft.tls.channel_binding = Some(ChannelBinding::Require)),
];

const NEGOTIATIONS: &[Choice] = &[
    Choice::set("postgres", |draft| draft.tls.negotiation = Some(SslNegotiation::Postgres)),
    Choice::set("direct", |draft| draft.tls.negotiation = Some(SslNegotiation::Direct)),
];

const fn time(set: fn(&mut Draft, Option<Duration>)) -> Form {
    Form::Duration { bare: Bare::Refused, zero: false, never: false, set: Some(set) }
}

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::works(
        "sink.key-columns",
        Scope::Write,
        Form::List(Some(|draft, columns| draft.sink.key_columns = Some(columns))),
        "the conflict key; a unique index that fits must be there; not given: the primary key",
    ),
    OptionSpec::works(
        "sink.key-predicate",
        Scope::Write,
        Form::Sql(Some(|draft, sql| draft.sink.key_predicate = Some(sql))),
        "the WHERE of a partial unique index over the key columns",
    ),
    OptionSpec::works(
        "sink.text-values",
        Scope::Write,
        Form::Bool(Some(|draft, on| draft.sink.text_values = on)),
        "field texts go to the server's input functions as they are",
    )
    .default("false"),
    OptionSpec::works(
        "sink.skip-unchanged.enabled",
        Scope::Write,
        Form::Bool(None),
        "rows equal to the stored ones are not written again; refused where a column has no equality",
    )
    .default("false")
    .not_yet()
    .passes(&["false"]),
    OptionSpec::works(
        "sink.reject-policy",
        Scope::Write,
        Form::Choice(REJECT_POLICIES),
        "a record that cannot be written is an error of the next call, is left out and reported, or is handed to a dead-letter",
    )
    .default("fail")
    .without(&["dead-letter"]),
    OptionSpec::works(
        "sink.reject-limit",
        Scope::Write,
        Form::Int { min: 0, max: i64::MAX, set: Some(|draft, limit| draft.reject_limit = Some(limit.unsigned_abs())) },
        "so many rejected records are borne under skip, one more ends the sink; not given: any number",
    ),
    OptionSpec::works(
        "sink.dead-letter",
        Scope::Write,
        Form::Text(None),
        "the file or table that takes rejected records",
    )
    .not_yet(),
    OptionSpec::works(
        "sink.delivery-timeout",
        Scope::Write,
        Form::Duration {
            bare: Bare::Refused,
            zero: false,
            never: true,
            set: Some(|draft, time| draft.sink.delivery_timeout = time),
        },
        "over all retries of a batch; then an error that says committed, not committed or unknown",
    )
    .default("10 min"),
    OptionSpec::works(
        "sink.ledger",
        Scope::Write,
        Form::Text(None),
        "a table that settles lost answers where the server cannot, and takes `--resume`",
    )
    .not_yet(),
    OptionSpec::works(
        "sink.time-zone",
        Scope::Write,
        Form::Text(Some(|draft, name| draft.sink.time_zone = Some(name))),
        "for texts without offset into timestamptz; not given: the server's TimeZone at connect",
    ),
    OptionSpec::works(
        "connection.pooler",
        Scope::Connection,
        Form::Choice(POOLERS),
        "behind a pooler in transaction mode nothing outlasts a transaction; not given: none, or transaction where a pooler shows itself at the login",
    ),
    OptionSpec::works(
        "connection.acquire-timeout",
        Scope::Connection,
        time(|draft, time| draft.pool.acquire_timeout = time),
        "the longest wait for a free connection; the error names the pool",
    )
    .default("30s"),
    OptionSpec::works(
        "connection.max-lifetime",
        Scope::Connection,
        time(|draft, time| draft.pool.max_lifetime = time),
        "an older connection is not handed out again; with jitter",
    )
    .default("30min"),
    OptionSpec::works(
        "connection.idle-timeout",
        Scope::Connection,
        idle_timeout(Bare::Refused),
        "a connection unused for so long is closed",
    )
    .default("60s")
    .twin_of("connection.max-idle-ms"),
    OptionSpec::works(
        "connection.keepalive",
        Scope::Connection,
        time(|draft, time| draft.pool.keepalive = time),
        "a silent connection is probed after this time",
    )
    .default("30s"),
    OptionSpec::works(
        "connection.tcp-user-timeout",
        Scope::Connection,
        Form::Duration {
            bare: Bare::Refused,
            zero: true,
            never: false,
            set: Some(|draft, time| draft.pool.tcp_user_timeout = time),
        },
        "sent bytes without an acknowledgement for so long end the connection; 0: as the system has it",
    )
    .default("30s"),
    OptionSpec::works(
        "connection.target-session-attrs",
        Scope::Connection,
        Form::Choice(SESSIONS),
        "which of several hosts will do; not given: the DSN's, else read-write for sinks, any for look-ups",
    ),
    OptionSpec::works(
        "connection.ssl.cert",
        Scope::Connection,
        Form::Path(Some(|draft, file| draft.tls.cert = Some(file))),
        "the client's certificate",
    ),
    OptionSpec::works(
        "connection.ssl.key",
        Scope::Connection,
        Form::Path(Some(|draft, file| draft.tls.key = Some(file))),
        "the file with the key of the client's certificate",
    ),
    OptionSpec::works(
        "connection.ssl.system-roots",
        Scope::Connection,
        Form::Bool(Some(|draft, on| draft.tls.system_roots = on)),
        "the machine's own root certificates, instead of a file's; needs verify-full, which it brings where no mode is given",
    )
    .default("false"),
    OptionSpec::works(
        "connection.ssl.channel-binding",
        Scope::Connection,
        Form::Choice(CHANNEL_BINDINGS),
        "SCRAM is bound to the TLS channel: never, where the server offers it, or else no login",
    )
    .default("prefer"),
    OptionSpec::works(
        "connection.ssl.negotiation",
        Scope::Connection,
        Form::Choice(NEGOTIATIONS),
        "direct begins with TLS at once, which saves a round trip: a server 17 or later, and mode require or more",
    )
    .default("postgres"),
    OptionSpec::works(
        "connection.password-command",
        Scope::Connection,
        Form::Secret(Some(|draft, command| draft.password_command = Some(command))),
        "a shell command whose output, without its last newline, is the password; asked at each connect, within the connect timeout",
    ),
];
