//! Where records come from: files, patterns, standard input; compressed or not; in any encoding. What leaves this
//! module is UTF-8 without a byte order mark, or bytes that the record's reader finds invalid.

mod decode;
mod window;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::Encoding;

use self::decode::Decoded;
pub(super) use self::window::{RECORD_LIMIT, Window};
use crate::{Error, ErrorKind, Result};

/// The form of an input's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// The CSV rules with a tab.
    Tsv,
    /// One JSON object a line.
    Ndjson,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// `None` is standard input.
    path: Option<PathBuf>,
}

/// An input that is open.
pub(super) struct Opened {
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) format: Format,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("format", &self.format).finish_non_exhaustive()
    }
}

/// The encoding of that name (a WHATWG label: `latin1`, `windows-1252`, `utf-16le`, `shift_jis`).
///
/// # Errors
/// [`ErrorKind::Config`] for an unknown name.
pub(super) fn encoding(name: &str) -> Result<&'static Encoding> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| {
        Error::new(ErrorKind::Config, "read the encoding's name", format!("there is no encoding \"{name}\""))
            .with_hint(
                "names are those of the WHATWG list: utf-8, latin1, windows-1252, utf-16le, shift_jis …",
            )
    })
}

/// Files by name, by pattern (in sorted order), or `-`.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a file that is not there or a pattern without a match; [`ErrorKind::Config`] for a
/// directory, a broken pattern, standard input named twice, or none at all.
pub(super) fn expand(names: &[String]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for name in names {
        let path = Path::new(name);
        if name == "-" {
            sources.push(Source { path: None });
        } else if path.exists() {
            sources.push(Source { path: Some(path.to_owned()) });
        } else if name.contains(['*', '?', '[']) {
            let before = sources.len();
            for path in glob::glob(name).map_err(|error| find(ErrorKind::Config, name, error.msg))? {
                let path = path.map_err(|error| find(ErrorKind::Io, name, &error.error().to_string()))?;
                sources.push(Source { path: Some(path) });
            }
            if sources.len() == before {
                return Err(find(ErrorKind::NotFound, name, "no file matches the pattern"));
            }
        } else {
            return Err(find(ErrorKind::NotFound, name, "there is no such file"));
        }
    }
    if sources.is_empty() {
        return Err(Error::new(ErrorKind::Config, "find inputs", "no input is named"));
    }
    if sources.iter().filter(|source| source.path.is_none()).count() > 1 {
        return Err(find(ErrorKind::Config, "-", "standard input can be read once"));
    }
    if let Some(folder) = sources.iter().find(|source| source.path.as_ref().is_some_and(|path| path.is_dir()))
    {
        return Err(find(ErrorKind::Config, &folder.name(), "is a directory; name its files, or a pattern"));
    }
    Ok(sources)
}

fn find(kind: ErrorKind, name: &str, message: &str) -> Error {
    Error::new(kind, "find inputs", message).with_context("file", name)
}

/// A failed read, naming the file.
pub(super) fn read_error(source: &Source, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        _ => ErrorKind::Io,
    };
    Error::new(kind, "read input", error.to_string()).with_context("file", source.name()).with_source(error)
}

impl Source {
    /// The name for messages.
    pub(super) fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "<stdin>".to_owned(), |path| path.display().to_string())
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// True where the input can be opened a second time and says the same.
    pub(super) fn is_reopenable(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.is_file())
    }

    /// Size in bytes as stored, where it is known.
    pub(super) fn size(&self) -> Option<u64> {
        let meta = std::fs::metadata(self.path.as_ref()?).ok()?;
        meta.is_file().then_some(meta.len())
    }

    /// Opens the input. `bytes` counts what is read of it as stored.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] where it cannot be read, [`ErrorKind::NotFound`] where it has gone, [`ErrorKind::Unsupported`]
    /// for a format that cannot be loaded yet.
    pub(super) fn open(
        &self,
        format: Option<Format>,
        encoding: Option<&'static Encoding>,
        bytes: Arc<AtomicU64>,
    ) -> Result<Opened> {
        self.open_io(format, encoding, bytes).map_err(|error| match error.get_ref() {
            Some(inner) if inner.is::<Unloadable>() => {
                Error::new(ErrorKind::Unsupported, "read input", inner.to_string())
                    .with_context("file", self.name())
            }
            _ => read_error(self, error),
        })
    }

    fn open_io(
        &self,
        format: Option<Format>,
        encoding: Option<&'static Encoding>,
        bytes: Arc<AtomicU64>,
    ) -> io::Result<Opened> {
        let stored: Box<dyn Read + Send> = match &self.path {
            Some(path) => Box::new(File::open(path)?),
            None => Box::new(io::stdin()),
        };
        let (head, stored) = peek(Counted { inner: stored, bytes }, 4)?;
        let content: Box<dyn Read + Send> = match head[..] {
            [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(stored)),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(stored)?),
            [b'P', b'A', b'R', b'1'] => {
                return Err(io::Error::other(Unloadable("Parquet files cannot be loaded yet")));
            }
            _ => Box::new(stored),
        };
        let (head, content) = peek(content, 3)?;
        let marked = Encoding::for_bom(&head).map(|(encoding, _)| encoding);
        let text: Box<dyn Read + Send> = match encoding.or(marked) {
            Some(encoding) if encoding != encoding_rs::UTF_8 => Box::new(Decoded::new(content, encoding)),
            _ if head == [0xef, 0xbb, 0xbf] => Box::new(skip(content, 3)?),
            _ => Box::new(content),
        };
        if let Some(format) = format.or_else(|| self.format_by_name()) {
            return Ok(Opened { reader: text, format });
        }
        let (head, text) = peek(text, 256)?;
        let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
        let format = if first == Some(&b'{') { Format::Ndjson } else { Format::Csv };
        Ok(Opened { reader: Box::new(text), format })
    }

    fn format_by_name(&self) -> Option<Format> {
        let name = self.path.as_ref()?.file_name()?.to_str()?.to_ascii_lowercase();
        let name = [".gz", ".zst", ".zstd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "ndjson" | "jsonl" => Some(Format::Ndjson),
            _ => None,
        }
    }
}

