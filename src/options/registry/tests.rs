use std::collections::HashSet;
use std::time::Duration;

use super::super::form::{Form, Parsed};
use super::super::spec::{Build, Verdict};
use super::super::{ChannelBinding, ConflictAction, PoolOptions, SinkOptions, SslNegotiation, TlsOptions};
use super::*;

#[test]
fn each_key_stands_once_and_twins_lead_to_a_key() {
    let mut seen = HashSet::new();
    for spec in all() {
        let space = spec.scope == Scope::Hint;
        for name in std::iter::once(&spec.key).chain(spec.aliases) {
            assert!(seen.insert((space, name.to_ascii_lowercase())), "{name} stands twice");
        }
        if let Some(twin) = spec.twin_of {
            let other = find(twin).unwrap();
            assert_eq!(other.key, twin);
            assert!(other.twin_of.is_none(), "{twin} is itself a twin");
        }
    }
}

#[test]
fn defaults_and_passing_values_are_legal() {
    for spec in all() {
        for text in spec.default.iter().chain(spec.passes) {
            assert!(spec.form.parse(text).is_ok(), "{} = {text}", spec.key);
        }
        if let Build::Without(values) = spec.build {
            for text in values {
                assert_eq!(spec.form.parse(text), Ok(Parsed::Choice(text)), "{} = {text}", spec.key);
            }
        }
    }
}

#[test]
fn a_value_that_is_taken_has_somewhere_to_go() {
    for spec in all().filter(|spec| matches!(spec.verdict, Verdict::Works | Verdict::Near)) {
        if spec.build == Build::NotYet {
            continue;
        }
        assert!(spec.form.has_setter(), "{} would be ignored", spec.key);
        if let Form::Choice(choices) = &spec.form {
            for choice in *choices {
                let taken = spec.refusal(spec.key, &Parsed::Choice(choice.name)).is_none();
                let silent = spec.passes.iter().any(|text| text.eq_ignore_ascii_case(choice.name));
                assert!(
                    !taken || choice.set.is_some() || silent,
                    "{} = {} would be ignored",
                    spec.key,
                    choice.name
                );
            }
        }
    }
}

#[test]
fn each_key_has_one_line_of_doc() {
    for spec in all() {
        assert!(!spec.doc.is_empty() && !spec.doc.contains('\n') && !spec.doc.ends_with('.'), "{}", spec.key);
    }
}

#[test]
fn the_structs_have_the_defaults_of_the_registry() {
    let mut draft = Draft::default();
    for section in
        SECTIONS.iter().filter(|section| !section.fluss || section.title == "Fluss connector: other")
    {
        fill_defaults(section, &mut draft, |_| true);
    }
    for section in SECTIONS.iter().filter(|section| section.fluss) {
        fill_defaults(section, &mut draft, |spec| spec.twin_of.is_none());
    }
    // A default is kept apart from the same value given: the COPY modes have larger batches, and an appending bulk
    // load refuses an action that is given.
    assert_eq!(draft.sink.batch_rows.take(), Some(512));
    assert_eq!(draft.sink.batch_bytes.take(), Some(2 << 20));
    assert_eq!(draft.sink.on_conflict.take(), Some(ConflictAction::InsertOrUpdate));
    assert_eq!(draft.sink, SinkOptions::default());
    // Of these the DSN may give another value, so that the struct leaves them open.
    let open = [&mut draft.pool.keepalive, &mut draft.pool.tcp_user_timeout, &mut draft.pool.connect_timeout];
    assert_eq!(open.map(Option::take), [30, 30, 120].map(|seconds| Some(Duration::from_secs(seconds))));
    assert_eq!(draft.pool, PoolOptions::default());
    assert_eq!(draft.tls.channel_binding.take(), Some(ChannelBinding::default()));
    assert_eq!(draft.tls.negotiation.take(), Some(SslNegotiation::default()));
    assert_eq!(draft.tls, TlsOptions::default());
}

fn fill_defaults(section: &Section, draft: &mut Draft, wanted: fn(&OptionSpec) -> bool) {
    for spec in section.specs.iter().filter(|spec| wanted(spec)) {
        if let Some(value) = spec.default.map(|text| spec.form.parse(text).unwrap()) {
            spec.form.set(draft, value);
        }
    }
}

#[test]
fn keys_are_found_in_any_case_and_by_pattern() {
    assert_eq!(find("SINK.Write-Mode").unwrap().key, "sink.write-mode");
    assert_eq!(find("cachettlms").unwrap().key, "cacheTTLMs");
    assert_eq!(find("table.datalake.enabled").unwrap().key, "table.datalake.*");
    assert_eq!(find("fields.total.agg").unwrap().key, "fields.*.agg");
    assert!(find("fields.agg").is_none());
    assert!(find("output-mode").is_none());
    assert_eq!(find_hint("Delay").unwrap().key, "fixed-delay");
    assert_eq!(find("async").unwrap().scope, Scope::Lookup);
    assert_eq!(find_hint("async").unwrap().scope, Scope::Hint);
}

#[test]
fn the_nearest_key_is_the_one_that_was_meant() {
    for (wrong, meant) in [
        ("client.writer.batchsize", Some("client.writer.batch-size")),
        ("sink.write_mode", Some("sink.write-mode")),
        ("sink.on-conflict", Some("sink.on-conflict-action")),
        ("Tablename ", Some("tablename")),
        ("cache-size", Some("cacheSize")),
        ("zzzzzzzzzzzzzzzzzzzzz", None),
    ] {
        assert_eq!(nearest(wrong), meant, "{wrong}");
    }
}

#[test]
fn distances_are_counted_in_single_changes() {
    for (a, b, changes) in
        [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("größe", "grösse", 2), ("ab", "ba", 2)]
    {
        assert_eq!(distance(a, b), changes, "{a} {b}");
        assert_eq!(distance(b, a), changes, "{b} {a}");
    }
}
