//! Connection settings from all the places where libpq looks: the DSN (URL or keywords), the service file, the
//! environment, the password file.
//!
//! An error here never shows a value, and a name only where it cannot be a piece of a password.

mod environment;
mod keys;
mod keyword_form;
mod passfile;
mod service;
mod uri;

use std::collections::BTreeMap;

pub use environment::Environment;
pub(super) use passfile::Passfile;

use crate::{Error, ErrorKind, Result};

const OPERATION: &str = "parse DSN";

fn config_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, OPERATION, message)
}

/// Values by libpq keyword; a value is not interpreted yet.
#[derive(Clone, Default)]
pub(super) struct Params(BTreeMap<&'static str, String>);

impl Params {
    /// Parses a DSN of either form; the empty text is a DSN without settings.
    pub(super) fn parse(dsn: &str) -> Result<Self> {
        let mut params = Self::default();
        if uri::is_uri(dsn) {
            uri::parse(dsn, &mut params)?
        } else {
            keyword_form::parse(dsn, &mut params)?
        }
        Ok(params)
    }

    /// Sets a keyword; a later value takes the place of an earlier one.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) -> Result<()> {
        let key = keys::find(name)?;
        self.0.insert(key.name, value.into());
        Ok(())
    }

    fn set_default(&mut self, name: &'static str, value: String) {
        self.0.entry(name).or_insert(value);
    }

    /// The value; an empty one counts as not given, as in libpq.
    pub(super) fn get(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Fills what is missing: the service's settings first, then the environment's.
    pub(super) fn fill(&mut self, environment: &Environment) -> Result<()> {
        service::fill(self, environment)?;
        for key in keys::KEYS {
            if let Some(value) = key.env.and_then(|name| environment.get(name)) {
                self.set_default(key.name, value.to_owned());
            }
        }
        if environment.get("PGREQUIRESSL").is_some_and(|value| value.starts_with('1')) {
            self.set_default("sslmode", "require".to_owned());
        }
        Ok(())
    }

    /// Refuses the settings that would be promises which nobody keeps.
    pub(super) fn check_supported(&self) -> Result<()> {
        for key in keys::KEYS {
            if let (Some(value), keys::Support::Off(accepted, reason)) = (self.get(key.name), key.support)
                && !accepted.contains(&value)
            {
                return Err(config_error(format!("option \"{}\" is not available: {reason}", key.name)));
            }
        }
        Ok(())
    }
}
