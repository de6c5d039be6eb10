//! Section C, the client's side: write, lookup and other.

use super::super::form::{Choice, Form};
use super::super::sink::DeleteStrategy;
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;
use super::connection::HOSTS;
use super::sink::{BATCH_BYTES, batch_age};

const KEYLESS_LANES: &[Choice] = &[Choice::plain("STICKY"), Choice::plain("ROUND_ROBIN")];
const ACKS: &[Choice] = &[Choice::plain("all"), Choice::plain("-1"), Choice::plain("1"), Choice::plain("0")];
const CACHES: &[Choice] = &[Choice::plain("NONE"), Choice::plain("PARTIAL")];

const DISTRIBUTIONS: &[Choice] = &[
    Choice::plain("AUTO"),
    Choice::plain("NONE"),
    Choice::plain("BUCKET"),
    Choice::plain("PARTITION_DYNAMIC"),
];

const COUNT: Form = Form::Int { min: 1, max: i64::MAX, set: None };
const RETRIES: Form = Form::Int { min: 0, max: i64::MAX, set: None };
const SIZE: Form = Form::Size { min: 1, set: None };

const fn duration(zero: bool) -> Form {
    Form::Duration { bare: Bare::Refused, zero, never: false, set: None }
}

pub(super) static WRITE: &[OptionSpec] = &[
    OptionSpec::works(
        "sink.ignore-delete",
        Scope::Write,
        // Not ignoring leaves the strategy as it is.
        Form::Bool(Some(|draft, on| {
            if on {
                draft.sink.delete_strategy = DeleteStrategy::IgnoreDelete;
            }
        })),
        "−D and −U are dropped and counted",
    )
    .default("false")
    .twin_of("sink.delete-strategy"),
    OptionSpec::works(
        "sink.bucket-shuffle",
        Scope::Write,
        Form::Bool(None),
        "old name for distribution BUCKET",
    )
    .default("true")
    .not_yet()
    .passes(&["true"]),
    OptionSpec::works(
        "client.writer.buffer.memory-size",
        Scope::Write,
        Form::Size {
            min: 1,
            set: Some(|draft, size| draft.sink.memory = usize::try_from(size).unwrap_or(usize::MAX)),
        },
        "a hard bound on what is buffered, over all tables of a pool; a row above it fails alone and at once",
    )
    .default("64mb"),
    OptionSpec::works("client.writer.batch-size", Scope::Write, BATCH_BYTES, "bytes of a lane's batch")
        .default("2mb")
        .twin_of("sink.insert.batch-byte-size"),
    OptionSpec::works(
        "client.writer.buffer.wait-timeout",
        Scope::Write,
        duration(true),
        "the longest wait for room in the buffer, then an error with the figures; not given: no limit",
    )
    .not_yet(),
    OptionSpec::works(
        "client.writer.batch-timeout",
        Scope::Write,
        batch_age(Bare::Refused),
        "how long a batch waits for more rows; 0: at once; -1: never by age",
    )
    .default("100ms")
    .twin_of("sink.insert.flush-interval-ms"),
    OptionSpec::works(
        "client.writer.bucket.no-key-assigner",
        Scope::Write,
        Form::Choice(KEYLESS_LANES),
        "rows without a key fill one lane's batch before the next, or go round",
    )
    .default("STICKY")
    .not_yet()
    .passes(&["STICKY"]),
    OptionSpec::near(
        "client.writer.acks",
        Scope::Write,
        Form::Choice(ACKS),
        "all and -1: synchronous_commit on; 1: local; 0: off, the answer is still read",
    )
    .default("all")
    .not_yet(),
    OptionSpec::works(
        "client.writer.request-max-size",
        Scope::Write,
        SIZE,
        "bytes sent in one transaction; not for the bulk modes",
    )
    .default("10mb")
    .not_yet(),
    OptionSpec::works(
        "client.writer.retries",
        Scope::Write,
        super::connection::RETRIES,
        "retries of a batch, within the delivery deadline",
    )
    .twin_of("retry-count")
    .default("2147483647"),
    OptionSpec::works(
        "client.writer.enable-idempotence",
        Scope::Write,
        Form::Bool(None),
        "appends without a key are settled by the transaction's status where the answer to COMMIT was lost",
    )
    .default("true")
    .not_yet()
    .passes(&["true"]),
    OptionSpec::works(
        "client.writer.max-inflight-requests-per-bucket",
        Scope::Write,
        Form::Int { min: 1, max: 5, set: None },
        "batches of a lane under way; a failure replays from the first that has no answer, in order",
    )
    .default("5")
    .not_yet()
    .passes(&["1"]),
    OptionSpec::near(
        "client.writer.buffer.page-size",
        Scope::Write,
        SIZE,
        "reservations are rounded to it; the least dynamic batch size",
    )
    .default("128kb")
    .not_yet(),
    OptionSpec::near(
        "client.writer.buffer.per-request-memory-size",
        Scope::Write,
        SIZE,
        "the least reservation",
    )
    .default("16mb")
    .not_yet(),
    OptionSpec::works(
        "client.writer.dynamic-batch-size.enabled",
        Scope::Write,
        Form::Bool(None),
        "the batch size follows how full batches are; off outside a Fluss set-up",
    )
    .default("true")
    .not_yet()
    .passes(&["false"]),
    OptionSpec::works(
        "sink.distribution-mode",
        Scope::Write,
        Form::Choice(DISTRIBUTIONS),
        "how rows find their lane; NONE on a keyed table with several lanes is an error",
    )
    .default("AUTO")
    .not_yet()
    .passes(&["AUTO"]),
];

