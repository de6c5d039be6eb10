//! `json` and `jsonb`: validated here as the server does, and sent as the text that came.

mod scalar;
mod validate;
mod write;

use super::codec::misfit;
use super::{EncodeContext, EncodeError};
use crate::record::Value;

pub(super) use scalar::{Scalar, is_null, scalar};

use validate::Rules;

/// The version byte before a jsonb text.
const JSONB_VERSION: u8 = 1;

/// Appends the text with every U+0000 taken out: the character itself and its escape, which is no escape after
/// another backslash. The text is valid, so a backslash stands only in a string.
#[cold]
fn push_without_nul(source: &str, out: &mut Vec<u8>) {
    let mut rest = source.as_bytes();
    while let Some(at) = memchr::memchr2(0, b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = match &rest[at..] {
            [0, after @ ..] | [b'\\', b'u', b'0', b'0', b'0', b'0', after @ ..] => after,
            [backslash, escaped, after @ ..] => {
                out.extend_from_slice(&[*backslash, *escaped]);
                after
            }
            after => {
                out.extend_from_slice(after);
                &[]
            }
        };
    }
    out.extend_from_slice(rest);
}

/// Validates the text and appends it; `binary` is jsonb.
#[inline]
pub(super) fn from_text(
    source: &str,
    binary: bool,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let found_nul = validate::document(source.as_bytes(), Rules { jsonb: binary, nul: cx.remove_u0000 })?;
    if binary {
        out.push(JSONB_VERSION);
    }
    if found_nul && cx.remove_u0000 {
        push_without_nul(source, out);
        cx.removed_u0000 += 1;
    } else {
        out.extend_from_slice(source.as_bytes());
    }
    Ok(())
}

/// JSON as it is; numbers, truth values and lists as JSON; dates and uuids as JSON strings. Bytes do not fit.
pub(super) fn from_value(
    value: &Value<'_>,
    binary: bool,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match value {
        Value::Json(text) | Value::Text(text) => from_text(text, binary, cx, out),
        Value::Bytes(_) => Err(misfit(value, if binary { "jsonb" } else { "json" })),
        _ => {
            let mut text = String::new();
            write::value(value, &mut text)?;
            from_text(&text, binary, cx, out)
        }
    }
}
