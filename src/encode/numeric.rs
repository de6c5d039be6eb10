//! numeric (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
/// `numeric(precision, scale)`; the scale may be negative or larger than the precision (15+).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared { pub(super) precision: u16, pub(super) scale: i16 }
impl Declared { pub(super) fn from_typmod(typmod: i32) -> Option<Self> { unimplemented!() } }
pub(super) fn from_text(source: &str, declared: Option<Declared>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn from_value(value: &Value<'_>, declared: Option<Declared>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
