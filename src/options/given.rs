//! The keys that a map gives, read and checked one by one; twins together.

use super::draft::Draft;
use super::form::Parsed;
use super::registry;
use super::spec::{OptionSpec, Scope};

struct Entry {
    spec: &'static OptionSpec,
    /// The key as the map has it.
    key: String,
    value: Parsed,
}

/// The legal values of a map. Illegal ones, and keys that nobody knows, are in `faults`.
#[derive(Default)]
pub(super) struct Given {
    entries: Vec<Entry>,
    /// Settings that are named, with a legal value or not.
    named: Vec<&'static str>,
    faults: Vec<String>,
}

impl Given {
    pub(super) fn read<K: AsRef<str>, V: AsRef<str>>(map: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut given = Self::default();
        for (key, value) in map {
            given.add(key.as_ref().trim(), value.as_ref());
        }
        given.twins();
        given
    }

    fn add(&mut self, key: &str, text: &str) {
        let Some(spec) = registry::find(key) else {
            self.faults.push(unknown(key));
            return;
        };
        self.named.push(spec.setting());
        match spec.form.parse(text) {
            Ok(value) => self.entries.push(Entry { spec, key: key.to_owned(), value }),
            Err(fault) => self.faults.push(format!("`{}` {fault}", registry_name(spec, key))),
        }
    }

    /// One setting under several names, or one key given again, has one value.
    fn twins(&mut self) {
        for (at, later) in self.entries.iter().enumerate() {
            for earlier in &self.entries[..at] {
                if earlier.spec.setting() != later.spec.setting() || !differ(earlier, later) {
                    continue;
                }
                self.faults.push(if earlier.key.eq_ignore_ascii_case(&later.key) {
                    format!("`{}` is given twice, with different values", earlier.key)
                } else if std::ptr::eq(earlier.spec, later.spec) && earlier.spec.key.contains('*') {
                    continue;
                } else {
                    format!("`{}` and `{}` are one setting, and their values differ", earlier.key, later.key)
                });
            }
        }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    pub(super) fn into_faults(self) -> Vec<String> {
        self.faults
    }

    /// True where the key, or its twin, is in the map.
    pub(super) fn names(&self, setting: &str) -> bool {
        self.named.contains(&setting)
    }

    /// The value of exactly this key.
    pub(super) fn get(&self, key: &str) -> Option<&Parsed> {
        self.entries.iter().find(|entry| entry.spec.key == key).map(|entry| &entry.value)
    }

    /// True where `key` is given and is this choice.
    pub(super) fn is(&self, key: &str, choice: &str) -> bool {
        matches!(self.get(key), Some(Parsed::Choice(name)) if *name == choice)
    }

    /// True where `key` is given and is this bool.
    pub(super) fn says(&self, key: &str, on: bool) -> bool {
        self.get(key) == Some(&Parsed::Bool(on))
    }

    /// Faults for keys outside `allowed`.
    pub(super) fn restrict(&mut self, allowed: impl Fn(&OptionSpec) -> Result<(), String>) {
        for entry in &self.entries {
            if let Err(reason) = allowed(entry.spec) {
                self.faults.push(format!("`{}` {reason}", entry.key));
            }
        }
    }

    /// Faults for what Postgres does not have and what is not built yet; the rest goes into `draft`.
    pub(super) fn fill(&mut self, draft: &mut Draft) {
        for entry in &self.entries {
            match entry.spec.refusal(registry_name(entry.spec, &entry.key), &entry.value) {
                Some(fault) => self.faults.push(fault),
                None => entry.spec.form.set(draft, entry.value.clone()),
            }
        }
    }
}

/// The registry's spelling; the map's where the registry has a pattern.
fn registry_name<'a>(spec: &'a OptionSpec, key: &'a str) -> &'a str {
    if spec.key.contains('*') || !spec.key.eq_ignore_ascii_case(key) { key } else { spec.key }
}

fn unknown(key: &str) -> String {
    // A key may be a value that was pasted in the wrong place.
    let shown: String = key.chars().take(60).collect();
    if registry::find_hint(key).is_some() {
        return format!("`{shown}` belongs into a LOOKUP hint, it is no option of a table");
    }
    match registry::nearest(key) {
        Some(near) => format!("`{shown}` is no known option, did you mean `{near}`?"),
        None => format!("`{shown}` is no known option"),
    }
}

/// What one of the three names of the delete strategy says about deletes, in the words of `table.delete.behavior`.
fn delete_word(entry: &Entry) -> &'static str {
    match entry.value {
        Parsed::Bool(true) | Parsed::Choice("IGNORE_DELETE") => "IGNORE",
        // Not ignoring leaves open what is done instead.
        Parsed::Bool(false) => "",
        Parsed::Choice(name) if entry.spec.key == "table.delete.behavior" => name,
        // Each of the other strategies deletes in its own way, which ALLOW permits.
        _ => "ALLOW",
    }
}

fn differ(a: &Entry, b: &Entry) -> bool {
    if a.spec.setting() == "sink.delete-strategy" && !std::ptr::eq(a.spec, b.spec) {
        return match (delete_word(a), delete_word(b)) {
            ("", word) | (word, "") => word == "IGNORE",
            (a, b) => a != b,
        };
    }
    a.value != b.value
}

/// What a sink's own map may hold.
pub(super) fn sink_only(spec: &OptionSpec) -> Result<(), String> {
    match spec.scope {
        Scope::Write | Scope::Storage => Ok(()),
        Scope::Connection if spec.key == "meta-cache-ttl-ms" => Ok(()),
        scope => Err(format!("is a {} option, not a sink's", scope.name())),
    }
}

/// What `-w` may hold: the DSN and the table are named elsewhere.
pub(super) fn sink_or_connection(spec: &OptionSpec) -> Result<(), String> {
    if spec.is_target() {
        return Err("is given by the DSN and the table name, not here".to_owned());
    }
    match spec.scope {
        Scope::Connection => Ok(()),
        _ => sink_only(spec),
    }
}
