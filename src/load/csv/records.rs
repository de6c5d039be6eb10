//! Whole records out of a stream of bytes: where a record ends, on which line it starts, and what is wrong with it as
//! a whole.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memchr2, memchr3};

use super::Dialect;
use crate::load::input::{RECORD_LIMIT, Window};

/// How the lines of a file end. The first line decides, as in COPY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    Cr,
    CrLf,
}

/// What is wrong with a record as a whole. COPY refuses each with SQLSTATE 22P04.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::load) enum Fault {
    /// The input ended inside a quote that opened on this line.
    UnterminatedQuote { opened: u64 },
    /// A CR outside quotes in a file whose lines do not end so.
    StrayCarriageReturn,
    /// An LF outside quotes in a file whose lines do not end so.
    StrayNewline,
}

/// Why no further record can be read.
#[derive(Debug)]
pub(in crate::load) enum Unreadable {
    /// The input failed.
    Io(io::Error),
    /// A record starts on `line` and is longer than any statement takes; a quote is open since `opened`.
    TooLong { line: u64, opened: Option<u64> },
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// One record as the input has it.
#[derive(Debug, Clone, Copy)]
pub(in crate::load) struct RawRecord<'a> {
    /// The line that it starts on; the first is 1.
    pub(in crate::load) line: u64,
    /// Its bytes with the line end.
    pub(in crate::load) bytes: &'a [u8],
    /// Its bytes without the line end.
    pub(in crate::load) body: &'a [u8],
    /// True where some quote stands in it.
    pub(in crate::load) quotes: bool,
    /// What is wrong with it as a whole.
    pub(in crate::load) fault: Option<Fault>,
}

/// Cuts a stream into records. Memory is one read's size, or the longest record.
#[derive(Debug)]
pub(in crate::load) struct Records<R> {
    window: Window<R>,
    line: u64,
    line_end: Option<LineEnd>,
    quote: u8,
    escape: Option<u8>,
}

/// The state of one record's scan; positions count from the record's start.
#[derive(Debug, Default)]
struct Scan {
    position: usize,
    quoted: bool,
    /// Where the last quote opened.
    opened: Option<usize>,
    /// Just behind a closing quote: another quote here is a doubled one, not an opening one.
    closed: usize,
    fault: Option<Fault>,
}

/// What a scan came to.
enum Step {
    /// The buffer ends before the record does.
    More,
    /// The record's body and its line end, in bytes.
    Record { body: usize, line_end: usize },
}

impl<R: Read> Records<R> {
    pub(in crate::load) fn new(input: R, dialect: &Dialect) -> Self {
        Self {
            window: Window::new(input),
            line: 1,
            line_end: None,
            quote: dialect.quote,
            escape: dialect.own_escape(),
        }
    }

