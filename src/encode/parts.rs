//! JSON arrays and objects in parts, each still JSON text, so that no number loses a digit.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::EncodeError;
use crate::record::Value;

fn invalid<E>(_: E) -> EncodeError {
    EncodeError::new("22P02", "not valid JSON of the shape that the column needs")
}

/// True where a JSON document is an array.
pub(super) fn is_json_array(source: &str) -> bool {
    source.trim_start().starts_with('[')
}

/// True where a JSON document is an object.
pub(super) fn is_json_object(source: &str) -> bool {
    source.trim_start().starts_with('{')
}

/// The elements of a JSON array.
pub(super) fn json_elements(source: &str) -> Result<Vec<Value<'_>>, EncodeError> {
    let elements: Vec<&RawValue> = serde_json::from_str(source).map_err(invalid)?;
    Ok(elements.into_iter().map(|raw| json_value(raw.get())).collect())
}

/// The fields of a JSON object, in its order, a doubled name twice.
pub(super) fn json_fields(source: &str) -> Result<Vec<(String, Value<'_>)>, EncodeError> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Vec<(String, Value<'de>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = Vec::new();
            while let Some((name, raw)) = map.next_entry::<String, &'de RawValue>()? {
                fields.push((name, json_value(raw.get())));
            }
            Ok(fields)
        }
    }

    let mut reader = serde_json::Deserializer::from_str(source);
    let fields = reader.deserialize_map(Fields).map_err(invalid)?;
    reader.end().map_err(invalid)?;
    Ok(fields)
}

/// A part as a value: NULL, true and false as themselves, all else as JSON still.
fn json_value(raw: &str) -> Value<'_> {
    match raw {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::Json(Cow::Borrowed(raw)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_text() {
        let elements = json_elements(r#" [1.10, "a", null, true, [2], {"b": 3}] "#).unwrap();
        let json = |text: &'static str| Value::Json(text.into());
        let expected =
            [json("1.10"), json("\"a\""), Value::Null, Value::Bool(true), json("[2]"), json("{\"b\": 3}")];
        assert_eq!(elements, expected);
        let fields = json_fields(r#"{"a\u0062": 1, "c": null, "c": 2}"#).unwrap();
        assert_eq!(
            fields,
            [("ab".to_owned(), json("1")), ("c".to_owned(), Value::Null), ("c".to_owned(), json("2"))]
        );
    }

    #[test]
    fn what_is_no_array_or_object_is_refused() {
        assert!(json_elements("[1,]").is_err());
        assert!(json_elements("{}").is_err());
        assert!(json_fields("{\"a\":1} x").is_err());
    }
}
