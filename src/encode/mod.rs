//! From a source value to the bytes of the *column's* Postgres type. Pure: no connection, no IO.
//!
//! A *field* is an `int32` length and that many bytes; the length -1 is NULL. The same field stands in a COPY tuple,
//! in an array element and in a Bind parameter, so a value is encoded once and only moved afterwards.

mod array;
mod as_text;
mod bits;
mod boolean;
mod bytea;
mod codec;
mod composite;
mod datetime;
mod error;
mod extension;
mod float;
mod integer;
mod json;
mod literal;
mod network;
mod numeric;
mod parts;
mod range;
mod spelling;
mod text;
mod text_form;
mod uuid;
mod white;

pub use codec::{Codec, KeyEquality, Wire};
pub use datetime::Zone;
pub use error::EncodeError;

pub(crate) use codec::NULL;

/// What encoding needs beside the column: the zone for texts without offset, and the U+0000 substitution with its
/// count. One a thread; never shared.
#[derive(Debug, Clone)]
pub struct EncodeContext {
    /// The zone of texts without offset for `timestamptz` and `timetz`.
    pub zone: Zone,
    /// Take U+0000 out of texts and JSON instead of refusing them.
    pub remove_u0000: bool,
    /// Values changed by `remove_u0000` so far.
    pub removed_u0000: u64,
}

impl EncodeContext {
    /// Nothing substituted; texts without offset are read in `zone`.
    pub fn new(zone: Zone) -> Self {
        Self { zone, remove_u0000: false, removed_u0000: 0 }
    }
}
