//! The types whose bytes are text: lengths in characters, blanks, labels, and U+0000.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use super::codec::misfit;
use super::float::ShortText;
use super::{EncodeContext, EncodeError, KeyEquality, text_form};
use crate::record::Value;

/// What a text-like type does with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Any text.
    Plain,
    /// At most n characters; blanks beyond them are cut.
    Varchar(u32),
    /// Exactly n characters, padded with blanks; blanks beyond them are cut. Any text without a length.
    Bpchar(Option<u32>),
    /// At most 63 bytes.
    Name,
    /// `"char"`: one byte.
    Char,
    /// One of the labels.
    Enum(Arc<[String]>),
    /// An XML document or content; the server checks it.
    Xml,
}

const NAME_BYTES: usize = 63;

impl Rule {
    /// The rule of a built-in text type by its `pg_type.typname`.
    pub(super) fn new(name: &str, typmod: i32) -> Self {
        let length = typmod.checked_sub(4).and_then(|length| u32::try_from(length).ok());
        match (name, length) {
            ("varchar", Some(length)) => Self::Varchar(length),
            ("bpchar", length) => Self::Bpchar(length),
            ("name", _) => Self::Name,
            ("char", _) => Self::Char,
            ("xml", _) => Self::Xml,
            _ => Self::Plain,
        }
    }

    pub(super) fn key_equality(&self) -> KeyEquality {
        if *self == Self::Xml { KeyEquality::Server } else { KeyEquality::Client }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Plain => "text",
            Self::Varchar(_) => "character varying",
            Self::Bpchar(_) => "character",
            Self::Name => "name",
            Self::Char => "\"char\"",
            Self::Enum(_) => "enum",
            Self::Xml => "xml",
        }
    }
}

/// Takes U+0000 out of what stands from `start` on, or refuses it.
#[cold]
fn take_nul(start: usize, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if !cx.remove_u0000 {
        return Err(EncodeError::new("22021", "invalid byte sequence for encoding \"UTF8\": 0x00"));
    }
    let mut kept = start;
    for at in start..out.len() {
        if out[at] != 0 {
            out[kept] = out[at];
            kept += 1;
        }
    }
    out.truncate(kept);
    cx.removed_u0000 += 1;
    Ok(())
}

/// The length in bytes of the first `limit` characters, and how many characters there are up to there.
fn prefix(text: &[u8], limit: usize) -> (usize, usize) {
    let mut characters = 0;
    for (at, byte) in text.iter().enumerate() {
        if byte & 0xC0 != 0x80 {
            if characters == limit {
                return (at, characters);
            }
            characters += 1;
        }
    }
    (text.len(), characters)
}

/// Cuts blanks beyond `limit` characters, refuses anything else there; the characters that stay.
#[inline]
fn cut(limit: u32, start: usize, out: &mut Vec<u8>) -> Result<usize, EncodeError> {
    let (end, characters) = prefix(&out[start..], limit as usize);
    if out[start + end..].iter().any(|byte| *byte != b' ') {
        return Err(EncodeError::new("22001", format!("the text is longer than {limit} characters")));
    }
    out.truncate(start + end);
    Ok(characters)
}

/// `"char"` takes one byte; the server cuts what follows without a word, we refuse it. `\ooo` is one byte from 16 on.
fn one_byte(start: usize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match &out[start..] {
        [] => out.push(0),
        [_] => {}
        [b'\\', b'0'..=b'3', b'0'..=b'7', b'0'..=b'7'] => {
            return Err(EncodeError::server_only("22001", "only servers from 16 on read an octal \"char\""));
        }
        _ => return Err(EncodeError::new("22001", "the text is longer than one byte")),
    }
    Ok(())
}

