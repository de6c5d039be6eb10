//! Section C, storage and read: what the table is, and how it is scanned.

use super::super::form::{Choice, Form};
use super::super::pool::MOST_CONNECTIONS;
use super::super::sink::DeleteStrategy;
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;

const TIME_UNITS: &[Choice] = &[
    Choice::plain("YEAR"),
    Choice::plain("QUARTER"),
    Choice::plain("MONTH"),
    Choice::plain("DAY"),
    Choice::plain("HOUR"),
];

const MERGE_ENGINES: &[Choice] = &[
    Choice::set("last_row", |_| ()),
    Choice::plain("first_row"),
    Choice::plain("versioned"),
    Choice::plain("aggregation"),
];

const CHANGELOG_IMAGES: &[Choice] = &[Choice::plain("FULL"), Choice::plain("WAL")];

const DELETE_BEHAVIORS: &[Choice] = &[
    // The strategy that is given, or the default one, deletes already.
    Choice::set("ALLOW", |_| ()),
    Choice::set("IGNORE", |draft| draft.sink.delete_strategy = DeleteStrategy::IgnoreDelete),
    Choice::set("DISABLE", |draft| draft.sink.delete_strategy = DeleteStrategy::Disable),
];

const AGGREGATIONS: &[Choice] = &[
    Choice::plain("sum"),
    Choice::plain("product"),
    Choice::plain("max"),
    Choice::plain("min"),
    Choice::plain("last_value"),
    Choice::plain("last_value_ignore_nulls"),
    Choice::plain("first_value"),
    Choice::plain("first_value_ignore_nulls"),
    Choice::plain("listagg"),
    Choice::plain("string_agg"),
    Choice::plain("bool_and"),
    Choice::plain("bool_or"),
];

const STARTUP_MODES: &[Choice] =
    &[Choice::plain("full"), Choice::plain("earliest"), Choice::plain("latest"), Choice::plain("timestamp")];

const SERVER_SETUP: &str = "copies are the set-up of the server";
const STORAGE_FORMAT: &str = "it is the storage format of Fluss";
const REMOTE_FILES: &str = "there are no remote files to fetch";

const fn format(key: &'static str) -> OptionSpec {
    OptionSpec::refused(key, Scope::Storage, Form::Text(None), STORAGE_FORMAT)
}

const fn size(min: u64) -> Form {
    Form::Size { min, set: None }
}

pub(super) static STORAGE: &[OptionSpec] = &[
    OptionSpec::works(
        "bucket.num",
        Scope::Storage,
        Form::Int { min: 1, max: MOST_CONNECTIONS as i64, set: Some(|draft, lanes| draft.sink.lanes = lanes as usize) },
        "ordered write lanes, one connection each; all rows of a key use one lane",
    )
    .default("1"),
    OptionSpec::works(
        "bucket.key",
        Scope::Storage,
        Form::List(Some(|draft, columns| draft.sink.bucket_key = Some(columns))),
        "the columns hashed for the lane: part of the key, no partition column; not given: the key; also the prefix for prefix look-ups",
    ),
    OptionSpec::near(
        "table.log.ttl",
        Scope::Storage,
        Form::Duration { bare: Bare::Refused, zero: false, never: true, set: None },
        "append tables partitioned by time: `pgsluice partitions` drops older partitions, only where the key is given",
    )
    .default("7d")
    .not_yet()
    .passes(&["-1"]),
    OptionSpec::works(
        "table.auto-partition.enabled",
        Scope::Storage,
        Form::Bool(None),
        "partitions by time are made ahead and dropped behind",
    )
    .default("false")
    .not_yet()
    .passes(&["false"]),
    OptionSpec::works(
        "table.auto-partition.time-unit",
        Scope::Storage,
        Form::Choice(TIME_UNITS),
        "one partition's time, and its name: yyyy, yyyyQ, yyyyMM, yyyyMMdd, yyyyMMddHH",
    )
    .default("DAY")
    .not_yet(),
    OptionSpec::works(
        "table.auto-partition.num-precreate",
        Scope::Storage,
        Form::Int { min: 0, max: 100_000, set: None },
        "partitions made ahead, the current one included",
    )
    .default("2")
    .not_yet(),
    OptionSpec::works(
        "table.auto-partition.num-retention",
        Scope::Storage,
        Form::Int { min: -1, max: 100_000, set: None },
        "past partitions kept beside the current one, dropped only where the key is given; -1 keeps all",
    )
    .default("7")
    .not_yet()
    .passes(&["-1"]),
    OptionSpec::works(
        "table.auto-partition.time-zone",
        Scope::Storage,
        Form::Text(None),
        "IANA name of the zone in which partitions begin",
    )
    .default("UTC")
    .not_yet(),
    OptionSpec::refused("table.replication.factor", Scope::Storage, Form::Text(None), SERVER_SETUP),
    format("table.log.format"),
    format("table.kv.format"),
    format("table.kv.format-version"),
    format("table.log.arrow.compression.type"),
    format("table.log.arrow.compression.zstd.level"),
    format("table.log.tiered.local-segments"),
    format("table.log.local-ttl"),
    OptionSpec::near(
        "table.statistics.columns",
        Scope::Storage,
        Form::List(None),
        "SET STATISTICS for these columns, and ANALYZE",
    )
    .not_yet(),
    OptionSpec::refused(
        "table.datalake.*",
        Scope::Storage,
        Form::Text(None),
        "there is no data lake behind the table",
    )
    .default("false")
    .passes(&["false"]),
    OptionSpec::works(
        "table.merge-engine",
        Scope::Storage,
        Form::Choice(MERGE_ENGINES),
        "the last row of a key wins; the first; the highest version; or our own aggregation",
    )
    .default("last_row")
    .without(&["first_row", "versioned", "aggregation"]),
    OptionSpec::works(
        "fields.*.agg",
        Scope::Storage,
        Form::Choice(AGGREGATIONS),
        "our own: how aggregation merges this column",
    )
    .not_yet(),
    OptionSpec::works(
        "table.merge-engine.versioned.ver-column",
        Scope::Storage,
        Form::Text(None),
        "the version, required with versioned: an integer or timestamp column outside the key; as high or higher replaces, a stored NULL is lowest",
    )
    .not_yet(),
    OptionSpec::works(
        "table.changelog.image",
        Scope::Storage,
        Form::Choice(CHANGELOG_IMAGES),
        "FULL is REPLICA IDENTITY FULL on every leaf, WAL is DEFAULT; only by an explicit `apply`",
    )
    .default("FULL")
    .not_yet(),
    OptionSpec::works(
        "table.delete.behavior",
        Scope::Storage,
        Form::Choice(DELETE_BEHAVIORS),
        "deletes are done, dropped and counted, or an error of the record; with first_row and versioned the default is IGNORE",
    )
    .default("ALLOW")
    .twin_of("sink.delete-strategy"),
    OptionSpec::near(
        "table.auto-inc.batch-size",
        Scope::Storage,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "CACHE of the column's sequence; not given: as the server has it",
    )
    .not_yet(),
];

