//! Types of extensions whose binary form is small: citext, hstore, ltree and pgvector's vector.

use super::codec::{field, misfit};
use super::float::ShortText;
use super::json::{self, Scalar};
use super::literal::{Quoting, Scanner};
use super::parts::{is_json_array, is_json_object, json_elements, json_fields};
use super::white::is_white;
use super::{Codec, EncodeContext, EncodeError, NULL, as_text, text};
use crate::record::Value;

/// The version of the binary form of ltree, lquery and ltxtquery.
const LTREE_VERSION: u8 = 1;
/// pgvector's limit.
const VECTOR_DIMENSIONS: usize = 16_000;

/// The extension types whose binary form is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// citext: text whose equality only the server knows.
    Citext,
    /// hstore.
    Hstore,
    /// ltree, lquery and ltxtquery.
    Ltree,
    /// pgvector's `vector(n)`.
    Vector(Option<u16>),
}

impl Kind {
    pub(super) fn codec(name: &str, typmod: i32) -> Option<Codec> {
        Some(Codec::Extension(match name {
            "citext" => Self::Citext,
            "hstore" => Self::Hstore,
            "ltree" | "lquery" | "ltxtquery" => Self::Ltree,
            "vector" => Self::Vector(u16::try_from(typmod).ok()),
            _ => return None,
        }))
    }

    pub(super) fn text_body(
        self,
        source: &str,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Citext => text::from_text(source, &text::Rule::Plain, cx, out),
            Self::Hstore => hstore(source, cx, out),
            Self::Ltree => {
                out.push(LTREE_VERSION);
                text::from_text(source, &text::Rule::Plain, cx, out)
            }
            Self::Vector(dimensions) => vector(source, dimensions, out),
        }
    }

    pub(super) fn value_body(
        self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match (self, value) {
            (Self::Citext, _) => text::from_value(value, &text::Rule::Plain, cx, out),
            (Self::Hstore, Value::Json(source)) if is_json_object(source) => {
                let mut pairs = Pairs::begin(out);
                for (name, value) in json_fields(source)? {
                    pairs.push(&name, cx, |cx, out| match value {
                        Value::Null => Ok(false),
                        _ => text::from_value(&value, &text::Rule::Plain, cx, out).map(|()| true),
                    })?;
                }
                pairs.finish();
                Ok(())
            }
            (Self::Vector(dimensions), Value::Array(items)) => vector_of(items, dimensions, out),
            (Self::Vector(dimensions), Value::Json(source)) if is_json_array(source) => {
                vector_of(&json_elements(source)?, dimensions, out)
            }
            (_, Value::Json(source)) if let Scalar::String(text) = json::scalar(source)? => {
                self.text_body(&text, cx, out)
            }
            _ => Err(misfit(value, self.name())),
        }
    }

    /// The text that the server reads, of a list or a JSON document.
    pub(super) fn write_literal(
        self,
        value: &Value<'_>,
        cx: &mut EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        // Refuses what has no binary form.
        let mut body = Vec::new();
        self.value_body(value, &mut cx.clone(), &mut body)?;
        match (self, value) {
            (Self::Hstore, Value::Json(source)) => {
                let plain = Codec::Text(text::Rule::Plain);
                for (position, (name, value)) in json_fields(source)?.into_iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    as_text::push_part(&plain, &Value::from(name), cx, out)?;
                    out.extend_from_slice(b"=>");
                    match value {
                        Value::Null => out.extend_from_slice(b"NULL"),
                        _ => as_text::push_part(&plain, &value, cx, out)?,
                    }
                }
                Ok(())
            }
            (Self::Vector(_), _) => {
                out.push(b'[');
                for (position, number) in body[4..].as_chunks::<4>().0.iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(ShortText::float4(f32::from_be_bytes(*number)).as_str().as_bytes());
                }
                out.push(b']');
                Ok(())
            }
            _ => text::from_value(value, &text::Rule::Plain, cx, out),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Citext => "citext",
            Self::Hstore => "hstore",
            Self::Ltree => "ltree",
            Self::Vector(_) => "vector",
        }
    }
}

/// The pairs of an hstore: their count, then key and value of each. The server drops doubled keys.
struct Pairs<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    count: u32,
}

impl<'o> Pairs<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        Self { out, start, count: 0 }
    }

    /// Appends a pair; `value` writes the text of the value, or says false for NULL.
    fn push(
        &mut self,
        key: &str,
        cx: &mut EncodeContext,
        value: impl FnOnce(&mut EncodeContext, &mut Vec<u8>) -> Result<bool, EncodeError>,
    ) -> Result<(), EncodeError> {
        field(self.out, |out| text::from_text(key, &text::Rule::Plain, cx, out))?;
        let at = self.out.len();
        let mut present = false;
        field(self.out, |out| {
            present = value(cx, out)?;
            Ok(())
        })?;
        if !present {
            self.out.truncate(at);
            self.out.extend_from_slice(&NULL);
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self) {
        self.out[self.start..self.start + 4].copy_from_slice(&self.count.to_be_bytes());
    }
}

