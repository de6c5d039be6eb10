//! A value that is no JSON as JSON text.

use std::fmt::Write;

use super::validate::{self, Rules};
use crate::encode::codec::misfit;
use crate::encode::float::ShortText;
use crate::encode::{EncodeError, text_form};
use crate::record::Value;

fn not_finite() -> EncodeError {
    EncodeError::new("22P02", "JSON has no NaN and no infinity")
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing into a string cannot fail.
            '\0'..' ' => drop(write!(out, "\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Appends the value; a text is a JSON string here.
///
/// # Errors
/// The kind has no JSON form (bytes), or the number is not finite.
pub(super) fn value(source: &Value<'_>, out: &mut String) -> Result<(), EncodeError> {
    match source {
        Value::Null => out.push_str("null"),
        Value::Float4(float) if !float.is_finite() => return Err(not_finite()),
        Value::Float8(float) if !float.is_finite() => return Err(not_finite()),
        Value::Float4(float) => out.push_str(ShortText::float4(*float).as_str()),
        Value::Float8(float) => out.push_str(ShortText::float8(*float).as_str()),
        Value::Numeric(number) if !number.is_finite() => return Err(not_finite()),
        Value::Bool(_) | Value::Int(_) | Value::Numeric(_) => {
            out.push_str(&text_form::scalar_text(source, "json")?)
        }
        Value::Json(text) => {
            validate::document(text.as_bytes(), Rules { jsonb: false, nul: false })?;
            out.push_str(text);
        }
        Value::Array(values) => {
            out.push('[');
            for (at, element) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                value(element, out)?;
            }
            out.push(']');
        }
        Value::Bytes(_) => return Err(misfit(source, "json")),
        _ => string(&text_form::scalar_text(source, "json")?, out),
    }
    Ok(())
}
