//! One codec a column: chosen once from the column's type, then a jump per field and no boxing.

use std::sync::Arc;

use super::json::Scalar;
use super::{
    EncodeContext, EncodeError, array, as_text, bits, boolean, bytea, composite, datetime, extension, float,
    integer, json, network, numeric, range, text, text_form, uuid,
};
use crate::catalog::{PgType, TypeKind};
use crate::record::Value;

/// In which form a column's bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// The type's binary form, made here.
    Binary,
    /// The type's text form; the statement casts it and the server's input function reads it.
    Text,
}

/// Who can say whether two keys of a type are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEquality {
    /// The canonical key of [`Codec::push_key`] is equal exactly where the server's `=` is true.
    Client,
    /// Only the server knows (citext, jsonb, nondeterministic collations, extension types, text on the wire).
    Server,
}

/// Turns source values into fields of one column's type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Codec {
    /// `boolean`.
    Bool,
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `oid` and its aliases' numbers.
    Oid,
    /// `real`.
    Float4,
    /// `double precision`.
    Float8,
    /// `numeric(p,s)`: rounded to the declared scale, refused beyond the precision.
    Numeric(Option<numeric::Declared>),
    /// `text`, `varchar(n)`, `char(n)`, `name`, `"char"`, enum labels, xml, citext, ltree's text.
    Text(text::Rule),
    /// `bytea`.
    Bytea,
    /// `json`.
    Json,
    /// `jsonb`.
    Jsonb,
    /// `uuid`.
    Uuid,
    /// `date`.
    Date,
    /// `time(p)`; 6 is no rounding.
    Time(u8),
    /// `timetz(p)`.
    TimeTz(u8),
    /// `timestamp(p)`.
    Timestamp(u8),
    /// `timestamptz(p)`.
    TimestampTz(u8),
    /// `interval`, its typmod as the server has it (-1 = none).
    Interval(i32),
    /// `inet`.
    Inet,
    /// `cidr`.
    Cidr,
    /// `macaddr`.
    Macaddr,
    /// `macaddr8`.
    Macaddr8,
    /// `bit(n)`: exactly n bits.
    Bit(Option<u32>),
    /// `bit varying(n)`: at most n bits.
    Varbit(Option<u32>),
    /// An array over an element codec.
    Array(Arc<array::ArrayCodec>),
    /// A range, or a multirange.
    Range(Arc<range::RangeCodec>),
    /// A composite.
    Composite(Arc<composite::CompositeCodec>),
    /// An extension's type with a small binary form (hstore, pgvector's vector, ltree).
    Extension(extension::Kind),
    /// Any type in its text form, read by the server.
    ServerText,
    /// A type that is known here, in its text form all the same.
    AsText(Arc<Codec>),
}

impl Codec {
    /// The codec of a type in binary where we know its binary form, else `ServerText`.
    pub fn new(data_type: &Arc<PgType>, typmod: i32) -> Self {
        let (base, typmod) = data_type.base(typmod);
        match &base.kind {
            TypeKind::Base if base.schema == "pg_catalog" => Self::built_in(&base.name, typmod),
            TypeKind::Base => extension::Kind::codec(&base.name, typmod),
            TypeKind::Enum(labels) => Some(Self::Text(text::Rule::Enum(labels.clone().into()))),
            TypeKind::Array { .. } => {
                array::ArrayCodec::new(base, typmod).map(|codec| Self::Array(Arc::new(codec)))
            }
            TypeKind::Range { .. } | TypeKind::Multirange { .. } => {
                range::RangeCodec::new(base).map(|codec| Self::Range(Arc::new(codec)))
            }
            TypeKind::Composite(_) => {
                composite::CompositeCodec::new(base).map(composite::CompositeCodec::codec)
            }
            TypeKind::Domain { .. } | TypeKind::Other => None,
        }
        .filter(|_| base.binary)
        .unwrap_or(Self::ServerText)
    }

