//! A decimal text, scanned once, and its way into base-10000 groups without an allocation.

use super::{NumericError, Sign};

/// What a numeric's text says.
pub(crate) enum Literal<'a> {
    Finite(Decimal<'a>),
    /// NaN or an infinity.
    Special(Sign),
}

/// The digits of a finite number, as they stand in its text.
pub(crate) struct Decimal<'a> {
    negative: bool,
    /// ASCII digits before the point.
    whole: &'a [u8],
    /// ASCII digits after the point.
    fraction: &'a [u8],
    exponent: i64,
}

/// The scale has fourteen bits.
const MAX_SCALE: i64 = 0x3FFF;
/// The weight of the first group has sixteen bits.
const MAX_WEIGHT: i64 = i16::MAX as i64;
/// Number of bytes before the digit groups: count, weight, sign, scale.
const HEADER: usize = 8;

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[inline]
fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Where the text stands after a word, whatever the case.
fn after_word<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

impl<'a> Literal<'a> {
    /// Reads a text as the server's `numeric_in` does.
    #[inline]
    pub(crate) fn scan(text: &'a [u8]) -> Result<Self, NumericError> {
        let mut start = text;
        while let [first, rest @ ..] = start
            && is_white(*first)
        {
            start = rest;
        }
        let (negative, unsigned) = match start {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, start),
        };
        let (whole, mut rest) = split_digits(unsigned);
        let mut fraction: &[u8] = &[];
        if let [b'.', after @ ..] = rest {
            (fraction, rest) = split_digits(after);
        }
        if whole.is_empty() && fraction.is_empty() {
            return special(start, negative, unsigned);
        }
        let mut exponent = 0;
        if let [b'e' | b'E', after @ ..] = rest {
            (exponent, rest) = read_exponent(after)?;
        }
        if !rest.iter().all(|byte| is_white(*byte)) {
            return Err(syntax(unsigned));
        }
        Ok(Self::Finite(Decimal { negative, whole, fraction, exponent }))
    }
}

#[cold]
fn special<'a>(start: &[u8], negative: bool, unsigned: &[u8]) -> Result<Literal<'a>, NumericError> {
    let (sign, rest) = if let Some(rest) = after_word(start, b"nan") {
        (Sign::NaN, rest)
    } else if let Some(rest) = after_word(unsigned, b"infinity").or_else(|| after_word(unsigned, b"inf")) {
        (if negative { Sign::NegativeInfinity } else { Sign::Infinity }, rest)
    } else {
        return Err(NumericError::Syntax);
    };
    if rest.iter().all(|byte| is_white(*byte)) {
        Ok(Literal::Special(sign))
    } else {
        Err(NumericError::Syntax)
    }
}

/// Servers from 16 on take other bases and `_` between digits.
#[cold]
fn syntax(unsigned: &[u8]) -> NumericError {
    if is_newer_form(unsigned) { NumericError::ServerOnly } else { NumericError::Syntax }
}

/// True for what might be a number in another base or with `_` between digits.
pub(crate) fn is_newer_form(unsigned: &[u8]) -> bool {
    let end = unsigned.iter().rposition(|byte| !is_white(*byte)).map_or(0, |last| last + 1);
    let text = &unsigned[..end];
    match text {
        [b'0', b'x' | b'X', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_')
        }
        [b'0', b'o' | b'O' | b'b' | b'B', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
        }
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => {
            text.contains(&b'_')
                && text
                    .iter()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b'.' | b'e' | b'E' | b'+' | b'-'))
        }
        _ => false,
    }
}

fn read_exponent(text: &[u8]) -> Result<(i64, &[u8]), NumericError> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (digits, rest) = split_digits(digits);
    if digits.is_empty() {
        // Servers up to 15 skip blanks here.
        let blank = text.first().is_some_and(|byte| is_white(*byte)) && text.iter().any(u8::is_ascii_digit);
        return Err(if blank { NumericError::ServerOnly } else { NumericError::Syntax });
    }
    let magnitude =
        digits.iter().fold(0_i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(i64::from(i32::MAX)));
    if magnitude >= i64::from(i32::MAX / 2) {
        return Err(NumericError::Overflow);
    }
    Ok((if negative { -magnitude } else { magnitude }, rest))
}

/// Groups of four digits, appended as they fill.
struct Groups<'o> {
    out: &'o mut Vec<u8>,
    begun: u16,
    /// Digits that the group begun still takes; 4 at a group's start.
    left: u32,
}

impl Groups<'_> {
    #[inline]
    fn push(&mut self, group: u16) {
        self.out.extend_from_slice(&group.to_be_bytes());
    }

    #[inline]
    fn add(&mut self, digit: u8) {
        self.begun = self.begun * 10 + u16::from(digit - b'0');
        self.left -= 1;
        if self.left == 0 {
            let group = self.begun;
            self.push(group);
            self.begun = 0;
            self.left = 4;
        }
    }

    #[inline]
    fn feed(&mut self, mut digits: &[u8]) {
        while self.left != 4
            && let [first, rest @ ..] = digits
        {
            self.add(*first);
            digits = rest;
        }
        let (fours, rest) = digits.as_chunks::<4>();
        for four in fours {
            let [a, b, c, d] = four.map(|digit| u16::from(digit - b'0'));
            self.push(a * 1000 + b * 100 + c * 10 + d);
        }
        for digit in rest {
            self.add(*digit);
        }
    }

    #[inline]
    fn finish(&mut self) {
        if self.left != 4 {
            let group = self.begun * 10_u16.pow(self.left);
            self.push(group);
        }
    }
}

