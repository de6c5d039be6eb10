//! The type of a key's values: how they are read, and where they go.

use std::path::PathBuf;
use std::time::Duration;

use super::draft::Draft;
use super::endpoint::{Endpoint, parse_hosts};
use super::secret::Secret;
use super::unit::{Bare, parse_duration, parse_size};

/// Takes a value over into the draft; `None`: nothing to take over.
pub(super) type Set<T> = Option<fn(&mut Draft, T)>;

/// One legal value of a [`Form::Choice`].
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) set: Option<fn(&mut Draft)>,
    /// Only a Hologres server has it, or it has no meaning here.
    pub(super) refused: Option<&'static str>,
}

impl Choice {
    pub(super) const fn set(name: &'static str, set: fn(&mut Draft)) -> Self {
        Self { name, set: Some(set), refused: None }
    }

    pub(super) const fn plain(name: &'static str) -> Self {
        Self { name, set: None, refused: None }
    }

    pub(super) const fn refused(name: &'static str, reason: &'static str) -> Self {
        Self { name, set: None, refused: Some(reason) }
    }
}

/// The type of a key's values, and where they go.
pub(super) enum Form {
    Text(Set<String>),
    Sql(Set<String>),
    Path(Set<PathBuf>),
    Secret(Set<Secret>),
    Hosts(Set<Vec<Endpoint>>),
    List(Set<Vec<String>>),
    Bool(Set<bool>),
    Int { min: i64, max: i64, set: Set<i64> },
    Size { min: u64, set: Set<u64> },
    Duration { bare: Bare, zero: bool, never: bool, set: Set<Option<Duration>> },
    Choice(&'static [Choice]),
}

/// A value of some [`Form`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parsed {
    Text(String),
    Secret(Secret),
    Hosts(Vec<Endpoint>),
    List(Vec<String>),
    Bool(bool),
    Int(i64),
    Size(u64),
    Duration(Option<Duration>),
    Choice(&'static str),
}

/// Letters and digits in lower case: every spelling of an enum value becomes the same text. A leading minus stays.
fn folded(text: &str) -> String {
    let text = text.trim();
    let mut letters: String =
        text.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect();
    if text.starts_with('-') {
        letters.insert(0, '-');
    }
    letters
}

/// `a,"b,c"`: names between commas; quotes keep commas and blanks, `""` is a quote.
fn parse_list(text: &str) -> Result<Vec<String>, &'static str> {
    const OPEN: &str = "has a quote that is not closed";
    let mut names = Vec::new();
    let mut rest = text.trim();
    loop {
        let name = if let Some(mut inside) = rest.strip_prefix('"') {
            let mut name = String::new();
            loop {
                let (part, after) = inside.split_once('"').ok_or(OPEN)?;
                name.push_str(part);
                match after.strip_prefix('"') {
                    Some(after) => {
                        name.push('"');
                        inside = after;
                    }
                    None => {
                        rest = after.trim_start();
                        break;
                    }
                }
            }
            name
        } else {
            let (name, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            rest = after;
            name.trim_end().to_owned()
        };
        if name.is_empty() {
            return Err("has an empty name between its commas");
        }
        names.push(name);
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => return Ok(names),
            None => return Err("has text after a closing quote"),
        }
    }
}