    fn built_in(name: &str, typmod: i32) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int2" => Self::Int2,
            "int4" => Self::Int4,
            "int8" => Self::Int8,
            "oid" => Self::Oid,
            "float4" => Self::Float4,
            "float8" => Self::Float8,
            "numeric" => Self::Numeric(numeric::Declared::from_typmod(typmod)),
            "text" | "varchar" | "bpchar" | "name" | "char" | "xml" => {
                Self::Text(text::Rule::new(name, typmod))
            }
            "bytea" => Self::Bytea,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "time" => Self::Time(datetime::precision(typmod)),
            "timetz" => Self::TimeTz(datetime::precision(typmod)),
            "timestamp" => Self::Timestamp(datetime::precision(typmod)),
            "timestamptz" => Self::TimestampTz(datetime::precision(typmod)),
            "interval" => Self::Interval(typmod),
            "inet" => Self::Inet,
            "cidr" => Self::Cidr,
            "macaddr" => Self::Macaddr,
            "macaddr8" => Self::Macaddr8,
            "bit" => Self::Bit(u32::try_from(typmod).ok()),
            "varbit" => Self::Varbit(u32::try_from(typmod).ok()),
            _ => return None,
        })
    }

    /// True where the binary form is the text, or the text after a version (jsonb).
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Json | Self::Jsonb)
    }

    /// The wire form that this codec writes.
    pub fn wire(&self) -> Wire {
        match self {
            Self::ServerText | Self::AsText(_) => Wire::Text,
            Self::Array(codec) => codec.element().wire(),
            _ => Wire::Binary,
        }
    }

    /// Appends the field of a text, as the type's input function reads it.
    ///
    /// # Errors
    /// The text is none of the type's, or out of the column's range; `out` is as before.
    #[inline]
    pub fn encode_text(
        &self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        field(out, |out| self.text_body(source, cx, out))
    }

    /// Appends the field of a value; [`Value::Null`] gives the NULL field.
    ///
    /// # Errors
    /// The value's kind does not fit the type, or the value is out of the column's range; `out` is as before.
    pub fn encode_value(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if self.is_null(value) {
            out.extend_from_slice(&NULL);
            return Ok(());
        }
        field(out, |out| self.value_body(value, cx, out))
    }

    /// True for what is NULL in a column of this type; the JSON document `null` is a value only in a JSON column.
    pub(super) fn is_null(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Null => true,
            _ if let Self::AsText(codec) = self => codec.is_null(value),
            Value::Json(source) => !matches!(self, Self::Json | Self::Jsonb) && json::is_null(source),
            _ => false,
        }
    }

    /// False where the codec itself knows what a JSON document is to its type.
    fn takes_json_scalars(&self) -> bool {
        !matches!(
            self,
            Self::Json
                | Self::Jsonb
                | Self::Array(_)
                | Self::Composite(_)
                | Self::Range(_)
                | Self::Extension(_)
                | Self::ServerText
                | Self::AsText(_)
        )
    }

    /// The bytes of a JSON string by the type's text rules, of a number for number and text types, of a truth value
    /// for boolean and text; objects and arrays as text for text types only.
    fn json_body(
        &self,
        value: &Value<'_>,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match (json::scalar(source)?, self) {
            (Scalar::String(text), _) => self.text_body(&text, cx, out),
            (Scalar::Bool(truth), _) => self.value_body(&Value::Bool(truth), cx, out),
            (Scalar::Number(number), Self::Numeric(_) | Self::Float4 | Self::Float8 | Self::Text(_))
            | (Scalar::Container(number), Self::Text(_)) => self.text_body(number, cx, out),
            (Scalar::Number(number), Self::Int2 | Self::Int4 | Self::Int8 | Self::Oid) => {
                // A JSON number may write a whole number as 1.0 or 1e3.
                let whole = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                if whole {
                    self.text_body(number, cx, out)
                } else {
                    self.value_body(&Value::Numeric(numeric::parse(number)?), cx, out)
                }
            }
            _ => Err(misfit(value, self.words())),
        }
    }

    /// The type's name in messages.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Int2 => "smallint",
            Self::Int4 => "integer",
            Self::Int8 => "bigint",
            Self::Oid => "oid",
            Self::Float4 => "real",
            Self::Float8 => "double precision",
            Self::Numeric(_) => "numeric",
            Self::Text(_) => "text",
            Self::Bytea => "bytea",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Uuid => "uuid",
            Self::Date => "date",
            Self::Time(_) => "time",
            Self::TimeTz(_) => "timetz",
            Self::Timestamp(_) => "timestamp",
            Self::TimestampTz(_) => "timestamptz",
            Self::Interval(_) => "interval",
            Self::Inet => "inet",
            Self::Cidr => "cidr",
            Self::Macaddr => "macaddr",
            Self::Macaddr8 => "macaddr8",
            Self::Bit(_) => "bit",
            Self::Varbit(_) => "bit varying",
            Self::Array(_) => "an array",
            Self::Range(_) => "a range",
            Self::Composite(_) => "a composite",
            Self::Extension(_) => "an extension's type",
            Self::ServerText => "a type that the server reads",
            Self::AsText(codec) => codec.words(),
        }
    }

    /// The type's bytes for a text, without the length.
    pub(super) fn text_body(
        &self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Bool => boolean::from_text(source, out),
            Self::Int2 => integer::int2_from_text(source, out),
            Self::Int4 => integer::int4_from_text(source, out),
            Self::Int8 => integer::int8_from_text(source, out),
            Self::Oid => integer::oid_from_text(source, out),
            Self::Float4 => float::float4_from_text(source, out),
            Self::Float8 => float::float8_from_text(source, out),
            Self::Numeric(declared) => numeric::from_text(source, *declared, out),
            Self::Text(rule) => text::from_text(source, rule, cx, out),
            Self::Bytea => bytea::from_text(source, out),
            Self::Json => json::from_text(source, false, cx, out),
            Self::Jsonb => json::from_text(source, true, cx, out),
            Self::Uuid => uuid::from_text(source, out),
            Self::Date => datetime::date_from_text(source, cx, out),
            Self::Time(precision) => datetime::time_from_text(source, *precision, cx, out),
            Self::TimeTz(precision) => datetime::timetz_from_text(source, *precision, cx, out),
            Self::Timestamp(precision) => datetime::timestamp_from_text(source, *precision, cx, out),
            Self::TimestampTz(precision) => datetime::timestamptz_from_text(source, *precision, cx, out),
            Self::Interval(typmod) => datetime::interval_from_text(source, *typmod, out),
            Self::Inet => network::inet_from_text(source, out),
            Self::Cidr => network::cidr_from_text(source, out),
            Self::Macaddr => network::macaddr_from_text(source, out),
            Self::Macaddr8 => network::macaddr8_from_text(source, out),
            Self::Bit(length) => bits::bit_from_text(source, *length, out),
            Self::Varbit(limit) => bits::varbit_from_text(source, *limit, out),
            Self::Array(codec) => codec.text_body(source, cx, out),
            Self::Range(codec) => codec.text_body(source, cx, out),
            Self::Composite(codec) => codec.text_body(source, cx, out),
            Self::Extension(kind) => kind.text_body(source, cx, out),
            Self::ServerText => text::from_text(source, &text::Rule::Plain, cx, out),
            Self::AsText(codec) => as_text::push_text(codec, source, cx, out),
        }
    }

    /// The type's bytes for a value that is not NULL, without the length.
    pub(super) fn value_body(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match value {
            Value::Text(source) => return self.text_body(source, cx, out),
            Value::Json(source) if self.takes_json_scalars() => {
                return self.json_body(value, source, cx, out);
            }
            _ => {}
        }
        match self {
            Self::Bool => boolean::from_value(value, out),
            Self::Int2 => integer::int2_from_value(value, out),
            Self::Int4 => integer::int4_from_value(value, out),
            Self::Int8 => integer::int8_from_value(value, out),
            Self::Oid => integer::oid_from_value(value, out),
            Self::Float4 => float::float4_from_value(value, out),
            Self::Float8 => float::float8_from_value(value, out),
            Self::Numeric(declared) => numeric::from_value(value, *declared, out),
            Self::Text(rule) => text::from_value(value, rule, cx, out),
            Self::Bytea => bytea::from_value(value, out),
            Self::Json => json::from_value(value, false, cx, out),
            Self::Jsonb => json::from_value(value, true, cx, out),
            Self::Uuid => uuid::from_value(value, out),
            Self::Date
            | Self::Time(_)
            | Self::TimeTz(_)
            | Self::Timestamp(_)
            | Self::TimestampTz(_)
            | Self::Interval(_) => datetime::from_value(self, value, cx, out),
            Self::Array(codec) => codec.value_body(value, cx, out),
            Self::Range(_)
            | Self::Inet
            | Self::Cidr
            | Self::Macaddr
            | Self::Macaddr8
            | Self::Bit(_)
            | Self::Varbit(_) => self.text_body(&text_form::scalar_text(value, self.words())?, cx, out),
            Self::Composite(codec) => codec.value_body(value, cx, out),
            Self::Extension(kind) => kind.value_body(value, cx, out),
            Self::ServerText => text_form::value_text(value, cx, out),
            Self::AsText(codec) => as_text::push_value(codec, value, cx, out),
        }
    }

    /// Who decides the equality of this type's keys; the column's collation is the catalog's matter.
    pub fn key_equality(&self) -> KeyEquality {
        match self {
            Self::Jsonb
            | Self::Json
            | Self::Range(_)
            | Self::Composite(_)
            | Self::ServerText
            | Self::AsText(_) => KeyEquality::Server,
            Self::Text(rule) => rule.key_equality(),
            Self::Extension(_) => KeyEquality::Server,
            Self::Array(codec) => codec.element().key_equality(),
            _ => KeyEquality::Client,
        }
    }

    /// Appends the canonical key of a field's bytes (without its length): equal exactly where the server says equal,
    /// and in most types also in the server's order when compared byte by byte. No canonical key is a proper prefix
    /// of another of its type, so that keys of several columns can stand one after the other.
    pub fn push_key(&self, body: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Bool | Self::Oid | Self::Uuid | Self::Macaddr | Self::Macaddr8 => {
                out.extend_from_slice(body)
            }
            Self::Int2
            | Self::Int4
            | Self::Int8
            | Self::Date
            | Self::Time(_)
            | Self::Timestamp(_)
            | Self::TimestampTz(_) => integer::push_key(body, out),
            Self::Float4 => float::float4_push_key(body, out),
            Self::Float8 => float::float8_push_key(body, out),
            Self::Numeric(_) => numeric::push_key(body, out),
            Self::Text(rule) => text::push_key(body, rule, out),
            Self::Bytea => text::push_escaped(body, out),
            Self::TimeTz(_) => datetime::timetz_push_key(body, out),
            Self::Interval(_) => datetime::interval_push_key(body, out),
            Self::Array(codec) => codec.push_key(body, out),
            Self::Inet | Self::Cidr => network::push_key(body, out),
            Self::Bit(_) | Self::Varbit(_) => bits::push_key(body, out),
            Self::Json
            | Self::Jsonb
            | Self::Range(_)
            | Self::Composite(_)
            | Self::Extension(_)
            | Self::ServerText
            | Self::AsText(_) => {
                text::push_escaped(body, out);
            }
        }
    }
}

/// The error of a value whose kind the type does not take.
#[cold]
pub(super) fn misfit(value: &Value<'_>, type_name: &str) -> EncodeError {
    EncodeError::new("42804", format!("a value of kind {} does not fit {type_name}", value.kind()))
}

/// The NULL field.
pub(crate) const NULL: [u8; 4] = (-1_i32).to_be_bytes();

/// Writes a length, the body, and the length's true value; takes everything back on an error.
#[inline]
pub(super) fn field(
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match body(out).and_then(|()| length(out.len() - start - 4)) {
        Ok(length) => {
            out[start..start + 4].copy_from_slice(&length);
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// The server takes no value near 1 GB, and the connection that brings one is reset without a code.
const FIELD_LIMIT: usize = 1_000_000_000;

fn length(bytes: usize) -> Result<[u8; 4], EncodeError> {
    match i32::try_from(bytes) {
        Ok(length) if bytes <= FIELD_LIMIT => Ok(length.to_be_bytes()),
        _ => Err(EncodeError::new("54000", "the value is larger than the server takes (1 GB)")),
    }
}
