//! Arrays: dimensions with their lower bounds, then each element as a field.

use std::borrow::Cow;
use std::sync::Arc;

use super::codec::misfit;
use super::json::{self, Scalar};
use super::literal::{Quoting, Scanner};
use super::parts::{is_json_array, json_elements};
use super::white::is_white;
use super::{Codec, EncodeContext, EncodeError, NULL, Wire, as_text, extension, text};
use crate::catalog::{PgType, TypeKind};
use crate::record::Value;

/// The server's limit of dimensions.
const DIMENSIONS: usize = 6;

/// An array over an element codec.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayCodec {
    element: Codec,
    element_oid: u32,
    delimiter: u8,
}

impl ArrayCodec {
    pub(super) fn new(data_type: &Arc<PgType>, typmod: i32) -> Option<Self> {
        let TypeKind::Array { element, delimiter } = &data_type.kind else { return None };
        Some(Self {
            element: Codec::new(element, typmod),
            element_oid: element.oid,
            delimiter: u8::try_from(*delimiter).ok()?,
        })
    }

    pub(super) fn element(&self) -> &Codec {
        &self.element
    }

    /// Reads the server's array literal: `{1,"a b",NULL}`, `{{1,2},{3,4}}`, `[2:3]={1,2}`.
    pub(super) fn text_body(
        &self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if self.element.wire() == Wire::Text {
            return text::from_text(source, &text::Rule::Plain, cx, out);
        }
        let mut scanner = Scanner::new(source);
        scanner.skip_spaces();
        let bounds = declared_bounds(&mut scanner)?;
        let rest = scanner.rest();
        let depth = rest.bytes().filter(|&byte| !is_white(byte)).take_while(|&byte| byte == b'{').count();
        let mut builder = Builder::begin(self, depth, out)?;
        self.literal_level(&mut scanner, 0, &mut builder, cx)?;
        scanner.skip_spaces();
        if depth == 0 || !scanner.is_done() {
            return Err(malformed());
        }
        builder.finish(&bounds, malformed)
    }

    fn literal_level(
        &self,
        scanner: &mut Scanner<'_>,
        level: usize,
        builder: &mut Builder<'_>,
        cx: &mut EncodeContext,
    ) -> Result<(), EncodeError> {
        scanner.skip_spaces();
        if !scanner.take(b'{') {
            return Err(malformed());
        }
        scanner.skip_spaces();
        let mut count = 0;
        if scanner.take(b'}') {
            // PostgreSQL 15 refuses empty lists in lists, 17 takes the whole for an empty array.
            return if level == 0 {
                Ok(())
            } else {
                Err(EncodeError::server_only("22P02", "an empty list in a list"))
            };
        }
        loop {
            if level + 1 < builder.depth {
                self.literal_level(scanner, level + 1, builder, cx)?;
            } else {
                let item = scanner.array_item(self.delimiter).ok_or_else(malformed)?;
                match item {
                    Quoting::Bare(word) if word.eq_ignore_ascii_case("null") => builder.push_null(),
                    Quoting::Bare("") => return Err(malformed()),
                    Quoting::Bare(text) => self.element.encode_text(text, cx, builder.out)?,
                    Quoting::Quoted(text) => self.element.encode_text(&text, cx, builder.out)?,
                }
            }
            count += 1;
            scanner.skip_spaces();
            if scanner.take(b'}') {
                break;
            }
            if !scanner.take(self.delimiter) {
                return Err(malformed());
            }
        }
        builder.close(level, count).ok_or_else(malformed)
    }

    /// Lists, nested lists being dimensions, and JSON arrays.
    pub(super) fn value_body(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let Some(items) = items(value)? else {
            if let Value::Json(source) = value
                && let Scalar::String(text) = json::scalar(source)?
            {
                return self.text_body(&text, cx, out);
            }
            return Err(misfit(value, "an array"));
        };
        if self.element.wire() == Wire::Text {
            return self.write_literal(value, cx, out);
        }
        let depth = self.depth(&items)?;
        let mut builder = Builder::begin(self, depth, out)?;
        if !items.is_empty() {
            self.value_level(&items, 0, &mut builder, cx)?;
        }
        builder.finish(&[], ragged)
    }

