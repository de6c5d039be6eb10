//! The quoting of the server's literals: arrays, ranges, composites, hstore.

use std::borrow::Cow;

use super::white::is_white;

/// A part of a literal, and whether quotes or escapes made it certain that it is text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Quoting<'a> {
    /// As it stands in the source.
    Bare(&'a str),
    /// Quotes and escapes taken away.
    Quoted(Cow<'a, str>),
}

impl Quoting<'_> {
    /// The text, however it was written.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Bare(text) => text,
            Self::Quoted(text) => text,
        }
    }
}

/// Walks over a literal byte by byte; what it cuts at is ASCII.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == self.source.len()
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_white) {
            self.at += 1;
        }
    }

    /// Steps over so many bytes.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Steps over `byte` where it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over an ASCII word in any case where it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.rest().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// All up to `end`, and steps over it.
    pub(super) fn until(&mut self, end: u8) -> Option<&'a str> {
        let length = memchr::memchr(end, self.rest().as_bytes())?;
        let inside = &self.rest()[..length];
        self.at += length + 1;
        Some(inside)
    }

    /// An element of an array, without the blanks around it: in quotes as a whole, or bare up to `delimiter` or a
    /// brace. `None` where the server finds it malformed.
    pub(super) fn array_item(&mut self, delimiter: u8) -> Option<Quoting<'a>> {
        self.skip_spaces();
        if self.take(b'"') {
            return self.quoted().map(Quoting::Quoted);
        }
        let start = self.at;
        let mut text: Option<String> = None;
        // Where the text ends when the blanks behind it are left out.
        let mut end = 0;
        let mut copied = start;
        loop {
            match self.peek()? {
                b'\\' => {
                    let text = text.get_or_insert_default();
                    text.push_str(&self.source[copied..self.at]);
                    let escaped = self.source[self.at + 1..].chars().next()?;
                    text.push(escaped);
                    self.at += 1 + escaped.len_utf8();
                    copied = self.at;
                    end = text.len();
                }
                b'"' | b'{' => return None,
                byte if byte == delimiter || byte == b'}' => break,
                byte => {
                    self.at += 1;
                    if !is_white(byte) {
                        end = text.as_ref().map_or(0, String::len) + self.at - copied;
                    }
                }
            }
        }
        match text {
            None => Some(Quoting::Bare(&self.source[start..start + end])),
            Some(mut text) => {
                text.push_str(&self.source[copied..self.at]);
                text.truncate(end);
                Some(Quoting::Quoted(Cow::Owned(text)))
            }
        }
    }

    /// What stands in quotes; the opening one is behind. A backslash takes the next character as it is.
    pub(super) fn quoted(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let length = memchr::memchr2(b'"', b'\\', self.rest().as_bytes())?;
        self.at += length;
        if self.take(b'"') {
            return Some(Cow::Borrowed(&self.source[start..start + length]));
        }
        let mut text = self.source[start..self.at].to_owned();
        loop {
            if self.take(b'"') {
                return Some(Cow::Owned(text));
            }
            self.take(b'\\');
            let next = self.source[self.at..].chars().next()?;
            text.push(next);
            self.at += next.len_utf8();
        }
    }

    /// A field of a composite or a bound of a range: up to an unquoted byte of `ends`, quotes anywhere in it, a doubled
    /// quote in quotes being one, a backslash taking the next character as it is. Blanks count. `None` where the
    /// literal ends before.
    pub(super) fn field(&mut self, ends: &[u8]) -> Option<Quoting<'a>> {
        let start = self.at;
        while let Some(byte) = self.peek().filter(|byte| !matches!(byte, b'"' | b'\\')) {
            if ends.contains(&byte) {
                return Some(Quoting::Bare(&self.source[start..self.at]));
            }
            self.at += 1;
        }
        let mut text = self.source[start..self.at].to_owned();
        let mut inside = false;
        loop {
            let next = self.source[self.at..].chars().next()?;
            if !inside && next.is_ascii() && ends.contains(&(next as u8)) {
                return Some(Quoting::Quoted(Cow::Owned(text)));
            }
            self.at += next.len_utf8();
            match next {
                '\\' => {
                    let escaped = self.source[self.at..].chars().next()?;
                    text.push(escaped);
                    self.at += escaped.len_utf8();
                }
                '"' if !inside => inside = true,
                '"' if self.take(b'"') => text.push('"'),
                '"' => inside = false,
                _ => text.push(next),
            }
        }
    }
}