pub(super) static READ: &[OptionSpec] = &[
    OptionSpec::works(
        "scan.startup.mode",
        Scope::Read,
        Form::Choice(STARTUP_MODES),
        "where a change stream starts, as `source.binlog.startup-mode`",
    )
    .default("full")
    .not_yet(),
    OptionSpec::near(
        "scan.startup.timestamp",
        Scope::Read,
        Form::Text(None),
        "milliseconds, or `yyyy-MM-dd HH:mm:ss` in the session's zone; in the future or too old is an error",
    )
    .not_yet(),
    OptionSpec::near(
        "scan.partition.discovery.interval",
        Scope::Read,
        Form::Duration { bare: Bare::Refused, zero: true, never: true, set: None },
        "how often new partitions are looked for; 0 and below: never",
    )
    .default("10s")
    .not_yet()
    .passes(&["0", "-1"]),
    OptionSpec::refused(
        "client.scanner.log.check-crc",
        Scope::Read,
        Form::Bool(None),
        "TCP and TLS check what is read, and cannot be told not to",
    )
    .default("true")
    .passes(&["true"]),
    OptionSpec::works(
        "client.scanner.log.max-poll-records",
        Scope::Read,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "records handed on by one poll",
    )
    .default("500")
    .not_yet(),
    OptionSpec::works(
        "client.scanner.log.fetch.max-bytes",
        Scope::Read,
        size(1),
        "bytes of one poll, a soft cap: one record always goes",
    )
    .default("16mb")
    .not_yet(),
    OptionSpec::works(
        "client.scanner.log.fetch.max-bytes-for-bucket",
        Scope::Read,
        size(1),
        "bytes of one poll for one split, a soft cap",
    )
    .default("1mb")
    .not_yet(),
    OptionSpec::works(
        "client.scanner.log.fetch.min-bytes",
        Scope::Read,
        size(0),
        "a poll waits until so many bytes are there",
    )
    .default("1b")
    .not_yet(),
    OptionSpec::works(
        "client.scanner.log.fetch.wait-max-time",
        Scope::Read,
        Form::Duration { bare: Bare::Refused, zero: true, never: false, set: None },
        "but not longer than this",
    )
    .default("500ms")
    .not_yet(),
    OptionSpec::refused("client.scanner.io.tmpdir", Scope::Read, Form::Text(None), REMOTE_FILES),
    OptionSpec::refused(
        "client.scanner.remote-log.prefetch-num",
        Scope::Read,
        Form::Text(None),
        REMOTE_FILES,
    ),
    OptionSpec::refused(
        "client.remote-file.download-thread-num",
        Scope::Read,
        Form::Text(None),
        REMOTE_FILES,
    ),
    OptionSpec::near(
        "scan.kv.snapshot.lease.id",
        Scope::Read,
        Form::Text(None),
        "the name of the replication slot; the same name resumes; not given: a random one",
    )
    .not_yet(),
    OptionSpec::near(
        "scan.kv.snapshot.lease.duration",
        Scope::Read,
        Form::Duration { bare: Bare::Refused, zero: false, never: false, set: None },
        "the longest life of slot and snapshot, ended by the client",
    )
    .default("1day")
    .not_yet(),
];
