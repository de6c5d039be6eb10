//! array (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
/// The codec of an element and the type around it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayCodec { element: Codec }
impl ArrayCodec {
    pub(super) fn new(data_type: &Arc<PgType>, typmod: i32) -> Option<Self> { unimplemented!() }
    pub(super) fn element(&self) -> &Codec { &self.element }
    pub(super) fn from_text(&self, source: &str, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
    pub(super) fn from_value(&self, value: &Value<'_>, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
    pub(super) fn push_key(&self, body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
}