    /// How many levels of lists are dimensions: a list whose elements are JSON documents, composites or vectors has
    /// one, since a list in it is an element.
    fn depth(&self, items: &[Value<'_>]) -> Result<usize, EncodeError> {
        let element = match &self.element {
            Codec::AsText(codec) => codec,
            codec => codec,
        };
        let lists_are_elements = match element {
            Codec::Json | Codec::Jsonb | Codec::Composite(_) => true,
            Codec::Extension(kind) => matches!(kind, extension::Kind::Vector(_)),
            _ => false,
        };
        if lists_are_elements {
            return Ok(1);
        }
        match items.first().map(self::items).transpose()?.flatten() {
            Some(inner) => Ok(1 + self.depth(&inner)?),
            None => Ok(1),
        }
    }

    fn value_level(
        &self,
        items: &[Value<'_>],
        level: usize,
        builder: &mut Builder<'_>,
        cx: &mut EncodeContext,
    ) -> Result<(), EncodeError> {
        for item in items {
            if level + 1 < builder.depth {
                let inner = self::items(item)?.ok_or_else(ragged)?;
                self.value_level(&inner, level + 1, builder, cx)?;
            } else if matches!(item, Value::Null) {
                builder.push_null();
            } else {
                self.element.encode_value(item, cx, builder.out)?;
            }
        }
        builder.close(level, items.len()).ok_or_else(ragged)
    }

    /// The literal that the server reads, of a list or a JSON array.
    pub(super) fn write_literal(
        &self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let items = items(value)?.ok_or_else(|| misfit(value, "an array"))?;
        let depth = self.depth(&items)?;
        self.literal_of(&items, depth, &mut [None; DIMENSIONS], cx, out)
    }

    /// `lengths` are those of the lists of each level that were seen already.
    fn literal_of(
        &self,
        items: &[Value<'_>],
        depth: usize,
        lengths: &mut [Option<usize>],
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let (length, inner_lengths) = lengths.split_first_mut().ok_or_else(too_deep)?;
        if *length.get_or_insert(items.len()) != items.len() {
            return Err(ragged());
        }
        out.push(b'{');
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                out.push(self.delimiter);
            }
            if depth > 1 {
                let inner = self::items(item)?.ok_or_else(ragged)?;
                self.literal_of(&inner, depth - 1, inner_lengths, cx, out)?;
            } else if matches!(item, Value::Null) {
                out.extend_from_slice(b"NULL");
            } else {
                as_text::push_part(&self.element, item, cx, out)?;
            }
        }
        out.push(b'}');
        Ok(())
    }

    /// Dimensions with lower bounds, then the elements: the server's equality of arrays.
    pub(super) fn push_key(&self, body: &[u8], out: &mut Vec<u8>) {
        let Some((header, rest)) = body.split_first_chunk::<12>() else { return };
        let depth = usize::from(header[3]);
        let (bounds, mut rest) = rest.split_at(rest.len().min(depth * 8));
        out.push(header[3]);
        out.extend_from_slice(bounds);
        while let Some((&length, fields)) = rest.split_first_chunk::<4>() {
            let length = usize::try_from(i32::from_be_bytes(length)).ok();
            out.push(u8::from(length.is_none()));
            let (element, next) = fields.split_at(length.unwrap_or(0).min(fields.len()));
            if length.is_some() {
                self.element.push_key(element, out);
            }
            rest = next;
        }
    }
}

fn malformed() -> EncodeError {
    EncodeError::new("22P02", "not an array literal")
}

fn too_deep() -> EncodeError {
    EncodeError::new("54000", "an array of more than 6 dimensions")
}

fn ragged() -> EncodeError {
    EncodeError::new("2202E", "lists of different lengths or depths in one array")
}

/// The elements of a list or of a JSON array; `None` for other values.
fn items<'v>(value: &'v Value<'_>) -> Result<Option<Cow<'v, [Value<'v>]>>, EncodeError> {
    Ok(match value {
        Value::Array(items) => Some(Cow::Borrowed(items.as_slice())),
        Value::Json(source) if is_json_array(source) => Some(Cow::Owned(json_elements(source)?)),
        _ => None,
    })
}

/// The lower and upper bounds before `=`.
fn declared_bounds(scanner: &mut Scanner<'_>) -> Result<Vec<(i32, i32)>, EncodeError> {
    let mut bounds = Vec::new();
    while scanner.take(b'[') {
        let inside = scanner.until(b']').ok_or_else(malformed)?;
        let (lower, upper) = inside.split_once(':').unwrap_or(("1", inside));
        let bound = |text: &str| {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(malformed());
            }
            text.parse::<i32>()
                .map_err(|_| EncodeError::server_only("22P02", "an array bound of more than 32 bits"))
        };
        let (lower, upper) = (bound(lower)?, bound(upper)?);
        if upper < lower {
            return Err(EncodeError::server_only("2202E", "an upper array bound below the lower one"));
        }
        if upper == i32::MAX {
            return Err(EncodeError::server_only("54000", "an array bound that is too large"));
        }
        bounds.push((lower, upper));
        scanner.skip_spaces();
    }
    if !bounds.is_empty() && !scanner.take(b'=') {
        return Err(malformed());
    }
    Ok(bounds)
}

