//! What the server's own text of an index predicate says of NULLs.

/// True where every row that `predicate` (as `pg_get_expr` writes it) takes has a value in `column`: one of its terms
/// joined by AND is `column IS NOT NULL`. Other predicates may say so too; they are not understood here.
pub(super) fn excludes_null(predicate: &str, column: &str) -> bool {
    terms(bare(predicate)).any(|term| {
        let name = bare(term).strip_suffix(" IS NOT NULL");
        name.is_some_and(|name| {
            name == column
                || name.len() > 1
                    && name.starts_with('"')
                    && name[1..name.len() - 1] == column.replace('"', "\"\"")
        })
    })
}

/// The text without the parentheses around all of it.
fn bare(text: &str) -> &str {
    let whole = text.starts_with('(')
        && depths(text).find(|(_, depth)| *depth == 0).map(|(at, _)| at) == Some(text.len() - 1);
    if whole { bare(&text[1..text.len() - 1]) } else { text }
}

/// The parts between the ANDs that stand in no parentheses. The server puts an OR beside an AND in parentheses.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    const AND: &str = " AND ";
    let mut start = 0;
    let mut cuts: Vec<_> = depths(text)
        .filter(|(at, depth)| *depth == 0 && text[*at..].starts_with(AND))
        .map(|(at, _)| at)
        .collect();
    cuts.push(text.len());
    cuts.into_iter().map(move |cut| {
        let term = &text[start..cut];
        start = cut + AND.len();
        term
    })
}

/// Each byte that stands in no quotes, with the number of parentheses open behind it.
fn depths(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut depth = 0_usize;
    let mut quote = None;
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        match (quote, byte) {
            (Some(open), byte) => {
                if open == byte {
                    quote = None;
                }
                return None;
            }
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                return None;
            }
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        Some((at, depth))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_joined_by_and_excludes_null_and_no_other_does() {
        assert!(excludes_null("(a IS NOT NULL)", "a"));
        assert!(excludes_null("((a IS NOT NULL) AND live)", "a"));
        assert!(excludes_null("(live AND (x > ' AND (') AND (\"É\"\"x\" IS NOT NULL))", "É\"x"));
        assert!(!excludes_null("(a IS NOT NULL)", "b"));
        assert!(!excludes_null("((a IS NOT NULL) OR live)", "a"));
        assert!(!excludes_null("(live AND ((a IS NOT NULL) OR (b > 0)))", "a"));
        assert!(!excludes_null("((a IS NOT NULL) = live)", "a"));
        assert!(!excludes_null("(NOT (a IS NOT NULL))", "a"));
        assert!(!excludes_null("(x = ' AND (a IS NOT NULL) AND '::text)", "a"));
        assert!(!excludes_null("live", "a"));
    }
}
