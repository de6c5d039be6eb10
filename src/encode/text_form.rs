//! text_form (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn scalar_text<'v>(value: &'v Value<'_>, type_name: &str) -> Result<Cow<'v, str>, EncodeError> { unimplemented!() }
pub(super) fn value_text(value: &Value<'_>, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
