//! Whether equal values of a type may have different bytes.

use super::Codec;
use super::text::Rule;

impl Codec {
    /// True where two equal values may differ in their bytes (`1.0` and `1.00`, `-0` and `0`), so that it matters
    /// which of them is stored.
    pub(crate) fn has_spellings(&self) -> bool {
        !matches!(
            self,
            Self::Bool
                | Self::Int2
                | Self::Int4
                | Self::Int8
                | Self::Oid
                | Self::Bytea
                | Self::Uuid
                | Self::Date
                | Self::Time(_)
                | Self::Timestamp(_)
                | Self::TimestampTz(_)
                | Self::Macaddr
                | Self::Macaddr8
                | Self::Bit(_)
                | Self::Varbit(_)
                | Self::Text(
                    Rule::Plain
                        | Rule::Varchar(_)
                        | Rule::Bpchar(Some(_))
                        | Rule::Name
                        | Rule::Char
                        | Rule::Enum(_)
                        | Rule::Xml
                )
        )
    }
}
