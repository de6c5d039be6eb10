//! What a server says of itself when a connection begins.

/// Standing facts of a session, from the parameters that the server reports at the login.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The host of the list that answered.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// `server_version` as text.
    pub version_text: String,
    /// The version as libpq counts it: 15.4 is 150004, 9.6.24 is 90624; 0 where the text is no version.
    pub version: u32,
    /// `TimeZone` of the session at the login.
    pub time_zone: String,
    /// `server_encoding`: the database's.
    pub server_encoding: String,
    /// `DateStyle` of the session at the login.
    pub date_style: String,
    /// `IntervalStyle` of the session at the login.
    pub interval_style: String,
    /// `integer_datetimes`: false on very old builds, whose binary dates differ.
    pub integer_datetimes: bool,
    /// `standard_conforming_strings`.
    pub standard_conforming_strings: bool,
    /// `in_hot_standby`, where the server reports it (version 14 and later).
    pub in_hot_standby: Option<bool>,
    /// `default_transaction_read_only`, where the server reports it (version 14 and later).
    pub default_transaction_read_only: Option<bool>,
    /// A pooler showed itself at the login: what it reports above may be of another time, and its sessions are no
    /// server's. Looked for only where `connection.pooler` is not given.
    pub pooler_seen: bool,
}

impl ServerInfo {
    pub(super) fn new<'a>(
        host: &str,
        port: u16,
        parameter: impl Fn(&'static str) -> Option<&'a str>,
    ) -> Self {
        let text = |name| parameter(name).unwrap_or_default().to_owned();
        let switch = |name| parameter(name).map(|value| value == "on");
        let version_text = text("server_version");
        Self {
            host: host.to_owned(),
            port,
            version: version(&version_text),
            version_text,
            time_zone: text("TimeZone"),
            server_encoding: text("server_encoding"),
            date_style: text("DateStyle"),
            interval_style: text("IntervalStyle"),
            integer_datetimes: switch("integer_datetimes").unwrap_or(true),
            standard_conforming_strings: switch("standard_conforming_strings").unwrap_or(true),
            in_hot_standby: switch("in_hot_standby"),
            default_transaction_read_only: switch("default_transaction_read_only"),
            pooler_seen: false,
        }
    }
}

/// Two parts since version 10, three before; what follows the digits (`beta1`, a vendor's words) is passed over.
fn version(text: &str) -> u32 {
    let mut parts = text
        .split(|c: char| c != '.' && !c.is_ascii_digit())
        .next()
        .unwrap_or_default()
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    match next() {
        major @ 10..=9999 => major * 10_000 + next().min(9999),
        major @ 1..=9 => major * 10_000 + next().min(99) * 100 + next().min(99),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_counted_as_libpq_counts_them() {
        assert_eq!(version("15.4 (Debian 15.4-1)"), 150_004);
        assert_eq!(version("9.6.24"), 90_624);
        assert_eq!(version("19beta1"), 190_000);
        assert_eq!(version("11.3"), 110_003);
        assert_eq!(version("none"), 0);
        assert_eq!(version(""), 0);
    }
}
