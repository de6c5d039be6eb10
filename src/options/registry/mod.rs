//! The table of all keys, and how a key is found in it.

mod connection;
mod dimension;
mod fluss_client;
mod fluss_storage;
mod hint;
mod own;
mod sink;
mod source;

use super::draft::Draft;
use super::given::Given;
use super::spec::{OptionSpec, Scope};

/// The keys of one part of a connector.
pub struct Section {
    title: &'static str,
    fluss: bool,
    specs: &'static [OptionSpec],
}

impl Section {
    /// The heading.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// The keys, in the order of the documentation.
    pub fn options(&self) -> &'static [OptionSpec] {
        self.specs
    }
}

static SECTIONS: &[Section] = &[
    Section { title: "Hologres connector: general", fluss: false, specs: connection::OPTIONS },
    Section { title: "Hologres connector: source", fluss: false, specs: source::OPTIONS },
    Section { title: "Hologres connector: sink", fluss: false, specs: sink::OPTIONS },
    Section { title: "Hologres connector: dimension table", fluss: false, specs: dimension::OPTIONS },
    Section { title: "LOOKUP hint", fluss: false, specs: hint::OPTIONS },
    Section { title: "Fluss connector: storage", fluss: true, specs: fluss_storage::STORAGE },
    Section { title: "Fluss connector: read", fluss: true, specs: fluss_storage::READ },
    Section { title: "Fluss connector: write", fluss: true, specs: fluss_client::WRITE },
    Section { title: "Fluss connector: lookup", fluss: true, specs: fluss_client::LOOKUP },
    Section { title: "Fluss connector: other", fluss: true, specs: fluss_client::OTHER },
    Section { title: "pgsluice's own", fluss: false, specs: own::OPTIONS },
];

/// Every key, section by section.
pub fn sections() -> &'static [Section] {
    SECTIONS
}

fn all() -> impl Iterator<Item = &'static OptionSpec> {
    SECTIONS.iter().flat_map(|section| section.specs)
}

fn named(key: &str, hint: bool) -> Option<&'static OptionSpec> {
    let key = key.to_ascii_lowercase();
    all().find(|spec| (spec.scope == Scope::Hint) == hint && spec.is_named(&key))
}

/// The option of this key or alias, in any case.
pub(super) fn find(key: &str) -> Option<&'static OptionSpec> {
    named(key, false)
}

/// The key of the LOOKUP hint.
pub(super) fn find_hint(key: &str) -> Option<&'static OptionSpec> {
    named(key, true)
}

/// Why this value of this key is not taken today.
pub(super) fn refusal(key: &str, value: &str) -> Option<String> {
    let spec = find(key)?;
    let value = spec.form.parse(value).ok()?;
    spec.refusal(key, &value)
}

/// In a Fluss set-up a setting with two names has the default of its Fluss name.
pub(super) fn fluss_defaults(given: &Given, draft: &mut Draft) {
    for spec in SECTIONS.iter().filter(|section| section.fluss).flat_map(|section| section.specs) {
        if given.names(spec.setting()) || spec.twin_of.is_none() {
            continue;
        }
        if let Some(value) = spec.default.and_then(|text| spec.form.parse(text).ok())
            && spec.refusal(spec.key, &value).is_none()
        {
            spec.form.set(draft, value);
        }
    }
}

/// The known key that takes the fewest changes of one character; none where half of the key would change.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let near = all()
        .filter(|spec| spec.scope != Scope::Hint && !spec.key.contains('*'))
        .map(|spec| (distance(&key, &spec.key.to_ascii_lowercase()), spec.key))
        .min_by_key(|(distance, _)| *distance)?;
    (near.0 <= key.chars().count() / 2).then_some(near.1)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
