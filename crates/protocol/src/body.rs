//! Encodes bodies as JSON bytes. Fails for a number that JSON cannot express.
//!
//! `serde_json` writes NaN and infinities as `null`. Such a record could be written but not read again, so encoding
//! fails before the record is used. This module never replaces a number.

use std::cell::Cell;
use std::io;

use serde::Serialize;
use serde::ser::{self, Error as _};
use serde_json::ser::Formatter;

/// A buffer that grew larger than this is freed.
const KEPT_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    /// Reused buffer for encoding; each finished body is copied into an allocation of exact size.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns the exact JSON bytes of a body.
///
/// # Errors
/// If a number in the body is not finite.
pub fn encode<T: Serialize + ?Sized>(body: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut buffer = BUFFER.take();
    buffer.clear();
    let mut wrote_null = false;
    let formatter = NoticeNull { wrote_null: &mut wrote_null };
    body.serialize(&mut serde_json::Serializer::with_formatter(&mut buffer, formatter))?;
    if wrote_null {
        // A `null` is either an absent value or a number that is not finite. Few bodies contain one, so only those are
        // traversed again.
        body.serialize(&Finite)?;
    }
    let bytes = buffer.as_slice().to_vec();
    if buffer.capacity() <= KEPT_BYTES_MAX {
        BUFFER.set(buffer);
    }
    Ok(bytes)
}

/// A compact JSON formatter that records whether it wrote `null`.
struct NoticeNull<'a> {
    wrote_null: &'a mut bool,
}

impl Formatter for NoticeNull<'_> {
    fn write_null<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        *self.wrote_null = true;
        writer.write_all(b"null")
    }
}

/// A serializer that writes nothing and only checks that numbers are finite.
struct Finite;

type Checked = Result<(), serde_json::Error>;

fn finite(is_finite: bool) -> Checked {
    if is_finite { Ok(()) } else { Err(serde_json::Error::custom("a number is not finite")) }
}

macro_rules! nothing_to_check {
    ($($method:ident($($value:ty),*))+) => { $(
        fn $method(self $(, _: $value)*) -> Checked { Ok(()) }
    )+ };
}

macro_rules! opens {
    ($($method:ident($($value:ty),*))+) => { $(
        fn $method(self $(, _: $value)*) -> Result<Self, serde_json::Error> { Ok(self) }
    )+ };
}

impl ser::Serializer for &Finite {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    nothing_to_check! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_char(char)
        serialize_str(&str) serialize_bytes(&[u8]) serialize_none() serialize_unit()
        serialize_unit_struct(&'static str) serialize_unit_variant(&'static str, u32, &'static str)
    }

    opens! {
        serialize_seq(Option<usize>) serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize) serialize_map(Option<usize>)
        serialize_struct(&'static str, usize) serialize_struct_variant(&'static str, u32, &'static str, usize)
    }

    fn serialize_f32(self, value: f32) -> Checked {
        finite(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        finite(value.is_finite())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, _: &T) -> Checked {
        Ok(())
    }
}

/// Implements one trait for compound values: each part is checked in turn.
macro_rules! parts {
    ($($compound:ident: $method:ident)+) => { $(
        impl ser::$compound for &Finite {
            type Ok = ();
            type Error = serde_json::Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked { value.serialize(&**self) }
            fn end(self) -> Checked { Ok(()) }
        }
    )+ };
}
parts! {
    SerializeSeq: serialize_element
    SerializeTuple: serialize_element
    SerializeTupleStruct: serialize_field
    SerializeTupleVariant: serialize_field
}

macro_rules! named_parts {
    ($($compound:ident)+) => { $(
        impl ser::$compound for &Finite {
            type Ok = ();
            type Error = serde_json::Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Checked {
                value.serialize(&**self)
            }
            fn end(self) -> Checked { Ok(()) }
        }
    )+ };
}
named_parts! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for &Finite {
    type Ok = ();
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Checked {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
        value.serialize(&**self)
    }

    fn end(self) -> Checked {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Loss, UsageReport};

    #[test]
    fn non_finite_numbers_are_refused_at_any_depth() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(encode(&Loss { p: bad, ..Loss::default() }).is_err());
            assert!(encode(&vec![(1, bad)]).is_err());
            assert!(encode(&std::collections::BTreeMap::from([("a", bad)])).is_err());
        }
        assert!(encode(&f32::NAN).is_err());
    }

    #[test]
    fn other_values_are_written_like_serde_json() {
        let loss = Loss { d: 0.25, p: f64::MAX, omega: f64::MIN_POSITIVE, l: -0.0 };
        assert_eq!(encode(&loss).unwrap(), serde_json::to_vec(&loss).unwrap());
        assert_eq!(
            encode(&UsageReport::default()).unwrap(),
            serde_json::to_vec(&UsageReport::default()).unwrap()
        );
    }
}
