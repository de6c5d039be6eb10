//! Table names: how a text is read, and how a name is written so that it is read back the same.

use std::fmt;
use std::str::FromStr;

use super::TableName;
use crate::error::{Error, ErrorKind, Result};
use crate::sql::quote::Identifier;

/// The bytes of an identifier that the server keeps (`NAMEDATALEN` - 1); it would cut a longer one without an error.
const NAME_BYTES: usize = 63;

const OPERATION: &str = "read table name";

impl TableName {
    /// Reads `table` or `schema.table` by the server's rules: a part without quotes is folded to lower case (ASCII
    /// letters only, as in a UTF-8 database) and may hold letters, digits, `_` and `$`; a part in double quotes is
    /// kept as it is, with `""` for a quote.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: not of that form, three parts, an empty part, or one of more than 63 bytes, which the
    /// server would cut.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |reason: &str| {
            Error::new(ErrorKind::Config, OPERATION, reason.to_owned()).with_context("table", text)
        };
        let mut parts = Vec::new();
        let mut rest = text.trim_start_matches(is_space);
        loop {
            let (part, after) = part(rest).map_err(refuse)?;
            parts.push(part);
            match after.trim_start_matches(is_space) {
                "" => break,
                after => {
                    rest = after
                        .strip_prefix('.')
                        .ok_or_else(|| refuse("a name with this character stands in double quotes"))?
                        .trim_start_matches(is_space);
                }
            }
        }
        match parts.as_slice() {
            [name] => Self::new(None, name),
            [schema, name] => Self::new(Some(schema), name),
            _ => {
                Err(refuse("a name has at most two parts, schema.table: the connection chooses the database")
                    .with_hint("a dot inside a name stands in double quotes: \"a.b\""))
            }
        }
    }

    /// A name from its parts, exactly as the server has them.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: a part is empty, holds U+0000, or has more than 63 bytes.
    pub fn new(schema: Option<&str>, name: &str) -> Result<Self> {
        if let Some(schema) = schema {
            check("schema", schema)?;
        }
        check("table", name)?;
        Ok(Self { schema: schema.map(str::to_owned), name: name.to_owned() })
    }
}

impl FromStr for TableName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// Each part in double quotes, as it stands in a statement and as [`TableName::parse`] reads it.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{}.", Identifier(schema))?;
        }
        Identifier(&self.name).fmt(f)
    }
}

fn check(part: &'static str, name: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "an empty name".to_owned()
    } else if name.contains('\0') {
        "a name cannot hold U+0000".to_owned()
    } else if name.len() > NAME_BYTES {
        format!("the name has {} bytes, and the server keeps {NAME_BYTES}", name.len())
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Config, OPERATION, reason).with_context(part, name.escape_debug().to_string()))
}

/// The white space that the server's scanner skips.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn starts_name(character: char) -> bool {
    character == '_' || character.is_ascii_alphabetic() || !character.is_ascii()
}

fn continues_name(character: char) -> bool {
    starts_name(character) || character == '$' || character.is_ascii_digit()
}

/// The first part of `text` and what stands behind it.
fn part(text: &str) -> Result<(String, &str), &'static str> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(|c| !continues_name(c)).unwrap_or(text.len());
        return match text.chars().next() {
            None | Some('.') => Err("an empty name"),
            Some(first) if starts_name(first) => Ok((text[..end].to_ascii_lowercase(), &text[end..])),
            Some(_) => Err("a name that starts with this character stands in double quotes"),
        };
    };
    let mut name = String::new();
    loop {
        let end = rest.find('"').ok_or("a double quote is not closed")?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None if name.is_empty() => return Err("an empty name"),
            None => return Ok((name, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> (Option<String>, String) {
        let name = TableName::parse(text).unwrap();
        (name.schema, name.name)
    }

    fn refusal(text: &str) -> String {
        let error = TableName::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        error.to_string()
    }

    #[test]
    fn unquoted_parts_fold_and_quoted_parts_stay_f_a95() {
        assert_eq!(parts("Orders"), (None, "orders".to_owned()));
        assert_eq!(parts("ÀÉ"), (None, "ÀÉ".to_owned()));
        assert_eq!(parts(r#"Sales."Order.Lines""#), (Some("sales".to_owned()), "Order.Lines".to_owned()));
        assert_eq!(parts(r#""a""b"."left""#), (Some("a\"b".to_owned()), "left".to_owned()));
        assert_eq!(parts(" a . b\n"), (Some("a".to_owned()), "b".to_owned()));
        assert_eq!(parts("select"), (None, "select".to_owned()));
        assert_eq!(parts("_1$"), (None, "_1$".to_owned()));
    }

    #[test]
    fn what_the_server_would_not_read_as_a_name_is_refused_with_the_reason() {
        for text in ["", " ", ".", "a.", ".a", "a..b", "\"\"", "a.\"\""] {
            assert!(refusal(text).contains("an empty name"), "{text}");
        }
        for text in ["1a", "a-b", "a b", "a\"b\"", "\"a\"b", "(a)", "$a"] {
            assert!(refusal(text).contains("double quotes"), "{text}");
        }
        assert!(refusal("\"a").contains("not closed"));
        assert!(refusal("\"a\0\"").contains("U+0000"));
        assert!(refusal("db.s.t").contains("at most two parts"));
    }

    #[test]
    fn a_name_of_63_bytes_is_kept_and_a_longer_one_is_never_cut_f_a95() {
        let whole = format!("{}ab", "é".repeat(30)) + "x";
        assert_eq!(whole.len(), 63);
        assert_eq!(parts(&whole).1, whole);
        let over = "é".repeat(32);
        assert!(refusal(&over).contains("64 bytes"));
        assert!(refusal(&format!("s.{}", "a".repeat(70))).contains("70 bytes"));
        assert!(TableName::new(Some(&over), "t").unwrap_err().to_string().contains("schema"));
    }

    fn identifier() -> impl Strategy<Value = String> {
        let tricky =
            prop_oneof![any::<char>(), prop::sample::select(vec!['"', '.', ' ', '\\', '\'', 'A', 'é', '$'])];
        prop::collection::vec(tricky, 1..40).prop_map(|characters| {
            let mut name = String::new();
            for character in characters.into_iter().filter(|c| *c != '\0') {
                if name.len() + character.len_utf8() > NAME_BYTES {
                    break;
                }
                name.push(character);
            }
            if name.is_empty() { "n".to_owned() } else { name }
        })
    }

    proptest! {
        #[test]
        fn a_name_written_out_is_read_back_the_same_f_a95(
            schema in prop::option::of(identifier()),
            name in identifier(),
        ) {
            let name = TableName::new(schema.as_deref(), &name).unwrap();
            prop_assert_eq!(TableName::parse(&name.to_string()).unwrap(), name);
        }
    }
}
