//! bytea (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn from_value(value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