/// `"a"=>"1", b=>NULL`.
fn hstore(source: &str, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    // The server's own code for a syntax error here.
    let malformed = || EncodeError::server_only("42601", "not an hstore literal");
    let mut scanner = Scanner::new(source);
    let mut pairs = Pairs::begin(out);
    scanner.skip_spaces();
    while !scanner.is_done() {
        let key = hstore_part(&mut scanner).ok_or_else(malformed)?;
        scanner.skip_spaces();
        if !(scanner.take(b'=') && scanner.take(b'>')) {
            return Err(malformed());
        }
        scanner.skip_spaces();
        let value = hstore_part(&mut scanner).ok_or_else(malformed)?;
        pairs.push(key.text(), cx, |cx, out| match value {
            Quoting::Bare(word) if word.eq_ignore_ascii_case("null") => Ok(false),
            text => text::from_text(text.text(), &text::Rule::Plain, cx, out).map(|()| true),
        })?;
        scanner.skip_spaces();
        if !scanner.is_done() && !scanner.take(b',') {
            return Err(malformed());
        }
        scanner.skip_spaces();
    }
    pairs.finish();
    Ok(())
}

/// A key or value: in quotes, or bare and then without quotes and escapes in it.
fn hstore_part<'a>(scanner: &mut Scanner<'a>) -> Option<Quoting<'a>> {
    if scanner.take(b'"') {
        return scanner.quoted().map(Quoting::Quoted);
    }
    let rest = scanner.rest();
    let length = rest
        .bytes()
        .take_while(|&byte| !is_white(byte) && !matches!(byte, b'=' | b',' | b'"' | b'\\'))
        .count();
    scanner.skip(length);
    (length > 0).then(|| Quoting::Bare(&rest[..length]))
}

/// `[1,2.5,-3e2]`.
fn vector(source: &str, dimensions: Option<u16>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let malformed = || EncodeError::new("22P02", "not a vector literal");
    let inside = source.trim_matches(|c: char| c.is_ascii() && is_white(c as u8));
    let inside =
        inside.strip_prefix('[').and_then(|inside| inside.strip_suffix(']')).ok_or_else(malformed)?;
    if inside.bytes().all(is_white) {
        return Err(EncodeError::new("22000", "a vector without dimensions"));
    }
    vector_body(inside.split(',').map(element), dimensions, out)
}

fn vector_of(items: &[Value<'_>], dimensions: Option<u16>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    vector_body(
        items.iter().map(|item| match item {
            Value::Float4(number) => finite(*number),
            // The shortest decimal form is what the text of the same number would say.
            Value::Float8(number) => element(&number.to_string()),
            Value::Int(number) => element(&number.to_string()),
            Value::Json(source) | Value::Text(source) => element(source),
            _ => Err(misfit(item, "an element of vector")),
        }),
        dimensions,
        out,
    )
}

/// A decimal number as the nearest float4.
fn element(source: &str) -> Result<f32, EncodeError> {
    let source = source.trim_matches(|c: char| c.is_ascii() && is_white(c as u8));
    let decimal =
        source.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    let number: f32 = match source.parse() {
        Ok(number) if decimal => number,
        _ => return Err(EncodeError::new("22P02", "not a number in a vector")),
    };
    if number.is_infinite() {
        return Err(EncodeError::new("22003", "a number out of range for an element of vector"));
    }
    Ok(number)
}

fn finite(number: f32) -> Result<f32, EncodeError> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(EncodeError::new("22000", "NaN or infinity in a vector"))
    }
}

fn vector_body(
    elements: impl Iterator<Item = Result<f32, EncodeError>>,
    dimensions: Option<u16>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0;
    for number in elements {
        out.extend_from_slice(&number?.to_be_bytes());
        count += 1;
    }
    match u16::try_from(count) {
        Ok(0) => Err(EncodeError::new("22000", "a vector without dimensions")),
        Ok(count) if usize::from(count) <= VECTOR_DIMENSIONS => {
            if dimensions.is_some_and(|declared| declared != count) {
                return Err(EncodeError::new(
                    "22000",
                    "a vector of another number of dimensions than the column's",
                ));
            }
            out[start..start + 2].copy_from_slice(&count.to_be_bytes());
            Ok(())
        }
        _ => Err(EncodeError::new("54000", "a vector of more than 16000 dimensions")),
    }
}