/// The binary form under way: the header is filled in at the end.
struct Builder<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    depth: usize,
    element_oid: u32,
    lengths: [Option<usize>; DIMENSIONS],
    has_null: bool,
}

impl<'o> Builder<'o> {
    fn begin(codec: &ArrayCodec, depth: usize, out: &'o mut Vec<u8>) -> Result<Self, EncodeError> {
        if depth > DIMENSIONS {
            return Err(too_deep());
        }
        let start = out.len();
        out.resize(start + 12 + 8 * depth, 0);
        Ok(Self {
            out,
            start,
            depth,
            element_oid: codec.element_oid,
            lengths: [None; DIMENSIONS],
            has_null: false,
        })
    }

    fn push_null(&mut self) {
        self.has_null = true;
        self.out.extend_from_slice(&NULL);
    }

    /// A list of a level ends; `None` where another of the level had another length.
    fn close(&mut self, level: usize, length: usize) -> Option<()> {
        let known = self.lengths[level].get_or_insert(length);
        (*known == length).then_some(())
    }

    /// Fills in the header; `bounds` are those that were declared, if any.
    fn finish(self, bounds: &[(i32, i32)], mismatch: fn() -> EncodeError) -> Result<(), EncodeError> {
        let lengths = &self.lengths[..self.depth];
        // Lists in an outer list without elements have no length at all.
        let empty = lengths.iter().any(|length| length.unwrap_or(0) == 0);
        if empty && (self.depth > 1 || !bounds.is_empty()) || !bounds.is_empty() && bounds.len() != self.depth
        {
            return Err(mismatch());
        }
        let depth = if empty { 0 } else { self.depth };
        let mut header = Vec::with_capacity(12 + 8 * depth);
        header.extend_from_slice(&u32::try_from(depth).unwrap_or_default().to_be_bytes());
        header.extend_from_slice(&u32::from(self.has_null).to_be_bytes());
        header.extend_from_slice(&self.element_oid.to_be_bytes());
        for (level, length) in lengths.iter().take(depth).enumerate() {
            let length = i32::try_from(length.unwrap_or(0))
                .map_err(|_| EncodeError::new("54000", "an array of too many elements"))?;
            let lower = match bounds.get(level) {
                Some(&(lower, upper)) if i64::from(upper) - i64::from(lower) + 1 == i64::from(length) => {
                    lower
                }
                Some(_) => return Err(mismatch()),
                None => 1,
            };
            header.extend_from_slice(&length.to_be_bytes());
            header.extend_from_slice(&lower.to_be_bytes());
        }
        if empty {
            self.out.truncate(self.start + header.len());
        }
        self.out[self.start..self.start + header.len()].copy_from_slice(&header);
        Ok(())
    }
}
