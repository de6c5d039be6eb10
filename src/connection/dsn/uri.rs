//! `postgres://user:password@host:port,host:port/dbname?key=value`: libpq's URI form.

use super::{Params, config_error};
use crate::{Error, Result};

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

pub(super) fn is_uri(dsn: &str) -> bool {
    body(dsn).is_some()
}

fn body(dsn: &str) -> Option<&str> {
    SCHEMES.iter().find_map(|scheme| dsn.strip_prefix(scheme))
}

/// Parses the URI. Where a raw `@` stands behind the first `/`, the text may be a password with a raw `/`: no name is
/// taken from such a text into an error.
pub(super) fn parse(dsn: &str, params: &mut Params) -> Result<()> {
    let Some(body) = body(dsn) else { return Ok(()) };
    parse_body(body, params).map_err(|error| {
        if body.split_once('/').is_some_and(|(_, rest)| rest.contains('@')) { raw_password() } else { error }
    })
}

fn raw_password() -> Error {
    config_error("the URL cannot be read")
        .with_hint("write @ / ? # % and blanks of a password as %40 %2F %3F %23 %25 %20")
}

fn parse_body(body: &str, params: &mut Params) -> Result<()> {
    let credentials_end = body.find(['@', '/']).filter(|at| body[*at..].starts_with('@'));
    let rest = match credentials_end {
        Some(at) => {
            let (user, password) = match body[..at].split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (&body[..at], None),
            };
            params.set("user", decode(user)?)?;
            if let Some(password) = password {
                params.set("password", decode(password)?)?;
            }
            &body[at + 1..]
        }
        None => body,
    };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (hosts, ports) = split_endpoints(&rest[..authority_end])?;
    params.set("host", decode(&hosts)?)?;
    params.set("port", decode(&ports)?)?;

    let rest = &rest[authority_end..];
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, query),
        None => (rest, ""),
    };
    if let Some(dbname) = path.strip_prefix('/') {
        params.set("dbname", decode(dbname)?)?;
    }
    query.split('&').filter(|pair| !pair.is_empty()).try_for_each(|pair| set_pair(pair, params))
}

fn set_pair(pair: &str, params: &mut Params) -> Result<()> {
    let (name, value) =
        pair.split_once('=').ok_or_else(|| config_error("a query parameter of the URL lacks its \"=\""))?;
    if value.contains('=') {
        return Err(
            config_error("a query parameter of the URL has a second \"=\"").with_hint("write it as %3D")
        );
    }
    let (name, value) = (decode(name)?, decode(value)?);
    // JDBC's spelling, which libpq takes too.
    if name == "ssl" && value == "true" {
        return params.set("sslmode", "require");
    }
    params.set(&name, value)
}

/// `h1:5432,[::1],h2` as a list of hosts and a list of ports, both with commas; a missing port is an empty element.
fn split_endpoints(text: &str) -> Result<(String, String)> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for endpoint in text.split(',') {
        let (host, port) = match endpoint.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest
                    .split_once(']')
                    .ok_or_else(|| config_error("an IPv6 address lacks its closing bracket"))?;
                match rest.strip_prefix(':') {
                    Some(port) => (host, port),
                    None if rest.is_empty() => (host, ""),
                    None => return Err(config_error("only \":port\" may follow an IPv6 address")),
                }
            }
            None => endpoint.split_once(':').unwrap_or((endpoint, "")),
        };
        hosts.push(host);
        ports.push(port);
    }
    let ports = if ports.iter().all(|port| port.is_empty()) { String::new() } else { ports.join(",") };
    Ok((hosts.join(","), ports))
}

/// Percent-decoding; `+` is itself.
fn decode(text: &str) -> Result<String> {
    let broken = || {
        config_error("a % in the URL is not followed by two hexadecimal digits").with_hint("write % as %25")
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (high, low) = digit(0).zip(digit(1)).ok_or_else(broken)?;
        match u8::try_from(high * 16 + low) {
            Ok(0) | Err(_) => return Err(config_error("%00 cannot stand in a URL")),
            Ok(byte) => bytes.push(byte),
        }
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| config_error("the URL's percent-encoded bytes are not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(dsn: &str) -> Params {
        let mut params = Params::default();
        parse(dsn, &mut params).unwrap();
        params
    }

    fn refused(dsn: &str) -> String {
        parse(dsn, &mut Params::default()).err().unwrap().to_string()
    }

    #[test]
    fn the_manuals_examples_parse() {
        let params = parsed("postgresql://user:secret@host1:123,host2:456/somedb?target_session_attrs=any");
        assert_eq!(params.get("host"), Some("host1,host2"));
        assert_eq!(params.get("port"), Some("123,456"));
        assert_eq!(params.get("dbname"), Some("somedb"));
        assert_eq!(params.get("user"), Some("user"));
        assert_eq!(params.get("target_session_attrs"), Some("any"));
        for empty in ["postgresql://", "postgres://", "postgresql:///", "postgresql://?", "postgresql://@"] {
            let params = parsed(empty);
            assert!(
                ["host", "port", "dbname", "user"].iter().all(|name| params.get(name).is_none()),
                "{empty}"
            );
        }
        let params = parsed("postgresql:///mydb?host=localhost&port=5433");
        assert_eq!((params.get("host"), params.get("port")), (Some("localhost"), Some("5433")));
        let params = parsed("postgresql://[2001:db8::1234]:77,[::1]/database");
        assert_eq!((params.get("host"), params.get("port")), (Some("2001:db8::1234,::1"), Some("77,")));
        assert_eq!(
            parsed("postgresql://%2Fvar%2Flib%2Fpostgresql/dbname").get("host"),
            Some("/var/lib/postgresql")
        );
        assert_eq!(parsed("postgresql://h?ssl=true").get("sslmode"), Some("require"));
        assert_eq!(
            parsed("postgresql://other@localhost/otherdb?application_name=a+b").get("application_name"),
            Some("a+b")
        );
    }

    #[test]
    fn b24_the_nasty_password_is_percent_encoded() {
        let params = parsed("postgres://u:p%40s%2Fw%3Fr%23d%2541%20%7Bx%7D%27%5C@h/d");
        assert_eq!(params.get("password"), Some(r"p@s/w?r#d%41 {x}'\"));
        assert_eq!((params.get("host"), params.get("dbname")), (Some("h"), Some("d")));
    }

    #[test]
    fn b24_no_message_shows_a_piece_of_a_password() {
        for dsn in [
            "postgres://u:se/cret@h/d",
            "postgres://u:se/c?cret=1@h/d",
            "postgres://u:se%zzcret@h/d",
            "postgres://u:se%00cret@h/d",
            "postgres://u:se/c?cret&x=1@h/d",
        ] {
            let Err(error) = parse(dsn, &mut Params::default()) else { continue };
            assert!(!error.to_string().contains("cret"), "{error}");
        }
    }

    #[test]
    fn malformed_urls_say_what_is_wrong() {
        assert!(refused("postgres://h/d?foo=1").contains("unknown option \"foo\""));
        assert!(refused("postgres://h/d?sslmode").contains("lacks its"));
        assert!(refused("postgres://h/d?user=a=b").contains("second"));
        assert!(refused("postgres://[::1/d").contains("closing bracket"));
        assert!(refused("postgres://[::1]x/d").contains("may follow"));
        assert!(refused("postgres://h%4/d").contains("two hexadecimal digits"));
        assert!(refused("postgres://h/%ff").contains("UTF-8"));
    }
}
