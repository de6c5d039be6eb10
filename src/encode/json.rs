//! json (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn from_text(source: &str, binary: bool, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn from_value(value: &Value<'_>, binary: bool, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