    /// The next record; `None` behind the last.
    ///
    /// # Errors
    /// The input failed, or a record has no end that memory could hold. Nothing can be read after that.
    pub(in crate::load) fn next(&mut self) -> Result<Option<RawRecord<'_>>, Unreadable> {
        let mut scan = Scan::default();
        let (body, line_end) = loop {
            match self.scan(&mut scan) {
                Step::Record { body, line_end } => break (body, line_end),
                Step::More if !self.window.has_ended() => self.grow(&scan)?,
                Step::More => {
                    let rest = self.window.bytes().len();
                    if rest == 0 {
                        return Ok(None);
                    }
                    if scan.quoted {
                        let opened = self.line_of(scan.opened.unwrap_or(0));
                        scan.fault = Some(Fault::UnterminatedQuote { opened });
                    }
                    break (rest, 0);
                }
            }
        };
        let line = self.line;
        let quotes = scan.opened.is_some();
        self.line = if quotes { self.line_of(body) } else { line } + 1;
        let bytes = self.window.take(body + line_end);
        Ok(Some(RawRecord { line, bytes, body: &bytes[..body], quotes, fault: scan.fault }))
    }

    /// True where the next record needs another read, as far as a look for a newline can tell.
    pub(in crate::load) fn is_dry(&self) -> bool {
        memchr(b'\n', self.window.bytes()).is_none()
    }

    fn scan(&mut self, scan: &mut Scan) -> Step {
        let record = self.window.bytes();
        let ended = self.window.has_ended();
        loop {
            let rest = &record[scan.position..];
            if scan.quoted {
                let found = match self.escape {
                    None => memchr(self.quote, rest),
                    Some(escape) => memchr2(self.quote, escape, rest),
                };
                let Some(offset) = found else {
                    scan.position = record.len();
                    return Step::More;
                };
                let at = scan.position + offset;
                if record[at] == self.quote {
                    scan.quoted = false;
                    scan.position = at + 1;
                    scan.closed = at + 1;
                    continue;
                }
                match record.get(at + 1) {
                    Some(&next) if next == self.quote || Some(next) == self.escape => scan.position = at + 2,
                    Some(_) => scan.position = at + 1,
                    None => {
                        scan.position = if ended { at + 1 } else { at };
                        return Step::More;
                    }
                }
                continue;
            }
            let Some(offset) = memchr3(b'\n', b'\r', self.quote, rest) else {
                scan.position = record.len();
                return Step::More;
            };
            let at = scan.position + offset;
            match record[at] {
                b'\n' => match self.line_end {
                    None | Some(LineEnd::Lf) => {
                        self.line_end = Some(LineEnd::Lf);
                        return Step::Record { body: at, line_end: 1 };
                    }
                    Some(LineEnd::CrLf) => {
                        scan.fault = Some(Fault::StrayNewline);
                        return Step::Record { body: at, line_end: 1 };
                    }
                    Some(LineEnd::Cr) => scan.fault = Some(Fault::StrayNewline),
                },
                b'\r' => match (self.line_end, record.get(at + 1)) {
                    (None | Some(LineEnd::CrLf), None) if !ended => {
                        scan.position = at;
                        return Step::More;
                    }
                    (None | Some(LineEnd::CrLf), Some(b'\n')) => {
                        self.line_end = Some(LineEnd::CrLf);
                        return Step::Record { body: at, line_end: 2 };
                    }
                    (None | Some(LineEnd::Cr), _) => {
                        self.line_end = Some(LineEnd::Cr);
                        return Step::Record { body: at, line_end: 1 };
                    }
                    (Some(LineEnd::CrLf | LineEnd::Lf), _) => scan.fault = Some(Fault::StrayCarriageReturn),
                },
                _ => {
                    if scan.opened.is_none() || scan.closed != at {
                        scan.opened = Some(at);
                    }
                    scan.quoted = true;
                }
            }
            scan.position = at + 1;
        }
    }

    /// The line on which the byte at `position` of the current record stands.
    fn line_of(&self, position: usize) -> u64 {
        let newline = if self.line_end == Some(LineEnd::Cr) { b'\r' } else { b'\n' };
        self.line + memchr_iter(newline, &self.window.bytes()[..position]).count() as u64
    }

    fn grow(&mut self, scan: &Scan) -> Result<(), Unreadable> {
        if self.window.bytes().len() > RECORD_LIMIT {
            let opened = scan.opened.filter(|_| scan.quoted).map(|at| self.line_of(at));
            return Err(Unreadable::TooLong { line: self.line, opened });
        }
        Ok(self.window.grow()?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (u64, Vec<u8>, Option<Fault>);

    /// Gives at most `step` bytes a read.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = out.len().min(self.1).min(self.0.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(input: &[u8], step: usize, dialect: &Dialect) -> Vec<Seen> {
        let mut records = Records::new(Slow(input, step), dialect);
        let mut seen = Vec::new();
        while let Some(record) = records.next().unwrap() {
            seen.push((record.line, record.body.to_vec(), record.fault));
        }
        seen
    }

    fn default(input: &str) -> Vec<(u64, String, Option<Fault>)> {
        all(input.as_bytes(), 7, &Dialect::default())
            .into_iter()
            .map(|(line, body, fault)| (line, String::from_utf8(body).unwrap(), fault))
            .collect()
    }

    #[test]
    fn lines_count_the_newlines_inside_cells() {
        let seen = default("a,b\n\"1\n2\r\n3\",x\n4,5");
        assert_eq!(
            seen,
            [(1, "a,b".into(), None), (2, "\"1\n2\r\n3\",x".into(), None), (5, "4,5".into(), None)]
        );
    }

    #[test]
    fn blank_lines_are_records() {
        assert_eq!(
            default("a\n\nb\n"),
            [(1, "a".into(), None), (2, String::new(), None), (3, "b".into(), None)]
        );
        assert_eq!(default("").len(), 0);
    }

    #[test]
    fn the_first_line_decides_how_lines_end() {
        assert_eq!(default("a\r\nb\r\n"), [(1, "a".into(), None), (2, "b".into(), None)]);
        assert_eq!(default("a\rb\r"), [(1, "a".into(), None), (2, "b".into(), None)]);
        let stray = Some(Fault::StrayCarriageReturn);
        assert_eq!(
            default("a\nb\r\nc\n"),
            [(1, "a".into(), None), (2, "b\r".into(), stray), (3, "c".into(), None)]
        );
        assert_eq!(
            default("a\r\nb\nc\rd\r\n"),
            [(1, "a".into(), None), (2, "b".into(), Some(Fault::StrayNewline)), (3, "c\rd".into(), stray)]
        );
        assert_eq!(
            default("a\rb\nc\r"),
            [(1, "a".into(), None), (2, "b\nc".into(), Some(Fault::StrayNewline))]
        );
    }

    #[test]
    fn an_unterminated_quote_names_the_line_where_it_opens() {
        let fault = |input: &str| default(input).last().unwrap().2;
        assert_eq!(fault("a\n1,\"x\ny\",\"z\n\n"), Some(Fault::UnterminatedQuote { opened: 3 }));
        assert_eq!(fault("a\n\"x\"\"\ny"), Some(Fault::UnterminatedQuote { opened: 2 }));
        assert_eq!(fault("a\n\"x\"\n"), None);
    }

    #[test]
    fn an_escape_of_its_own_guards_quotes_inside_quotes_only() {
        let dialect = Dialect::new(',', '"', Some('\\'), "").unwrap();
        let bodies = |input: &str| -> Vec<Vec<u8>> {
            all(input.as_bytes(), 1, &dialect).into_iter().map(|(_, body, _)| body).collect()
        };
        assert_eq!(bodies("\"a\\\"\nb\"\nc\n"), [b"\"a\\\"\nb\"".to_vec(), b"c".to_vec()]);
        assert_eq!(bodies("\"a\\\\\"\nb\n"), [b"\"a\\\\\"".to_vec(), b"b".to_vec()]);
        assert_eq!(bodies("a\\\nb\n"), [b"a\\".to_vec(), b"b".to_vec()]);
    }

    #[test]
    fn a_cell_of_five_megabytes_with_newlines_is_one_record() {
        let cell = "line of a hundred bytes or so, that stands here again and again, until it is five megabytes long\n";
        let input = format!("id,t\n1,\"{}\"\n2,x\n", cell.repeat(50_000));
        let seen = all(input.as_bytes(), 100_000, &Dialect::default());
        assert_eq!(seen.iter().map(|(line, ..)| *line).collect::<Vec<_>>(), [1, 2, 50_003]);
        assert_eq!(seen[1].1.len(), cell.len() * 50_000 + 4);
    }

    proptest! {
        /// Where reads are cut changes nothing, and no byte is lost.
        #[test]
        fn cuts_do_not_matter(
            input in proptest::collection::vec(proptest::sample::select(&b"ab,\"\"\r\n\n\\"[..]), 0..60),
            step in 1_usize..9,
            escape in proptest::sample::select(vec![None, Some('\\')]),
        ) {
            let dialect = Dialect::new(',', '"', escape, "").unwrap();
            let whole = all(&input, 1000, &dialect);
            prop_assert_eq!(&whole, &all(&input, step, &dialect));
            let mut records = Records::new(&input[..], &dialect);
            let mut bytes = Vec::new();
            while let Some(record) = records.next().unwrap() {
                bytes.extend_from_slice(record.bytes);
            }
            prop_assert_eq!(bytes, input);
        }
    }
}
