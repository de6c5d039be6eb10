//! What the registry holds about one key.

use super::form::{Choice, Form, Parsed};

/// What a key is about, and so where it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Host, login, TLS, pool, retry.
    Connection,
    /// What the table is.
    Storage,
    /// Scans and change streams.
    Read,
    /// Sinks.
    Write,
    /// Look-ups.
    Lookup,
    /// Only inside a LOOKUP hint.
    Hint,
}

impl Scope {
    /// The word of the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Storage => "storage",
            Self::Read => "read",
            Self::Write => "write",
            Self::Lookup => "lookup",
            Self::Hint => "hint",
        }
    }
}

/// What a key means on a Postgres server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The promise is kept.
    Works,
    /// Kept by another mechanism; the doc says how.
    Near,
    /// Only a Hologres server has it.
    Hologres,
    /// No meaning on Postgres; the reason.
    Refused(&'static str),
}

impl Verdict {
    /// The word of the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Near => "near",
            Self::Hologres => "hologres",
            Self::Refused(_) => "refused",
        }
    }
}

/// How far this version has come with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Build {
    /// Every legal value is carried out.
    Available,
    /// All but these values are carried out.
    Without(&'static [&'static str]),
    /// Refused as "not available yet", but for the values that change nothing.
    NotYet,
}

fn passes(form: &Form, text: &str, value: &Parsed) -> bool {
    match value {
        Parsed::Text(given) => given.trim().eq_ignore_ascii_case(text),
        value => form.parse(text).is_ok_and(|passing| passing == *value),
    }
}

/// One key of the registry.
pub struct OptionSpec {
    pub(super) key: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) twin_of: Option<&'static str>,
    pub(super) form: Form,
    pub(super) default: Option<&'static str>,
    pub(super) scope: Scope,
    pub(super) verdict: Verdict,
    pub(super) build: Build,
    pub(super) passes: &'static [&'static str],
    pub(super) doc: &'static str,
}

impl OptionSpec {
    pub(super) const fn works(key: &'static str, scope: Scope, form: Form, doc: &'static str) -> Self {
        let build = Build::Available;
        let verdict = Verdict::Works;
        Self {
            key,
            aliases: &[],
            twin_of: None,
            form,
            default: None,
            scope,
            verdict,
            build,
            passes: &[],
            doc,
        }
    }

    pub(super) const fn near(key: &'static str, scope: Scope, form: Form, doc: &'static str) -> Self {
        let mut spec = Self::works(key, scope, form, doc);
        spec.verdict = Verdict::Near;
        spec
    }

    pub(super) const fn hologres(key: &'static str, scope: Scope, doc: &'static str) -> Self {
        let mut spec = Self::works(key, scope, Form::Bool(None), doc);
        spec.verdict = Verdict::Hologres;
        spec.default = Some("false");
        spec.passes = &["false"];
        spec
    }

    pub(super) const fn refused(key: &'static str, scope: Scope, form: Form, reason: &'static str) -> Self {
        let mut spec = Self::works(key, scope, form, reason);
        spec.verdict = Verdict::Refused(reason);
        spec
    }

    pub(super) const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    pub(super) const fn twin_of(mut self, key: &'static str) -> Self {
        self.twin_of = Some(key);
        self
    }

    pub(super) const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    pub(super) const fn not_yet(mut self) -> Self {
        self.build = Build::NotYet;
        self
    }

    pub(super) const fn without(mut self, values: &'static [&'static str]) -> Self {
        self.build = Build::Without(values);
        self
    }

    pub(super) const fn passes(mut self, values: &'static [&'static str]) -> Self {
        self.passes = values;
        self
    }

    /// The key; a `*` stands for any text.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Other spellings of the same key.
    pub fn aliases_of(&self) -> &'static [&'static str] {
        self.aliases
    }

    /// The key under which this setting is known elsewhere: both are one setting.
    pub fn twin(&self) -> Option<&'static str> {
        self.twin_of
    }

    /// The default in the set-up that the key comes from; `None`: nothing, or somebody else decides (see the doc).
    pub fn default_text(&self) -> Option<&'static str> {
        self.default
    }

    /// What the key is about.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What it means on a Postgres server.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// How far this version has come with it.
    pub fn build(&self) -> Build {
        self.build
    }

    /// Values that are taken although the key is refused, or not available yet: they change nothing.
    pub fn passing_values(&self) -> &'static [&'static str] {
        self.passes
    }

    /// The legal values, in words.
    pub fn values(&self) -> String {
        self.form.words()
    }

    /// One line on what it does.
    pub fn doc(&self) -> &'static str {
        self.doc
    }

    /// The key of the setting: the twin's, where there is one.
    pub(super) fn setting(&self) -> &'static str {
        self.twin_of.unwrap_or(self.key)
    }

    /// True for what says where the table is: a DDL has it, `-w` and hints do not.
    pub(super) fn is_target(&self) -> bool {
        matches!(
            self.key,
            "connector" | "endpoint" | "bootstrap.servers" | "dbname" | "tablename" | "username" | "password"
        )
    }

    /// True where `key` (in lower case) is this one.
    pub(super) fn is_named(&self, key: &str) -> bool {
        match self.key.split_once('*') {
            Some((head, tail)) => {
                key.len() > head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail)
            }
            None => self.key.eq_ignore_ascii_case(key) || self.aliases.contains(&key),
        }
    }

    /// Why a legal value is not taken: refused, Hologres only, or not available yet.
    pub(super) fn refusal(&self, key: &str, value: &Parsed) -> Option<String> {
        if self.passes.iter().any(|text| passes(&self.form, text, value)) {
            return None;
        }
        let accepted = if self.passes.is_empty() {
            String::new()
        } else {
            format!("; the value {} is accepted", self.passes.join(" or "))
        };
        match self.verdict {
            Verdict::Hologres => {
                return Some(format!("`{key}` needs a Hologres server ({}){accepted}", self.doc));
            }
            Verdict::Refused(reason) => {
                return Some(format!("`{key}` has no meaning on Postgres: {reason}{accepted}"));
            }
            Verdict::Works | Verdict::Near => {}
        }
        let choice = match (&self.form, value) {
            (Form::Choice(choices), Parsed::Choice(name)) => {
                choices.iter().find(|choice| choice.name == *name)
            }
            _ => None,
        };
        if let Some(Choice { name, refused: Some(reason), .. }) = choice {
            return Some(format!("`{key}` = {name} is refused: {reason}"));
        }
        match (self.build, choice) {
            (Build::NotYet, _) => Some(format!("`{key}` is not available yet{accepted}")),
            (Build::Without(values), Some(choice)) if values.contains(&choice.name) => {
                Some(format!("`{key}` = {} is not available yet", choice.name))
            }
            _ => None,
        }
    }
}
