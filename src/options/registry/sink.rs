//! Section A, sink.

use std::time::Duration;

use super::super::draft::Draft;
use super::super::form::{Choice, Form};
use super::super::sink::{ConflictAction, CopyFormat, DeleteStrategy, WriteMode};
use super::super::spec::{OptionSpec, Scope};
use super::super::unit::Bare;

const WRITE_MODES: &[Choice] = &[
    Choice::set("INSERT", |draft| draft.sink.write_mode = WriteMode::Insert),
    Choice::set("COPY_STREAM", |draft| draft.sink.write_mode = WriteMode::CopyStream),
    Choice::set("COPY_BULK_LOAD", |draft| draft.sink.write_mode = WriteMode::CopyBulkLoad),
    Choice::set("COPY_BULK_LOAD_ON_CONFLICT", |draft| {
        draft.sink.write_mode = WriteMode::CopyBulkLoadOnConflict
    }),
    Choice::set("AUTO", |draft| draft.sink.write_mode = WriteMode::Auto),
];

const CONFLICT_ACTIONS: &[Choice] = &[
    Choice::set("INSERT_OR_IGNORE", |draft| draft.sink.on_conflict = Some(ConflictAction::InsertOrIgnore)),
    Choice::set("INSERT_OR_REPLACE", |draft| draft.sink.on_conflict = Some(ConflictAction::InsertOrReplace)),
    Choice::set("INSERT_OR_UPDATE", |draft| draft.sink.on_conflict = Some(ConflictAction::InsertOrUpdate)),
];

const DELETE_STRATEGIES: &[Choice] = &[
    Choice::set("IGNORE_DELETE", |draft| draft.sink.delete_strategy = DeleteStrategy::IgnoreDelete),
    Choice::set("NON_PK_FIELD_TO_NULL", |draft| {
        draft.sink.delete_strategy = DeleteStrategy::NonPkFieldToNull
    }),
    Choice::set("DELETE_ROW_ON_PK", |draft| draft.sink.delete_strategy = DeleteStrategy::DeleteRowOnPk),
    Choice::set("CHANGELOG_STANDARD", |draft| draft.sink.delete_strategy = DeleteStrategy::ChangelogStandard),
];

const CHECK_OPERATORS: &[Choice] = &[
    Choice::plain("GREATER"),
    Choice::plain("GREATER_OR_EQUAL"),
    Choice::plain("EQUAL"),
    Choice::plain("NOT_EQUAL"),
    Choice::plain("LESS"),
    Choice::plain("LESS_OR_EQUAL"),
    Choice::plain("IS_NULL"),
    Choice::plain("IS_NOT_NULL"),
];

const COPY_FORMATS: &[Choice] = &[
    Choice::set("binary", |draft| draft.sink.copy_format = CopyFormat::Binary),
    Choice::set("text", |draft| draft.sink.copy_format = CopyFormat::Text),
    Choice::refused("binaryrow", "only a Hologres server reads this format; use binary"),
];

/// Both names of the bytes of a batch.
pub(super) const BATCH_BYTES: Form = Form::Size {
    min: 1,
    set: Some(|draft, size| draft.sink.batch_bytes = Some(usize::try_from(size).unwrap_or(usize::MAX))),
};

/// Both names of the age of a batch.
pub(super) const fn batch_age(bare: Bare) -> Form {
    fn set(draft: &mut Draft, age: Option<Duration>) {
        draft.sink.flush_interval = age;
    }
    Form::Duration { bare, zero: true, never: true, set: Some(set) }
}

