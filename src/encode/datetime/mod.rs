//! datetime/mod (being written)
use super::*; use crate::record::Value; use crate::catalog::PgType; use std::sync::Arc; use std::borrow::Cow;
/// The zone of texts without an offset.
#[derive(Debug, Clone)]
pub struct Zone(jiff::tz::TimeZone);
pub(super) fn precision(typmod: i32) -> u8 { unimplemented!() }
pub(super) fn date_from_text(source: &str, cx: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn time_from_text(source: &str, precision: u8, cx: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn timetz_from_text(source: &str, precision: u8, cx: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn timestamp_from_text(source: &str, precision: u8, cx: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn timestamptz_from_text(source: &str, precision: u8, cx: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn interval_from_text(source: &str, typmod: i32, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn from_value(codec: &Codec, value: &Value<'_>, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> { unimplemented!() }
pub(super) fn timetz_push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
pub(super) fn interval_push_key(body: &[u8], out: &mut Vec<u8>) { unimplemented!() }
