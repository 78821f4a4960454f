//! Reads one TOML file as a flat list of keys with their lines.

use std::io::{Error, ErrorKind};
use std::path::Path;

use serde_json::{Value, json};
use setpoint_own_files::named;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{ConfigError, FILE_BYTES_MAX};

/// Greatest depth of tables; no key of ours is deeper.
const DEPTH_MAX: usize = 4;

/// Dotted key, value and line.
pub(super) type Lines = Vec<(String, Value, usize)>;

/// Reads dotted key, value and line of everything in the file. A missing file gives an empty list.
pub(super) fn read(path: &Path) -> Result<Lines, ConfigError> {
    let bytes = head_of(path, FILE_BYTES_MAX);
    let Some(bytes) = bytes.map_err(|source| ConfigError::Read { path: path.to_owned(), source })? else {
        return Ok(vec![]);
    };
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigError::TooLarge { path: path.to_owned() });
    }
    parse(path, &bytes)
}

/// Parses a text that is, or will be, the content of the file.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Lines, ConfigError> {
    let line_of = |offset: usize| bytes.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
    let syntax = |line, reason| ConfigError::Syntax { path: path.to_owned(), line, reason };
    let text = str::from_utf8(bytes)
        .map_err(|error| syntax(line_of(error.valid_up_to()), "it is not UTF-8".to_owned()))?;
    let table = DeTable::parse(text).map_err(|error| {
        syntax(error.span().map_or(1, |span| line_of(span.start)), error.message().to_owned())
    })?;
    let mut found = Vec::new();
    flatten(table.get_ref(), "", 0, &mut found);
    Ok(found.into_iter().map(|(key, value, offset)| (key, value, line_of(offset))).collect())
}

/// Reads the text of a file that a person wrote; `None` if it does not exist.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<Option<String>, Error> {
    let Some(bytes) = head_of(path, bytes_max)? else { return Ok(None) };
    if bytes.len() as u64 > bytes_max {
        return Err(Error::new(ErrorKind::InvalidData, format!("it has more than {bytes_max} bytes")));
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads at most `bytes_max` + 1 bytes of a file; `None` if it does not exist.
fn head_of(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    match named::read(path, bytes_max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn flatten(table: &DeTable<'_>, prefix: &str, depth: usize, found: &mut Vec<(String, Value, usize)>) {
    for (key, value) in table {
        let name =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        let offset = key.span().start;
        match value.get_ref() {
            DeValue::Table(inner) if depth < DEPTH_MAX => flatten(inner, &name, depth + 1, found),
            other => found.push((name, json_of(other), offset)),
        }
    }
}

/// Converts a value to JSON. A number that JSON cannot express becomes text, which is rejected where a number is
/// expected.
fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            let text = number.to_string();
            text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
        }
        DeValue::Float(number) => {
            let text = number.to_string();
            text.parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map_or_else(|| json!(text), |number| json!(number))
        }
        DeValue::Boolean(yes) => json!(yes),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(items) => items.iter().map(Spanned::get_ref).map(json_of).collect(),
        DeValue::Table(_) => json!({}),
    }
}