/// An input of a format that is known and not built.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unloadable(&'static str);

/// What was read ahead, then the rest.
type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// Reads up to `count` bytes ahead; a pipe may give them one by one.
fn peek<R: Read>(mut reader: R, count: u64) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(count).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

fn skip<R: Read>(mut reader: R, count: usize) -> io::Result<R> {
    reader.read_exact(&mut vec![0; count])?;
    Ok(reader)
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(
        name: &str,
        content: &[u8],
        encoding: Option<&'static Encoding>,
    ) -> Result<(Format, Vec<u8>, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let bytes = Arc::new(AtomicU64::new(0));
        let mut opened = Source { path: Some(path) }.open(None, encoding, Arc::clone(&bytes))?;
        let mut out = Vec::new();
        opened.reader.read_to_end(&mut out).unwrap();
        Ok((opened.format, out, bytes.load(Ordering::Relaxed)))
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(content).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn compression_is_known_by_its_magic_whatever_the_name() {
        let two_members = [gzip(b"a,b\n"), gzip(b"1,2\n")].concat();
        let size = two_members.len() as u64;
        assert_eq!(open("x.csv", &two_members, None).unwrap(), (Format::Csv, b"a,b\n1,2\n".to_vec(), size));
        let frames =
            [zstd::encode_all(&b"a\n"[..], 1).unwrap(), zstd::encode_all(&b"1\n"[..], 1).unwrap()].concat();
        assert_eq!(open("x.tsv.zst", &frames, None).unwrap().1, b"a\n1\n");
    }

    #[test]
    fn the_format_comes_from_the_name_else_from_the_first_byte() {
        for (name, content, format) in [
            ("x.CSV.gz", "{", Format::Csv),
            ("x.tab", "", Format::Tsv),
            ("x.jsonl.zst", "", Format::Ndjson),
            ("x", " \n{\"a\":1}", Format::Ndjson),
            ("x.txt", "a,b", Format::Csv),
        ] {
            assert_eq!(open(name, content.as_bytes(), None).unwrap().0, format, "{name}");
        }
        assert_eq!(open("x.parquet", b"PAR1....", None).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn byte_order_marks_go_and_name_the_encoding() {
        assert_eq!(open("x.csv", b"\xef\xbb\xbfid\n", None).unwrap().1, b"id\n");
        assert_eq!(open("x.csv", b"\xff\xfei\0d\0\n\0", None).unwrap().1, b"id\n");
        assert_eq!(open("x.csv", b"\xfe\xff\0i\0d", None).unwrap().1, b"id");
        assert_eq!(open("x.csv", b"\xef\xbb\xbfid\n", Some(encoding_rs::UTF_8)).unwrap().1, b"id\n");
    }

    #[test]
    fn a_cut_gzip_file_fails() {
        let content = gzip(&b"a,b\n1,2\n".repeat(1000));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.csv.gz");
        std::fs::write(&path, &content[..content.len() - 9]).unwrap();
        let mut opened = Source { path: Some(path) }.open(None, None, Arc::default()).unwrap();
        assert!(opened.reader.read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn patterns_are_expanded_in_order_and_missing_files_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c[1].csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let name = |name: &str| folder.path().join(name).display().to_string();
        let names = |patterns: &[String]| -> Vec<String> {
            expand(patterns).unwrap().iter().map(Source::name).collect()
        };
        assert_eq!(names(&[name("[ab].csv")]), [name("a.csv"), name("b.csv")]);
        assert_eq!(names(&[name("c[1].csv"), "-".into()]), [name("c[1].csv"), "<stdin>".into()]);
        assert_eq!(expand(&[name("z*.csv")]).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(expand(&[name("z.csv")]).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(expand(&["-".into(), "-".into()]).unwrap_err().kind(), ErrorKind::Config);
        assert_eq!(expand(&[folder.path().display().to_string()]).unwrap_err().kind(), ErrorKind::Config);
    }
}
