//! Host lists: `h1:5432,h2:5432`, `[::1]:5432`, a socket directory.

/// One place where a server may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// A name, an address without brackets, or the absolute path of a socket directory.
    pub host: String,
    /// The port; not given: the environment's, else 5432.
    pub port: Option<u16>,
}

impl Endpoint {
    /// A host name, an address or a socket directory, with its port.
    pub fn new(host: impl Into<String>, port: Option<u16>) -> Self {
        Self { host: host.into(), port }
    }

    /// True where `host` is a directory with the server's Unix socket.
    pub fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }
}

/// The words of an error never hold the text: a pasted URL has a password in it.
pub(super) fn parse_hosts(text: &str) -> Result<Vec<Endpoint>, &'static str> {
    if text.contains("://") || text.contains('@') {
        return Err("is a list of host:port, not a URL; user and password have keys of their own");
    }
    text.split(',').map(|part| parse_host(part.trim())).collect()
}

fn parse_host(text: &str) -> Result<Endpoint, &'static str> {
    const PORT: &str = "has a port that is no number from 1 to 65535";
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or("has a `[` without its `]`")?;
        match port.strip_prefix(':') {
            Some(port) => (address, Some(port)),
            None if port.is_empty() => (address, None),
            None => return Err("has text between `]` and the port"),
        }
    } else if text.starts_with('/') {
        match text.rsplit_once(':') {
            Some((directory, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (directory, Some(port)),
            _ => (text, None),
        }
    } else {
        match text.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("needs an IPv6 address in brackets, `[::1]:5432`");
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    if host.is_empty() || host.contains('\0') {
        return Err("has an empty host");
    }
    let port = match port {
        None => None,
        Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port != 0).ok_or(PORT)?),
    };
    Ok(Endpoint::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_form() {
        let one = |text| parse_hosts(text).unwrap();
        assert_eq!(one("h1:5432"), [Endpoint::new("h1", Some(5432))]);
        assert_eq!(
            one("h1:5432, h2:5433,h3"),
            [Endpoint::new("h1", Some(5432)), Endpoint::new("h2", Some(5433)), Endpoint::new("h3", None)]
        );
        assert_eq!(
            one("[::1]:5432,[fe80::1]"),
            [Endpoint::new("::1", Some(5432)), Endpoint::new("fe80::1", None)]
        );
        assert_eq!(one("/run/postgresql"), [Endpoint::new("/run/postgresql", None)]);
        assert_eq!(one("/run/a:b/pg:5433"), [Endpoint::new("/run/a:b/pg", Some(5433))]);
        assert!(one("/run/postgresql")[0].is_socket());
    }

    #[test]
    fn faults_are_named_without_the_text() {
        for bad in [
            "",
            "h:",
            "h:0",
            "h:70000",
            "h:x",
            "::1",
            "::1:5432",
            "[::1",
            "[::1]5432",
            ":5432",
            "h1,,h2",
            "u:pw@h:1",
            "postgres://u:pw@h",
        ] {
            let fault = parse_hosts(bad).unwrap_err();
            assert!(!fault.contains("pw"), "{bad}");
        }
    }
}
