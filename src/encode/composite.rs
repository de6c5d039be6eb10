//! Composites: the count of fields, then the type and the field of each.

use std::sync::Arc;

use super::codec::misfit;
use super::json::{self, Scalar};
use super::literal::{Quoting, Scanner};
use super::parts::{is_json_array, is_json_object, json_elements, json_fields};
use super::{Codec, EncodeContext, EncodeError, NULL, Wire};
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
        fields.iter().all(|field| field.codec.wire() == Wire::Binary).then_some(Self { fields })
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
        match value {
            Value::Array(items) => self.positional(items, cx, out),
            Value::Json(source) if is_json_array(source) => self.positional(&json_elements(source)?, cx, out),
            Value::Json(source) if is_json_object(source) => {
                let mut values = vec![Value::Null; self.fields.len()];
                for (name, value) in json_fields(source)? {
                    let position = self.fields.iter().position(|field| field.name == name);
                    let slot = position.and_then(|position| values.get_mut(position));
                    *slot.ok_or_else(|| {
                        EncodeError::new("22P02", "a field that the composite does not have")
                    })? = value;
                }
                self.positional(&values, cx, out)
            }
            Value::Json(source) => match json::scalar(source)? {
                Scalar::String(text) => self.text_body(&text, cx, out),
                _ => Err(misfit(value, "a composite")),
            },
            _ => Err(misfit(value, "a composite")),
        }
    }

    fn positional(
        &self,
        values: &[Value<'_>],
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if values.len() != self.fields.len() {
            return Err(EncodeError::new("22P02", "not as many values as the composite has fields"));
        }
        self.push_count(out);
        for (field, value) in self.fields.iter().zip(values) {
            out.extend_from_slice(&field.oid.to_be_bytes());
            field.codec.encode_value(value, cx, out)?;
        }
        Ok(())
    }

    fn push_count(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&u32::try_from(self.fields.len()).unwrap_or_default().to_be_bytes());
    }
}

fn malformed() -> EncodeError {
    EncodeError::new("22P02", "not a literal of the composite type")
}
