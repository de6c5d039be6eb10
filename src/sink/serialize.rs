//! Records from any `Serialize`: a struct's fields, or a map's entries, are columns by name.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{
    self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    SerializeTupleStruct, Serializer,
};

use super::encoder::{RecordError, RowEncoder};
use crate::record::Value;

/// Which column the n-th field of a record was last time: records of one shape look a name up once.
#[derive(Debug, Default)]
pub(super) struct Shape(Vec<(String, usize)>);

impl Shape {
    /// The column that the n-th field of a record names.
    pub(super) fn column(
        &mut self,
        n: usize,
        name: &str,
        row: &RowEncoder<'_>,
    ) -> Result<usize, RecordError> {
        if let Some((known, index)) = self.0.get(n).filter(|(known, _)| known == name) {
            debug_assert_eq!(known, name);
            return Ok(*index);
        }
        let index = row.find(name)?;
        self.0.truncate(n);
        if self.0.len() == n {
            self.0.push((name.to_owned(), index));
        }
        Ok(index)
    }
}

/// Gives `row` the fields of `record`.
pub(super) fn fields<T: Serialize + ?Sized>(
    record: &T,
    row: &mut RowEncoder<'_>,
    shape: &mut Shape,
) -> Result<(), RecordError> {
    record.serialize(RecordSerializer { row, shape, n: 0 }).map_err(|Fault(error)| error)
}

/// serde wants an error type of its own.
#[derive(Debug)]
struct Fault(RecordError);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.reason)
    }
}

impl std::error::Error for Fault {}

impl ser::Error for Fault {
    /// A type's own words may hold the value.
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::unfit("the value's type says that it cannot be serialized")
    }
}

impl Fault {
    fn unfit(words: &'static str) -> Self {
        Self(RecordError::whole("42804", words))
    }

    fn of_field(self, name: &str) -> Self {
        Self(RecordError { column: Some(name.to_owned()), ..self.0 })
    }
}

fn no_record<T>(what: &str) -> Result<T, Fault> {
    Err(Fault(RecordError::whole(
        "42804",
        format!("a record must be a struct or a map with text keys, and is {what}"),
    )))
}

/// The record itself.
struct RecordSerializer<'r, 'row> {
    row: &'r mut RowEncoder<'row>,
    shape: &'r mut Shape,
    n: usize,
}

impl RecordSerializer<'_, '_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Fault> {
        let index = self.shape.column(self.n, name, self.row).map_err(Fault)?;
        self.n += 1;
        let value = value.serialize(ValueSerializer).map_err(|fault| fault.of_field(name))?;
        self.row.value(index, &value).map_err(Fault)
    }
}

macro_rules! not_a_record {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, _: $type) -> Result<(), Fault> {
            no_record(stringify!($type))
        }
    )*};
}