const OFF: &[&str] = &["false"];

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::works(
        "sink.write-mode",
        Scope::Write,
        Form::Choice(WRITE_MODES),
        "how rows travel: INSERT and COPY_STREAM show them after each batch, the bulk modes at flush(); AUTO takes the fastest that the target allows, never a bulk mode",
    )
    .default("INSERT"),
    OptionSpec::works(
        "sink.on-conflict-action",
        Scope::Write,
        Form::Choice(CONFLICT_ACTIONS),
        "where the key is stored: the row stays; is replaced, columns not given become NULL; or is updated in the columns given",
    )
    .default("INSERT_OR_UPDATE"),
    OptionSpec::works(
        "sink.create-missing-partition",
        Scope::Write,
        Form::Bool(None),
        "partitions (LIST, RANGE by time unit) that a row needs are made; a delete never makes one",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.delete-strategy",
        Scope::Write,
        Form::Choice(DELETE_STRATEGIES),
        "−D and −U are dropped; set the other columns NULL; delete by −D only; or both delete",
    )
    .default("CHANGELOG_STANDARD"),
    OptionSpec::works(
        "sink.ignore-null-when-update.enabled",
        Scope::Write,
        Form::Bool(None),
        "a NULL counts as not given; a new row gets the column's DEFAULT",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.ignore-null-when-update-by-expr.enabled",
        Scope::Write,
        Form::Bool(None),
        "a NULL leaves the stored value, in one statement; a new row gets NULL; wins over the plain form",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.ignore-null-when-update.use-builtin.enabled",
        Scope::Write,
        Form::Bool(None),
        "the same result with a number of statements that does not grow with the patterns of NULLs",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.default-for-not-null-column.enabled",
        Scope::Write,
        Form::Bool(None),
        "a NULL for a NOT NULL column without DEFAULT becomes '', 0, false or 1970-01-01 in the inserted row, and is counted; counts as off until it is available",
    )
    .default("true")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.remove-u0000-in-text.enabled",
        Scope::Write,
        Form::Bool(Some(|draft, on| draft.sink.remove_u0000 = on)),
        "U+0000 is taken out of texts and json, and counted; off in `pgsluice load`",
    )
    .default("true"),
    OptionSpec::works(
        "sink.partial-insert.enabled",
        Scope::Write,
        Form::Bool(None),
        "only columns that the statement names are written; off: declared columns that it does not name are NULL; without a declaration absent stays absent",
    )
    .default("false")
    .not_yet()
    .passes(OFF),
    OptionSpec::works(
        "sink.deduplication.enabled",
        Scope::Write,
        Form::Bool(Some(|draft, on| draft.sink.deduplication = on)),
        "changes of one key in a batch are folded; the table is the same without",
    )
    .default("true"),
    OptionSpec::works(
        "sink.aggressive-flush.enabled",
        Scope::Write,
        Form::Bool(Some(|draft, on| draft.sink.aggressive_flush = on)),
        "a connection that becomes idle takes what is buffered at once",
    )
    .default("false"),
    OptionSpec::works(
        "sink.insert.check-and-put.column",
        Scope::Write,
        Form::Text(None),
        "a stored row is changed only where the new value of this column passes a comparison with the stored one",
    )
    .not_yet(),
    OptionSpec::works(
        "sink.insert.check-and-put.operator",
        Scope::Write,
        Form::Choice(CHECK_OPERATORS),
        "that comparison; a missing row is always inserted",
    )
    .default("GREATER")
    .not_yet(),
    OptionSpec::works(
        "sink.insert.check-and-put.null-as",
        Scope::Write,
        Form::Text(None),
        "a stored NULL is compared as this value",
    )
    .not_yet(),
    OptionSpec::works(
        "sink.insert.batch-size",
        Scope::Write,
        Form::Int {
            min: 1,
            max: i64::MAX,
            set: Some(|draft, rows| draft.sink.batch_rows = Some(usize::try_from(rows).unwrap_or(usize::MAX))),
        },
        "rows that seal a batch, at least 1 (0 is an error); the first limit reached counts; not given in the COPY modes, AUTO and `pgsluice load`: chosen by the sink",
    )
    .default("512"),
    OptionSpec::works(
        "sink.skip-generated-columns",
        Scope::Write,
        Form::Bool(Some(|draft, on| draft.sink.skip_generated_columns = on)),
        "our own: a generated column that the source delivers is left out, and that is said once, instead of refused",
    )
    .default("false"),
    OptionSpec::works(
        "sink.insert-only-columns",
        Scope::Write,
        Form::List(Some(|draft, columns| draft.sink.insert_only_columns = columns)),
        "our own: the record that creates the row gives these columns, later ones never, as for `created_at`",
    ),
    OptionSpec::works(
        "sink.insert.batch-byte-size",
        Scope::Write,
        BATCH_BYTES,
        "encoded bytes that seal a batch, at least 1 and at most half of the memory; not given in the COPY modes and AUTO: chosen by the sink",
    )
    .default("2097152"),
    OptionSpec::works(
        "sink.insert.flush-interval-ms",
        Scope::Write,
        batch_age(Bare::Milliseconds),
        "age of the oldest row that seals a batch, without a new row; 0: at once; -1: never by age, only by rows, bytes and flush()",
    )
    .default("10000"),
    OptionSpec::works(
        "sink.copy.format",
        Scope::Write,
        Form::Choice(COPY_FORMATS),
        "the format of the COPY modes; as text, fields are read by the server's input functions",
    )
    .default("binary"),
    OptionSpec::works(
        "sink.copy.min-rows",
        Scope::Write,
        Form::Int {
            min: 1,
            max: i64::MAX,
            set: Some(|draft, rows| draft.sink.copy_min_rows = usize::try_from(rows).unwrap_or(usize::MAX)),
        },
        "our own: in the COPY modes and AUTO, so many rows of one statement of a table with a key go by COPY into a staging table; fewer go as parameters",
    )
    .default("4096"),
    OptionSpec::works(
        "sink.insert.conflict-update-set",
        Scope::Write,
        Form::Sql(None),
        "what the update sets; `old` is the stored row, `excluded` the new one",
    )
    .not_yet(),
    OptionSpec::works(
        "sink.insert.conflict-where",
        Scope::Write,
        Form::Sql(None),
        "the stored row is changed only where this holds; `old` and `excluded` as above",
    )
    .not_yet(),
];