/// Adds one unit of `unit` to the last group; true where the carry leaves the first one.
fn add_unit(groups: &mut [u8], mut unit: u16) -> bool {
    let (groups, _) = groups.as_chunks_mut::<2>();
    for group in groups.iter_mut().rev() {
        let sum = u16::from_be_bytes(*group) + unit;
        if sum < 10_000 {
            *group = sum.to_be_bytes();
            return false;
        }
        *group = (sum - 10_000).to_be_bytes();
        unit = 1;
    }
    true
}

impl<'a> Decimal<'a> {
    /// The number `digits · 10^-scale`.
    pub(crate) fn from_scaled(negative: bool, digits: &'a [u8], scale: i32) -> Self {
        Self { negative, whole: digits, fraction: &[], exponent: -i64::from(scale) }
    }

    /// Digits shown after the point.
    fn scale(&self) -> i64 {
        (self.fraction.len() as i64 - self.exponent).max(0)
    }

    /// The digits without leading zeros, and the power of ten of the first.
    #[inline]
    fn significant(&self) -> (&'a [u8], &'a [u8], i64) {
        let (mut whole, mut fraction) = (self.whole, self.fraction);
        let mut power = whole.len() as i64 - 1 + self.exponent;
        while let [b'0', rest @ ..] = whole {
            whole = rest;
            power -= 1;
        }
        if whole.is_empty() {
            while let [b'0', rest @ ..] = fraction {
                fraction = rest;
                power -= 1;
            }
        }
        (whole, fraction, power)
    }

    /// True where the format holds the number without rounding.
    pub(crate) fn fits(&self) -> bool {
        let (whole, fraction, power) = self.significant();
        let zero = whole.is_empty() && fraction.is_empty();
        self.scale() <= MAX_SCALE && (zero || power.div_euclid(4) <= MAX_WEIGHT)
    }

    /// Appends the binary form, rounded half away from zero to the declared scale: `(precision, scale)`.
    ///
    /// # Errors
    /// [`NumericError::Overflow`] and [`NumericError::Precision`]; `out` may have grown.
    #[inline]
    pub(crate) fn write_body(
        &self,
        declared: Option<(u16, i16)>,
        out: &mut Vec<u8>,
    ) -> Result<(), NumericError> {
        let (mut whole, mut fraction, power) = self.significant();
        let digits = whole.len() + fraction.len();
        let mut round_up = false;
        let mut scale = self.scale();
        if let Some((precision, declared_scale)) = declared {
            let declared_scale = i64::from(declared_scale);
            scale = declared_scale.max(0);
            // A carry adds one digit at most; the exact check follows the rounding.
            if digits > 0 && power >= i64::from(precision) - declared_scale {
                return Err(NumericError::Precision);
            }
            let keep = power + declared_scale + 1;
            if digits > 0 && keep < digits as i64 {
                let kept = usize::try_from(keep).unwrap_or(0);
                let next = if kept < whole.len() { whole[kept] } else { fraction[kept - whole.len()] };
                round_up = keep >= 0 && next >= b'5';
                fraction = &fraction[..kept.saturating_sub(whole.len())];
                whole = &whole[..kept.min(whole.len())];
            }
        }
        let mut weight = power.div_euclid(4);
        if scale > MAX_SCALE || (digits > 0 && weight > MAX_WEIGHT) {
            return Err(NumericError::Overflow);
        }

        let start = out.len();
        out.extend_from_slice(&[0; HEADER]);
        let mut groups = Groups { out, begun: 0, left: power.rem_euclid(4) as u32 + 1 };
        if whole.len() + fraction.len() > 0 {
            groups.feed(whole);
            groups.feed(fraction);
            groups.finish();
        }
        if round_up {
            let last = power - (whole.len() + fraction.len()) as i64 + 1;
            let unit = 10_u16.pow(last.rem_euclid(4) as u32);
            if whole.is_empty() && fraction.is_empty() {
                // Nothing was kept and the first digit rounds up: one unit above it.
                weight = last.div_euclid(4);
                out.extend_from_slice(&unit.to_be_bytes());
            } else if add_unit(&mut out[start + HEADER..], unit) {
                // All were nines.
                weight += 1;
                out.truncate(start + HEADER);
                out.extend_from_slice(&1_u16.to_be_bytes());
            }
            if let Some((precision, declared_scale)) = declared {
                let first = u16::from_be_bytes([out[start + HEADER], out[start + HEADER + 1]]);
                let top = weight * 4 + i64::from(first.ilog10());
                if top >= i64::from(precision) - i64::from(declared_scale) {
                    return Err(NumericError::Precision);
                }
            }
        }
        while out.len() > start + HEADER && out.ends_with(&[0, 0]) {
            out.truncate(out.len() - 2);
        }
        let count = (out.len() - start - HEADER) / 2;
        let zero = count == 0;
        let sign = if self.negative && !zero { Sign::Negative } else { Sign::Positive };
        let weight = if zero { 0 } else { weight as i16 };
        let header = [count as u16, weight.cast_unsigned(), sign.word(), scale as u16];
        let (words, _) = out[start..start + HEADER].as_chunks_mut::<2>();
        for (word, value) in words.iter_mut().zip(header) {
            *word = value.to_be_bytes();
        }
        Ok(())
    }
}
