//! bits (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn bit_from_text(source: &str, length: Option<u32>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn varbit_from_text(source: &str, limit: Option<u32>, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
