//! Options as texts: every key, every refusal, every illegal pair; docs/options.md.

use std::time::Duration;

use pgsluice::ErrorKind;
use pgsluice::options::{
    Build, ChannelBinding, ConflictAction, Connector, DeleteStrategy, Endpoint, PoolOptions, RejectPolicy,
    Resolved, SinkOptions, SslMode, SslNegotiation, TargetSessionAttrs, TlsOptions, Use, Verdict, WriteMode,
    WriteOptions, render, resolve, sections,
};

const DDL: &[(&str, &str)] = &[("connector", "hologres"), ("dbname", "shop"), ("tablename", "public.orders")];

fn with(more: &[(&str, &str)]) -> pgsluice::Result<Resolved> {
    let pairs = DDL.iter().filter(|(key, _)| !more.iter().any(|(other, _)| other == key)).chain(more);
    resolve(pairs.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())), Use::Sink)
}

/// The message of the error, which must be one of the options.
fn fault(more: &[(&str, &str)]) -> String {
    let error = with(more).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.operation(), "read options");
    error.message().to_owned()
}

fn sink(more: &[(&str, &str)]) -> SinkOptions {
    with(more).unwrap_or_else(|error| panic!("{error}")).sink
}

#[test]
fn a_pasted_ddl_gives_typed_options() {
    let resolved = with(&[
        ("Endpoint", "h1:5432,[::1]:5433"),
        ("username", "etl"),
        ("password", "p@s/w?r#d%41 {x}'\\"),
        ("connection.pool.name", "etl"),
        ("connection.pool.size", "8"),
        ("connection.max-idle-ms", "1000"),
        ("connection.ssl.mode", "REQUIRE"),
        ("client.id", "etl job"),
        ("sink.write-mode", "insert"),
        ("sink.insert.batch-size", "100"),
        ("sink.insert.batch-byte-size", "64 kb"),
        ("sink.insert.flush-interval-ms", "250"),
        ("sink.reject-limit", "5"),
        ("sink.reject-policy", "skip"),
    ])
    .unwrap();
    assert_eq!(resolved.connector, Connector::Hologres);
    assert_eq!(resolved.table, "public.orders");
    assert_eq!(resolved.dbname, "shop");
    assert_eq!(resolved.hosts, [Endpoint::new("h1", Some(5432)), Endpoint::new("::1", Some(5433))]);
    assert_eq!(resolved.target_session_attrs, TargetSessionAttrs::ReadWrite);
    assert_eq!(resolved.username.as_deref(), Some("etl"));
    assert_eq!(resolved.password, Some("p@s/w?r#d%41 {x}'\\".into()));
    assert_eq!(resolved.tls.mode, Some(SslMode::Require));
    let pool =
        PoolOptions::named("etl").size(8).idle_timeout(Duration::from_secs(1)).application_name("etl job");
    assert_eq!(resolved.pool, pool);
    let built = SinkOptions::new()
        .write_mode(WriteMode::Insert)
        .batch_rows(100)
        .batch_bytes(65_536)
        .flush_interval(Duration::from_millis(250))
        .reject_policy(RejectPolicy::Skip { limit: Some(5) });
    assert_eq!(resolved.sink, built);
}

#[test]
fn every_tls_key_reaches_its_option() {
    for (text, mode) in [
        ("disable", SslMode::Disable),
        ("allow", SslMode::Allow),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-ca", SslMode::VerifyCa),
        ("VERIFY_FULL", SslMode::VerifyFull),
    ] {
        assert_eq!(with(&[("connection.ssl.mode", text)]).unwrap().tls.mode, Some(mode));
    }
    let resolved = with(&[
        ("connection.ssl.mode", "verify-full"),
        ("connection.ssl.root-cert.location", "/etc/ca.pem"),
        ("connection.ssl.cert", "/etc/me.pem"),
        ("connection.ssl.key", "/etc/me.key"),
        ("connection.ssl.channel-binding", "require"),
        ("connection.ssl.negotiation", "direct"),
        ("connection.target-session-attrs", "primary"),
        ("connection.password-command", "cat hush"),
    ])
    .unwrap();
    let built = TlsOptions::new()
        .mode(SslMode::VerifyFull)
        .root_cert("/etc/ca.pem")
        .cert("/etc/me.pem")
        .key("/etc/me.key")
        .channel_binding(ChannelBinding::Require)
        .negotiation(SslNegotiation::Direct);
    assert_eq!(resolved.tls, built);
    assert_eq!(resolved.target_session_attrs, TargetSessionAttrs::Primary);
    assert_eq!(resolved.password_command, Some("cat hush".into()));
    assert!(!format!("{resolved:?}").contains("hush"), "{resolved:?}");
    assert!(with(&[("connection.ssl.system-roots", "true")]).unwrap().tls.system_roots);
    let two = fault(&[
        ("connection.ssl.system-roots", "true"),
        ("connection.ssl.root-cert.location", "/etc/ca.pem"),
        ("password", "hush"),
        ("connection.password-command", "cat hush"),
    ]);
    assert!(two.starts_with("2 faults") && !two.contains("hush"), "{two}");
}

