//! Typed options back as keys and texts, for a reader to see and for another map to hold.

use super::sink::{DeleteStrategy, RejectPolicy, SinkOptions};
use super::unit::{display_duration, display_size};

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    quoted.join(",")
}

impl SinkOptions {
    /// The keys and values that give these options: [`SinkOptions::from_map`] of them is equal to `self`, where
    /// [`SinkOptions::check`] is Ok. A setting without a value is not there.
    pub fn to_map(&self) -> Vec<(&'static str, String)> {
        let delete = match self.delete_strategy {
            DeleteStrategy::IgnoreDelete => ("sink.delete-strategy", "IGNORE_DELETE"),
            DeleteStrategy::NonPkFieldToNull => ("sink.delete-strategy", "NON_PK_FIELD_TO_NULL"),
            DeleteStrategy::DeleteRowOnPk => ("sink.delete-strategy", "DELETE_ROW_ON_PK"),
            DeleteStrategy::ChangelogStandard => ("sink.delete-strategy", "CHANGELOG_STANDARD"),
            DeleteStrategy::Disable => ("table.delete.behavior", "DISABLE"),
        };
        let (policy, limit) = match self.reject_policy {
            RejectPolicy::Fail => ("fail", None),
            RejectPolicy::Skip { limit } => ("skip", limit),
        };
        let mut map = vec![
            ("sink.write-mode", self.write_mode.name().to_owned()),
            (delete.0, delete.1.to_owned()),
            ("sink.remove-u0000-in-text.enabled", self.remove_u0000.to_string()),
            ("sink.deduplication.enabled", self.deduplication.to_string()),
            ("sink.aggressive-flush.enabled", self.aggressive_flush.to_string()),
            ("sink.copy.format", self.copy_format.name().to_owned()),
            ("sink.copy.min-rows", self.copy_min_rows.to_string()),
            (
                "sink.insert.flush-interval-ms",
                self.flush_interval.map_or_else(|| "-1".to_owned(), display_duration),
            ),
            ("bucket.num", self.lanes.to_string()),
            ("client.writer.buffer.memory-size", display_size(self.memory as u64)),
            ("sink.skip-generated-columns", self.skip_generated_columns.to_string()),
            ("sink.text-values", self.text_values.to_string()),
            ("sink.reject-policy", policy.to_owned()),
            ("sink.default-for-not-null-column.enabled", self.default_for_not_null.to_string()),
        ];
        let optional = [
            ("sink.on-conflict-action", self.on_conflict.map(|action| action.name().to_owned())),
            ("sink.insert.batch-size", self.batch_rows.map(|rows| rows.to_string())),
            ("sink.insert.batch-byte-size", self.batch_bytes.map(|bytes| display_size(bytes as u64))),
            ("bucket.key", self.bucket_key.as_deref().map(list)),
            ("sink.key-columns", self.key_columns.as_deref().map(list)),
            ("sink.key-predicate", self.key_predicate.clone()),
            (
                "sink.insert-only-columns",
                Some(&self.insert_only_columns).filter(|names| !names.is_empty()).map(|names| list(names)),
            ),
            ("sink.time-zone", self.time_zone.clone()),
            ("sink.reject-limit", limit.map(|limit| limit.to_string())),
        ];
        map.extend(optional.into_iter().filter_map(|(key, value)| Some((key, value?))));
        map
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::sink::ConflictAction;
    use super::*;

    fn names() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::btree_set("[a-zA-Z, \"é._-]{0,6}[a-z]", 1..4)
            .prop_map(|set| set.into_iter().collect())
    }

    prop_compose! {
        fn options()(
            action in proptest::option::of(prop::sample::select(vec![
                ConflictAction::InsertOrIgnore, ConflictAction::InsertOrReplace, ConflictAction::InsertOrUpdate,
            ])),
            delete in prop::sample::select(vec![
                DeleteStrategy::IgnoreDelete, DeleteStrategy::NonPkFieldToNull, DeleteStrategy::DeleteRowOnPk,
                DeleteStrategy::ChangelogStandard, DeleteStrategy::Disable,
            ]),
            flags in any::<[bool; 5]>(),
            rows in proptest::option::of(1usize..1_000_000),
            bytes in 1usize..1 << 40,
            age in proptest::option::of(0u64..1 << 50),
            lanes in 1usize..=10_000,
            key in proptest::option::of(names()),
            insert_only in proptest::option::of(names()),
            zone in proptest::option::of("[A-Z][a-z]{1,8}/[A-Z][a-z]{1,8}"),
            policy in proptest::option::of(proptest::option::of(0u64..1 << 60)),
        ) -> SinkOptions {
            SinkOptions {
                on_conflict: action,
                delete_strategy: delete,
                remove_u0000: flags[0],
                deduplication: flags[1],
                aggressive_flush: flags[2],
                skip_generated_columns: flags[3],
                text_values: flags[4],
                batch_rows: rows,
                batch_bytes: Some(bytes),
                copy_min_rows: lanes,
                memory: bytes * 3,
                flush_interval: age.map(Duration::from_nanos),
                lanes,
                bucket_key: key.as_ref().map(|names| names[..1].to_vec()),
                key_predicate: key.as_ref().map(|_| "a > 0 and b <> '='".to_owned()),
                key_columns: key,
                insert_only_columns: insert_only.unwrap_or_default(),
                time_zone: zone,
                reject_policy: policy.map_or(RejectPolicy::Fail, |limit| RejectPolicy::Skip { limit }),
                ..SinkOptions::default()
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_same_options(options in options(), order in any::<prop::sample::Index>()) {
            prop_assert!(options.check().is_ok(), "{:?}", options.check());
            let mut map = options.to_map();
            let at = order.index(map.len());
            map.rotate_left(at);
            prop_assert_eq!(SinkOptions::from_map(map).unwrap(), options);
        }
    }
}
