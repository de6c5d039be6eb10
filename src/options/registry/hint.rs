//! Section B: the keys inside `LOOKUP('table'='d', …)`. The OPTIONS hint has the keys of the table itself.

use super::super::form::{Choice, Form};
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;

const OUTPUT_MODES: &[Choice] = &[Choice::plain("ordered"), Choice::plain("allow_unordered")];
const PREDICATES: &[Choice] = &[Choice::plain("lookup_miss")];
const STRATEGIES: &[Choice] = &[Choice::plain("fixed_delay")];

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::works(
        "table",
        Scope::Hint,
        Form::Text(None),
        "the look-up table, or its alias, that the hint is for; required",
    )
    .not_yet(),
    OptionSpec::works(
        "async",
        Scope::Hint,
        Form::Bool(None),
        "which entry point is used; not given: the table decides",
    )
    .not_yet(),
    OptionSpec::works(
        "output-mode",
        Scope::Hint,
        Form::Choice(OUTPUT_MODES),
        "unordered only for input without updates, and never across a watermark",
    )
    .default("ordered")
    .not_yet(),
    OptionSpec::works(
        "capacity",
        Scope::Hint,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "rows that are taken and not yet handed on; where it is full the input waits",
    )
    .default("100")
    .not_yet(),
    OptionSpec::works(
        "timeout",
        Scope::Hint,
        Form::Duration { bare: Bare::Refused, zero: true, never: false, set: None },
        "from a row's first attempt over all its retries; then an error, never an empty row",
    )
    .default("300s")
    .not_yet(),
    OptionSpec::works(
        "retry-predicate",
        Scope::Hint,
        Form::Choice(PREDICATES),
        "what is tried again: no row after key and filter; the four retry keys are given together or not at all",
    )
    .not_yet(),
    OptionSpec::works("retry-strategy", Scope::Hint, Form::Choice(STRATEGIES), "how retries are spaced").not_yet(),
    OptionSpec::works(
        "fixed-delay",
        Scope::Hint,
        Form::Duration { bare: Bare::Refused, zero: false, never: false, set: None },
        "time between two attempts",
    )
    .aliases(&["delay"])
    .not_yet(),
    OptionSpec::works(
        "max-attempts",
        Scope::Hint,
        Form::Int { min: 1, max: i64::MAX, set: None },
        "so many retries after the first look-up",
    )
    .not_yet(),
];