pub(super) static LOOKUP: &[OptionSpec] = &[
    OptionSpec::works(
        "lookup.cache",
        Scope::Lookup,
        Form::Choice(CACHES),
        "PARTIAL needs a limit: rows or an expiry",
    )
    .default("NONE")
    .not_yet()
    .passes(&["NONE"]),
    OptionSpec::works("lookup.max-retries", Scope::Lookup, RETRIES, "retries after errors that may pass")
        .default("3")
        .not_yet()
        .passes(&["0"]),
    OptionSpec::works(
        "lookup.partial-cache.expire-after-access",
        Scope::Lookup,
        duration(false),
        "an entry unused for so long is dropped; with both expiries the earlier counts",
    )
    .not_yet(),
    OptionSpec::works(
        "lookup.partial-cache.expire-after-write",
        Scope::Lookup,
        duration(false),
        "an entry of this age is looked up again",
    )
    .twin_of("cacheTTLMs")
    .not_yet(),
    OptionSpec::works("lookup.partial-cache.max-rows", Scope::Lookup, COUNT, "entries kept by the cache")
        .twin_of("cacheSize")
        .not_yet(),
    OptionSpec::works(
        "lookup.partial-cache.cache-missing-key",
        Scope::Lookup,
        Form::Bool(None),
        "a key without a row is remembered too",
    )
    .default("true")
    .twin_of("cacheEmpty")
    .not_yet(),
    OptionSpec::works(
        "client.lookup.queue-size",
        Scope::Lookup,
        COUNT,
        "keys that wait for a statement; where it is full the caller waits",
    )
    .default("25600")
    .not_yet(),
    OptionSpec::works(
        "client.lookup.max-batch-size",
        Scope::Lookup,
        COUNT,
        "keys looked up by one statement",
    )
    .default("128")
    .twin_of("lookup.read.batch-size")
    .not_yet(),
    OptionSpec::works(
        "client.lookup.max-inflight-requests",
        Scope::Lookup,
        COUNT,
        "statements under way, over the pool's connections",
    )
    .default("128")
    .not_yet(),
    OptionSpec::works(
        "client.lookup.batch-timeout",
        Scope::Lookup,
        duration(true),
        "the longest wait for more keys; with a free connection a key is sent at once",
    )
    .default("100ms")
    .not_yet(),
    OptionSpec::works(
        "client.lookup.max-retries",
        Scope::Lookup,
        RETRIES,
        "retries within the timeout; not given: without end",
    )
    .twin_of("lookup.max-retries")
    .not_yet()
    .passes(&["0"]),
];

pub(super) static OTHER: &[OptionSpec] = &[
    OptionSpec::works(
        "bootstrap.servers",
        Scope::Connection,
        HOSTS,
        "the host list; sinks look for a server that takes writes",
    )
    .twin_of("endpoint"),
    OptionSpec::works(
        "client.id",
        Scope::Connection,
        Form::Text(Some(|draft, name| draft.pool.application_name = Some(name))),
        "application_name: printable ASCII; cut at 63 bytes, and that is said once",
    ),
    OptionSpec::works(
        "client.connect-timeout",
        Scope::Connection,
        Form::Duration {
            bare: Bare::Refused,
            zero: false,
            never: false,
            set: Some(|draft, time| draft.pool.connect_timeout = time),
        },
        "for each host, TLS and login included",
    )
    .default("120s"),
    OptionSpec::works(
        "client.request-timeout",
        Scope::Connection,
        duration(false),
        "the client's timer for a statement, which is then cancelled; a COPY has a deadline for progress instead",
    )
    .default("30s")
    .not_yet(),
    OptionSpec::refused(
        "client.filesystem.security.token.renewal.*",
        Scope::Connection,
        Form::Text(None),
        "there is no file system that wants tokens",
    ),
    OptionSpec::works("client.metrics.enabled", Scope::Connection, Form::Bool(None), "counters by the `metrics` facade")
        .default("false")
        .not_yet()
        .passes(&["false"]),
];
