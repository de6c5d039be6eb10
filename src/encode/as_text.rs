//! The text form of types that are known here: for columns that cannot travel in their binary form.
//!
//! Texts go to the server as they are. Any other value is first made one of the type by the rules of its binary form,
//! so that the form in which a column travels never decides what is stored.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use super::float::ShortText;
use super::json::Scalar;
use super::text_form::{self, push_quoted};
use super::{Codec, EncodeContext, EncodeError, bytea, datetime, json, text};
use crate::record::{Date, Interval, Time, TimeTz, Timestamp, Value};

impl Codec {
    /// The codec of the same type's text form.
    pub(crate) fn as_text(&self) -> Self {
        match self {
            Self::ServerText | Self::AsText(_) => self.clone(),
            _ => Self::AsText(Arc::new(self.clone())),
        }
    }

    /// True where none of the type's texts are read here: intervals of certain fields.
    pub(crate) fn leaves_texts_to_server(&self) -> bool {
        matches!(self, Self::Interval(typmod) if datetime::has_certain_fields(*typmod))
    }

    /// True where the server changes texts without a word: it cuts those that are too long, and a cast to an array does
    /// not know which fields an interval has.
    pub(super) fn changes_texts(&self) -> bool {
        match self {
            Self::Text(rule) => matches!(rule, text::Rule::Char | text::Rule::Name),
            Self::Array(codec) => codec.element().leaves_texts_to_server() || codec.element().changes_texts(),
            Self::Composite(codec) => codec.changes_texts(),
            Self::AsText(codec) => codec.changes_texts(),
            _ => false,
        }
    }
}

/// Appends a text that the server reads as one of `codec`.
///
/// # Errors
/// The text holds U+0000, or the server would change it.
pub(super) fn push_text(
    codec: &Codec,
    source: &str,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    if codec.changes_texts() {
        codec.text_body(source, &mut cx.clone(), &mut Vec::new())?;
    }
    text::from_text(source, &text::Rule::Plain, cx, out)
}

/// Appends the text of a value that is not NULL.
///
/// # Errors
/// As the binary form of `codec` would give; texts are left to the server.
pub(super) fn push_value(
    codec: &Codec,
    value: &Value<'_>,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match (codec, value) {
        (Codec::ServerText, _) => text_form::value_text(value, cx, out),
        (Codec::AsText(codec), _) => push_value(codec, value, cx, out),
        (Codec::Json, _) => json::from_value(value, false, cx, out),
        (Codec::Jsonb, _) => {
            let start = out.len();
            json::from_value(value, true, cx, out)?;
            // The version is a matter of the binary form.
            out.remove(start);
            Ok(())
        }
        (Codec::Text(rule), _) => {
            let start = out.len();
            text::from_value(value, rule, cx, out)?;
            if out[start..] == [0] {
                // The empty `"char"` in binary.
                out.truncate(start);
            }
            Ok(())
        }
        (_, Value::Text(source)) => push_text(codec, source, cx, out),
        (_, Value::Json(source)) if let Scalar::String(string) = json::scalar(source)? => {
            push_text(codec, &string, cx, out)
        }
        (Codec::Array(codec), _) => codec.write_literal(value, cx, out),
        (Codec::Composite(codec), _) => codec.write_literal(value, cx, out),
        (Codec::Extension(kind), _) => kind.write_literal(value, cx, out),
        _ => {
            let mut body = Vec::new();
            codec.value_body(value, cx, &mut body)?;
            if !print(codec, &body, out) {
                out.extend_from_slice(text_form::scalar_text(value, codec.words())?.as_bytes());
            }
            Ok(())
        }
    }
}

/// Appends a part of a literal, in quotes.
pub(super) fn push_part(
    codec: &Codec,
    value: &Value<'_>,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut part = Vec::new();
    push_value(codec, value, cx, &mut part)?;
    push_quoted(&part, out);
    Ok(())
}

/// Appends a binary body as the server prints it; false for types whose values come as texts only, and for numeric,
/// whose source has the digits already.
fn print(codec: &Codec, body: &[u8], out: &mut Vec<u8>) -> bool {
    // Writing into a vector cannot fail.
    let mut write = |text: fmt::Arguments<'_>| drop(out.write_fmt(text));
    match (codec, body) {
        (Codec::Bool, &[truth]) => write(format_args!("{}", truth != 0)),
        (Codec::Int2, &[a, b]) => write(format_args!("{}", i16::from_be_bytes([a, b]))),
        (Codec::Bytea, _) => {
            out.extend_from_slice(b"\\x");
            bytea::push_hex(body, out);
        }
        _ => {
            let (first, rest) = body.split_at(body.len().min(8));
            if let Ok(bytes) = first.try_into() {
                return print_wide(codec, bytes, rest, out);
            }
            let Ok(bytes) = first.try_into() else { return false };
            match codec {
                Codec::Int4 => write(format_args!("{}", i32::from_be_bytes(bytes))),
                Codec::Oid => write(format_args!("{}", u32::from_be_bytes(bytes))),
                Codec::Float4 => {
                    write(format_args!("{}", ShortText::float4(f32::from_be_bytes(bytes)).as_str()))
                }
                Codec::Date => write(format_args!("{}", Date(i32::from_be_bytes(bytes)))),
                _ => return false,
            }
        }
    }
    true
}

/// As [`print`], for bodies of eight bytes and more.
fn print_wide(codec: &Codec, first: [u8; 8], rest: &[u8], out: &mut Vec<u8>) -> bool {
    let number = i64::from_be_bytes(first);
    let value = match (codec, rest) {
        (Codec::Int8, _) => Value::Int(number.into()),
        (Codec::Float8, _) => Value::Float8(f64::from_bits(number.cast_unsigned())),
        (Codec::Time(_), _) => Value::Time(Time(number)),
        (Codec::Timestamp(_), _) => Value::Timestamp(Timestamp(number)),
        (Codec::TimestampTz(_), _) => Value::TimestampTz(Timestamp(number)),
        (Codec::TimeTz(_), &[a, b, c, d]) => {
            Value::TimeTz(TimeTz { micros: number, west: i32::from_be_bytes([a, b, c, d]) })
        }
        (Codec::Interval(_), &[a, b, c, d, e, f, g, h]) => {
            let (days, months) = (i32::from_be_bytes([a, b, c, d]), i32::from_be_bytes([e, f, g, h]));
            Value::Interval(Interval::new(months, days, number))
        }
        (Codec::Uuid, &[a, b, c, d, e, f, g, h]) => {
            let mut uuid = [0; 16];
            uuid[..8].copy_from_slice(&first);
            uuid[8..].copy_from_slice(&[a, b, c, d, e, f, g, h]);
            Value::Uuid(uuid)
        }
        _ => return false,
    };
    text_form::scalar_text(&value, codec.words()).is_ok_and(|text| {
        out.extend_from_slice(text.as_bytes());
        true
    })
}