impl Form {
    /// Reads `text`; the words of an error go behind the key.
    pub(super) fn parse(&self, text: &str) -> Result<Parsed, String> {
        match self {
            Self::Text(_) | Self::Sql(_) | Self::Path(_) | Self::Secret(_) if text.contains('\0') => {
                Err("has a zero byte".to_owned())
            }
            Self::Text(_) | Self::Sql(_) | Self::Path(_) if text.trim().is_empty() => {
                Err("is empty".to_owned())
            }
            Self::Text(_) | Self::Sql(_) | Self::Path(_) => Ok(Parsed::Text(text.to_owned())),
            Self::Secret(_) => Ok(Parsed::Secret(Secret::new(text))),
            Self::Hosts(_) => parse_hosts(text).map(Parsed::Hosts).map_err(str::to_owned),
            Self::List(_) => parse_list(text).map(Parsed::List).map_err(str::to_owned),
            Self::Bool(_) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Ok(Parsed::Bool(true)),
                "false" => Ok(Parsed::Bool(false)),
                _ => Err(self.mismatch(text)),
            },
            Self::Int { min, max, .. } => match text.trim().parse::<i64>() {
                Ok(number) if (*min..=*max).contains(&number) => Ok(Parsed::Int(number)),
                _ => Err(self.mismatch(text)),
            },
            Self::Size { min, .. } => match parse_size(text) {
                Some(size) if size >= *min => Ok(Parsed::Size(size)),
                _ => Err(self.mismatch(text)),
            },
            Self::Duration { never: true, .. } if text.trim() == "-1" => Ok(Parsed::Duration(None)),
            Self::Duration { bare, zero, .. } => match parse_duration(text, *bare) {
                Some(duration) if *zero || !duration.is_zero() => Ok(Parsed::Duration(Some(duration))),
                _ => Err(self.mismatch(text)),
            },
            Self::Choice(choices) => {
                let folded_text = folded(text);
                match choices.iter().find(|choice| folded(choice.name) == folded_text) {
                    Some(choice) => Ok(Parsed::Choice(choice.name)),
                    None => Err(self.mismatch(text)),
                }
            }
        }
    }

    fn mismatch(&self, text: &str) -> String {
        // A value may be anything that was pasted: show its beginning only.
        let shown: String = text.chars().take(40).collect();
        let more = if text.chars().count() > 40 { "…" } else { "" };
        format!("is {shown:?}{more}, legal is: {}", self.words())
    }

    /// Hands `value` to the draft.
    pub(super) fn set(&self, draft: &mut Draft, value: Parsed) {
        match (self, value) {
            (Self::Text(Some(set)) | Self::Sql(Some(set)), Parsed::Text(text)) => set(draft, text),
            (Self::Path(Some(set)), Parsed::Text(text)) => set(draft, PathBuf::from(text)),
            (Self::Secret(Some(set)), Parsed::Secret(secret)) => set(draft, secret),
            (Self::Hosts(Some(set)), Parsed::Hosts(hosts)) => set(draft, hosts),
            (Self::List(Some(set)), Parsed::List(names)) => set(draft, names),
            (Self::Bool(Some(set)), Parsed::Bool(on)) => set(draft, on),
            (Self::Int { set: Some(set), .. }, Parsed::Int(number)) => set(draft, number),
            (Self::Size { set: Some(set), .. }, Parsed::Size(size)) => set(draft, size),
            (Self::Duration { set: Some(set), .. }, Parsed::Duration(duration)) => set(draft, duration),
            (Self::Choice(choices), Parsed::Choice(name)) => {
                if let Some(set) =
                    choices.iter().find(|choice| choice.name == name).and_then(|choice| choice.set)
                {
                    set(draft);
                }
            }
            // Values that pass because they change nothing have nowhere to go.
            _ => {}
        }
    }

    /// The legal values, in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Text(_) => "text".to_owned(),
            Self::Sql(_) => "SQL expression".to_owned(),
            Self::Path(_) => "path of a file".to_owned(),
            Self::Secret(_) => "secret text".to_owned(),
            Self::Hosts(_) => "host:port, host:port, …".to_owned(),
            Self::List(_) => "list of names between commas".to_owned(),
            Self::Bool(_) => "true, false".to_owned(),
            Self::Int { min, max: i64::MAX, .. } => format!("whole number from {min}"),
            Self::Int { min, max, .. } => format!("whole number from {min} to {max}"),
            Self::Size { min, .. } => format!("size (64kb, 2mb; no unit: bytes) from {min}"),
            Self::Duration { bare, zero, never, .. } => {
                let bare = match bare {
                    Bare::Refused => "",
                    Bare::Milliseconds => "; no unit: ms",
                    Bare::Seconds => "; no unit: s",
                    Bare::Minutes => "; no unit: min",
                };
                let zero = if *zero { "" } else { " above zero" };
                let never = if *never { ", or -1: never" } else { "" };
                format!("duration (100ms, 10s, 1h{bare}){zero}{never}")
            }
            Self::Choice(choices) => choices.iter().map(|choice| choice.name).collect::<Vec<_>>().join(", "),
        }
    }

    /// True where at least one value has somewhere to go.
    #[cfg(test)]
    pub(super) fn has_setter(&self) -> bool {
        match self {
            Self::Text(set) | Self::Sql(set) => set.is_some(),
            Self::Path(set) => set.is_some(),
            Self::Secret(set) => set.is_some(),
            Self::Hosts(set) => set.is_some(),
            Self::List(set) => set.is_some(),
            Self::Bool(set) => set.is_some(),
            Self::Int { set, .. } => set.is_some(),
            Self::Size { set, .. } => set.is_some(),
            Self::Duration { set, .. } => set.is_some(),
            Self::Choice(choices) => choices.iter().any(|choice| choice.set.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enum_spellings_are_one_value() {
        for text in
            ["INSERT_OR_UPDATE", "insertOrUpdate", "insert-or-update", "insertorupdate", " Insert_Or-Update "]
        {
            assert_eq!(folded(text), "insertorupdate");
        }
        assert_ne!(folded("-1"), folded("1"));
    }

    #[test]
    fn lists_keep_what_is_quoted() {
        assert_eq!(parse_list("a, b ,C").unwrap(), ["a", "b", "C"]);
        assert_eq!(parse_list("\"a,b\", \"say \"\"x\"\"\" ,d").unwrap(), ["a,b", "say \"x\"", "d"]);
        for bad in ["", ",", "a,,b", "a,", "\"a", "\"a\"b", "\"\""] {
            assert!(parse_list(bad).is_err(), "{bad}");
        }
    }
}