#[test]
fn h_a14_policies_in_every_spelling_and_no_other_word() {
    for text in ["insertorupdate", "INSERT_OR_UPDATE", "insertOrUpdate", "insert-or-update"] {
        assert_eq!(
            sink(&[("sink.on-conflict-action", text)]).on_conflict,
            Some(ConflictAction::InsertOrUpdate)
        );
    }
    for (text, action) in [
        ("insertOrIgnore", ConflictAction::InsertOrIgnore),
        ("insert-or-replace", ConflictAction::InsertOrReplace),
    ] {
        assert_eq!(sink(&[("sink.on-conflict-action", text)]).on_conflict, Some(action));
    }
    let message = fault(&[("sink.on-conflict-action", "upsert")]);
    for part in ["sink.on-conflict-action", "upsert", "INSERT_OR_IGNORE, INSERT_OR_REPLACE, INSERT_OR_UPDATE"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn f_a73_values_in_every_spelling() {
    for text in ["NON_PK_FIELD_TO_NULL", "nonPkFieldToNull", "non-pk-field-to-null", "Non_Pk-FieldToNull"] {
        let options = sink(&[("SINK.DELETE-STRATEGY", text)]);
        assert_eq!(options.delete_strategy, DeleteStrategy::NonPkFieldToNull, "{text}");
    }
    for text in ["true", "TRUE", " True "] {
        assert!(sink(&[("sink.aggressive-flush.enabled", text)]).aggressive_flush, "{text}");
    }
    for text in ["yes", "1", "on", ""] {
        assert!(
            fault(&[("sink.aggressive-flush.enabled", text)]).contains("legal is: true, false"),
            "{text}"
        );
    }
}

#[test]
fn f_a13_merge_engine_is_last_row_or_a_legal_word_that_is_not_there_yet() {
    assert_eq!(sink(&[("table.merge-engine", "last_row")]), SinkOptions::default());
    assert_eq!(sink(&[("table.merge-engine", "lastRow")]), SinkOptions::default());
    let message = fault(&[("table.merge-engine", "latest")]);
    assert!(message.contains("latest") && message.contains("last_row, first_row, versioned"), "{message}");
    assert!(fault(&[("table.merge-engine", "first_row")]).contains("not available yet"));
}

#[test]
fn f_a20_delete_behaviors_map_onto_the_strategy() {
    for (text, strategy) in [
        ("ALLOW", DeleteStrategy::ChangelogStandard),
        ("ignore", DeleteStrategy::IgnoreDelete),
        ("DISABLE", DeleteStrategy::Disable),
    ] {
        assert_eq!(sink(&[("table.delete.behavior", text)]).delete_strategy, strategy);
    }
    assert_eq!(sink(&[("sink.ignore-delete", "true")]).delete_strategy, DeleteStrategy::IgnoreDelete);
    assert_eq!(sink(&[("sink.ignore-delete", "false")]).delete_strategy, DeleteStrategy::ChangelogStandard);
}

#[test]
fn twins_say_the_same_or_are_an_error_in_either_order() {
    let same: &[&[(&str, &str)]] = &[
        &[("sink.insert.flush-interval-ms", "100"), ("client.writer.batch-timeout", "100ms")],
        &[("sink.insert.batch-byte-size", "2097152"), ("client.writer.batch-size", "2mb")],
        &[("connection.max-idle-ms", "60000"), ("connection.idle-timeout", "1min")],
        &[("endpoint", "h:1,g"), ("bootstrap.servers", "h:1, g")],
        &[
            ("sink.ignore-delete", "true"),
            ("sink.delete-strategy", "ignoreDelete"),
            ("table.delete.behavior", "IGNORE"),
        ],
        &[("sink.ignore-delete", "false"), ("sink.delete-strategy", "DELETE_ROW_ON_PK")],
        &[("sink.ignore-delete", "false"), ("table.delete.behavior", "DISABLE")],
        &[("table.delete.behavior", "ALLOW"), ("sink.delete-strategy", "NON_PK_FIELD_TO_NULL")],
        &[("bucket.num", "4"), ("BUCKET.NUM", "4")],
    ];
    let different: &[&[(&str, &str)]] = &[
        &[("sink.insert.flush-interval-ms", "101"), ("client.writer.batch-timeout", "100ms")],
        &[("sink.insert.batch-byte-size", "2097151"), ("client.writer.batch-size", "2mb")],
        &[("connection.max-idle-ms", "60"), ("connection.idle-timeout", "1min")],
        &[("endpoint", "h:1,g"), ("bootstrap.servers", "g,h:1")],
        &[("sink.ignore-delete", "true"), ("sink.delete-strategy", "CHANGELOG_STANDARD")],
        &[("sink.ignore-delete", "false"), ("sink.delete-strategy", "IGNORE_DELETE")],
        &[("sink.ignore-delete", "true"), ("table.delete.behavior", "ALLOW")],
        &[("sink.ignore-delete", "true"), ("table.delete.behavior", "DISABLE")],
        &[("table.delete.behavior", "DISABLE"), ("sink.delete-strategy", "CHANGELOG_STANDARD")],
        &[("retry-count", "0"), ("client.writer.retries", "3")],
        &[("lookup.read.batch-size", "10"), ("client.lookup.max-batch-size", "11")],
        &[("lookup.max-retries", "1"), ("client.lookup.max-retries", "2")],
        &[("cacheSize", "1"), ("lookup.partial-cache.max-rows", "2")],
        &[("cacheTTLMs", "1"), ("lookup.partial-cache.expire-after-write", "2ms")],
        &[("cacheEmpty", "true"), ("lookup.partial-cache.cache-missing-key", "false")],
        &[("async", "true"), ("lookup.async", "false")],
    ];
    for pairs in same {
        let mut pairs = pairs.to_vec();
        let there = with(&pairs).unwrap_or_else(|error| panic!("{error}"));
        pairs.reverse();
        let back = with(&pairs).unwrap();
        assert_eq!((there.sink, there.hosts, there.pool), (back.sink, back.hosts, back.pool));
    }
    for pairs in different {
        for pairs in [pairs.to_vec(), pairs.iter().rev().copied().collect()] {
            let message = fault(&pairs);
            assert!(message.contains("one setting"), "{message}");
            assert!(pairs.iter().all(|(key, _)| message.contains(key)), "{message}");
        }
    }
    assert!(fault(&[("bucket.num", "4"), ("Bucket.Num", "5")]).contains("given twice"));
}

#[test]
fn the_fluss_connector_has_its_own_defaults() {
    let fluss = with(&[("connector", "fluss"), ("bootstrap.servers", "h:5432")]).unwrap();
    let defaults = SinkOptions::new()
        .flush_interval(Duration::from_millis(100))
        .retry_count(i32::MAX as u32)
        .batch_bytes(2 << 20);
    assert_eq!(fluss.sink, defaults);
    let given = sink(&[("connector", "fluss"), ("sink.insert.flush-interval-ms", "7000")]);
    assert_eq!(given.flush_interval, Some(Duration::from_secs(7)));
    assert_eq!(sink(&[("connector", "postgres")]), SinkOptions::default());
    assert!(fault(&[("connector", "jdbc")]).contains("hologres, postgres, fluss"));
}

#[test]
fn b09_limits_of_zero() {
    for key in ["sink.insert.flush-interval-ms", "client.writer.batch-timeout"] {
        assert_eq!(sink(&[(key, "0")]).flush_interval, Some(Duration::ZERO));
        assert_eq!(sink(&[(key, "-1")]).flush_interval, None);
    }
    for key in
        ["sink.insert.batch-size", "sink.insert.batch-byte-size", "client.writer.batch-size", "bucket.num"]
    {
        assert!(fault(&[(key, "0")]).contains(key), "{key}");
    }
    let error = SinkOptions::new().batch_rows(0).batch_bytes(0).lanes(0).check().unwrap_err();
    for key in ["sink.insert.batch-size", "sink.insert.batch-byte-size", "bucket.num"] {
        assert!(error.message().contains(key), "{error}");
    }
}

#[test]
fn f_a78_an_unknown_key_gets_the_nearest_known_one() {
    assert!(
        fault(&[("client.writer.batchsize", "1mb")]).contains("did you mean `client.writer.batch-size`?")
    );
    assert!(fault(&[("sink.write_mode", "INSERT")]).contains("did you mean `sink.write-mode`?"));
    assert!(fault(&[("output-mode", "ordered")]).contains("LOOKUP hint"));
    // The value of a key that nobody knows may be anything.
    assert!(!fault(&[("passwrd", "hush")]).contains("hush"));
}

/// Every key and value that OPTIONS refuses, or leaves to Hologres, and the value that passes all the same.
const REFUSED: &[(&str, &str, Option<&str>)] = &[
    ("connection.fixed.enabled", "true", Some("false")),
    ("serverless-computing.enabled", "true", Some("false")),
    ("source.binlog.compression.enabled", "true", Some("false")),
    ("source.binlog.read-mode", "HOLOHUB", None),
    ("sink.copy.format", "binaryrow", None),
    ("table.replication.factor", "3", None),
    ("table.log.format", "arrow", None),
    ("table.kv.format", "compacted", None),
    ("table.kv.format-version", "2", None),
    ("table.log.arrow.compression.type", "ZSTD", None),
    ("table.log.arrow.compression.zstd.level", "3", None),
    ("table.log.tiered.local-segments", "2", None),
    ("table.log.local-ttl", "1d", None),
    ("table.datalake.enabled", "true", Some("false")),
    ("table.datalake.format", "paimon", None),
    ("table.datalake.auto-compaction", "true", Some("FALSE")),
    ("client.scanner.log.check-crc", "false", Some("true")),
    ("client.scanner.io.tmpdir", "/tmp", None),
    ("client.scanner.remote-log.prefetch-num", "4", None),
    ("client.remote-file.download-thread-num", "3", None),
    ("client.filesystem.security.token.renewal.backoff", "1h", None),
    ("client.filesystem.security.token.renewal.time-ratio", "0.75", None),
];

fn no_meaning(message: &str) -> bool {
    ["needs a Hologres server", "has no meaning on Postgres: ", "is refused: "]
        .iter()
        .any(|words| message.contains(words))
}

#[test]
fn f_a77_every_refused_key_names_itself_and_the_reason() {
    for (key, value, passing) in REFUSED {
        let message = fault(&[(key, value)]);
        assert!(message.contains(&format!("`{key}`")) && no_meaning(&message), "{key}: {message}");
        if let Some(passing) = passing {
            assert_eq!(sink(&[(key, passing)]), SinkOptions::default(), "{key} = {passing}");
        }
    }
    // All at once: one error, each key in it.
    let all: Vec<(&str, &str)> = REFUSED.iter().map(|(key, value, _)| (*key, *value)).collect();
    let message = fault(&all);
    assert!(message.starts_with(&format!("{} faults", REFUSED.len())), "{message}");
    assert!(REFUSED.iter().all(|(key, _, _)| message.contains(key)), "{message}");
    // And the other way round: what the registry refuses is in the list.
    for spec in sections().iter().flat_map(|section| section.options()) {
        if matches!(spec.verdict(), Verdict::Hologres | Verdict::Refused(_)) {
            let stem = spec.key().trim_end_matches('*');
            assert!(REFUSED.iter().any(|(key, _, _)| key.starts_with(stem)), "{stem} is not in the list");
        }
    }
}

/// Every key of the contract, by hand, so that the registry cannot lose one.
const KEYS: &str = "
connector dbname tablename username password endpoint connection.pool.size connection.pool.name
connection.fixed.enabled connection.max-idle-ms connection.ssl.mode connection.ssl.root-cert.location retry-count
retry-sleep-step-ms meta-cache-ttl-ms serverless-computing.enabled
source.binlog source.binlog.read-mode source.binlog.change-log-mode source.binlog.startup-mode
source.binlog.batch-size source.binlog.request-timeout-ms source.binlog.project-columns.enabled
source.binlog.compression.enabled source.binlog.partition-binlog-mode
source.binlog.partition-binlog-lateness-timeout-minutes source.binlog.partition-values-to-read startTime
source.scan.fetch-size source.scan.timeout-seconds source.scan.filter-push-down.enabled
source.binlog.filter-push-down.enabled scan.prefer.physical-column.over.metadata-column
sink.write-mode sink.on-conflict-action sink.create-missing-partition sink.delete-strategy
sink.ignore-null-when-update.enabled sink.ignore-null-when-update-by-expr.enabled
sink.ignore-null-when-update.use-builtin.enabled sink.default-for-not-null-column.enabled
sink.remove-u0000-in-text.enabled sink.partial-insert.enabled sink.deduplication.enabled sink.aggressive-flush.enabled
sink.insert.check-and-put.column sink.insert.check-and-put.operator sink.insert.check-and-put.null-as
sink.insert.batch-size sink.skip-generated-columns sink.insert-only-columns sink.insert.batch-byte-size
sink.insert.flush-interval-ms sink.copy.format sink.copy.min-rows sink.insert.conflict-update-set sink.insert.conflict-where
lookup.read.batch-size lookup.read.timeout-ms lookup.read.column-table.enabled lookup.insert-if-not-exists cache
cacheSize cacheTTLMs cacheEmpty async lookup.async lookup.filter-push-down.enabled
table async output-mode capacity timeout retry-predicate retry-strategy fixed-delay max-attempts
bucket.num bucket.key table.log.ttl table.auto-partition.enabled table.auto-partition.time-unit
table.auto-partition.num-precreate table.auto-partition.num-retention table.auto-partition.time-zone
table.replication.factor table.log.format table.kv.format table.kv.format-version table.log.arrow.compression.type
table.log.arrow.compression.zstd.level table.log.tiered.local-segments table.log.local-ttl table.statistics.columns
table.datalake.* table.merge-engine fields.*.agg table.merge-engine.versioned.ver-column table.changelog.image
table.delete.behavior table.auto-inc.batch-size
scan.startup.mode scan.startup.timestamp scan.partition.discovery.interval client.scanner.log.check-crc
client.scanner.log.max-poll-records client.scanner.log.fetch.max-bytes client.scanner.log.fetch.max-bytes-for-bucket
client.scanner.log.fetch.min-bytes client.scanner.log.fetch.wait-max-time client.scanner.io.tmpdir
client.scanner.remote-log.prefetch-num client.remote-file.download-thread-num scan.kv.snapshot.lease.id
scan.kv.snapshot.lease.duration
sink.ignore-delete sink.bucket-shuffle client.writer.buffer.memory-size client.writer.batch-size
client.writer.buffer.wait-timeout client.writer.batch-timeout client.writer.bucket.no-key-assigner client.writer.acks
client.writer.request-max-size client.writer.retries client.writer.enable-idempotence
client.writer.max-inflight-requests-per-bucket client.writer.buffer.page-size
client.writer.buffer.per-request-memory-size client.writer.dynamic-batch-size.enabled sink.distribution-mode
lookup.cache lookup.max-retries lookup.partial-cache.expire-after-access lookup.partial-cache.expire-after-write
lookup.partial-cache.max-rows lookup.partial-cache.cache-missing-key client.lookup.queue-size
client.lookup.max-batch-size client.lookup.max-inflight-requests client.lookup.batch-timeout client.lookup.max-retries
bootstrap.servers client.id client.connect-timeout client.request-timeout
client.filesystem.security.token.renewal.* client.metrics.enabled
sink.key-columns sink.key-predicate sink.text-values sink.skip-unchanged.enabled sink.reject-policy sink.reject-limit
sink.dead-letter sink.delivery-timeout sink.ledger sink.time-zone connection.pooler connection.acquire-timeout
connection.max-lifetime connection.idle-timeout connection.keepalive connection.tcp-user-timeout
connection.target-session-attrs connection.ssl.cert connection.ssl.key connection.ssl.system-roots
connection.ssl.channel-binding connection.ssl.negotiation connection.password-command
";

#[test]
fn the_registry_has_every_key_and_no_other() {
    let mut wanted: Vec<&str> = KEYS.split_whitespace().collect();
    let mut there: Vec<&str> =
        sections().iter().flat_map(|section| section.options()).map(|spec| spec.key()).collect();
    wanted.sort_unstable();
    there.sort_unstable();
    assert_eq!(there, wanted);
}

#[test]
fn a_key_that_is_not_built_is_refused_and_its_off_value_passes() {
    for spec in sections().iter().flat_map(|section| section.options()) {
        if spec.build() != Build::NotYet || spec.scope().name() == "hint" {
            continue;
        }
        for value in spec.passing_values() {
            assert_eq!(sink(&[(spec.key(), value)]), SinkOptions::default(), "{} = {value}", spec.key());
        }
        // Some value of its type that is not one of those.
        let key = spec.key().replace('*', "total");
        let words = spec.values();
        let value =
            ["true", "false", "3", "7s", "LRU", "PARTIAL", "EQUAL", "BUCKET", "ROUND_ROBIN", "HOUR", "text"]
                .into_iter()
                .chain(words.split(", "))
                .find(|value| {
                    let passes =
                        spec.passing_values().iter().any(|passing| passing.eq_ignore_ascii_case(value));
                    let illegal =
                        with(&[(&key, value)]).is_err_and(|error| error.message().contains("legal is"));
                    !passes && !illegal
                });
        let message = fault(&[(&key, value.unwrap())]);
        assert!(message.contains(&format!("`{key}` is not available yet")), "{message}");
    }
    let refused = fault(&[("sink.reject-policy", "dead-letter")]);
    assert!(refused.contains("`sink.reject-policy` = dead-letter is not available yet"), "{refused}");
    let typed = SinkOptions::new().default_for_not_null(true).check().unwrap_err();
    assert!(typed.message().contains("default-for-not-null"), "{typed}");
}

#[test]
fn j01_a_bulk_load_takes_no_policy_that_it_cannot_keep() {
    use pgsluice::options::{ConflictAction, RejectPolicy};
    let bulk = SinkOptions::new().write_mode(WriteMode::CopyBulkLoad);
    bulk.check().unwrap();
    for (options, named) in [
        (bulk.clone().on_conflict(ConflictAction::InsertOrUpdate), "sink.on-conflict-action"),
        (bulk.reject_policy(RejectPolicy::Skip { limit: None }), "sink.reject-policy"),
    ] {
        let error = options.check().unwrap_err();
        assert!(error.message().contains(named) && error.message().contains("COPY_BULK_LOAD"), "{error}");
    }
    assert!(
        fault(&[("sink.write-mode", "COPY_BULK_LOAD"), ("sink.on-conflict-action", "INSERT_OR_UPDATE")])
            .contains("sink.on-conflict-action")
    );
}

#[test]
fn f_a36_writer_settings_that_contradict_are_six_faults_of_one_error() {
    let message = fault(&[
        ("client.writer.enable-idempotence", "true"),
        ("client.writer.acks", "1"),
        ("client.writer.retries", "0"),
        ("client.writer.buffer.memory-size", "3mb"),
        ("client.writer.batch-size", "2mb"),
        ("client.writer.buffer.per-request-memory-size", "64kb"),
        ("client.writer.buffer.page-size", "128kb"),
        ("client.writer.max-inflight-requests-per-bucket", "6"),
    ]);
    for words in [
        "`client.writer.enable-idempotence` = true with `client.writer.acks`",
        "`client.writer.enable-idempotence` = true with `client.writer.retries` = 0",
        "`client.writer.buffer.memory-size` (3mb) is below twice `sink.insert.batch-byte-size` (2mb)",
        "`client.writer.buffer.per-request-memory-size` is below `client.writer.buffer.page-size`",
        "`client.writer.max-inflight-requests-per-bucket` is \"6\", legal is: whole number from 1 to 5",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(
        fault(&[("client.writer.acks", "2")])
            .contains("`client.writer.acks` is \"2\", legal is: all, -1, 1, 0")
    );
}

/// Pairs that cannot both be right, and words of the fault.
const PAIRS: &[(&[(&str, &str)], &str)] = &[
    (&[("client.writer.buffer.memory-size", "1mb")], "below twice"),
    (&[("sink.key-predicate", "live")], "`sink.key-predicate` without `sink.key-columns`"),
    (&[("sink.key-columns", "a,b"), ("bucket.key", "a,c")], "\"c\", outside `sink.key-columns`"),
    (&[("sink.reject-limit", "3")], "`sink.reject-limit` with `sink.reject-policy` = fail"),
    (&[("sink.insert-only-columns", "d,e,d")], "names column \"d\" twice"),
    (
        &[("sink.write-mode", "COPY_BULK_LOAD"), ("sink.on-conflict-action", "INSERT_OR_UPDATE")],
        "`sink.on-conflict-action` with `sink.write-mode` = COPY_BULK_LOAD",
    ),
    (
        &[("sink.write-mode", "COPY_BULK_LOAD"), ("sink.reject-policy", "skip")],
        "other than fail with `sink.write-mode` = COPY_BULK_LOAD",
    ),
    (&[("sink.dead-letter", "f")], "`sink.dead-letter` without"),
    (&[("sink.reject-policy", "dead-letter")], "without `sink.dead-letter`"),
    (
        &[("table.merge-engine", "first_row"), ("table.delete.behavior", "ALLOW")],
        "these engines cannot delete",
    ),
    (&[("table.merge-engine", "versioned")], "versioned without"),
    (&[("table.merge-engine.versioned.ver-column", "v")], "without `table.merge-engine` = versioned"),
    (&[("sink.insert.check-and-put.operator", "LESS")], "without `sink.insert.check-and-put.column`"),
    (
        &[("sink.bucket-shuffle", "false"), ("sink.distribution-mode", "BUCKET")],
        "`sink.bucket-shuffle` = false with",
    ),
    (&[("lookup.cache", "PARTIAL")], "PARTIAL without a limit"),
    (&[("source.binlog.startup-mode", "TIMESTAMP")], "TIMESTAMP without `startTime`"),
    (&[("scan.startup.mode", "timestamp")], "without `scan.startup.timestamp`"),
    (&[("source.binlog.partition-binlog-mode", "STATIC")], "STATIC without"),
];

#[test]
fn h_l12_illegal_pairs_are_found_one_by_one_and_all_at_once() {
    for (pair, words) in PAIRS {
        let message = fault(pair);
        assert!(message.contains(words), "{words}: {message}");
    }
    let together = fault(&[
        ("client.writer.buffer.memory-size", "1mb"),
        ("sink.key-predicate", "live"),
        ("sink.reject-limit", "3"),
        ("bucket.num", "many"),
        ("sink.ignore-delete", "true"),
        ("table.delete.behavior", "ALLOW"),
        ("connection.pool.size", "0"),
        ("client.id", "größe"),
        ("no.such.key", "1"),
        ("dbname", "shop@warehouse"),
    ]);
    assert!(together.starts_with("9 faults: (1) "), "{together}");
    for words in [
        "below twice",
        "without `sink.key-columns`",
        "`sink.reject-policy` = fail",
        "\"many\"",
        "one setting",
        "`connection.pool.size`",
        "`client.id`",
        "`no.such.key`",
        "`dbname` has a suffix",
    ] {
        assert!(together.contains(words), "{words}: {together}");
    }
    let missing = resolve([], Use::Sink).unwrap_err();
    for key in ["connector", "dbname", "tablename"] {
        assert!(missing.message().contains(&format!("`{key}` is required")), "{missing}");
    }
}

#[test]
fn options_of_a_command_line_are_a_sinks_or_a_connections() {
    let options = WriteOptions::from_map([
        ("sink.on-conflict-action", "insertOrIgnore"),
        ("bucket.num", "3"),
        ("connection.pool.size", "3"),
        ("connection.ssl.mode", "disable"),
        ("connection.target-session-attrs", "any"),
        ("connection.password-command", "cat hush"),
    ])
    .unwrap();
    assert_eq!(options.sink, SinkOptions::new().on_conflict(ConflictAction::InsertOrIgnore).lanes(3));
    assert_eq!(options.pool, PoolOptions::new().size(3));
    assert_eq!(options.tls.mode, Some(SslMode::Disable));
    assert_eq!(options.target_session_attrs, Some(TargetSessionAttrs::Any));
    assert_eq!(options.password_command, Some("cat hush".into()));
    assert!(!format!("{options:?}").contains("hush"), "{options:?}");

    // A base of the caller's own stays where no key speaks, and all of it where one is wrong.
    let mut base = SinkOptions::new().remove_u0000(false);
    base.apply([("sink.insert.batch-size", "9")]).unwrap();
    assert_eq!(base, SinkOptions::new().remove_u0000(false).batch_rows(9));
    let before = base.clone();
    base.apply([("sink.insert.batch-size", "10"), ("sink.text-values", "maybe")]).unwrap_err();
    assert_eq!(base, before);
    let mut skipping = SinkOptions::new().reject_policy(RejectPolicy::Skip { limit: None });
    skipping.apply([("sink.reject-limit", "7")]).unwrap();
    assert_eq!(skipping.reject_policy, RejectPolicy::Skip { limit: Some(7) });

    let error = WriteOptions::from_map([("password", "hush"), ("lookup.async", "false")]).unwrap_err();
    assert!(error.message().contains("`password` is given by the DSN"), "{error}");
    assert!(error.message().contains("`lookup.async` is a lookup option"), "{error}");
    let error = SinkOptions::from_map([("connection.pool.size", "3")]).unwrap_err();
    assert!(error.message().contains("`connection.pool.size` is a connection option"), "{error}");
}

#[test]
fn b24_a_secret_is_in_no_error_and_in_no_debug_text() {
    const SECRET: &str = "hush-p@s/w?r#d%41 {x}'\\";
    let resolved = with(&[("password", SECRET)]).unwrap();
    assert!(!format!("{resolved:?}{resolved:#?}").contains("hush"));
    let url = format!("postgres://etl:{SECRET}@db:5432");
    let nul = format!("{SECRET}\0");
    let wrong: &[&[(&str, &str)]] = &[
        &[("password", SECRET), ("PASSWORD", "other")],
        &[("password", &nul)],
        &[("password", SECRET), ("bucket.num", "x")],
        &[("passwrod", SECRET)],
        &[("endpoint", &url)],
        &[("endpoint", "etl:hush@db:5432")],
        &[("connection.password-command", SECRET), ("connection.password-command", "x")],
    ];
    for pairs in wrong {
        let error = with(pairs).unwrap_err();
        assert!(!format!("{error}{error:?}{error:#?}").contains("hush"), "{pairs:?}");
        assert!(error.message().contains(pairs[0].0) || error.message().contains("bucket.num"), "{error}");
    }
}

#[test]
fn docs_options_md_is_what_the_registry_says() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md");
    let made = render::render_markdown();
    if std::env::var_os("PGSLUICE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(file, &made).unwrap();
    }
    let stored = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        stored == made,
        "docs/options.md is stale: run this test with PGSLUICE_BLESS=1 and commit the file"
    );
}

#[test]
fn every_rendering_has_every_key() {
    let json: serde_json::Value = serde_json::from_str(&render::render_json()).unwrap();
    let keys: Vec<&str> =
        json.as_array().unwrap().iter().map(|entry| entry["key"].as_str().unwrap()).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let mut wanted: Vec<&str> = KEYS.split_whitespace().collect();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    let (text, markdown) = (render::render_text(), render::render_markdown());
    for key in keys {
        assert!(text.contains(&format!("\n  {key}")), "{key}");
        assert!(markdown.contains(&format!("\n| `{key}` | ")), "{key}");
    }
}
