//! A window over a stream: bytes that are read and not yet taken, in one piece.

use std::io::{self, Read};

/// Bytes asked for in one read.
const READ_SIZE: usize = 256 << 10;

/// A record that is longer has most likely lost its end, and no statement holds it.
pub(in crate::load) const RECORD_LIMIT: usize = 256 << 20;

/// Grows to the longest record and shrinks again behind it.
#[derive(Debug)]
pub(in crate::load) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    pub(in crate::load) fn new(input: R) -> Self {
        Self { input, buffer: vec![0; READ_SIZE], start: 0, end: 0, ended: false }
    }

    /// What is read and not taken.
    pub(in crate::load) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// True where the input has no more than [`Self::bytes`].
    pub(in crate::load) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes `count` bytes; they stay readable until the next [`Self::grow`].
    pub(in crate::load) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.start;
        self.start += count;
        &self.buffer[start..self.start]
    }

    /// Reads once more behind what is there.
    ///
    /// # Errors
    /// The input's.
    pub(in crate::load) fn grow(&mut self) -> io::Result<()> {
        let length = self.end - self.start;
        self.buffer.copy_within(self.start..self.end, 0);
        self.start = 0;
        self.end = length;
        if length < READ_SIZE / 2 && self.buffer.len() > 16 * READ_SIZE {
            self.buffer.truncate(READ_SIZE);
            self.buffer.shrink_to_fit();
        } else if self.buffer.len() - length < READ_SIZE / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.ended = count == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
