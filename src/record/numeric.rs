//! An exact decimal of any length: the server's own base-10000 digits.

/// A `numeric` as the server holds it: sign, weight of the first digit group, scale for display, digits in base 10000.
#[derive(Clone, PartialEq, Eq)]
pub struct Numeric {
    pub(crate) sign: Sign,
    /// The first group counts `10000^weight`.
    pub(crate) weight: i16,
    /// Decimal digits shown after the point.
    pub(crate) scale: u16,
    /// Groups of four decimal digits, without leading or trailing zero groups.
    pub(crate) digits: Vec<u16>,
}

/// The sign word of the binary form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Positive,
    Negative,
    NaN,
    Infinity,
    NegativeInfinity,
}
