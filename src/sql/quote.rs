//! Names and texts as they stand in a statement. No statement text comes from a name that has not passed here.

use std::fmt::{self, Write};

/// An identifier in double quotes, whatever it holds: it reaches the server exactly as given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identifier<'a>(pub(crate) &'a str);

impl fmt::Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for (index, part) in self.0.split('"').enumerate() {
            if index > 0 {
                f.write_str("\"\"")?;
            }
            f.write_str(part)?;
        }
        f.write_char('"')
    }
}

/// A text constant. One with a backslash has the `E''` form, which means the same whatever
/// `standard_conforming_strings` says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal<'a>(pub(crate) &'a str);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.contains('\\') { "E'" } else { "'" })?;
        for character in self.0.chars() {
            if matches!(character, '\'' | '\\') {
                f.write_char(character)?;
            }
            f.write_char(character)?;
        }
        f.write_char('\'')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_always_quoted_and_its_quotes_are_doubled() {
        assert_eq!(Identifier("left").to_string(), r#""left""#);
        assert_eq!(Identifier(r#"a"b"#).to_string(), r#""a""b""#);
        assert_eq!(Identifier(r#"""#).to_string(), r#""""""#);
        assert_eq!(Identifier("sp ace.données").to_string(), r#""sp ace.données""#);
    }

    #[test]
    fn a_literal_doubles_quotes_and_escapes_backslashes() {
        assert_eq!(Literal("it's").to_string(), "'it''s'");
        assert_eq!(Literal(r"a\'b").to_string(), r"E'a\\''b'");
        assert_eq!(Literal("").to_string(), "''");
    }
}
