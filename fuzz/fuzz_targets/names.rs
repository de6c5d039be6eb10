//! Table names and connection strings: what is read can be written and read again; a text is never part of an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pgsluice::catalog::TableName;
use pgsluice::connection::ConnectTarget;

fuzz_target!(|text: &str| {
    if let Ok(name) = TableName::parse(text) {
        assert_eq!(TableName::parse(&name.to_string()).ok(), Some(name));
    }
    let _ = ConnectTarget::parse(text);
});
