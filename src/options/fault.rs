//! Many faults, one error.

use crate::{Error, ErrorKind, Result};

/// `Config`, operation "read options", with every fault in the message; Ok where there is none.
pub(super) fn none(faults: Vec<String>) -> Result<()> {
    let message = match faults.as_slice() {
        [] => return Ok(()),
        [fault] => fault.clone(),
        many => {
            let listed: Vec<String> =
                many.iter().enumerate().map(|(at, fault)| format!("({}) {fault}", at + 1)).collect();
            format!("{} faults: {}", many.len(), listed.join("; "))
        }
    };
    Err(Error::new(ErrorKind::Config, "read options", message)
        .with_hint("`pgsluice options` lists every key with its legal values"))
}
