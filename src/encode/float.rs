//! float (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn float4_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn float8_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn float4_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn float8_from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn float4_push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
pub(super) fn float8_push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
