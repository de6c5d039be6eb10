//! Values as text: for types that are read from text only, and for columns whose text the server reads.

use std::borrow::Cow;

use super::bytea::push_hex;
use super::codec::misfit;
use super::float::ShortText;
use super::json::{self, Scalar};
use super::{EncodeContext, EncodeError, datetime, text, uuid};
use crate::record::Value;

/// The value as the text its own type prints; JSON strings without quotes and escapes, other JSON as it is; an
/// instant in UTC.
///
/// # Errors
/// Bytes, lists and NULL have no such text (42804); the JSON is none (22P02).
pub(super) fn scalar_text<'v>(value: &'v Value<'_>, type_name: &str) -> Result<Cow<'v, str>, EncodeError> {
    Ok(match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Bool(truth) => Cow::Borrowed(if *truth { "true" } else { "false" }),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Float4(float) => Cow::Owned(ShortText::float4(*float).as_str().to_owned()),
        Value::Float8(float) => Cow::Owned(ShortText::float8(*float).as_str().to_owned()),
        Value::Numeric(number) => Cow::Owned(number.to_string()),
        Value::Uuid(bytes) => Cow::Owned(uuid::text(bytes)),
        Value::Json(source) => match json::scalar(source)? {
            Scalar::String(text) => text,
            Scalar::Bool(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
            Scalar::Number(text) | Scalar::Container(text) => Cow::Borrowed(text),
            Scalar::Null => return Err(misfit(value, type_name)),
        },
        _ => Cow::Owned(datetime::value_text(value).ok_or_else(|| misfit(value, type_name))?),
    })
}

/// Appends a part of a literal (of an array, composite, hstore) in quotes.
pub(super) fn push_quoted(part: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in part {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends a value as a text that the input function of a fitting type reads; bytes as hex.
pub(super) fn value_text(
    value: &Value<'_>,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match value {
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"\\x");
            push_hex(bytes, out);
            Ok(())
        }
        _ => text::from_value(value, &text::Rule::Plain, cx, out),
    }
}
