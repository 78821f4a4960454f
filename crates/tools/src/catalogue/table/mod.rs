//! `table_summary`: summarises a table, a JSON document or a log in figures.

mod column;
mod csv;
mod head;
mod json;
mod jsonl;
mod log;
mod separator;
mod value;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::catalogue::prelude::*;
use crate::files::{open, text};

/// Bytes at the beginning from which the kind and the separator are guessed.
const SNIFF_BYTES: usize = text::SNIFF_BYTES;

pub(crate) struct TableSummary;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file.
    path: String,
    /// What it holds; by its name and beginning if not given.
    kind: Option<Kind>,
    /// The separator of the columns, one character or `tab`; by the first line if not given.
    delimiter: Option<String>,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A table with separators; the first row names the columns.
    Csv,
    /// A table with tabs.
    Tsv,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    Jsonl,
    /// Lines with times and levels.
    Log,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Csv => "csv",
            Kind::Tsv => "tsv",
            Kind::Json => "json",
            Kind::Jsonl => "jsonl",
            Kind::Log => "log",
        }
    }
}

impl Typed for TableSummary {
    type Input = Input;
    const NAME: &'static str = "table_summary";
    const ABOUT: &'static str = "Summarises a CSV or TSV table (rows; type, empty, distinct, min, max and mean of each column), \
         a JSON or JSON-lines file (type, keys, length, depth), or a log (levels, times, most frequent messages).";
    const GIVES: &'static str = "/kind /rows /columns; a log: /lines /levels";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .with("kind", input.kind.map(Kind::name))
            .with("delimiter", input.delimiter.as_ref()))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let delimiter = input.delimiter.as_deref().map(delimiter).transpose()?;
        ctx.blocking(move |halt| summarise(&path, input.kind, delimiter, halt)).await
    }
}

/// The byte order mark that Windows editors write before UTF-8. RFC 8259, section 8.1: a JSON reader may ignore it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn delimiter(text: &str) -> Result<u8, ToolError> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"' | 0) => Ok(*byte),
        _ => Err(ToolError::parameter("delimiter", "it must be one ASCII character or `tab`")),
    }
}

fn summarise(
    path: &Path,
    kind: Option<Kind>,
    delimiter: Option<u8>,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("read", path, source);
    let mut reader = BufReader::with_capacity(SNIFF_BYTES, open::regular(path, halt).map_err(failed)?);
    let beginning = reader.fill_buf().map_err(failed)?.to_vec();
    if text::is_binary(&beginning) {
        return Err(ToolError::unfit(path, "it is no text"));
    }
    let kind = kind.unwrap_or_else(|| guess(path, &beginning));
    if matches!(kind, Kind::Json | Kind::Jsonl | Kind::Log) && beginning.starts_with(BYTE_ORDER_MARK) {
        reader.consume(BYTE_ORDER_MARK.len());
    }
    let source = Source { path, reader: HaltingReader { reader, halt } };
    match kind {
        Kind::Csv => {
            let guess = || separator::guess(&beginning);
            csv::summarise(source, delimiter.map_or_else(guess, separator::Separator::of))
        }
        Kind::Tsv => csv::summarise(
            source,
            delimiter.map_or_else(|| separator::tabs(&beginning), separator::Separator::of),
        ),
        Kind::Json => json::summarise(source, || from_beginning(path, halt)),
        Kind::Jsonl => jsonl::summarise(source),
        Kind::Log => log::summarise(source),
    }
}

/// Reopens a JSON file, skipping what may precede the JSON.
fn from_beginning<'a>(path: &'a Path, halt: &'a Halt) -> Result<Source<'a>, ToolError> {
    let failed = |source| ToolError::file("read", path, source);
    let mut reader = BufReader::with_capacity(SNIFF_BYTES, open::regular(path, halt).map_err(failed)?);
    if reader.fill_buf().map_err(failed)?.starts_with(BYTE_ORDER_MARK) {
        reader.consume(BYTE_ORDER_MARK.len());
    }
    Ok(Source { path, reader: HaltingReader { reader, halt } })
}

/// Guesses the kind from the name, then from the beginning.
fn guess(path: &Path, beginning: &[u8]) -> Kind {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("csv") => return Kind::Csv,
        Some("tsv" | "tab") => return Kind::Tsv,
        Some("json" | "geojson") => return Kind::Json,
        Some("jsonl" | "ndjson") => return Kind::Jsonl,
        Some("log") => return Kind::Log,
        _ => {}
    }
    let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace());
    let mut lines = beginning.split(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let is_object =
        |line: &[u8]| line.trim_ascii().first() == Some(&b'{') && line.trim_ascii().last() == Some(&b'}');
    match first {
        Some(b'{') if is_object(line) && lines.next().is_some_and(is_object) => Kind::Jsonl,
        Some(b'{' | b'[') => Kind::Json,
        _ if line.contains(&b'\t') => Kind::Tsv,
        _ if [b',', b';', b'|'].iter().any(|separator| line.contains(separator)) => Kind::Csv,
        _ => Kind::Log,
    }
}

/// A file read from its beginning.
struct Source<'a> {
    path: &'a Path,
    reader: HaltingReader<'a>,
}

impl Source<'_> {
    fn failed(&self, source: std::io::Error) -> ToolError {
        ToolError::file("read", self.path, source)
    }
}

/// A reader that reports the end of the file when the work is halted: what was read until then is summarised.
struct HaltingReader<'a> {
    reader: BufReader<File>,
    halt: &'a Halt,
}

impl HaltingReader<'_> {
    fn is_halted(&self) -> bool {
        self.halt.reached()
    }
}

impl Read for HaltingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.halt.reached() { Ok(0) } else { self.reader.read(buffer) }
    }
}

impl BufRead for HaltingReader<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.halt.reached() { Ok(&[]) } else { self.reader.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
    }
}
