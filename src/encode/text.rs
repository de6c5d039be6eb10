//! text (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
/// What a text-like type does with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule { /** any text */ Plain, /** at most n characters, blanks beyond cut */ Varchar(u32), /** exactly n characters, padded */ Bpchar(Option<u32>), /** at most 63 bytes */ Name, /** one byte */ Char, /** one of the labels */ Enum(Arc<[String]>), /** xml */ Xml }
impl Rule {
    pub(super) fn new(name: &str, typmod: i32) -> Self { unimplemented!() }
    pub(super) fn key_equality(&self) -> KeyEquality { unimplemented!() }
}
pub(super) fn from_text(source: &str, rule: &Rule, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn from_value(value: &Value<'_>, rule: &Rule, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn push_key(body: &[u8], rule: &Rule, out: &mut Vec<u8>) { unimplemented!() }
pub(super) fn push_escaped(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
