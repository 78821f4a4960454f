//! Reads an exported task back to the same bytes. The file is untrusted.
//!
//! Every line must be exactly what [`Exporter`] writes for the values read from it, so a byte changed anywhere is
//! detected here, or by the check of the records' chain.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read as _};

use serde::Deserialize;
use serde_json::value::RawValue;
use setpoint_protocol::envelope::{EVENT_PREFIX, EXPORT_KIND, FRAGMENT_KIND};
use setpoint_protocol::record::{FORMAT, FragmentHash, Record};
use setpoint_protocol::text::clip;
use setpoint_protocol::{TaskId, Timestamp};

use super::export::{EXPORT_VERSION, Exporter, Seal, body_of, read_seal};

/// Maximum line in bytes: the largest body, and room for a fragment whose every character is escaped.
pub const LINE_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Maximum number of lines.
pub const LINES_MAX: u64 = 1_000_000;
/// Maximum file in bytes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Maximum characters of a found value in an error.
const FOUND_CHARS_MAX: usize = 80;

/// Why a file is not a usable exported task. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading the file failed.
    #[error("read line {line}")]
    Read {
        line: u64,
        /// Cause of the failure.
        #[source]
        source: io::Error,
    },
    /// It does not begin like an exported task.
    #[error("read line 1: it is not the start of an exported task")]
    NotExported,
    /// It was written by a newer program.
    #[error("read line {line}: its format is {found}, and this program reads up to {known}")]
    Newer {
        line: u64,
        /// Format version of the file.
        found: u64,
        /// Newest version that can be read.
        known: u64,
    },
    /// A line is too long.
    #[error("read line {line}: it is longer than {LINE_BYTES_MAX} bytes")]
    LineTooLong { line: u64 },
    /// The file is too large.
    #[error("read line {line}: a file of more than {FILE_BYTES_MAX} bytes or {LINES_MAX} lines is not read")]
    TooLarge { line: u64 },
    /// A line does not have the form of an exported task's.
    #[error("read line {line}: {reason}")]
    Malformed {
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A column of a record cannot be parsed.
    #[error("read line {line}, record {seq}: its {column} is {found:?}")]
    Column {
        line: u64,
        /// Sequence number of the record.
        seq: u64,
        /// Name of the column.
        column: &'static str,
        /// Value that was found.
        found: String,
    },
    /// The records are not in order.
    #[error("read line {line}: record {expected} comes next, and this is record {found}")]
    Order {
        line: u64,
        /// Expected sequence number.
        expected: u64,
        /// Sequence number that was found.
        found: u64,
    },
    /// A line was changed after it was written.
    #[error("read line {line}{}: it was changed after it was written", record(*.seq))]
    Changed {
        line: u64,
        /// Sequence number, if the line is a record.
        seq: Option<u64>,
    },
    /// The file has too few or too many lines.
    #[error(
        "read the file to its end: its first line says {records} records and {fragments} fragments, and there are \
         {found_records} and {found_fragments}"
    )]
    Incomplete {
        /// Number of records according to the first line.
        records: u64,
        /// Number of fragments according to the first line.
        fragments: u64,
        /// Number of records found.
        found_records: u64,
        /// Number of fragments found.
        found_fragments: u64,
    },
}

fn record(seq: Option<u64>) -> String {
    seq.map(|seq| format!(", record {seq}")).unwrap_or_default()
}

/// The content of a line after the first.
#[derive(Debug)]
pub enum Line {
    /// A fragment of a prompt.
    Fragment(String),
    /// A record.
    Record(Box<StoredRecord>),
}

/// A record with the journal's other columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Record itself.
    pub record: Record,
    /// Encoding of its body.
    pub format: u16,
    /// Its chain value in hexadecimal. Whether it continues the chain is not checked here.
    pub chain: String,
}

/// A parsed line. Anything that it omits shows when the line is written again and compared.
#[derive(Deserialize)]
struct Event<'a> {
    r#type: String,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    time: String,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    cause: Option<u64>,
    #[serde(default)]
    clockms: Option<String>,
    #[serde(default)]
    format: Option<u64>,
    #[serde(default)]
    chain: Option<String>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// Reads an exported task line by line.
