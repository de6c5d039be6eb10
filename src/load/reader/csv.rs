//! CSV and TSV inputs into the feed.

use std::borrow::Cow;
use std::io::Read;

use bytes::Bytes;

use super::{Feed, Halt, Parcel, Position, Reader, Shape};
use crate::load::csv::{Cell, Cells, Dialect, Fault, RawRecord, Records, Unreadable};
use crate::load::header::{Mapping, Target};
use crate::load::input::{Opened, read_error};
use crate::load::op::row_kind;
use crate::sink::{Chunk, Encoder, RecordError};
use crate::{Error, ErrorKind, Result, RowKind};

/// SQLSTATE of a record with the wrong shape, as COPY has it.
const BAD_FORMAT: &str = "22P04";

/// Reads an input's header and checks that it fits; gives it as it stands there. None in NDJSON, without a header,
/// and in an input without a byte.
pub(super) fn header_of(reader: &Reader, file: usize, opened: &mut Opened) -> Result<Option<Vec<u8>>> {
    let Some(dialect) = reader.inputs.dialect(opened.format).filter(|_| reader.inputs.options().header)
    else {
        return Ok(None);
    };
    let mut records = Records::new(&mut opened.reader, dialect);
    let Some(record) = next(reader, file, &mut records)? else {
        return Ok(None);
    };
    let names = header_names(&record, dialect).map_err(|error| in_file(reader, file, error))?;
    let mapping = reader.columns.wanted(reader.inputs.options()).by_header(&names);
    mapping.map_err(|error| in_file(reader, file, error))?;
    Ok(Some(record.bytes.to_vec()))
}

/// The names in a header record.
///
/// # Errors
/// [`ErrorKind::Config`]: it is no UTF-8, is broken, or has a field without a name.
pub(in crate::load) fn header_names(record: &RawRecord<'_>, dialect: &Dialect) -> Result<Vec<String>> {
    let fault = |words: &str| Error::new(ErrorKind::Config, "read header", words);
    if let Some(fault) = record.fault {
        return Err(Error::new(ErrorKind::Config, "read header", fault_words(fault)));
    }
    let text = std::str::from_utf8(record.body)
        .map_err(|_| fault("the header is not valid UTF-8").with_hint("--encoding names another encoding"))?;
    let mut cells = Cells::default();
    let names = cells.split(record.body, record.quotes, dialect).iter();
    let names: Vec<String> =
        names.map(|cell| cell.text(text, dialect).map(Cow::into_owned).unwrap_or_default()).collect();
    if names.iter().any(String::is_empty) {
        return Err(fault("a field of the header has no name")
            .with_hint("--no-header --columns a,b names fields by position"));
    }
    Ok(names)
}

pub(super) fn read(
    reader: &Reader,
    file: usize,
    opened: Opened,
    feed: &mut Feed,
    shape: &mut Shape,
) -> Result<(), Halt> {
    let options = reader.inputs.options();
    let Some(dialect) = reader.inputs.dialect(opened.format) else { return Ok(()) };
    let mut records = Records::new(opened.reader, dialect);
    let wanted = reader.columns.wanted(options);
    let mapping = if options.header {
        let Some(record) = next(reader, file, &mut records)? else {
            return Ok(());
        };
        let names = header_names(&record, dialect).map_err(|error| in_file(reader, file, error))?;
        reader.check_shape(shape, file, opened.format, Some(record.bytes))?;
        if options.rejects.is_some() {
            feed.send(Parcel::Header(Bytes::copy_from_slice(record.bytes)))?;
        }
        wanted.by_header(&names)
    } else {
        reader.check_shape(shape, file, opened.format, None)?;
        let given = reader.columns.given();
        super::Wanted { columns: Some(options.columns.as_deref().unwrap_or(&given)), ..wanted }.by_position()
    };
    let mapping = mapping.map_err(|error| in_file(reader, file, error))?;
    let mut rows = Rows::new(reader, dialect, mapping)?;
    let live = !reader.inputs.sources[file].is_reopenable();
    let (name, table) = (reader.inputs.sources[file].name(), &options.table);
    while let Some(record) = next(reader, file, &mut records)? {
        let position = Position { file, line: record.line };
        feed.make_room(record.bytes.len())?;
        let raw = feed.raw(record.bytes);
        let result = rows.encode(&record, position, &mut feed.chunk, raw);
        let has_end = !matches!(record.fault, Some(Fault::UnterminatedQuote { .. }));
        feed.settle(position, has_end.then_some(record.bytes), result, table, &name)?;
        if live && records.is_dry() {
            // The next read may wait for long: what is here must not wait with it.
            feed.send_chunk()?;
        }
    }
    Ok(())
}

fn next<'a, R: Read>(
    reader: &Reader,
    file: usize,
    records: &'a mut Records<R>,
) -> Result<Option<RawRecord<'a>>, Error> {
    let source = &reader.inputs.sources[file];
    records.next().map_err(|unreadable| match unreadable {
        Unreadable::Io(error) => read_error(source, error),
        Unreadable::TooLong { line, opened } => {
            let words = match opened {
                Some(opened) => {
                    format!("the record is longer than 256 MiB; a quote is open since line {opened}")
                }
                None => "the record is longer than 256 MiB".to_owned(),
            };
            Error::new(ErrorKind::Data, "read input", words)
                .with_sqlstate("54000")
                .with_context("file", source.name())
                .with_context("line", line.to_string())
        }
    })
}

