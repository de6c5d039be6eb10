//! A text that must not be seen.

use std::fmt;

/// A password or a key. It has no `Display`, and its `Debug` shows neither the text nor its length.
///
/// ```
/// let password = pgsluice::options::Secret::new("p@ss");
/// assert_eq!(format!("{password:?}"), "Secret(…)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_shows_nothing() {
        let short = Secret::new("a");
        let long = Secret::from("p@s/w?r#d%41 {x}'\\".to_owned());
        assert_eq!(format!("{short:?}"), format!("{long:?}"));
        assert_eq!(format!("{:#?}", Some(long.clone())), "Some(\n    Secret(…),\n)");
        assert_eq!(long.expose(), "p@s/w?r#d%41 {x}'\\");
    }
}
