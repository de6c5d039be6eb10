//! The kind of change in the words that files use.

use crate::RowKind;

/// `+I -U +U -D`, Debezium's `c u d r`, or `I U D`; upper or lower case.
pub(super) fn row_kind(word: &str) -> Option<RowKind> {
    Some(match word.to_ascii_lowercase().as_str() {
        "+i" | "i" | "c" | "r" => RowKind::Insert,
        "+u" | "u" => RowKind::UpdateAfter,
        "-u" => RowKind::UpdateBefore,
        "-d" | "d" => RowKind::Delete,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        let kinds = |words: &str| words.split(' ').map(row_kind).collect::<Vec<_>>();
        assert_eq!(kinds("+I +i I i c C r"), [Some(RowKind::Insert); 7]);
        assert_eq!(kinds("+U U u"), [Some(RowKind::UpdateAfter); 3]);
        assert_eq!(kinds("-U -u"), [Some(RowKind::UpdateBefore); 2]);
        assert_eq!(kinds("-D D d"), [Some(RowKind::Delete); 3]);
        assert_eq!(kinds("x insert +"), [None; 3]);
    }
}
