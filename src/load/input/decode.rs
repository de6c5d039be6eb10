//! From another encoding to UTF-8, as a stream.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

/// Stands for each sequence that the encoding does not have. No UTF-8 text holds this byte, so the record's reader
/// refuses the record and names its line; a replacement character would be a silent change.
const MALFORMED: u8 = 0xff;

const STEP: usize = 64 << 10;

/// Decodes what it reads. A byte order mark of the same encoding is taken off.
pub(super) struct Decoded<R> {
    inner: R,
    decoder: Decoder,
    raw: Block,
    decoded: Block,
    /// The input has ended; the decoder may still hold something.
    ended: bool,
    /// The decoder was told of the end and has nothing left: it must not be called again.
    finished: bool,
}

/// Bytes, and which of them are still to be taken.
struct Block {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Block {
    fn new() -> Self {
        Self { bytes: vec![0; STEP], start: 0, end: 0 }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(inner: R, encoding: &'static Encoding) -> Self {
        Self {
            inner,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: Block::new(),
            decoded: Block::new(),
            ended: false,
            finished: false,
        }
    }

    /// Decodes the next bytes; there may be none while the input has not ended.
    fn step(&mut self) -> io::Result<()> {
        let (raw, decoded) = (&mut self.raw, &mut self.decoded);
        if raw.is_empty() && !self.ended {
            raw.start = 0;
            raw.end = self.inner.read(&mut raw.bytes)?;
            self.ended = raw.end == 0;
        }
        let room = decoded.bytes.len() - 1;
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
            &raw.bytes[raw.start..raw.end],
            &mut decoded.bytes[..room],
            self.ended,
        );
        raw.start += read;
        decoded.start = 0;
        decoded.end = written;
        match result {
            DecoderResult::Malformed(..) => {
                decoded.bytes[written] = MALFORMED;
                decoded.end += 1;
            }
            DecoderResult::InputEmpty => self.finished = self.ended,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.decoded.is_empty() && !self.finished {
            self.step()?;
        }
        let decoded = &mut self.decoded;
        let count = out.len().min(decoded.end - decoded.start);
        out[..count].copy_from_slice(&decoded.bytes[decoded.start..decoded.start + count]);
        decoded.start += count;
        Ok(count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decode(input: &[u8], encoding: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let encoding = Encoding::for_label(encoding.as_bytes()).unwrap();
        Decoded::new(input, encoding).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn texts_longer_than_a_block_come_whole() {
        let text = "é€ñ ".repeat(60_000);
        let (latin, ..) = encoding_rs::WINDOWS_1252.encode(&text);
        assert_eq!(decode(&latin, "latin1"), text.as_bytes());
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide, "utf-16le"), text.as_bytes());
    }

    #[test]
    fn what_the_encoding_does_not_have_is_marked_as_invalid() {
        assert_eq!(decode(b"a\xffb", "shift_jis"), b"a\xffb");
        assert_eq!(decode(b"a\0\x3d\xd8", "utf-16le"), b"a\xff");
        assert_eq!(decode(b"", "utf-16le"), b"");
    }
}
