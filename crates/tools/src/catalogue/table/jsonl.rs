//! One JSON value per line, summarised as a table of its keys.

use setpoint_protocol::Any;
use setpoint_protocol::text::clip;

use super::Source;
use super::column::{Column, DISTINCT_MAX};
use super::csv::column_line;
use super::json::{self, KEYS_NAMED, kind_of};
use crate::catalogue::prelude::*;
use crate::files::lines::{self, Line};

/// Maximum bytes per line; a longer line counts as malformed.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum keys that become columns.
const COLUMNS_MAX: usize = 1_000;
/// Maximum characters of a key.
const NAME_CHARS_MAX: usize = 200;

#[derive(Default)]
struct Lines {
    rows: u64,
    malformed: u64,
    names: Vec<String>,
    columns: Vec<Column>,
    kinds: std::collections::BTreeMap<&'static str, u64>,
    is_wide: bool,
    /// Keys that occur more than once in their object.
    duplicates: u64,
    /// A line has too many keys to compare.
    are_keys_cut: bool,
}

pub(super) fn summarise(mut source: Source<'_>) -> Result<ToolAnswer, ToolError> {
    let seen = Lines::read(&mut source)?;
    Ok(seen.answer(&source))
}

/// Returns the answer for a file in which every line is an object or array, otherwise `None`.
pub(super) fn if_lines(mut source: Source<'_>) -> Result<Option<ToolAnswer>, ToolError> {
    let seen = Lines::read(&mut source)?;
    let is_lines = seen.malformed == 0 && seen.kinds.keys().all(|kind| matches!(*kind, "object" | "array"));
    Ok(is_lines.then(|| seen.answer(&source)))
}

impl Lines {
    fn read(source: &mut Source<'_>) -> Result<Lines, ToolError> {
        let mut seen = Lines::default();
        let mut room = DISTINCT_MAX;
        let mut line = Vec::new();
        loop {
            match lines::next(&mut source.reader, &mut line, LINE_BYTES_MAX) {
                Ok(Line::None) => break,
                Ok(Line::Some { is_cut: true, .. }) => seen.malformed += 1,
                Ok(Line::Some { .. }) if line.trim_ascii().is_empty() => {}
                Ok(Line::Some { .. }) => seen.add(&line, &mut room),
                Err(error) => return Err(source.failed(error)),
            }
        }
        Ok(seen)
    }

    fn answer(&self, source: &Source<'_>) -> ToolAnswer {
        let complete = !source.reader.is_halted() && !self.is_wide && !self.are_keys_cut;
        let columns: Vec<Value> = self.columns.iter().map(|column| column.facts(self.rows)).collect();
        let mut text = format!("{}: {}", show::path_line(source.path), show::count(self.rows, "row", "rows"));
        text.push_str(&answer::listing(columns.iter().map(column_line), COLUMNS_MAX));
        if self.malformed > 0 {
            text.push_str(&format!("\n{} that are no JSON", show::count(self.malformed, "line", "lines")));
        }
        let objects = self.kinds.get("object").copied().unwrap_or_default();
        let others = if objects > 0 { self.rows - objects } else { 0 };
        let named: Vec<&String> = self.names.iter().take(KEYS_NAMED).collect();
        let facts = json!({
            "kind": "jsonl", "rows": self.rows, "malformed": self.malformed, "types": self.kinds, "columns": columns,
            "column_count": self.names.len(), "key_count": self.names.len(), "keys": named, "length": self.rows, "duplicate_keys": self.duplicates, "not_objects": others, "complete": complete,
        });
        answer::walked(text, facts, Gaps { complete, ..Gaps::default() })
    }

    fn add(&mut self, line: &[u8], room: &mut usize) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            self.malformed += 1;
            return;
        };
        self.rows += 1;
        if value.is_object() || value.is_array() {
            match json::duplicates(line) {
                Some(count) => self.duplicates += count,
                None => self.are_keys_cut = true,
            }
        }
        *self.kinds.entry(kind_of(&value)).or_default() += 1;
        let Value::Object(fields) = value else { return };
        for (key, value) in fields {
            if let Some(column) = self.column(&clip(&key, NAME_CHARS_MAX)) {
                column.add(Any(value).to_text().as_bytes(), room);
            }
        }
    }

    fn column(&mut self, name: &str) -> Option<&mut Column> {
        let at = self.names.iter().position(|known| known == name);
        let at = match at {
            Some(at) => at,
            None if self.names.len() < COLUMNS_MAX => {
                self.names.push(name.to_owned());
                self.columns.push(Column::new(name.to_owned()));
                self.names.len() - 1
            }
            None => {
                self.is_wide = true;
                return None;
            }
        };
        self.columns.get_mut(at)
    }
}
