//! extension (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
/// The extension types whose binary form is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind { /** hstore */ Hstore, /** pgvector's vector(n) */ Vector(Option<u16>), /** ltree */ Ltree }
impl Kind {
    pub(super) fn new(name: &str, typmod: i32) -> Option<Codec> { unimplemented!() }
    pub(super) fn from_text(self, source: &str, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
    pub(super) fn from_value(self, value: &Value<'_>, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
}
