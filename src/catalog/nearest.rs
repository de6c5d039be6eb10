//! The name that was probably meant.

/// The candidate nearest to `wanted`, where one is near enough to be a slip: another case, or an edit in three
/// characters at most.
pub(crate) fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    candidates
        .into_iter()
        .map(|candidate| {
            (distance(&wanted, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate)
        })
        .filter(|(edits, _)| *edits <= (wanted.len() / 3).min(3))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements from one text to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, character) in from.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(character != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_name_is_not() {
        let names = ["orders", "customers", "Items"];
        assert_eq!(nearest("order", names), Some("orders"));
        assert_eq!(nearest("custmoers", names), Some("customers"));
        assert_eq!(nearest("items", names), Some("Items"));
        assert_eq!(nearest("sales", names), None);
        assert_eq!(nearest("x", names), None);
    }

    #[test]
    fn distances_count_single_edits() {
        let count =
            |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("données", "donnees"), 1);
    }
}
