//! A value on its way in, as the source had it: not yet of any column's type.

use std::borrow::Cow;
use std::fmt;

use super::{Date, Interval, Numeric, Time, TimeTz, Timestamp};

/// A source value. The encoder turns it into the bytes of the *column's* type, exactly, or refuses it.
///
/// `Debug` shows the kind and never the value, so that no row reaches a log.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer; unsigned 64-bit ones fit too.
    Int(i128),
    /// A 32-bit float: its shortest decimal form is what a text or numeric column gets.
    Float4(f32),
    /// A 64-bit float.
    Float8(f64),
    /// A decimal number with all its digits.
    Numeric(Numeric),
    /// Text; read by the column type's own text rules where the column is no text column.
    Text(Cow<'a, str>),
    /// Bytes, for bytea, and for uuid where they are 16.
    Bytes(Cow<'a, [u8]>),
    /// A JSON document as text: its own text for json and jsonb, arrays for array columns, scalars for scalars.
    Json(Cow<'a, str>),
    /// A list, for an array column (nested lists are dimensions), as JSON for a json column.
    Array(Vec<Value<'a>>),
    /// A day.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// A time of day with its offset.
    TimeTz(TimeTz),
    /// A date and time without zone.
    Timestamp(Timestamp),
    /// An instant.
    TimestampTz(Timestamp),
    /// Months, days and microseconds.
    Interval(Interval),
    /// A UUID.
    Uuid([u8; 16]),
}

impl Value<'_> {
    /// The kind's name, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) => "integer",
            Self::Float4(_) => "float4",
            Self::Float8(_) => "float8",
            Self::Numeric(_) => "numeric",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Json(_) => "json",
            Self::Array(_) => "array",
            Self::Date(_) => "date",
            Self::Time(_) => "time",
            Self::TimeTz(_) => "timetz",
            Self::Timestamp(_) => "timestamp",
            Self::TimestampTz(_) => "timestamptz",
            Self::Interval(_) => "interval",
            Self::Uuid(_) => "uuid",
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.kind())
    }
}

macro_rules! from {
    ($($source:ty => $make:expr),* $(,)?) => {$(
        impl<'a> From<$source> for Value<'a> {
            fn from(value: $source) -> Self {
                ($make)(value)
            }
        }
    )*};
}

from! {
    bool => Value::Bool,
    i16 => |v| Value::Int(i128::from(v)),
    i32 => |v| Value::Int(i128::from(v)),
    i64 => |v| Value::Int(i128::from(v)),
    u32 => |v| Value::Int(i128::from(v)),
    u64 => |v| Value::Int(i128::from(v)),
    f32 => Value::Float4,
    f64 => Value::Float8,
    Numeric => Value::Numeric,
    String => |v| Value::Text(Cow::Owned(v)),
    &'a str => |v| Value::Text(Cow::Borrowed(v)),
    Vec<u8> => |v| Value::Bytes(Cow::Owned(v)),
    &'a [u8] => |v| Value::Bytes(Cow::Borrowed(v)),
    Date => Value::Date,
    Time => Value::Time,
    Interval => Value::Interval,
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
