//! The registry as text for a terminal, as Markdown for docs/options.md, and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::registry::sections;
use super::spec::{Build, OptionSpec, Verdict};

/// What this version does with the key, in words.
fn status(spec: &OptionSpec) -> String {
    match (spec.verdict(), spec.build()) {
        (Verdict::Hologres, _) => "Hologres only".to_owned(),
        (Verdict::Refused(_), _) => "refused".to_owned(),
        (verdict, Build::Available) => verdict.name().to_owned(),
        (verdict, Build::Without(values)) => {
            format!("{}; not available yet: {}", verdict.name(), values.join(", "))
        }
        (verdict, Build::NotYet) => format!("not available yet ({})", verdict.name()),
    }
}

/// The doc with what else a reader has to know.
fn meaning(spec: &OptionSpec, code: fn(&str) -> String) -> String {
    let mut text = match spec.verdict() {
        Verdict::Hologres => format!("refused on Postgres: {}", spec.doc()),
        _ => spec.doc().to_owned(),
    };
    if let Some(twin) = spec.twin() {
        let _ = write!(text, "; one setting with {}", code(twin));
    }
    for alias in spec.aliases_of() {
        let _ = write!(text, "; also {}", code(alias));
    }
    if !spec.passing_values().is_empty() {
        let values: Vec<String> = spec.passing_values().iter().map(|value| code(value)).collect();
        let _ = write!(text, "; accepted today: {}", values.join(", "));
    }
    text
}

/// One line a key, for a terminal.
pub fn render_text() -> String {
    let mut out = String::new();
    for section in sections() {
        let _ = writeln!(out, "{}\n", section.title());
        for spec in section.options() {
            let default = spec.default_text().map_or_else(String::new, |text| format!(" = {text}"));
            let _ = writeln!(out, "  {}{default}", spec.key());
            let _ = writeln!(out, "      {} · {} · {}", spec.scope().name(), spec.values(), status(spec));
            let _ = writeln!(out, "      {}", meaning(spec, str::to_owned));
        }
        out.push('\n');
    }
    out
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The whole of docs/options.md.
pub fn render_markdown() -> String {
    let mut out = String::from(
        "# Options\n\n\
         <!-- Made from the registry in src/options/registry by `pgsluice options --format markdown`; do not edit. -->\n\n\
         Keys are case-insensitive. In values `-` and `_` are the same, and enum values may be in any spelling\n\
         (`INSERT_OR_UPDATE`, `insertOrUpdate`, `insert-or-update`). Durations are `100ms`, `10s`, `1 h`, `7d`; sizes are\n\
         `64 kb`, `2mb`, powers of 1024, and a number alone is bytes. Lists have commas; `\"a,b\"` is one name.\n\n\
         *works*: the promise is kept. *near*: kept by another mechanism. *Hologres only* and *refused*: an error that\n\
         names the key and the reason. *Not available yet*: refused until it is built; in brackets what it will be then.\n\
         Values that are accepted all the same change nothing. Two keys that are one setting may both be given where they say the same.\n",
    );
    for section in sections() {
        let _ = write!(
            out,
            "\n## {}\n\n| key | values | default | scope | status | meaning |\n|---|---|---|---|---|---|\n",
            section.title()
        );
        for spec in section.options() {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} | {} | {} |",
                spec.key(),
                cell(&spec.values()),
                spec.default_text().map_or_else(String::new, code),
                spec.scope().name(),
                cell(&status(spec)),
                cell(&meaning(spec, code)),
            );
        }
    }
    out
}

fn entry(section: &str, spec: &OptionSpec) -> Value {
    let missing: Option<Vec<&str>> = match spec.build() {
        Build::Available => Some(Vec::new()),
        Build::Without(values) => Some(values.to_vec()),
        Build::NotYet => None,
    };
    json!({
        "key": spec.key(),
        "section": section,
        "aliases": spec.aliases_of(),
        "twin": spec.twin(),
        "values": spec.values(),
        "default": spec.default_text(),
        "scope": spec.scope().name(),
        "verdict": spec.verdict().name(),
        "available": missing.is_some() && matches!(spec.verdict(), Verdict::Works | Verdict::Near),
        "not_available_values": missing.unwrap_or_default(),
        "accepted_values": spec.passing_values(),
        "meaning": spec.doc(),
    })
}

/// An array with an object a key.
pub fn render_json() -> String {
    let entries: Vec<Value> = sections()
        .iter()
        .flat_map(|section| section.options().iter().map(|spec| entry(section.title(), spec)))
        .collect();
    // `{:#}` of a JSON value is its indented text.
    format!("{:#}\n", Value::Array(entries))
}
