//! Bind parameters made of encoded fields: written straight into the send buffer, without a value in between.

use bytes::{BufMut, BytesMut};
use std::error::Error;

use tokio_postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::catalog::Table;
use crate::encode::NULL;
use crate::sink::log::Fields;
use crate::sink::target::Target;
use crate::sql::statement::Source;

/// The rows of one statement, each as its fields in the order of `set`.
pub(crate) struct Rows<'a> {
    pub(crate) set: &'a [u16],
    pub(crate) rows: Vec<&'a [u8]>,
}

/// A parameter of a statement; its type comes with it, so that the client library never asks the server for one.
#[derive(Debug)]
pub(crate) enum Parameter<'a> {
    /// One array of the table's row type.
    RowArray { rows: &'a Rows<'a>, table: &'a Table },
    /// An array of one column's values.
    Column { rows: &'a Rows<'a>, offsets: &'a FieldOffsets, field: usize, element: u32 },
    /// One field by itself.
    Field(&'a [u8]),
    /// An array of as many truth values as there are rows: rows without any column.
    Count { rows: usize },
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

/// Where each field of each row begins, so that a column's array is written without walking the others.
#[derive(Debug)]
pub(crate) struct FieldOffsets {
    width: usize,
    offsets: Vec<usize>,
}

impl FieldOffsets {
    /// For a source that needs none.
    pub(crate) fn none() -> Self {
        Self { width: 0, offsets: Vec::new() }
    }

    pub(crate) fn new(rows: &Rows<'_>) -> Self {
        let width = rows.set.len();
        let mut offsets = Vec::with_capacity(width * rows.rows.len());
        for row in &rows.rows {
            let mut at = 0;
            for field in Fields(row) {
                offsets.push(at);
                at += field.len();
            }
        }
        Self { width, offsets }
    }

    fn field<'a>(&self, rows: &Rows<'a>, row: usize, field: usize) -> &'a [u8] {
        let from = self.offsets[row * self.width + field];
        Fields(&rows.rows[row][from..]).next().unwrap_or(&NULL)
    }
}

/// The types of a statement's parameters: the server's type numbers, of which the client library knows none.
pub(crate) fn parameters<'a>(
    target: &'a Target,
    source: Source,
    rows: &'a Rows<'a>,
    offsets: &'a FieldOffsets,
) -> Vec<(Parameter<'a>, Type)> {
    match source {
        Source::RowArray => {
            let table = &*target.table;
            vec![(Parameter::RowArray { rows, table }, wire_type(table.relation.row_array_type))]
        }
        Source::Stage(_) => Vec::new(),
        Source::ColumnArrays if rows.set.is_empty() => {
            vec![(Parameter::Count { rows: rows.rows.len() }, Type::BOOL_ARRAY)]
        }
        Source::ColumnArrays => rows
            .set
            .iter()
            .enumerate()
            .map(|(field, &column)| {
                let (element, array) = column_type(target, usize::from(column));
                (Parameter::Column { rows, offsets, field, element }, wire_type(array))
            })
            .collect(),
    }
}

/// Element and array type of a column's values on the wire.
pub(super) fn column_type(target: &Target, column: usize) -> (u32, u32) {
    if target.as_text[column] {
        return (Type::TEXT.oid(), Type::TEXT_ARRAY.oid());
    }
    let (base, _) = target.table.columns[column].data_type.base(-1);
    (base.oid, base.array_oid)
}

pub(super) fn wire_type(oid: u32) -> Type {
    Type::new(String::new(), oid, Kind::Simple, String::new())
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Self::RowArray { rows, table } => row_array(rows, table, out),
            Self::Column { rows, offsets, field, element } => {
                array_header(rows.rows.len(), element, out);
                for row in 0..rows.rows.len() {
                    out.put_slice(offsets.field(rows, row, field));
                }
            }
            Self::Field(body) => out.put_slice(body),
            Self::Count { rows } => {
                array_header(rows, Type::BOOL.oid(), out);
                for _ in 0..rows {
                    out.put_i32(1);
                    out.put_u8(1);
                }
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The header of a one-dimensional array that may hold NULLs.
fn array_header(length: usize, element: u32, out: &mut BytesMut) {
    out.put_i32(1);
    out.put_i32(1);
    out.put_u32(element);
    out.put_i32(i32::try_from(length).unwrap_or(i32::MAX));
    out.put_i32(1);
}

/// Each row as a composite: the count of the live columns, then type and field of each; what the set lacks is NULL.
fn row_array(rows: &Rows<'_>, table: &Table, out: &mut BytesMut) {
    let columns = &table.columns;
    // For each table column the field that brings it.
    let mut field_of = vec![usize::MAX; columns.len()];
    for (field, &column) in rows.set.iter().enumerate() {
        field_of[usize::from(column)] = field;
    }
    let in_order = rows.set.is_sorted();
    let absent = columns.len() - rows.set.len();
    let overhead = 4 + 4 * columns.len() + 4 * absent;
    out.reserve(32 + rows.rows.iter().map(|row| row.len() + overhead + 4).sum::<usize>());
    array_header(rows.rows.len(), table.relation.row_type, out);
    let count = u32::try_from(columns.len()).unwrap_or(u32::MAX);
    let mut fields: Vec<&[u8]> = Vec::with_capacity(rows.set.len());
    for &row in &rows.rows {
        out.put_u32(u32::try_from(overhead + row.len()).unwrap_or(u32::MAX));
        out.put_u32(count);
        let mut walk = Fields(row);
        if !in_order {
            fields.clear();
            fields.extend(Fields(row));
        }
        for (column, &field) in columns.iter().zip(&field_of) {
            out.put_u32(column.data_type.oid);
            out.put_slice(match field {
                usize::MAX => &NULL,
                _ if in_order => walk.next().unwrap_or(&NULL),
                _ => fields[field],
            });
        }
    }
}
