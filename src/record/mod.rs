//! What a caller writes: a kind of change and a value, NULL or nothing for each column.

mod calendar;
mod datetime;
mod numeric;
mod value;

pub(crate) use calendar::{days_from_civil, days_in_month};
pub use datetime::{Date, Interval, Time, TimeTz, Timestamp};
pub(crate) use datetime::{MICROS_PER_DAY, MICROS_PER_SECOND, UNIX_EPOCH_DAYS};
pub(crate) use numeric::{Decimal, Literal, Sign, is_newer_form};
pub use numeric::{Numeric, NumericError};
pub use value::Value;

/// The kind of a change, in the words of a changelog: `+I`, `-U`, `+U`, `-D`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// `+I`: a new row; written by the sink's conflict policy.
    Insert,
    /// `-U`: the row as it was before an update.
    UpdateBefore,
    /// `+U`: the row as it is after an update; written as an insert.
    UpdateAfter,
    /// `-D`: the row is gone.
    Delete,
}

/// A change with its fields by column name. A column that is not named is *absent*: it keeps its value in a stored
/// row and gets its DEFAULT in a new one. A [`Value::Null`] is NULL.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The kind of change.
    pub kind: RowKind,
    /// Column name and value, in any order; a name at most once.
    pub fields: Vec<(String, Value<'static>)>,
    /// The caller's token for this record in reports; without one the count of records since open.
    pub position: Option<u64>,
}

impl Record {
    /// An empty change.
    pub fn new(kind: RowKind) -> Self {
        Self { kind, fields: Vec::new(), position: None }
    }

    /// Gives `column` a value.
    #[must_use]
    pub fn field(mut self, column: impl Into<String>, value: impl Into<Value<'static>>) -> Self {
        self.fields.push((column.into(), value.into()));
        self
    }
}
