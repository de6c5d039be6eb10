//! Section A, source: change streams and scans.

use super::super::form::{Choice, Form};
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;

const READ_MODES: &[Choice] = &[
    Choice::plain("AUTO"),
    Choice::refused("HOLOHUB", "it is a service of Hologres; use AUTO"),
    Choice::plain("JDBC"),
];

const CHANGE_LOG_MODES: &[Choice] =
    &[Choice::plain("UPSERT"), Choice::plain("ALL"), Choice::plain("ALL_AS_APPEND_ONLY")];

const STARTUP_MODES: &[Choice] = &[
    Choice::plain("INITIAL"),
    Choice::plain("EARLIEST_OFFSET"),
    Choice::plain("TIMESTAMP"),
    Choice::plain("LATEST_OFFSET"),
];

const PARTITION_MODES: &[Choice] =
    &[Choice::plain("DISABLE"), Choice::plain("DYNAMIC"), Choice::plain("STATIC")];

const COUNT: Form = Form::Int { min: 1, max: i64::MAX, set: None };

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::near(
        "source.binlog",
        Scope::Read,
        Form::Bool(None),
        "true reads changes by logical replication (pgoutput), false scans once",
    )
    .default("true")
    .not_yet(),
    OptionSpec::near(
        "source.binlog.read-mode",
        Scope::Read,
        Form::Choice(READ_MODES),
        "AUTO and JDBC both mean logical replication",
    )
    .default("AUTO")
    .not_yet(),
    OptionSpec::works(
        "source.binlog.change-log-mode",
        Scope::Read,
        Form::Choice(CHANGE_LOG_MODES),
        "UPSERT gives +I, +U, −D; ALL also −U, and needs REPLICA IDENTITY FULL; ALL_AS_APPEND_ONLY gives every event as +I",
    )
    .default("UPSERT")
    .not_yet(),
    OptionSpec::near(
        "source.binlog.startup-mode",
        Scope::Read,
        Form::Choice(STARTUP_MODES),
        "INITIAL: a snapshot, then the stream from its point; EARLIEST: the slot's confirmed position; TIMESTAMP: by commit time in an existing slot; LATEST: a new slot",
    )
    .default("INITIAL")
    .not_yet(),
    OptionSpec::works("source.binlog.batch-size", Scope::Read, COUNT, "changes handed on at a time")
        .default("512")
        .not_yet(),
    OptionSpec::works(
        "source.binlog.request-timeout-ms",
        Scope::Read,
        Form::Duration { bare: Bare::Milliseconds, zero: false, never: false, set: None },
        "the longest wait for an answer of the replication connection",
    )
    .default("300000")
    .not_yet(),
    OptionSpec::works(
        "source.binlog.project-columns.enabled",
        Scope::Read,
        Form::Bool(None),
        "only the columns read are sent: a column list of the publication from server 15 on, else cut off here",
    )
    .not_yet()
    .passes(&["false"]),
    OptionSpec::hologres(
        "source.binlog.compression.enabled",
        Scope::Read,
        "its compressed binlog",
    ),
    OptionSpec::near(
        "source.binlog.partition-binlog-mode",
        Scope::Read,
        Form::Choice(PARTITION_MODES),
        "DISABLE refuses a partitioned parent; DYNAMIC follows the newest partition by its bound; STATIC reads a fixed list",
    )
    .default("DISABLE")
    .not_yet()
    .passes(&["DISABLE"]),
    OptionSpec::works(
        "source.binlog.partition-binlog-lateness-timeout-minutes",
        Scope::Read,
        Form::Duration { bare: Bare::Minutes, zero: true, never: false, set: None },
        "how long the last partition is still read in DYNAMIC; at most one partition's unit",
    )
    .default("60")
    .not_yet(),
    OptionSpec::works(
        "source.binlog.partition-values-to-read",
        Scope::Read,
        Form::List(None),
        "the partitions of STATIC",
    )
    .not_yet(),
    OptionSpec::near(
        "startTime",
        Scope::Read,
        Form::Text(None),
        "`yyyy-MM-dd hh:mm:ss`: where TIMESTAMP starts",
    )
    .not_yet(),
    OptionSpec::works("source.scan.fetch-size", Scope::Read, COUNT, "rows fetched at a time by a scan")
        .default("512")
        .not_yet(),
    OptionSpec::works(
        "source.scan.timeout-seconds",
        Scope::Read,
        Form::Duration { bare: Bare::Seconds, zero: false, never: false, set: None },
        "the longest time of a scan's statement",
    )
    .default("60")
    .not_yet(),
    OptionSpec::works(
        "source.scan.filter-push-down.enabled",
        Scope::Read,
        Form::Bool(None),
        "comparisons, AND, OR, NOT, IS NULL, IN and BETWEEN are done by the server; literals are bound",
    )
    .default("false")
    .not_yet()
    .passes(&["false"]),
    OptionSpec::works(
        "source.binlog.filter-push-down.enabled",
        Scope::Read,
        Form::Bool(None),
        "changes are filtered by the publication from server 15 on, else here",
    )
    .default("false")
    .not_yet()
    .passes(&["false"]),
    OptionSpec::works(
        "scan.prefer.physical-column.over.metadata-column",
        Scope::Read,
        Form::Bool(None),
        "a column of the table wins over a metadata column of the same name",
    )
    .default("false")
    .not_yet()
    .passes(&["false"]),
];
