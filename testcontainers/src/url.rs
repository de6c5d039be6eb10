//! URLs of the databases of one server.

/// A server's URL around the name of the database.
#[derive(Debug, Clone)]
pub(crate) struct ServerUrl {
    server: String,
    query: String,
}

impl ServerUrl {
    pub(crate) fn local(port: u16, password: &str) -> Self {
        Self { server: format!("postgres://postgres:{password}@127.0.0.1:{port}"), query: String::new() }
    }

    /// The server of a database's URL.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let wrong = || "DATABASE_URL must be a URL like postgres://user:password@host/database".to_owned();
        let (rest, query) =
            url.split_once('?').map_or((url, String::new()), |(rest, query)| (rest, format!("?{query}")));
        let authority = rest.find("://").ok_or_else(wrong)? + 3;
        let end = rest[authority..].find('/').map_or(rest.len(), |slash| authority + slash);
        Ok(Self { server: rest[..end].to_owned(), query })
    }

    /// User and password.
    pub(crate) fn login(&self) -> Option<(&str, &str)> {
        let authority = &self.server[self.server.find("://")? + 3..];
        authority.rsplit_once('@')?.0.split_once(':')
    }

    /// The same login elsewhere, without the query.
    pub(crate) fn at(&self, host: &str, port: u16) -> Option<Self> {
        let (user, password) = self.login()?;
        Some(Self { server: format!("postgres://{user}:{password}@{host}:{port}"), query: String::new() })
    }

    pub(crate) fn database(&self, name: &str) -> String {
        format!("{}/{name}{}", self.server, self.query)
    }

    /// The same with more of a query (`key=value&…`).
    pub(crate) fn database_with(&self, name: &str, query: &str) -> String {
        let separator = if self.query.is_empty() { '?' } else { '&' };
        format!("{}{separator}{query}", self.database(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_of_the_same_server() {
        for (url, expected) in [
            ("postgres://u:p@h:1/d", "postgres://u:p@h:1/n"),
            ("postgres://h", "postgres://h/n"),
            ("postgresql://u@h/d?sslmode=require", "postgresql://u@h/n?sslmode=require"),
            ("postgres://h?host=/tmp/x", "postgres://h/n?host=/tmp/x"),
        ] {
            assert_eq!(ServerUrl::parse(url).expect(url).database("n"), expected);
        }
        assert!(ServerUrl::parse("host=h user=u").is_err());
    }
}
