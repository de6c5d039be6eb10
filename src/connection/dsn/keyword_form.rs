//! `host=db user=etl password='a b'`: libpq's keyword/value form.

use std::iter::Peekable;
use std::str::Chars;

use super::{Params, config_error, keys};
use crate::Result;

const QUOTING: &str = "put values with blanks in '…' and write \\' and \\\\ for quote and backslash";

pub(super) fn parse(dsn: &str, params: &mut Params) -> Result<()> {
    let mut rest = dsn.chars().peekable();
    let mut previous = None;
    while skip_blanks(&mut rest) {
        let name = name(&mut rest);
        skip_blanks(&mut rest);
        // What follows a password without quotes may be its second half: such a name is not shown.
        let after_password = previous == Some("password");
        if rest.next() != Some('=') {
            let place = previous.map_or_else(String::new, |previous| format!(" after \"{previous}\""));
            return Err(config_error(format!("missing \"=\"{place}")).with_hint(QUOTING));
        }
        let known = keys::KEYS.iter().find(|key| key.name == name).map(|key| key.name);
        if after_password && known.is_none() {
            return Err(config_error("unknown option after \"password\"").with_hint(QUOTING));
        }
        skip_blanks(&mut rest);
        let value = value(&mut rest, known.unwrap_or("unknown option"))?;
        params.set(&name, value)?;
        previous = known;
    }
    Ok(())
}

/// True where something is left.
fn skip_blanks(rest: &mut Peekable<Chars<'_>>) -> bool {
    while rest.next_if(|c| c.is_ascii_whitespace()).is_some() {}
    rest.peek().is_some()
}

fn name(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(c) = rest.next_if(|c| *c != '=' && !c.is_ascii_whitespace()) {
        name.push(c);
    }
    name
}

fn value(rest: &mut Peekable<Chars<'_>>, name: &str) -> Result<String> {
    let quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    loop {
        match rest.next_if(|c| quoted || !c.is_ascii_whitespace()) {
            Some('\'') if quoted => return Ok(value),
            Some('\\') => value.extend(rest.next()),
            Some(c) => value.push(c),
            None if quoted => {
                return Err(
                    config_error(format!("unterminated quote in the value of \"{name}\"")).with_hint(QUOTING)
                );
            }
            None => return Ok(value),
        }
    }
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
    fn blanks_quotes_and_backslashes_are_libpqs() {
        let params = parsed(" host = db\tport=  '5433'\nuser=a\\ b password='it\\'s' dbname = ''");
        assert_eq!(params.get("host"), Some("db"));
        assert_eq!(params.get("port"), Some("5433"));
        assert_eq!(params.get("user"), Some("a b"));
        assert_eq!(params.get("dbname"), None);
    }

    #[test]
    fn b24_the_nasty_password_needs_quotes_and_two_backslashes() {
        let params = parsed(r"password='p@s/w?r#d%41 {x}\'\\' host=h");
        assert_eq!(params.get("password"), Some(r"p@s/w?r#d%41 {x}'\"));
        assert_eq!(params.get("host"), Some("h"));
    }

    #[test]
    fn b24_no_message_shows_a_piece_of_a_password() {
        for dsn in [
            "password=se cret host=h",
            "password=se cret=1 host=h",
            "password='se cret",
            "password=se 'cret' host=h",
            "host=h password=se =cret",
        ] {
            let error = refused(dsn);
            assert!(!error.contains("cret") && !error.contains("\"se"), "{error}");
        }
        assert!(refused("password='x' host=h foo=1").contains("\"foo\""));
        assert!(refused("host").contains("missing \"=\""));
    }
}
