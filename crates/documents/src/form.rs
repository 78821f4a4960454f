//! The values of a PDF file's form. They are not part of the text of its pages.

use pdf_extract::{Dictionary, Document as File, Object, decode_text_string};

use crate::document::{FIELD_CHARS_MAX, FIELDS_MAX, Field};

/// Maximum levels of fields in fields, and of lists in a value.
const DEPTH_MAX: usize = 32;
/// Maximum fields that are looked at, with those that have no value.
const LOOKED_AT_MAX: usize = 20_000;

/// Reads the fields that have a value, in the order of the file. Returns whether some were left out.
pub(crate) fn read(file: &File) -> (Vec<Field>, bool) {
    let mut reading = Reading { file, fields: Vec::new(), is_cut: false, looked_at: 0 };
    let form = file.catalog().and_then(|catalog| catalog.get_deref(b"AcroForm", file));
    if let Ok(form) = form.and_then(Object::as_dict) {
        reading.list(form, b"Fields", "", None, 0);
    }
    (reading.fields, reading.is_cut)
}

struct Reading<'f> {
    file: &'f File,
    fields: Vec<Field>,
    is_cut: bool,
    looked_at: usize,
}

impl<'f> Reading<'f> {
    fn list(
        &mut self,
        around: &'f Dictionary,
        key: &[u8],
        name: &str,
        inherited: Option<&'f Object>,
        depth: usize,
    ) {
        let Ok(list) = around.get_deref(key, self.file).and_then(Object::as_array) else { return };
        for field in list {
            self.looked_at += 1;
            // A field may name itself as one of its own.
            if depth >= DEPTH_MAX || self.looked_at > LOOKED_AT_MAX {
                self.is_cut = true;
                return;
            }
            let field = self.file.dereference(field).and_then(|(_, field)| field.as_dict());
            match field {
                Ok(field) => self.field(field, name, inherited, depth),
                Err(_) => self.is_cut = true,
            }
        }
    }

    fn field(&mut self, field: &'f Dictionary, around: &str, inherited: Option<&'f Object>, depth: usize) {
        let own = field.get_deref(b"T", self.file).ok();
        let part = own.and_then(|name| decode_text_string(name).ok());
        let name = match part {
            Some(part) if around.is_empty() => clipped(&part),
            Some(part) => clipped(&format!("{around}.{part}")),
            None => around.to_owned(),
        };
        let value = field.get_deref(b"V", self.file).ok().or(inherited);
        let children = field.get_deref(b"Kids", self.file).and_then(Object::as_array).ok();
        // What has no name of its own only shows its field at another place.
        let has_fields = children.is_some_and(|children| {
            children.iter().any(|child| {
                let child = self.file.dereference(child).and_then(|(_, child)| child.as_dict());
                child.is_ok_and(|child| child.has(b"T"))
            })
        });
        if has_fields {
            self.list(field, b"Kids", &name, value, depth + 1);
        } else if let Some(value) = value.map(|value| self.text(value, 0)) {
            match value {
                Some(value) if value.is_empty() => {}
                Some(value) if self.fields.len() < FIELDS_MAX => {
                    self.is_cut |= value.chars().count() > FIELD_CHARS_MAX;
                    self.fields.push(Field { name, value: clipped(&value) });
                }
                _ => self.is_cut = true,
            }
        }
    }

    /// Returns a value as text; `None` if it is of a kind that has none, such as a signature.
    fn text(&self, value: &Object, depth: usize) -> Option<String> {
        let (_, value) = self.file.dereference(value).ok()?;
        match value {
            Object::Null => Some(String::new()),
            Object::String(bytes, format)
                if bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xef\xbb\xbf") =>
            {
                let decoded = decode_text_string(&Object::String(bytes.clone(), *format));
                Some(decoded.unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned()))
            }
            // The library leaves line ends of the one-byte encoding out.
            Object::String(bytes, format) => {
                let lines = bytes.split(|byte| matches!(byte, b'\r' | b'\n'));
                let lines = lines.map(|line| decode_text_string(&Object::String(line.to_vec(), *format)));
                Some(lines.map(Result::unwrap_or_default).collect::<Vec<_>>().join("\n"))
            }
            // The state of a button: a name such as `Yes`.
            Object::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
            Object::Integer(number) => Some(number.to_string()),
            Object::Real(number) => Some(number.to_string()),
            Object::Boolean(value) => Some(value.to_string()),
            Object::Array(parts) if depth < DEPTH_MAX => {
                let parts: Option<Vec<String>> =
                    parts.iter().take(FIELDS_MAX).map(|part| self.text(part, depth + 1)).collect();
                Some(parts?.join(", "))
            }
            // A long text may be a stream.
            Object::Stream(stream) => {
                let bytes = stream.get_plain_content().ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            Object::Array(_) | Object::Dictionary(_) | Object::Reference(_) => None,
        }
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(FIELD_CHARS_MAX).collect()
}
