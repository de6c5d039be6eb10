//! Composites: the count of fields, then the type and the field of each.

use std::borrow::Cow;
use std::sync::Arc;

use super::codec::misfit;
use super::json::{self, Scalar};
use super::literal::{Quoting, Scanner};
use super::parts::{is_json_array, is_json_object, json_elements, json_fields};
use super::{Codec, EncodeContext, EncodeError, NULL, Wire, as_text};
use crate::catalog::{PgType, TypeKind};
use crate::record::Value;

#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: String,
    oid: u32,
    codec: Codec,
}

/// A composite over the codecs of its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositeCodec {
    fields: Vec<Field>,
}

impl CompositeCodec {
    pub(super) fn new(data_type: &Arc<PgType>) -> Option<Self> {
        let TypeKind::Composite(fields) = &data_type.kind else { return None };
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, data_type, typmod)| Field {
                name: name.clone(),
                oid: data_type.oid,
                codec: Codec::new(data_type, *typmod),
            })
            .collect();
        Some(Self { fields })
    }

    /// In binary where all fields have a binary form.
    pub(super) fn codec(self) -> Codec {
        let is_binary = self.fields.iter().all(|field| field.codec.wire() == Wire::Binary);
        let codec = Codec::Composite(Arc::new(self));
        if is_binary { codec } else { codec.as_text() }
    }

    pub(super) fn changes_texts(&self) -> bool {
        self.fields.iter().any(|field| field.codec.changes_texts())
    }

    /// Reads `(1,"a b",)`: an empty field is NULL.
    pub(super) fn text_body(
        &self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut scanner = Scanner::new(source);
        scanner.skip_spaces();
        if !scanner.take(b'(') {
            return Err(malformed());
        }
        self.push_count(out);
        for (position, field) in self.fields.iter().enumerate() {
            if position > 0 && !scanner.take(b',') {
                return Err(malformed());
            }
            out.extend_from_slice(&field.oid.to_be_bytes());
            match scanner.field(b",)").ok_or_else(malformed)? {
                Quoting::Bare("") => out.extend_from_slice(&NULL),
                text => field.codec.encode_text(text.text(), cx, out)?,
            }
        }
        let closed = scanner.take(b')');
        scanner.skip_spaces();
        if closed && scanner.is_done() { Ok(()) } else { Err(malformed()) }
    }

    /// A list or JSON array by position, a JSON object by name (a field that it does not name is NULL).
    pub(super) fn value_body(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if let Value::Json(source) = value
            && let Scalar::String(text) = json::scalar(source)?
        {
            return self.text_body(&text, cx, out);
        }
        let values = self.values(value)?;
        self.push_count(out);
        for (field, value) in self.fields.iter().zip(values.iter()) {
            out.extend_from_slice(&field.oid.to_be_bytes());
            field.codec.encode_value(value, cx, out)?;
        }
        Ok(())
    }

    /// The literal that the server reads, of what [`value_body`](Self::value_body) takes.
    pub(super) fn write_literal(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        out.push(b'(');
        for (position, (field, value)) in self.fields.iter().zip(self.values(value)?.iter()).enumerate() {
            if position > 0 {
                out.push(b',');
            }
            if !field.codec.is_null(value) {
                as_text::push_part(&field.codec, value, cx, out)?;
            }
        }
        out.push(b')');
        Ok(())
    }

    /// A value for each field.
    fn values<'v>(&self, value: &'v Value<'_>) -> Result<Cow<'v, [Value<'v>]>, EncodeError> {
        let values = match value {
            Value::Array(items) => Cow::Borrowed(items.as_slice()),
            Value::Json(source) if is_json_array(source) => Cow::Owned(json_elements(source)?),
            Value::Json(source) if is_json_object(source) => {
                let mut values = vec![Value::Null; self.fields.len()];
                for (name, value) in json_fields(source)? {
                    let position = self.fields.iter().position(|field| field.name == name);
                    let slot = position.and_then(|position| values.get_mut(position));
                    *slot.ok_or_else(|| {
                        EncodeError::new("22P02", "a field that the composite does not have")
                    })? = value;
                }
                Cow::Owned(values)
            }
            _ => return Err(misfit(value, "a composite")),
        };
        if values.len() == self.fields.len() {
            Ok(values)
        } else {
            Err(EncodeError::new("22P02", "not as many values as the composite has fields"))
        }
    }

    fn push_count(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&u32::try_from(self.fields.len()).unwrap_or_default().to_be_bytes());
    }
}

fn malformed() -> EncodeError {
    EncodeError::new("22P02", "not a literal of the composite type")
}
