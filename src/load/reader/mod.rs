//! The reading side of a load: one thread that reads, parses and encodes, beside the network and the server.

mod csv;
mod feed;
mod ndjson;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use bytes::Bytes;
use encoding_rs::Encoding;
use tokio::sync::mpsc;

pub(super) use self::csv::header_names;
use self::feed::Feed;
use super::header::Wanted;
use super::input::{Format, Opened, Source, encoding, expand};
use super::options::{Dialects, LoadOptions};
use super::position::Position;
use crate::catalog::Table;
use crate::sink::{Chunk, RecordError, Sink};
use crate::{Error, ErrorKind, Result};

/// What the reading thread hands over, in the order of the input.
pub(super) enum Parcel {
    /// Encoded records, and where the last of them stands.
    Chunk { chunk: Chunk, last: Position },
    /// A record that cannot be encoded.
    Refused(Refused),
    /// The header of the inputs, as it stands there.
    Header(Bytes),
}

/// A record that cannot be encoded, and the record as the input has it.
pub(super) struct Refused {
    pub(super) position: Position,
    pub(super) error: RecordError,
    pub(super) raw: Option<Bytes>,
}

/// Counts and flags that both sides see.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Set by the other side: read no further.
    pub(super) stop: AtomicBool,
    /// Records read.
    pub(super) read: AtomicU64,
    /// Bytes read of the inputs as stored.
    pub(super) bytes: Arc<AtomicU64>,
}

/// Why reading ends early.
pub(super) enum Halt {
    /// The other side asked, or is gone, or enough records were refused.
    Stopped,
    /// Nothing can be read or written any more.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The inputs and how they are read, checked before anything else happens.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) sources: Vec<Source>,
    encoding: Option<&'static Encoding>,
    dialects: Dialects,
    options: LoadOptions,
}

impl Inputs {
    /// # Errors
    /// As [`expand`], [`encoding`] and the options' own.
    pub(super) fn new(options: &LoadOptions) -> Result<Self> {
        Ok(Self {
            sources: expand(&options.inputs)?,
            encoding: options.encoding.as_deref().map(encoding).transpose()?,
            dialects: options.dialects()?,
            options: options.clone(),
        })
    }

    /// Bytes of all inputs as stored, where each is known.
    pub(super) fn size(&self) -> Option<u64> {
        self.sources.iter().map(Source::size).sum()
    }

    /// Opens an input.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub(super) fn open(&self, file: usize, bytes: Arc<AtomicU64>) -> Result<Opened> {
        self.sources[file].open(self.options.format, self.encoding, bytes)
    }

    /// The dialect of a format; none for what is not CSV.
    pub(super) fn dialect(&self, format: Format) -> Option<&super::csv::Dialect> {
        self.dialects.of(format)
    }

    pub(super) fn options(&self) -> &LoadOptions {
        &self.options
    }
}

/// The names of a table's columns.
#[derive(Debug, Clone)]
pub(super) struct ColumnNames {
    /// All, in order.
    all: Vec<String>,
    /// Those that the server generates.
    generated: Vec<String>,
}

impl ColumnNames {
    pub(super) fn of(table: &Table) -> Self {
        let names = |generated: bool| {
            let columns = table.columns.iter().filter(move |column| !generated || column.generated);
            columns.map(|column| column.name.clone()).collect()
        };
        Self { all: names(false), generated: names(true) }
    }

    fn given(&self) -> Vec<String> {
        self.all.iter().filter(|name| !self.generated.contains(name)).cloned().collect()
    }

    fn wanted<'a>(&'a self, options: &'a LoadOptions) -> Wanted<'a> {
        Wanted {
            table: &self.all,
            columns: options.columns.as_deref(),
            op: options.op_column.as_deref(),
            ignore_unknown: options.ignore_unknown,
        }
    }
}

/// Everything that the reading thread owns.
pub(super) struct Reader {
    pub(super) inputs: Arc<Inputs>,
    pub(super) columns: ColumnNames,
    pub(super) sink: Sink,
    pub(super) out: mpsc::Sender<Parcel>,
    pub(super) shared: Arc<Shared>,
    /// The first input, where it is open already.
    pub(super) first: Option<Opened>,
    /// Generated columns that the input brings are left out.
    pub(super) skip_generated: bool,
}

impl Reader {
    /// Reads the headers of all inputs that can be opened twice, so that a wrong one is found before the first row is
    /// written.
    ///
    /// # Errors
    /// The first header's that does not fit; inputs whose records cannot stand in one rejects file.
    pub(super) fn check_headers(&self) -> Result<()> {
        let mut shape = Shape::default();
        for (file, source) in self.inputs.sources.iter().enumerate() {
            if !source.is_reopenable() {
                continue;
            }
            let mut opened = self.inputs.open(file, Arc::default())?;
            let header = csv::header_of(self, file, &mut opened)?;
            self.check_shape(&mut shape, file, opened.format, header.as_deref())?;
        }
        Ok(())
    }

    /// Reads everything; returns at the end, or where the other side stops it.
    ///
    /// # Errors
    /// An input that cannot be read, a header that does not fit.
    pub(super) fn run(mut self) -> Result<()> {
        let mut feed = Feed::new(self.out.clone(), Arc::clone(&self.shared), self.inputs.options());
        let mut shape = Shape::default();
        for file in 0..self.inputs.sources.len() {
            let result = self.read(file, &mut feed, &mut shape).and_then(|()| feed.send_chunk());
            match result {
                Ok(()) => {}
                Err(Halt::Stopped) => return Ok(()),
                Err(Halt::Failed(error)) => {
                    // What was read before it is as good as before any other end.
                    drop(feed.send_chunk());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, file: usize, feed: &mut Feed, shape: &mut Shape) -> Result<(), Halt> {
        let opened = match self.first.take() {
            Some(opened) if file == 0 => opened,
            _ => self.inputs.open(file, Arc::clone(&self.shared.bytes))?,
        };
        match opened.format {
            Format::Csv | Format::Tsv => csv::read(self, file, opened, feed, shape),
            Format::Ndjson => {
                self.check_shape(shape, file, opened.format, None)?;
                ndjson::read(self, file, opened, feed)
            }
        }
    }

    /// One rejects file holds the records of all inputs, so they must have one format and one header.
    fn check_shape(
        &self,
        shape: &mut Shape,
        file: usize,
        format: Format,
        header: Option<&[u8]>,
    ) -> Result<()> {
        if self.inputs.options().rejects.is_none() {
            return Ok(());
        }
        let own = (format, header.map(|header| header.trim_ascii_end().to_vec()));
        match &shape.0 {
            Some(first) if *first != own => Err(Error::new(
                ErrorKind::Config,
                "open rejects file",
                "the inputs differ in format or header, and one rejects file cannot hold records of both",
            )
            .with_context("file", self.inputs.sources[file].name())
            .with_hint("load them one after the other")),
            _ => {
                shape.0 = Some(own);
                Ok(())
            }
        }
    }
}

/// Format and header of the inputs so far.
#[derive(Debug, Default)]
struct Shape(Option<(Format, Option<Vec<u8>>)>);
