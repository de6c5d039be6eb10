//! libpq's keywords: their environment variables, and which of them are not supported.

use super::config_error;
use crate::Result;

/// What becomes of a keyword's value.
#[derive(Clone, Copy)]
pub(super) enum Support {
    /// It is used, or has no effect in libpq either.
    Yes,
    /// Only these values (the ones without effect) pass, for this reason.
    Off(&'static [&'static str], &'static str),
}

use Support::{Off, Yes};

pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) env: Option<&'static str>,
    pub(super) support: Support,
}

const fn key(name: &'static str, env: Option<&'static str>, support: Support) -> Key {
    Key { name, env, support }
}

const GSS: &str = "GSSAPI is not built in";
const CRL: &str = "revocation lists are not read";
const CHECK: &str = "this check of the server is not made";

/// The manual's list (libpq, "Parameter Key Words" and "Environment Variables").
pub(super) const KEYS: &[Key] = &[
    key("host", Some("PGHOST"), Yes),
    key("hostaddr", Some("PGHOSTADDR"), Yes),
    key("port", Some("PGPORT"), Yes),
    key("dbname", Some("PGDATABASE"), Yes),
    key("user", Some("PGUSER"), Yes),
    key("password", Some("PGPASSWORD"), Yes),
    key("passfile", Some("PGPASSFILE"), Yes),
    key("service", Some("PGSERVICE"), Yes),
    key("servicefile", Some("PGSERVICEFILE"), Yes),
    key("connect_timeout", Some("PGCONNECT_TIMEOUT"), Yes),
    key("client_encoding", Some("PGCLIENTENCODING"), Yes),
    key("options", Some("PGOPTIONS"), Yes),
    key("application_name", Some("PGAPPNAME"), Yes),
    key("fallback_application_name", None, Yes),
    key("keepalives", None, Yes),
    key("keepalives_idle", None, Yes),
    key("keepalives_interval", None, Yes),
    key("keepalives_count", None, Yes),
    key("tcp_user_timeout", None, Yes),
    key("target_session_attrs", Some("PGTARGETSESSIONATTRS"), Yes),
    key("load_balance_hosts", Some("PGLOADBALANCEHOSTS"), Yes),
    key("sslmode", Some("PGSSLMODE"), Yes),
    key("sslnegotiation", Some("PGSSLNEGOTIATION"), Yes),
    key("sslrootcert", Some("PGSSLROOTCERT"), Yes),
    key("sslcert", Some("PGSSLCERT"), Yes),
    key("sslkey", Some("PGSSLKEY"), Yes),
    key("sslcertmode", Some("PGSSLCERTMODE"), Off(&["allow"], "sslcert and sslkey decide")),
    key("sslpassword", None, Off(&[], "encrypted private keys are not read; decrypt the key file")),
    key("sslsni", Some("PGSSLSNI"), Yes),
    key("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION"), Yes),
    key("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION"), Yes),
    key("sslcompression", Some("PGSSLCOMPRESSION"), Off(&["0"], "TLS compression is unsafe")),
    key("sslcrl", Some("PGSSLCRL"), Off(&[], CRL)),
    key("sslcrldir", Some("PGSSLCRLDIR"), Off(&[], CRL)),
    key("channel_binding", Some("PGCHANNELBINDING"), Yes),
    key("require_auth", Some("PGREQUIREAUTH"), Off(&[], CHECK)),
    key("requirepeer", Some("PGREQUIREPEER"), Off(&[], CHECK)),
    key("gssencmode", Some("PGGSSENCMODE"), Off(&["disable", "prefer"], GSS)),
    key("gssdelegation", Some("PGGSSDELEGATION"), Off(&["0"], GSS)),
    key("gsslib", Some("PGGSSLIB"), Yes),
    key("krbsrvname", Some("PGKRBSRVNAME"), Yes),
    key("replication", None, Off(&["false", "off", "no", "0"], "these connections run statements")),
];

/// The keyword of that name.
///
/// # Errors
/// `Config` for an unknown one, with the nearest known. The name is only shown where it is made as keywords are:
/// anything else might be a piece of an unquoted password.
pub(super) fn find(name: &str) -> Result<&'static Key> {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    Err(unknown(name))
}

/// The error for an option that does not exist.
pub(super) fn unknown(name: &str) -> crate::Error {
    let nearest = KEYS.iter().map(|key| (distance(key.name, name), key.name)).min();
    let shown = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !shown {
        return config_error("unknown option; its name is not shown, it may be a piece of a password").with_hint(
            "a value with blanks or quotes stands in single quotes; in a URL other signs are percent-encoded",
        );
    }
    let error = config_error(format!("unknown option \"{name}\""));
    match nearest {
        Some((distance, known)) if distance <= 1 + known.len() / 3 => {
            error.with_hint(format!("did you mean \"{known}\"?"))
        }
        _ => error.with_hint("see libpq's parameter key words"),
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_named_with_the_nearest_known() {
        let error = find("pasword").err().unwrap();
        assert!(error.to_string().contains("unknown option \"pasword\""), "{error}");
        assert!(error.to_string().contains("did you mean \"password\"?"), "{error}");
        let error = find("foo").err().unwrap();
        assert!(error.to_string().contains("\"foo\""), "{error}");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
