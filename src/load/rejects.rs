//! `--rejects FILE`: the rejected records as the input had them, and why, in two files that grow as rejects come.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::events::Rejected;
use super::input::Source;
use crate::{Error, ErrorKind, Result};

/// The two files.
#[derive(Debug)]
pub(super) struct RejectsFile {
    path: PathBuf,
    records: BufWriter<File>,
    reasons: BufWriter<File>,
    header_written: bool,
}

/// A line of the reasons file.
#[derive(Serialize)]
struct Reason<'a> {
    file: &'a str,
    line: u64,
    column: Option<&'a str>,
    constraint: Option<&'a str>,
    sqlstate: &'a str,
    reason: &'a str,
    /// False where the record could not be set aside: it has no end.
    record: bool,
}

impl RejectsFile {
    /// Makes both files anew, so that what stands in them is of this load.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] where one of them is an input; [`ErrorKind::Io`] where one cannot be made.
    pub(super) fn create(path: &Path, inputs: &[Source]) -> Result<Self> {
        let reasons = PathBuf::from(format!("{}.reasons.ndjson", path.display()));
        for own in [path, &reasons] {
            let Ok(real) = own.canonicalize() else { continue };
            if inputs
                .iter()
                .filter_map(Source::path)
                .any(|input| input.canonicalize().is_ok_and(|p| p == real))
            {
                return Err(Error::new(
                    ErrorKind::Config,
                    "open rejects file",
                    "the rejects file is one of the inputs",
                )
                .with_context("file", own.display().to_string())
                .with_hint("give the rejects of this load another name"));
            }
        }
        let open = |path: &Path| File::create(path).map(BufWriter::new).map_err(|error| failed(path, error));
        Ok(Self {
            records: open(path)?,
            reasons: open(&reasons)?,
            path: path.to_owned(),
            header_written: false,
        })
    }

    /// Adds a record: its bytes, with the header before the first one, and its reason.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(super) fn add(
        &mut self,
        rejected: &Rejected,
        record: Option<&[u8]>,
        header: Option<&[u8]>,
    ) -> Result<()> {
        self.write(rejected, record, header).map_err(|error| failed(&self.path, error))
    }

    fn write(&mut self, rejected: &Rejected, record: Option<&[u8]>, header: Option<&[u8]>) -> io::Result<()> {
        if let Some(record) = record {
            if let Some(header) = header.filter(|_| !self.header_written) {
                write_line(&mut self.records, header)?;
            }
            self.header_written = true;
            write_line(&mut self.records, record)?;
        }
        let reason = Reason {
            file: &rejected.file,
            line: rejected.line,
            column: rejected.column.as_deref(),
            constraint: rejected.constraint.as_deref(),
            sqlstate: &rejected.sqlstate,
            reason: &rejected.reason,
            record: record.is_some(),
        };
        serde_json::to_writer(&mut self.reasons, &reason)?;
        self.reasons.write_all(b"\n")
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(super) fn finish(&mut self) -> Result<()> {
        self.records.flush().and_then(|()| self.reasons.flush()).map_err(|error| failed(&self.path, error))
    }
}

/// The last record of an input may have no line end.
fn write_line(out: &mut impl Write, line: &[u8]) -> io::Result<()> {
    out.write_all(line)?;
    if line.ends_with(b"\n") || line.ends_with(b"\r") { Ok(()) } else { out.write_all(b"\n") }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "write rejects file", error.to_string())
        .with_context("file", path.display().to_string())
        .with_source(error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::load::input::expand;

    fn rejected(line: u64) -> Rejected {
        Rejected {
            file: "a.csv".into(),
            line,
            column: Some("qty".into()),
            constraint: None,
            sqlstate: "22P02".into(),
            reason: "no integer".into(),
        }
    }

    #[test]
    fn records_stand_behind_their_header_and_can_be_loaded_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.csv");
        let mut file = RejectsFile::create(&path, &[]).unwrap();
        file.add(&rejected(3), Some(b"1,\"x\ny\"\n"), Some(b"id,qty\n")).unwrap();
        file.add(&rejected(9), Some(b"2,z"), Some(b"id,qty\n")).unwrap();
        file.add(&rejected(10), None, Some(b"id,qty\n")).unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"id,qty\n1,\"x\ny\"\n2,z\n");
        let reasons = std::fs::read_to_string(folder.path().join("bad.csv.reasons.ndjson")).unwrap();
        let lines: Vec<serde_json::Value> =
            reasons.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1]["line"], 9);
        assert_eq!(lines[0]["column"], "qty");
        assert_eq!((&lines[0]["record"], &lines[2]["record"]), (&true.into(), &false.into()));
    }

    #[test]
    fn an_input_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, "id\n1\n").unwrap();
        let inputs = expand(&[path.display().to_string()]).unwrap();
        let same = folder.path().join(".").join("in.csv");
        assert_eq!(RejectsFile::create(&same, &inputs).unwrap_err().kind(), ErrorKind::Config);
        assert_eq!(std::fs::read(&path).unwrap(), b"id\n1\n");
    }
}