pub struct Importer<'s, R> {
    lines: Lines<R>,
    exporter: Exporter<'s>,
    seal: Seal,
    records: u64,
    fragments: BTreeSet<FragmentHash>,
    /// Fragments that records have named, and those that precede the next record, with their lines.
    named: BTreeSet<FragmentHash>,
    waiting: Vec<(u64, FragmentHash)>,
}

impl<R> std::fmt::Debug for Importer<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Importer").field("task", &self.seal.task_id).finish_non_exhaustive()
    }
}

impl<'s, R: BufRead> Importer<'s, R> {
    /// Reads the first line; `slug_of` returns an intent's slug.
    ///
    /// # Errors
    /// If the first line is not that of an exported task.
    pub fn new(input: R, slug_of: &'s dyn Fn(&str) -> String) -> Result<Self, ImportError> {
        let mut lines = Lines { input, number: 0, bytes: 0 };
        let text = lines.next()?.ok_or(ImportError::NotExported)?;
        let event: Event<'_> = serde_json::from_str(&text).map_err(|_| ImportError::NotExported)?;
        if kind_of(&event) != Some(EXPORT_KIND) {
            return Err(ImportError::NotExported);
        }
        let version = version_of(event.data).ok_or(ImportError::NotExported)?;
        if version > u64::from(EXPORT_VERSION) {
            return Err(ImportError::Newer { line: 1, found: version, known: u64::from(EXPORT_VERSION) });
        }
        let changed = ImportError::Changed { line: 1, seq: None };
        let seal = match read_seal(event.data) {
            Ok(Some(seal)) => seal,
            Ok(None) => return Err(changed),
            Err(error) => return Err(lines.malformed(format!("it cannot be read: {error}"))),
        };
        let exporter = Exporter::new(&seal, slug_of);
        if exporter.seal(&seal) != text {
            return Err(changed);
        }
        Ok(Importer {
            lines,
            exporter,
            seal,
            records: 0,
            fragments: BTreeSet::new(),
            named: BTreeSet::new(),
            waiting: Vec::new(),
        })
    }

    /// Returns the content of the first line.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Returns the number of the line read last, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// Returns the next line; `None` after the last, if everything that was sealed has been read.
    ///
    /// # Errors
    /// Fails on a line that differs from what was written, and on an early end.
    #[expect(clippy::should_implement_trait, reason = "it fails, and an iterator would go on after that")]
    pub fn next(&mut self) -> Result<Option<Line>, ImportError> {
        let Some(text) = self.lines.next()? else { return self.end() };
        let event: Event<'_> = serde_json::from_str(&text)
            .map_err(|error| self.lines.malformed(format!("it is not an event: {error}")))?;
        let line = match kind_of(&event) {
            Some(FRAGMENT_KIND) => self.fragment(&event, &text)?,
            _ => self.record(&event, &text)?,
        };
        let found = (self.records, self.fragments.len() as u64);
        if found.0 > self.seal.records || found.1 > self.seal.fragments {
            return Err(self.incomplete());
        }
        Ok(Some(line))
    }

    fn end(&self) -> Result<Option<Line>, ImportError> {
        let found = (self.records, self.fragments.len() as u64);
        if found != (self.seal.records, self.seal.fragments) {
            return Err(self.incomplete());
        }
        match self.waiting.first() {
            Some((line, _)) => Err(ImportError::Changed { line: *line, seq: None }),
            None => Ok(None),
        }
    }

    fn incomplete(&self) -> ImportError {
        ImportError::Incomplete {
            records: self.seal.records,
            fragments: self.seal.fragments,
            found_records: self.records,
            found_fragments: self.fragments.len() as u64,
        }
    }

    fn fragment(&mut self, event: &Event<'_>, text: &str) -> Result<Line, ImportError> {
        let fragment: String = serde_json::from_str(event.data.get())
            .map_err(|error| self.lines.malformed(format!("the fragment is not text: {error}")))?;
        let hash = FragmentHash::of(&fragment);
        let is_new = self.fragments.insert(hash);
        if !is_new || self.exporter.fragment(&fragment) != text {
            return Err(ImportError::Changed { line: self.lines.number, seq: None });
        }
        self.waiting.push((self.lines.number, hash));
        Ok(Line::Fragment(fragment))
    }

