//! White space as the server's number parsers skip it: the six characters of C's `isspace`.

#[inline]
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Without white space at the front.
#[inline]
pub(super) fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_white(*first)
    {
        text = rest;
    }
    text
}

/// Without white space at both ends.
#[inline]
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let mut text = trim_start(text);
    while let [rest @ .., last] = text
        && is_white(*last)
    {
        text = rest;
    }
    text
}

#[inline]
pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| is_white(*byte))
}
