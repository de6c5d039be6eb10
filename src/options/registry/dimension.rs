//! Section A, dimension table: look-ups.

use super::super::form::{Choice, Form};
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;

const CACHES: &[Choice] = &[Choice::plain("None"), Choice::plain("LRU"), Choice::plain("ALL")];

const OFF: &[&str] = &["false"];

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::works(
        "lookup.read.batch-size",
        Scope::Lookup,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "keys looked up by one statement",
    )
    .default("256")
    .not_yet(),
    OptionSpec::works(
        "lookup.read.timeout-ms",
        Scope::Lookup,
        Form::Duration { bare: Bare::Milliseconds, zero: true, never: false, set: None },
        "ends the caller's wait and the statement; 0 is none",
    )
    .default("0")
    .not_yet()
    .passes(&["0"]),
    OptionSpec::near(
        "lookup.read.column-table.enabled",
        Scope::Lookup,
        Form::Bool(None),
        "a look-up without a usable index is refused at open with advice; true: it is only warned of",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "lookup.insert-if-not-exists",
        Scope::Lookup,
        Form::Bool(None),
        "a key that is not stored is inserted, and its row is the answer; safe among many writers",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "cache",
        Scope::Lookup,
        Form::Choice(CACHES),
        "None, LRU, or our own ALL: the whole table, refreshed",
    )
    .default("None")
    .not_yet()
    .passes(&["None"]),
    OptionSpec::works(
        "cacheSize",
        Scope::Lookup,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "entries kept by the cache",
    )
    .default("10000")
    .not_yet(),
    OptionSpec::works(
        "cacheTTLMs",
        Scope::Lookup,
        Form::Duration { bare: Bare::Milliseconds, zero: false, never: false, set: None },
        "age at which an entry is looked up again, from its write; not given: never",
    )
    .not_yet(),
    OptionSpec::works(
        "cacheEmpty",
        Scope::Lookup,
        Form::Bool(None),
        "a key without a row is remembered too; with retry on a miss and not given: false",
    )
    .default("true")
    .not_yet(),
    OptionSpec::works("async", Scope::Lookup, Form::Bool(None), "old name of `lookup.async`")
        .twin_of("lookup.async")
        .not_yet()
        .passes(OFF),
    OptionSpec::works(
        "lookup.async",
        Scope::Lookup,
        Form::Bool(None),
        "several look-ups are under way at a time",
    )
    .default("true")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "lookup.filter-push-down.enabled",
        Scope::Lookup,
        Form::Bool(None),
        "comparisons of a column with a constant are done by the server, and are part of the cache's key",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
];
