//! One JSON object a line.
//!
//! A key that is missing leaves its column absent (a new row gets the DEFAULT, a stored one keeps its value); `null`
//! is NULL, for a json column too. Where an object has a key twice, the last one counts, as it does for `jsonb`.
//! Number texts are passed on digit for digit.

use std::fmt;
use std::io::{self, Read};

use memchr::memchr;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::header::{Keys, Target};
use super::input::{RECORD_LIMIT, Window};

/// Cuts a stream into lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    window: Window<R>,
    line: u64,
}

/// Why no further line can be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The input failed.
    Io(io::Error),
    /// The line is longer than any statement takes.
    TooLong { line: u64 },
}

/// One line as the input has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number; the first is 1.
    pub(super) number: u64,
    /// Its bytes with the line end.
    pub(super) bytes: &'a [u8],
    /// Its bytes without the line end and the white space at both ends.
    pub(super) body: &'a [u8],
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { window: Window::new(input), line: 0 }
    }

    /// The next line that is not blank; `None` behind the last.
    ///
    /// # Errors
    /// The input failed, or a line is longer than memory should hold. Nothing can be read after that.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, Unreadable> {
        let length = loop {
            let mut searched = 0;
            let length = loop {
                let bytes = self.window.bytes();
                if let Some(offset) = memchr(b'\n', &bytes[searched..]) {
                    break searched + offset + 1;
                }
                searched = bytes.len();
                if self.window.has_ended() {
                    break searched;
                }
                if searched > RECORD_LIMIT {
                    return Err(Unreadable::TooLong { line: self.line + 1 });
                }
                self.window.grow().map_err(Unreadable::Io)?;
            };
            if length == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !self.window.bytes()[..length].trim_ascii().is_empty() {
                break length;
            }
            self.window.take(length);
        };
        let bytes = self.window.take(length);
        Ok(Some(Line { number: self.line, bytes, body: bytes.trim_ascii() }))
    }

    /// True where the next line needs another read.
    pub(super) fn is_dry(&self) -> bool {
        memchr(b'\n', self.window.bytes()).is_none()
    }
}

/// The fields of one object, kept between lines for its memory.
#[derive(Debug, Default)]
pub(super) struct Fields<'de> {
    /// The text of each declared column's value; `None` is absent.
    pub(super) values: Vec<Option<&'de RawValue>>,
    /// The value of the `--op-column`.
    pub(super) op: Option<&'de RawValue>,
}

/// Why a line is no record. Holds no value of the line; a key is a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BadLine {
    /// It is not UTF-8.
    Encoding,
    /// It is JSON, or the start of it, but no object.
    NoObject,
    /// It ends within the object.
    Cut,
    /// It breaks JSON's grammar at this column (bytes, from 1).
    Syntax(usize),
    /// It has a key that is no column.
    UnknownKey(String),
}

/// Reads a line's object into fields.
///
/// # Errors
/// What is wrong with the line.
pub(super) fn read<'de>(line: &'de [u8], keys: &Keys) -> Result<Fields<'de>, BadLine> {
    let text = std::str::from_utf8(line).map_err(|_| BadLine::Encoding)?;
    if !text.starts_with('{') {
        return Err(BadLine::NoObject);
    }
    let mut fields = Fields { values: vec![None; keys.columns.len()], op: None };
    let mut unknown = None;
    let mut json = serde_json::Deserializer::from_str(text);
    let object = Object { keys, fields: &mut fields, unknown: &mut unknown };
    object.deserialize(&mut json).and_then(|()| json.end()).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => BadLine::Cut,
        _ => BadLine::Syntax(error.column()),
    })?;
    match unknown {
        Some(key) => Err(BadLine::UnknownKey(key)),
        None => Ok(fields),
    }
}

