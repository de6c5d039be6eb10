//! Pairs of keys that cannot both be right, as far as the keys alone tell.

use super::form::Parsed;
use super::given::Given;

/// One illegal pair, and the words for it.
struct Pair {
    holds: fn(&Given) -> bool,
    words: &'static str,
}

fn duration_or_number(given: &Given, key: &str) -> bool {
    matches!(given.get(key), Some(Parsed::Duration(Some(_)) | Parsed::Int(_)))
}

fn idempotent_with_acks(given: &Given) -> bool {
    given.says("client.writer.enable-idempotence", true)
        && (given.is("client.writer.acks", "1") || given.is("client.writer.acks", "0"))
}

fn bulk(given: &Given) -> bool {
    given.is("sink.write-mode", "COPY_BULK_LOAD")
}

fn engine_without_deletes(given: &Given) -> bool {
    given.is("table.merge-engine", "first_row") || given.is("table.merge-engine", "versioned")
}

const PAIRS: &[Pair] = &[
    Pair {
        holds: |given| given.names("password") && given.names("connection.password-command"),
        words: "`password` with `connection.password-command`: the password comes from one of them",
    },
    Pair {
        holds: |given| {
            given.names("connection.ssl.root-cert.location")
                && given.says("connection.ssl.system-roots", true)
        },
        words: "`connection.ssl.root-cert.location` with `connection.ssl.system-roots` = true: \
                the roots come from one of them",
    },
    Pair {
        holds: idempotent_with_acks,
        words: "`client.writer.enable-idempotence` = true with `client.writer.acks` other than all: \
                a write that the server may forget cannot be settled",
    },
    Pair {
        holds: |given| {
            given.says("client.writer.enable-idempotence", true)
                && given.get("client.writer.retries") == Some(&Parsed::Int(0))
        },
        words: "`client.writer.enable-idempotence` = true with `client.writer.retries` = 0: \
                settling a lost answer takes a retry",
    },
    Pair {
        holds: |given| {
            let size = |key, default| match given.get(key) {
                Some(Parsed::Size(size)) => *size,
                _ => default,
            };
            size("client.writer.buffer.per-request-memory-size", 16 << 20)
                < size("client.writer.buffer.page-size", 128 << 10)
        },
        words: "`client.writer.buffer.per-request-memory-size` is below `client.writer.buffer.page-size`",
    },
    Pair {
        holds: |given| bulk(given) && given.names("sink.on-conflict-action"),
        words: "`sink.on-conflict-action` with `sink.write-mode` = COPY_BULK_LOAD: this mode has no conflict policy, \
                COPY_BULK_LOAD_ON_CONFLICT has",
    },
    Pair {
        holds: |given| {
            bulk(given)
                && (given.is("sink.reject-policy", "skip") || given.is("sink.reject-policy", "dead-letter"))
        },
        words: "`sink.reject-policy` other than fail with `sink.write-mode` = COPY_BULK_LOAD: \
                a bad row ends the whole load",
    },
    Pair {
        holds: |given| given.names("sink.dead-letter") && !given.is("sink.reject-policy", "dead-letter"),
        words: "`sink.dead-letter` without `sink.reject-policy` = dead-letter",
    },
    Pair {
        holds: |given| given.is("sink.reject-policy", "dead-letter") && !given.names("sink.dead-letter"),
        words: "`sink.reject-policy` = dead-letter without `sink.dead-letter`",
    },
    Pair {
        holds: |given| engine_without_deletes(given) && given.is("table.delete.behavior", "ALLOW"),
        words: "`table.delete.behavior` = ALLOW with `table.merge-engine` first_row or versioned: \
                these engines cannot delete",
    },
    Pair {
        holds: |given| {
            given.is("table.merge-engine", "versioned")
                && !given.names("table.merge-engine.versioned.ver-column")
        },
        words: "`table.merge-engine` = versioned without `table.merge-engine.versioned.ver-column`",
    },
    Pair {
        holds: |given| {
            given.names("table.merge-engine.versioned.ver-column")
                && !given.is("table.merge-engine", "versioned")
        },
        words: "`table.merge-engine.versioned.ver-column` without `table.merge-engine` = versioned",
    },
    Pair {
        holds: |given| {
            !given.names("sink.insert.check-and-put.column")
                && (given.names("sink.insert.check-and-put.operator")
                    || given.names("sink.insert.check-and-put.null-as"))
        },
        words: "`sink.insert.check-and-put.operator` or `.null-as` without `sink.insert.check-and-put.column`",
    },
    Pair {
        holds: |given| {
            given.says("sink.bucket-shuffle", false) && given.is("sink.distribution-mode", "BUCKET")
        },
        words: "`sink.bucket-shuffle` = false with `sink.distribution-mode` = BUCKET",
    },
    Pair {
        holds: |given| {
            let limits = [
                "cacheSize",
                "lookup.partial-cache.max-rows",
                "lookup.partial-cache.expire-after-access",
                "cacheTTLMs",
                "lookup.partial-cache.expire-after-write",
            ];
            given.is("lookup.cache", "PARTIAL") && !limits.iter().any(|key| duration_or_number(given, key))
        },
        words: "`lookup.cache` = PARTIAL without a limit: give `lookup.partial-cache.max-rows` or an expiry",
    },
    Pair {
        holds: |given| given.is("source.binlog.startup-mode", "TIMESTAMP") && !given.names("startTime"),
        words: "`source.binlog.startup-mode` = TIMESTAMP without `startTime`",
    },
    Pair {
        holds: |given| given.is("scan.startup.mode", "timestamp") && !given.names("scan.startup.timestamp"),
        words: "`scan.startup.mode` = timestamp without `scan.startup.timestamp`",
    },
    Pair {
        holds: |given| {
            given.is("source.binlog.partition-binlog-mode", "STATIC")
                && !given.names("source.binlog.partition-values-to-read")
        },
        words: "`source.binlog.partition-binlog-mode` = STATIC without `source.binlog.partition-values-to-read`",
    },
];

/// The words of every illegal pair in the map.
pub(super) fn faults(given: &Given) -> Vec<String> {
    PAIRS.iter().filter(|pair| (pair.holds)(given)).map(|pair| pair.words.to_owned()).collect()
}
