//! COPY FROM STDIN: encoded fields as the server's copy formats have them.

use bytes::{BufMut, Bytes, BytesMut};
use futures::SinkExt;
use tokio_postgres::error::DbError;
use tokio_postgres::{CopyInSink, Error as ClientError};

use super::parameter::Rows;
use crate::encode::Codec;
use crate::options::CopyFormat;
use crate::sink::log::{Fields, body};

/// Bytes of one message, nearly.
const CHUNK: usize = 128 << 10;

const BINARY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const BINARY_TRAILER: &[u8] = &[0xff, 0xff];

/// Sends the rows to a COPY that has begun; answers with the number of those that the server took.
///
/// The answer comes before the server's transaction ends: inside a transaction only.
///
/// Cancel safety: dropped, the server is told that the COPY has failed.
pub(super) async fn copy(
    sink: CopyInSink<Bytes>,
    rows: &Rows<'_>,
    codecs: &[Codec],
    format: CopyFormat,
) -> Result<u64, ClientError> {
    let mut sink = std::pin::pin!(sink);
    let mut out = BytesMut::with_capacity(CHUNK);
    let prefixes: Vec<usize> =
        rows.set.iter().map(|&column| text_prefix(&codecs[usize::from(column)])).collect();
    let width = u16::try_from(rows.set.len()).unwrap_or(u16::MAX);
    if format == CopyFormat::Binary {
        out.put_slice(BINARY_HEADER);
    }
    for row in &rows.rows {
        match format {
            CopyFormat::Binary => {
                out.put_u16(width);
                out.put_slice(row);
            }
            CopyFormat::Text => text_row(row, &prefixes, &mut out),
        }
        while out.len() >= CHUNK {
            // A long value goes in several messages: the format has no borders between them.
            sink.send(out.split_to(CHUNK).freeze()).await?;
            out.reserve(CHUNK);
        }
    }
    if format == CopyFormat::Binary {
        out.put_slice(BINARY_TRAILER);
    }
    sink.send(out.freeze()).await?;
    sink.finish().await
}

/// Which row of a COPY into `relation` an error is about. Only the number is taken from the server's words: what follows
/// it may be the row.
pub(super) fn copied_row(error: &DbError, relation: &str) -> Option<u64> {
    row_of(error.where_()?, relation)
}

fn row_of(context: &str, relation: &str) -> Option<u64> {
    let of_copy = |line| str::strip_prefix(line, "COPY ")?.strip_prefix(relation)?.strip_prefix(", ");
    let words = context.lines().find_map(of_copy)?;
    // "line 3", in the language of the server.
    let digits = words.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Bytes in front of the text in a field: jsonb's version.
fn text_prefix(codec: &Codec) -> usize {
    usize::from(matches!(codec, Codec::Jsonb))
}

/// A line of the text format.
fn text_row(row: &[u8], prefixes: &[usize], out: &mut BytesMut) {
    for (at, (field, &prefix)) in Fields(row).zip(prefixes).enumerate() {
        if at > 0 {
            out.put_u8(b'\t');
        }
        let Some(text) = body(field) else {
            out.put_slice(b"\\N");
            continue;
        };
        let mut text = &text[prefix.min(text.len())..];
        while let Some(special) = text.iter().position(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'\t')) {
            out.put_slice(&text[..special]);
            out.put_u8(b'\\');
            out.put_u8(match text[special] {
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                other => other,
            });
            text = &text[special + 1..];
        }
        out.put_slice(text);
    }
    out.put_u8(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(values: &[Option<&str>]) -> Vec<u8> {
        let mut row = Vec::new();
        for value in values {
            match value {
                Some(text) => {
                    row.extend_from_slice(&i32::try_from(text.len()).unwrap().to_be_bytes());
                    row.extend_from_slice(text.as_bytes());
                }
                None => row.extend_from_slice(&crate::encode::NULL),
            }
        }
        row
    }

    #[test]
    fn a_text_line_escapes_what_ends_a_field_or_a_line() {
        let mut out = BytesMut::new();
        let row = fields(&[Some("a\tb\nc\rd\\N"), None, Some(""), Some("\\."), Some("\u{1}{}")]);
        text_row(&row, &[0, 0, 0, 0, 1], &mut out);
        assert_eq!(&out[..], b"a\\tb\\nc\\rd\\\\N\t\\N\t\t\\\\.\t{}\n");
    }

    #[test]
    fn the_row_is_read_from_the_context_whatever_the_language_and_the_name() {
        for (context, row) in [
            ("COPY t 2, line 17", Some(17)),
            ("COPY t 2, line 17, column a: \"5\"", Some(17)),
            ("PL/pgSQL function f() line 3 at RAISE\nCOPY t 2, Zeile 4: \"1\t2\"", Some(4)),
            ("COPY t 22, line 17", None),
            ("SQL statement", None),
        ] {
            assert_eq!(row_of(context, "t 2"), row, "{context}");
        }
    }
}
