//! Ranges and multiranges: a byte of flags and the finite bounds as fields. The server brings discrete ranges into
//! their canonical form when it receives them.

use std::sync::Arc;

use super::codec::field;
use super::literal::{Quoting, Scanner};
use super::{Codec, EncodeContext, EncodeError, Wire};
use crate::catalog::{PgType, TypeKind};

const EMPTY: u8 = 0x01;
const LOWER_INCLUSIVE: u8 = 0x02;
const UPPER_INCLUSIVE: u8 = 0x04;
const LOWER_INFINITE: u8 = 0x08;
const UPPER_INFINITE: u8 = 0x10;

/// A range over a subtype's codec, or a multirange of such ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeCodec {
    subtype: Codec,
    multi: bool,
}

impl RangeCodec {
    pub(super) fn new(data_type: &Arc<PgType>) -> Option<Self> {
        let (subtype, multi) = match &data_type.kind {
            TypeKind::Range { subtype, .. } => (subtype, false),
            TypeKind::Multirange { range } => match &range.kind {
                TypeKind::Range { subtype, .. } => (subtype, true),
                _ => return None,
            },
            _ => return None,
        };
        let subtype = Codec::new(subtype, -1);
        (subtype.wire() == Wire::Binary).then_some(Self { subtype, multi })
    }

    /// Reads `[1,5)`, `(,2024-01-01]`, `empty`; a multirange as `{[1,2),[3,4)}`.
    pub(super) fn text_body(
        &self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut scanner = Scanner::new(source);
        if self.multi {
            self.ranges(&mut scanner, cx, out)?;
        } else {
            self.range(&mut scanner, cx, out)?;
        }
        scanner.skip_spaces();
        if scanner.is_done() { Ok(()) } else { Err(self.malformed()) }
    }

    fn ranges(
        &self,
        scanner: &mut Scanner<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        scanner.skip_spaces();
        if !scanner.take(b'{') {
            return Err(self.malformed());
        }
        scanner.skip_spaces();
        let mut count = 0_u32;
        if !scanner.take(b'}') {
            loop {
                field(out, |out| self.range(scanner, cx, out))?;
                count += 1;
                scanner.skip_spaces();
                if scanner.take(b'}') {
                    break;
                }
                if !scanner.take(b',') {
                    return Err(self.malformed());
                }
            }
        }
        out[start..start + 4].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    fn range(
        &self,
        scanner: &mut Scanner<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        scanner.skip_spaces();
        if scanner.take_word("empty") {
            out.push(EMPTY);
            return Ok(());
        }
        let mut flags = if scanner.take(b'[') {
            LOWER_INCLUSIVE
        } else if scanner.take(b'(') {
            0
        } else {
            return Err(self.malformed());
        };
        let at = out.len();
        out.push(0);
        if self.bound(scanner, cx, out)? {
            flags = LOWER_INFINITE;
        }
        let lower = at + 1..out.len();
        if !scanner.take(b',') {
            return Err(self.malformed());
        }
        if self.bound(scanner, cx, out)? {
            flags |= UPPER_INFINITE;
        }
        if scanner.take(b']') {
            if flags & UPPER_INFINITE == 0 {
                flags |= UPPER_INCLUSIVE;
            }
        } else if !scanner.take(b')') {
            return Err(self.malformed());
        }
        self.check_order(&out[lower.clone()], &out[lower.end..])?;
        out[at] = flags;
        Ok(())
    }

    /// Appends a bound as a field; true, and nothing appended, where it is infinite.
    fn bound(
        &self,
        scanner: &mut Scanner<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<bool, EncodeError> {
        match scanner.field(b",)]").ok_or_else(|| self.malformed())? {
            Quoting::Bare("") => Ok(true),
            bound => self.subtype.encode_text(bound.text(), cx, out).map(|()| false),
        }
    }

    /// Refuses bounds, as fields, in the wrong order where the order of canonical keys is the type's.
    fn check_order(&self, lower: &[u8], upper: &[u8]) -> Result<(), EncodeError> {
        let ordered = matches!(
            self.subtype,
            Codec::Int4
                | Codec::Int8
                | Codec::Numeric(_)
                | Codec::Date
                | Codec::Timestamp(_)
                | Codec::TimestampTz(_)
        );
        let (Some(lower), Some(upper)) = (lower.get(4..), upper.get(4..)) else { return Ok(()) };
        let key = |body| {
            let mut key = Vec::new();
            self.subtype.push_key(body, &mut key);
            key
        };
        if ordered && key(lower) > key(upper) {
            return Err(EncodeError::new("22000", "a range whose lower bound is above its upper bound"));
        }
        Ok(())
    }

    fn malformed(&self) -> EncodeError {
        EncodeError::new("22P02", if self.multi { "not a multirange literal" } else { "not a range literal" })
    }
}