struct Object<'a, 'de> {
    keys: &'a Keys,
    fields: &'a mut Fields<'de>,
    unknown: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Object<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(KeySeed(self.keys))? {
            let value: &'de RawValue = map.next_value()?;
            match key {
                Ok(Target::Column(index)) => self.fields.values[index] = Some(value),
                Ok(Target::Op) => self.fields.op = Some(value),
                Ok(Target::Skip) => {}
                Err(unknown) => {
                    self.unknown.get_or_insert(unknown);
                }
            }
        }
        Ok(())
    }
}

/// Turns a key into its target without keeping the key.
struct KeySeed<'a>(&'a Keys);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Result<Target, String>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Result<Target, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(match self.0.targets.get(key) {
            Some(&target) => Ok(target),
            None if self.0.skip_others => Ok(Target::Skip),
            None => Err(key.to_owned()),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::load::header::Wanted;

    fn keys(op: Option<&str>, ignore_unknown: bool) -> Keys {
        let table = ["id".to_owned(), "v".to_owned(), "é\"".to_owned()];
        Wanted { table: &table, columns: None, op, ignore_unknown }.by_key().unwrap()
    }

    fn texts(line: &str) -> Result<Vec<Option<&str>>, BadLine> {
        let fields = read(line.as_bytes(), &keys(None, false))?;
        Ok(fields.values.into_iter().map(|value| value.map(RawValue::get)).collect())
    }

    #[test]
    fn lines_of_different_shape() {
        assert_eq!(texts(r#"{"id":1,"v":5}"#).unwrap(), [Some("1"), Some("5"), None]);
        assert_eq!(texts(r#"{"v":null, "id": 3}"#).unwrap(), [Some("3"), Some("null"), None]);
        assert_eq!(texts(r#"{"id":6,"v":1,"v":2}"#).unwrap(), [Some("6"), Some("2"), None]);
        assert_eq!(
            texts(r#"{"\u00e9\"":{"a": [1.50, "x"]}}"#).unwrap(),
            [None, None, Some(r#"{"a": [1.50, "x"]}"#)]
        );
        assert_eq!(texts("{}").unwrap(), [None; 3]);
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(
            texts(r#"{"id":1.10E+400,"v":123456789012345678901234567890.10}"#).unwrap()[..2],
            [Some("1.10E+400"), Some("123456789012345678901234567890.10")]
        );
    }

    #[test]
    fn what_is_no_record_says_why() {
        assert_eq!(texts(r#"{"id":5,"V":1,"w":2}"#), Err(BadLine::UnknownKey("V".into())));
        assert_eq!(texts("[7,8]"), Err(BadLine::NoObject));
        assert_eq!(texts("7"), Err(BadLine::NoObject));
        assert_eq!(texts(r#"{"id":8,"v":"#), Err(BadLine::Cut));
        assert_eq!(texts(r#"{"id":8,"v":"abc"#), Err(BadLine::Cut));
        assert_eq!(texts(r#"{"id":x}"#), Err(BadLine::Syntax(7)));
        assert_eq!(texts(r#"{"id":1} {"id":2}"#), Err(BadLine::Syntax(10)));
        assert_eq!(read(b"{\"id\":\"\xff\"}", &keys(None, false)).unwrap_err(), BadLine::Encoding);
    }

    #[test]
    fn unknown_keys_can_be_skipped_and_the_op_is_apart() {
        let line = br#"{"op":"d","id":1,"extra":true}"#;
        let fields = read(line, &keys(Some("op"), true)).unwrap();
        assert_eq!(fields.op.unwrap().get(), "\"d\"");
        assert_eq!(fields.values[0].unwrap().get(), "1");
    }

    #[test]
    fn blank_lines_count_and_are_skipped() {
        let mut lines = Lines::new(&b"{}\r\n\n  \n{\"id\":1}\n\n{\"v\":1}"[..]);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.number, line.body.to_vec(), line.bytes.len()));
        }
        assert_eq!(
            seen,
            [(1, b"{}".to_vec(), 4), (4, b"{\"id\":1}".to_vec(), 9), (6, b"{\"v\":1}".to_vec(), 7)]
        );
    }
}
