//! Is a text JSON? One pass, no allocation, no recursion.

use crate::encode::EncodeError;
use crate::record::Literal;

/// The server's parser recurses; its stack of 2 MB ends somewhat above twelve thousand levels.
const MAX_DEPTH: usize = 6_000;

/// A jsonb string's length has 28 bits.
const MAX_JSONB_STRING: usize = 0x0FFF_FFFF;

/// What is allowed beside RFC 8259.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// The stricter rules of jsonb: no U+0000, surrogates in pairs, numbers within numeric's range.
    pub(super) jsonb: bool,
    /// U+0000 will be taken out afterwards, as a character and as an escape.
    pub(super) nul: bool,
}

/// What a level of nesting is, a bit each: an object where it is set.
struct Levels {
    objects: [u64; MAX_DEPTH.div_ceil(64)],
    depth: usize,
}

impl Levels {
    fn new() -> Self {
        Self { objects: [0; MAX_DEPTH.div_ceil(64)], depth: 0 }
    }

    #[inline]
    fn enter(&mut self, object: bool) -> Result<(), EncodeError> {
        if self.depth == MAX_DEPTH {
            return Err(EncodeError::server_only("54001", "the JSON is nested too deeply"));
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.objects[word] = self.objects[word] & !(1 << bit) | u64::from(object) << bit;
        self.depth += 1;
        Ok(())
    }

    /// True in an object, false in an array, nothing outside of both.
    #[inline]
    fn current(&self) -> Option<bool> {
        let level = self.depth.checked_sub(1)?;
        Some(self.objects[level / 64] >> (level % 64) & 1 == 1)
    }

    #[inline]
    fn leave(&mut self) {
        self.depth -= 1;
    }
}

#[cold]
pub(super) fn invalid() -> EncodeError {
    EncodeError::new("22P02", "the text is no JSON")
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    rules: Rules,
    found_nul: bool,
}

/// Checks a whole document; true where it holds U+0000 in either form.
pub(super) fn document(text: &[u8], rules: Rules) -> Result<bool, EncodeError> {
    let mut parser = Parser { text, at: 0, rules, found_nul: false };
    parser.document()?;
    Ok(parser.found_nul)
}

impl Parser<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn skip_white(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {}
                0 if self.rules.nul => self.found_nul = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    fn document(&mut self) -> Result<(), EncodeError> {
        let mut levels = Levels::new();
        loop {
            self.skip_white();
            match self.next().ok_or_else(invalid)? {
                b'{' => {
                    levels.enter(true)?;
                    self.skip_white();
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    levels.enter(false)?;
                    self.skip_white();
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                b'"' => self.string()?,
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return Err(invalid()),
            }
            if self.after_value(&mut levels)? {
                return Ok(());
            }
        }
    }

    /// Closes what ends here; true at the end of the document, false where another value has to follow.
    fn after_value(&mut self, levels: &mut Levels) -> Result<bool, EncodeError> {
        loop {
            self.skip_white();
            match (levels.current(), self.next()) {
                (None, None) => return Ok(true),
                (Some(true), Some(b'}')) | (Some(false), Some(b']')) => levels.leave(),
                (Some(false), Some(b',')) => return Ok(false),
                (Some(true), Some(b',')) => {
                    self.skip_white();
                    self.key()?;
                    return Ok(false);
                }
                _ => return Err(invalid()),
            }
        }
    }

    fn key(&mut self) -> Result<(), EncodeError> {
        if self.next() != Some(b'"') {
            return Err(invalid());
        }
        self.string()?;
        self.skip_white();
        if self.next() == Some(b':') { Ok(()) } else { Err(invalid()) }
    }

    fn word(&mut self, rest: &[u8]) -> Result<(), EncodeError> {
        if !self.text[self.at..].starts_with(rest) {
            return Err(invalid());
        }
        self.at += rest.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), EncodeError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(invalid()) } else { Ok(()) }
    }

    /// A number whose first byte was read.
    fn number(&mut self) -> Result<(), EncodeError> {
        let start = self.at - 1;
        if self.text[start] == b'-' && !self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        if self.text[self.at - 1] != b'0' {
            self.at -= 1;
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let mut exponent = false;
        if let Some(b'e' | b'E') = self.peek() {
            exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.rules.jsonb && (exponent || self.at - start > 1_000) {
            self.check_range(start)?;
        }
        Ok(())
    }

    /// A jsonb number is a numeric.
    #[cold]
    fn check_range(&self, start: usize) -> Result<(), EncodeError> {
        match Literal::scan(&self.text[start..self.at]) {
            Ok(Literal::Finite(decimal)) if decimal.fits() => Ok(()),
            _ => Err(EncodeError::new("22003", "a number of the JSON overflows the numeric format")),
        }
    }

    /// A string whose opening quote was read.
    #[inline]
    fn string(&mut self) -> Result<(), EncodeError> {
        let start = self.at;
        loop {
            match self.next().ok_or_else(invalid)? {
                b'"' => break,
                b'\\' => self.escape()?,
                0 if self.rules.nul => self.found_nul = true,
                0..0x20 => return Err(invalid()),
                _ => {}
            }
        }
        if self.rules.jsonb && self.at - start > MAX_JSONB_STRING {
            return Err(EncodeError::new("54000", "a string of the JSON is too long for jsonb"));
        }
        Ok(())
    }

    /// An escape whose backslash was read; a surrogate takes its partner with it.
    fn escape(&mut self) -> Result<(), EncodeError> {
        match self.next().ok_or_else(invalid)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                let unit = self.unit()?;
                if unit == 0 {
                    self.found_nul = true;
                    if self.rules.jsonb && !self.rules.nul {
                        return Err(EncodeError::new("22P05", "\\u0000 cannot be stored in jsonb"));
                    }
                }
                match unit {
                    0xD800..0xDC00 if self.rules.jsonb => self.low_surrogate(),
                    0xDC00..0xE000 if self.rules.jsonb => Err(lone_surrogate()),
                    _ => Ok(()),
                }
            }
            _ => Err(invalid()),
        }
    }

    fn unit(&mut self) -> Result<u16, EncodeError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(crate::encode::bytea::hex_digit).ok_or_else(invalid)?;
            unit = unit << 4 | u16::from(digit);
        }
        Ok(unit)
    }

    fn low_surrogate(&mut self) -> Result<(), EncodeError> {
        if self.next() == Some(b'\\') && self.next() == Some(b'u') && (0xDC00..0xE000).contains(&self.unit()?)
        {
            return Ok(());
        }
        Err(lone_surrogate())
    }
}

#[cold]
fn lone_surrogate() -> EncodeError {
    EncodeError::new("22P02", "the JSON holds half of a surrogate pair")
}
