//! The start of the first input, read for `--create` and given back to be read again.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::create::Inference;
use super::csv::{Cells, Dialect, Records};
use super::header::{Keys, Target};
use super::input::{Opened, read_error};
use super::ndjson::{self, Lines};
use super::reader::{Inputs, header_names};
use crate::{Error, ErrorKind, Result};

/// Bytes of the sample; all of them are looked at.
const SAMPLE_BYTES: u64 = 8 << 20;

/// Opens the first input and infers names and types of its columns; the input that comes back starts at its first
/// byte.
///
/// # Errors
/// The input's, and [`ErrorKind::Config`] where nothing names the columns.
pub(super) fn infer(inputs: &Inputs, bytes: Arc<AtomicU64>) -> Result<(Inference, Opened)> {
    let opened = inputs.open(0, bytes)?;
    let mut reader = opened.reader;
    let mut head = Vec::new();
    let source = &inputs.sources[0];
    reader.by_ref().take(SAMPLE_BYTES).read_to_end(&mut head).map_err(|error| read_error(source, error))?;
    let cut = head.len() as u64 == SAMPLE_BYTES;
    let inference = match inputs.dialect(opened.format) {
        Some(dialect) => of_csv(inputs, dialect, &head, cut),
        None => of_ndjson(inputs, &head, cut),
    };
    let inference = inference.map_err(|error| error.with_context("file", source.name()))?;
    Ok((inference, Opened { reader: Box::new(Cursor::new(head).chain(reader)), format: opened.format }))
}

fn of_csv(inputs: &Inputs, dialect: &Dialect, head: &[u8], cut: bool) -> Result<Inference> {
    let options = inputs.options();
    let mut records = Records::new(head, dialect);
    let mut next =
        || records.next().ok().flatten().map(|record| (record.body.to_vec(), record.quotes, record.fault));
    let names = if options.header {
        let mut first = Records::new(head, dialect);
        next();
        match first.next() {
            Ok(Some(record)) => header_names(&record, dialect)?,
            _ => return Err(nothing("the input is empty: its columns are not known")),
        }
    } else {
        options.columns.clone().ok_or_else(|| nothing("nothing names the columns"))?
    };
    let loaded = |name: &String| {
        options.op_column.as_ref() != Some(name)
            && options.columns.as_ref().is_none_or(|list| list.contains(name))
    };
    let mut inference = Inference::default();
    let targets: Vec<Option<usize>> =
        names.iter().map(|name| loaded(name).then(|| inference.column(name))).collect();
    let mut cells = Cells::default();
    let mut ahead = next();
    while let Some((body, quotes, fault)) = ahead {
        ahead = next();
        // The last record of a sample that ends before the input does is most likely half a record.
        if cut && ahead.is_none() {
            break;
        }
        let Ok(text) = std::str::from_utf8(&body) else { continue };
        let cells = cells.split(&body, quotes, dialect);
        if fault.is_some() || cells.len() != targets.len() {
            continue;
        }
        for (cell, target) in cells.iter().zip(&targets) {
            if let (Some(column), Some(value)) = (target, cell.text(text, dialect)) {
                inference.text(*column, &value);
            }
        }
    }
    Ok(inference)
}

fn of_ndjson(inputs: &Inputs, head: &[u8], cut: bool) -> Result<Inference> {
    let options = inputs.options();
    let mut inference = Inference::default();
    let mut keys = Keys::default();
    if let Some(op) = &options.op_column {
        keys.targets.insert(op.clone(), Target::Op);
    }
    for name in options.columns.iter().flatten().filter(|name| options.op_column.as_ref() != Some(name)) {
        keys.add(name, inference.column(name));
    }
    keys.skip_others = options.columns.is_some();
    let mut lines = Lines::new(head);
    while let Ok(Some(line)) = lines.next() {
        if cut && !line.bytes.ends_with(b"\n") {
            break;
        }
        loop {
            match ndjson::read(line.body, &keys) {
                Ok(fields) => {
                    for (column, value) in fields.values.iter().enumerate() {
                        if let Some(value) = value {
                            inference.json(column, value);
                        }
                    }
                }
                Err(ndjson::BadLine::UnknownKey(key)) => {
                    keys.add(&key, inference.column(&key));
                    continue;
                }
                Err(_) => {}
            }
            break;
        }
    }
    if inference.columns().next().is_none() {
        return Err(nothing("no object of the sample has a key: its columns are not known"));
    }
    Ok(inference)
}

fn nothing(words: &str) -> Error {
    Error::new(ErrorKind::Config, "infer columns", words)
        .with_hint("--create \"id bigint, v text\" names columns and types")
}