    fn record(&mut self, event: &Event<'_>, text: &str) -> Result<Line, ImportError> {
        let line = self.lines.number;
        let expected = self.records + 1;
        let seq = event.seq.ok_or_else(|| self.lines.malformed("it has no `seq`".to_owned()))?;
        if seq != expected {
            return Err(ImportError::Order { line, expected, found: seq });
        }
        let found = event.format.unwrap_or(0);
        if found > u64::from(FORMAT) {
            return Err(ImportError::Newer { line, found, known: u64::from(FORMAT) });
        }
        let column = |column, found: &str| ImportError::Column {
            line,
            seq,
            column,
            found: clip(found, FOUND_CHARS_MAX),
        };
        let kind = kind_of(event).and_then(|kind| kind.parse().ok());
        let kind = kind.ok_or_else(|| column("type", &event.r#type))?;
        let at = event.time.parse::<Timestamp>().map_err(|_| column("time", &event.time))?;
        let from = sender_in(&event.source, &self.seal.task_id).and_then(|from| from.parse().ok());
        let from = from.ok_or_else(|| column("source", &event.source))?;
        let to = event.subject.as_deref().unwrap_or_default();
        let to = Record::receivers(to).map_err(|_| column("subject", to))?;
        let clock = event.clockms.as_deref().unwrap_or_default();
        let clock_ms = clock.parse().map_err(|_| column("clockms", clock))?;
        let body = body_of(kind, &self.seal.task_id, event.data.get());
        let record = Record { seq, at, clock_ms, from, to, kind, cause: event.cause, body };
        let (format, chain) =
            (u16::try_from(found).unwrap_or(u16::MAX), event.chain.clone().unwrap_or_default());
        let written = self.exporter.record(&record, format, &chain);
        if !written.is_ok_and(|written| written == text) {
            return Err(ImportError::Changed { line, seq: Some(seq) });
        }
        self.place_fragments(&record)?;
        self.records = seq;
        Ok(Line::Record(Box::new(StoredRecord { record, format, chain })))
    }

    /// Checks that the fragments before a record are those that it is the first to name, in that order. A fragment
    /// missing from the journal is in no file; the seal gives the number of fragments.
    fn place_fragments(&mut self, record: &Record) -> Result<(), ImportError> {
        let mut waiting = std::mem::take(&mut self.waiting).into_iter().peekable();
        for hash in record.asked_fragments() {
            if self.named.insert(hash) {
                waiting.next_if(|(_, stands)| *stands == hash);
            }
        }
        match waiting.next() {
            Some((line, _)) => Err(ImportError::Changed { line, seq: None }),
            None => Ok(()),
        }
    }
}

/// Returns the kind in a line's type.
fn kind_of<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    event.r#type.strip_prefix(EVENT_PREFIX)
}

/// Returns the sender's address in a line's source.
fn sender_in<'e>(source: &'e str, task: &TaskId) -> Option<&'e str> {
    source.strip_prefix("/setpoint/tasks/")?.strip_prefix(task.as_str())?.strip_prefix('/')
}

/// Returns the version in a seal, whatever else a newer one contains.
fn version_of(data: &RawValue) -> Option<u64> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    serde_json::from_str::<Version>(data.get()).ok().map(|read| read.version)
}

/// The lines of the input, within limits.
struct Lines<R> {
    input: R,
    number: u64,
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line without its end; `None` after the last. A line without an end was cut.
    fn next(&mut self) -> Result<Option<String>, ImportError> {
        let line = self.number + 1;
        let mut bytes = Vec::new();
        let most = LINE_BYTES_MAX as u64 + 1;
        let taken = (&mut self.input).take(most).read_until(b'\n', &mut bytes);
        let taken = taken.map_err(|source| ImportError::Read { line, source })?;
        if taken == 0 {
            return Ok(None);
        }
        self.number = line;
        self.bytes = self.bytes.saturating_add(taken as u64);
        if self.bytes > FILE_BYTES_MAX || line > LINES_MAX {
            return Err(ImportError::TooLarge { line });
        }
        if bytes.pop_if(|last| *last == b'\n').is_none() {
            return Err(match bytes.len() > LINE_BYTES_MAX {
                true => ImportError::LineTooLong { line },
                false => self.malformed("it is cut off".to_owned()),
            });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(self.malformed("it is not UTF-8".to_owned())),
        }
    }

    fn malformed(&self, reason: String) -> ImportError {
        ImportError::Malformed { line: self.number, reason: clip(&reason, 4 * FOUND_CHARS_MAX) }
    }
}

#[cfg(test)]
mod tests;
