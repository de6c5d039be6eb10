//! network (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
pub(super) fn inet_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn cidr_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn macaddr_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn macaddr8_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
