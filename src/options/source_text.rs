//! Where maps come from on a command line: `key=value` and TOML.

use crate::{Error, ErrorKind, Result};

/// Splits `key=value` at its first `=`.
///
/// # Errors
/// `Config` where there is no `=`; the text is not shown, it may be a secret.
pub fn split_pair(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err(Error::new(ErrorKind::Config, "read options", "an option is not of the form key=value")),
    }
}

/// The pairs of a TOML text. Keys may be quoted (`"sink.write-mode" = "INSERT"`), dotted or in tables; values are
/// texts, numbers, booleans, or arrays of these for lists.
///
/// # Errors
/// `Config` with the line of a syntax error; the line itself is not shown, it may hold a secret.
#[cfg(feature = "cli")]
pub fn from_toml(text: &str) -> Result<Vec<(String, String)>> {
    let table: toml::Table = text.parse().map_err(|fault: toml::de::Error| {
        let line =
            fault.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        Error::new(ErrorKind::Config, "read options", "the options file is no valid TOML")
            .with_context("line", line.to_string())
    })?;
    let mut pairs = Vec::new();
    let mut faults = Vec::new();
    flatten(String::new(), table, &mut pairs, &mut faults);
    super::fault::none(faults)?;
    Ok(pairs)
}

#[cfg(feature = "cli")]
fn flatten(prefix: String, table: toml::Table, pairs: &mut Vec<(String, String)>, faults: &mut Vec<String>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Table(inner) => flatten(key, inner, pairs, faults),
            toml::Value::Array(items) => {
                let names: Option<Vec<String>> =
                    items.iter().map(|item| scalar(item).map(|text| quoted(&text))).collect();
                match names {
                    Some(names) => pairs.push((key, names.join(","))),
                    None => {
                        faults.push(format!("`{key}` is an array of something else than texts and numbers"))
                    }
                }
            }
            value => match scalar(&value) {
                Some(text) => pairs.push((key, text)),
                None => faults.push(format!("`{key}` is neither text, whole number, boolean nor array")),
            },
        }
    }
}

#[cfg(feature = "cli")]
fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(on) => Some(on.to_string()),
        _ => None,
    }
}

#[cfg(feature = "cli")]
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_split_at_its_first_equals_sign() {
        assert_eq!(split_pair("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        assert_eq!(split_pair("a=").unwrap(), ("a".to_owned(), String::new()));
        for bad in ["password:hush", "=hush", ""] {
            assert!(!split_pair(bad).unwrap_err().to_string().contains("hush"));
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn toml_in_every_form_gives_the_same_pairs() {
        let flat = from_toml("\"bucket.num\" = 4\n\"bucket.key\" = [\"a,b\", \"c\"]\n").unwrap();
        let nested = from_toml("[bucket]\nnum = 4\nkey = [\"a,b\", \"c\"]\n").unwrap();
        let dotted = from_toml("bucket.num = \"4\"\nbucket.key = '\"a,b\",\"c\"'\n").unwrap();
        let sorted = |mut pairs: Vec<(String, String)>| {
            pairs.sort();
            pairs
        };
        assert_eq!(sorted(flat.clone()), sorted(nested));
        assert_eq!(sorted(flat), sorted(dotted));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_toml_fault_names_the_line_and_shows_nothing_of_it() {
        let error = from_toml("a = 1\npassword = \"hush\nb = 2\n").unwrap_err();
        assert_eq!(error.context("line"), Some("2"));
        assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        let error = from_toml("a = 1.5\nb = [1979-05-27]\n").unwrap_err();
        assert!(error.message().contains("`a`") && error.message().contains("`b`"), "{error}");
    }
}