fn in_file(reader: &Reader, file: usize, error: Error) -> Error {
    error.with_context("file", reader.inputs.sources[file].name())
}

fn fault_words(fault: Fault) -> String {
    match fault {
        Fault::UnterminatedQuote { opened } => {
            format!("the input ends inside a quoted field; the quote opens on line {opened}")
        }
        Fault::StrayCarriageReturn => {
            "a carriage return stands outside quotes, and the lines of this input do not end so".to_owned()
        }
        Fault::StrayNewline => {
            "a newline stands outside quotes, and the lines of this input do not end so".to_owned()
        }
    }
}

/// Encodes the records of one input.
struct Rows<'a> {
    dialect: &'a Dialect,
    encoder: Encoder,
    fields: Vec<Field>,
    columns: Vec<String>,
    op: Option<usize>,
    cells: Cells,
}

/// Where a field goes, and how the null string is read in it.
struct Field {
    target: Target,
    force_null: bool,
    force_not_null: bool,
}

impl<'a> Rows<'a> {
    fn new(reader: &Reader, dialect: &'a Dialect, mapping: Mapping) -> Result<Self> {
        let options = reader.inputs.options();
        for (flag, names) in
            [("force-null", &options.force_null), ("force-not-null", &options.force_not_null)]
        {
            if let Some(name) = names.iter().find(|name| !mapping.columns.contains(name)) {
                let words = format!("--{flag} names \"{name}\", which is not loaded");
                return Err(Error::new(ErrorKind::Config, "match columns", words));
            }
        }
        let names: Vec<&str> = mapping.columns.iter().map(String::as_str).collect();
        let encoder = reader.sink.encoder(&names)?;
        let forced = |names: &[String], target: Target| match target {
            Target::Column(index) => names.contains(&mapping.columns[index]),
            Target::Op | Target::Skip => false,
        };
        let fields = mapping.targets.iter().map(|&target| Field {
            target,
            force_null: forced(&options.force_null, target),
            force_not_null: forced(&options.force_not_null, target),
        });
        Ok(Self {
            dialect,
            encoder,
            fields: fields.collect(),
            op: mapping.targets.iter().position(|&target| target == Target::Op),
            columns: mapping.columns,
            cells: Cells::default(),
        })
    }

    fn encode(
        &mut self,
        record: &RawRecord<'_>,
        position: Position,
        chunk: &mut Chunk,
        raw: Option<Bytes>,
    ) -> Result<(), RecordError> {
        if let Some(fault) = record.fault {
            return Err(RecordError::whole(BAD_FORMAT, fault_words(fault)));
        }
        let Ok(text) = std::str::from_utf8(record.body) else {
            return Err(self.not_utf8(record));
        };
        let cells = self.cells.split(record.body, record.quotes, self.dialect);
        if cells.len() != self.fields.len() {
            return Err(wrong_count(cells.len(), &self.fields, &self.columns));
        }
        let kind = match self.op {
            Some(op) => kind(&cells[op], text, self.dialect)?,
            None => RowKind::Insert,
        };
        let mut row = self.encoder.row(chunk, kind, position.token());
        for (cell, field) in cells.iter().zip(&self.fields) {
            let Target::Column(index) = field.target else { continue };
            match cell.text(text, self.dialect) {
                None if field.force_not_null => row.text(index, self.dialect.null())?,
                None => row.null(index)?,
                Some(value) if field.force_null && value == self.dialect.null() => row.null(index)?,
                Some(value) => row.text(index, &value)?,
            }
        }
        row.finish(raw)
    }

    /// Names the column whose bytes are wrong.
    #[cold]
    fn not_utf8(&mut self, record: &RawRecord<'_>) -> RecordError {
        let mut error =
            RecordError::whole("22021", "the record is not valid UTF-8; --encoding names another encoding");
        let lossy = String::from_utf8_lossy(record.body);
        let cells = self.cells.split(lossy.as_bytes(), record.quotes, self.dialect);
        let broken = cells.iter().position(|cell| cell.raw(&lossy).contains(char::REPLACEMENT_CHARACTER));
        error.column =
            broken.and_then(|at| self.fields.get(at)).and_then(|field| field.column(&self.columns));
        error
    }
}

impl Field {
    fn column(&self, columns: &[String]) -> Option<String> {
        match self.target {
            Target::Column(index) => columns.get(index).cloned(),
            Target::Op | Target::Skip => None,
        }
    }
}

#[cold]
fn wrong_count(found: usize, fields: &[Field], columns: &[String]) -> RecordError {
    let fields_word = if found == 1 { "field" } else { "fields" };
    let words = format!("the record has {found} {fields_word} instead of {}", fields.len());
    let mut error = RecordError::whole(BAD_FORMAT, words);
    error.column = fields.get(found).and_then(|field| field.column(columns));
    error
}

fn kind(cell: &Cell, text: &str, dialect: &Dialect) -> Result<RowKind, RecordError> {
    let word = cell.text(text, dialect);
    word.and_then(|word| row_kind(&word)).ok_or_else(unknown_op)
}

/// The `--op-column` holds another word.
pub(super) fn unknown_op() -> RecordError {
    RecordError::whole("22023", "the op column holds none of +I -U +U -D, c u d r, I U D")
}