/// In the binary form the server decodes by the document's own declaration, in the text form it does not; ours is UTF-8.
fn check_xml(text: &[u8]) -> Result<(), EncodeError> {
    let Some(declaration) = text.strip_prefix(b"<?xml") else { return Ok(()) };
    let end = declaration.iter().position(|byte| *byte == b'>').unwrap_or(declaration.len());
    let declaration = declaration[..end].to_ascii_lowercase();
    let Some(at) = declaration.windows(8).position(|word| word == b"encoding") else { return Ok(()) };
    let name = declaration[at + 8..].trim_ascii_start();
    let name = name.strip_prefix(b"=").unwrap_or(name).trim_ascii_start();
    let utf8 = [b"\"utf-8\"".as_slice(), b"'utf-8'", b"\"utf8\"", b"'utf8'"];
    if utf8.iter().any(|spelling| name.starts_with(spelling)) {
        return Ok(());
    }
    Err(EncodeError::server_only("2200N", "the document declares another encoding than UTF-8"))
}

/// Checks and shapes the text that stands from `start` on.
#[inline]
fn shape(rule: &Rule, start: usize, cx: &mut EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if memchr::memchr(0, &out[start..]).is_some() {
        take_nul(start, cx, out)?;
    }
    let length = out.len() - start;
    match rule {
        Rule::Plain | Rule::Bpchar(None) => Ok(()),
        Rule::Varchar(limit) if length <= *limit as usize => Ok(()),
        Rule::Varchar(limit) => cut(*limit, start, out).map(|_| ()),
        Rule::Bpchar(Some(limit)) => {
            let characters = cut(*limit, start, out)?;
            out.resize(out.len() + *limit as usize - characters, b' ');
            Ok(())
        }
        Rule::Name if length > NAME_BYTES => {
            Err(EncodeError::new("42622", "the identifier is longer than 63 bytes"))
        }
        Rule::Name => Ok(()),
        Rule::Char => one_byte(start, out),
        Rule::Enum(labels) if labels.iter().any(|label| label.as_bytes() == &out[start..]) => Ok(()),
        Rule::Enum(_) => Err(EncodeError::new("22P02", "the text is no label of the enum")),
        Rule::Xml => check_xml(&out[start..]),
    }
}

#[inline]
pub(super) fn from_text(
    source: &str,
    rule: &Rule,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(source.as_bytes());
    shape(rule, start, cx, out)
}

/// A value's text as its own type prints it; bytes have to be UTF-8.
pub(super) fn from_value(
    value: &Value<'_>,
    rule: &Rule,
    cx: &mut EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    match value {
        Value::Text(text) => return from_text(text, rule, cx, out),
        Value::Bytes(bytes) => {
            let text = str::from_utf8(bytes)
                .map_err(|_| EncodeError::new("22021", "the bytes are no UTF-8: invalid byte sequence"))?;
            return from_text(text, rule, cx, out);
        }
        Value::Array(_) => return Err(misfit(value, rule.type_name())),
        Value::Int(number) => out.extend_from_slice(ShortText::integer(*number).as_str().as_bytes()),
        // Writing into a vector cannot fail.
        Value::Numeric(number) => drop(write!(out, "{number}")),
        _ => {
            let text: Cow<'_, str> = text_form::scalar_text(value, rule.type_name())?;
            out.extend_from_slice(text.as_bytes());
        }
    }
    shape(rule, start, cx, out)
}

/// The text and a zero byte, which no text holds; trailing blanks of `char(n)` do not count.
#[inline]
pub(super) fn push_key(body: &[u8], rule: &Rule, out: &mut Vec<u8>) {
    match rule {
        Rule::Char => out.extend_from_slice(body),
        Rule::Bpchar(_) => {
            let end = body.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            out.extend_from_slice(&body[..end]);
            out.push(0);
        }
        _ => {
            out.extend_from_slice(body);
            out.push(0);
        }
    }
}

/// Bytes with every 0 followed by 255, ended by two zeros: no key is a prefix of another, and their order stays.
pub(super) fn push_escaped(body: &[u8], out: &mut Vec<u8>) {
    let mut rest = body;
    while let Some(at) = memchr::memchr(0, rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[0, 0xFF]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}