impl<'r, 'row> Serializer for RecordSerializer<'r, 'row> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Impossible<(), Fault>;
    type SerializeTuple = Impossible<(), Fault>;
    type SerializeTupleStruct = Impossible<(), Fault>;
    type SerializeTupleVariant = Impossible<(), Fault>;
    type SerializeMap = MapRecord<'r, 'row>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Fault>;

    not_a_record!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    );

    fn serialize_none(self) -> Result<(), Fault> {
        no_record("None")
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Fault> {
        no_record("()")
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Fault> {
        no_record("an enum")
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Fault> {
        no_record("an enum")
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Fault> {
        no_record("a list")
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Fault> {
        no_record("a tuple")
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Fault> {
        no_record("a tuple")
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Fault> {
        no_record("an enum")
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Fault> {
        Ok(MapRecord { record: self, key: None })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Fault> {
        no_record("an enum")
    }
}

impl SerializeStruct for RecordSerializer<'_, '_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.field(name, value)
    }
    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}

struct MapRecord<'r, 'row> {
    record: RecordSerializer<'r, 'row>,
    key: Option<String>,
}

impl SerializeMap for MapRecord<'_, '_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        match key.serialize(ValueSerializer)? {
            Value::Text(name) => self.key = Some(name.into_owned()),
            _ => return no_record("a map with other keys"),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let name = self.key.take().unwrap_or_default();
        self.record.field(&name, value)
    }
    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A field's value. Structs and maps become JSON documents.
struct ValueSerializer;

type Owned = Value<'static>;

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<Owned, Fault> {
            Ok(Value::Int(i128::from(value)))
        }
    )*};
}

impl Serializer for ValueSerializer {
    type Ok = Owned;
    type Error = Fault;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = Impossible<Owned, Fault>;
    type SerializeMap = Document;
    type SerializeStruct = Document;
    type SerializeStructVariant = Impossible<Owned, Fault>;

    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_i128: i128
    );

    fn serialize_u128(self, value: u128) -> Result<Owned, Fault> {
        Ok(Value::Text(Cow::Owned(value.to_string())))
    }
    fn serialize_bool(self, value: bool) -> Result<Owned, Fault> {
        Ok(Value::Bool(value))
    }
    fn serialize_f32(self, value: f32) -> Result<Owned, Fault> {
        Ok(Value::Float4(value))
    }
    fn serialize_f64(self, value: f64) -> Result<Owned, Fault> {
        Ok(Value::Float8(value))
    }
    fn serialize_char(self, value: char) -> Result<Owned, Fault> {
        Ok(Value::Text(Cow::Owned(value.to_string())))
    }
    fn serialize_str(self, value: &str) -> Result<Owned, Fault> {
        Ok(Value::Text(Cow::Owned(value.to_owned())))
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<Owned, Fault> {
        Ok(Value::Bytes(Cow::Owned(value.to_owned())))
    }
    fn serialize_none(self) -> Result<Owned, Fault> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Owned, Fault> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Owned, Fault> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Owned, Fault> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Owned, Fault> {
        Ok(Value::Text(Cow::Borrowed(variant)))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Owned, Fault> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Owned, Fault> {
        let mut document = Document::default();
        document.entry(variant, value)?;
        document.finish()
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<List, Fault> {
        Ok(List(Vec::with_capacity(length.unwrap_or(0))))
    }
    fn serialize_tuple(self, length: usize) -> Result<List, Fault> {
        Ok(List(Vec::with_capacity(length)))
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List, Fault> {
        Ok(List(Vec::with_capacity(length)))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Fault> {
        Err(Fault::unfit("an enum variant with several fields has no column type"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Document, Fault> {
        Ok(Document::default())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Document, Fault> {
        Ok(Document::default())
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Fault> {
        Err(Fault::unfit("an enum variant with several fields has no column type"))
    }
}

/// A list, for an array column.
struct List(Vec<Owned>);

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.0.push(value.serialize(ValueSerializer)?);
        Ok(())
    }
}

macro_rules! list {
    ($($trait:ident::$method:ident),*) => {$(
        impl $trait for List {
            type Ok = Owned;
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.push(value)
            }
            fn end(self) -> Result<Owned, Fault> {
                Ok(Value::Array(self.0))
            }
        }
    )*};
}

list!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
);

/// A JSON object, written by the JSON library.
#[derive(Default)]
struct Document {
    text: String,
    key: Option<String>,
}

impl Document {
    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Fault> {
        // The library's own words may hold the value.
        let json = |_| Fault::unfit("a value that JSON cannot hold");
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(&serde_json::to_string(name).map_err(json)?);
        self.text.push(':');
        self.text.push_str(&serde_json::to_string(value).map_err(json)?);
        Ok(())
    }

    fn finish(mut self) -> Result<Owned, Fault> {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        Ok(Value::Json(Cow::Owned(self.text)))
    }
}

impl SerializeStruct for Document {
    type Ok = Owned;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.entry(name, value)
    }
    fn end(self) -> Result<Owned, Fault> {
        self.finish()
    }
}

impl SerializeMap for Document {
    type Ok = Owned;
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        match key.serialize(ValueSerializer)? {
            Value::Text(name) => self.key = Some(name.into_owned()),
            Value::Int(number) => self.key = Some(number.to_string()),
            _ => return Err(Fault::unfit("a map whose keys are neither texts nor integers")),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let name = self.key.take().unwrap_or_default();
        self.entry(&name, value)
    }
    fn end(self) -> Result<Owned, Fault> {
        self.finish()
    }
}
