//! An exported task, read back to the same bytes. The file may come from anybody.
//!
//! Every line must be exactly what [`Exporter`] writes of what was read from it, so a byte that was changed anywhere is
//! seen here, or by whoever follows the chain of the records.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read as _};

use serde::Deserialize;
use serde_json::value::RawValue;
use setpoint_protocol::envelope::{EVENT_PREFIX, EXPORT_KIND, FRAGMENT_KIND};
use setpoint_protocol::record::{FORMAT, FragmentHash, Record};
use setpoint_protocol::text::clip;
use setpoint_protocol::{TaskId, Timestamp};

use super::export::{EXPORT_VERSION, Exporter, Seal, body_of, read_seal};

/// Longest line in bytes: the largest body, and room for a fragment whose every character is written as an escape.
pub const LINE_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Most lines.
pub const LINES_MAX: u64 = 1_000_000;
/// Largest file in bytes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Characters of what was found that an error tells.
const FOUND_CHARS_MAX: usize = 80;

/// Why a file is no exported task that can be used. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file broke.
    #[error("read line {line}")]
    Read {
        /// The line.
        line: u64,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It does not begin as an exported task.
    #[error("read line 1: no exported task begins like this")]
    NotExported,
    /// It was written by a newer program.
    #[error("read line {line}: its format is {found}, and this program reads up to {known}")]
    Newer {
        /// The line.
        line: u64,
        /// Its format.
        found: u64,
        /// The newest that can be read.
        known: u64,
    },
    /// A line is too long.
    #[error("read line {line}: it is longer than {LINE_BYTES_MAX} bytes")]
    LineTooLong {
        /// The line.
        line: u64,
    },
    /// There is too much of it.
    #[error("read line {line}: a file of more than {FILE_BYTES_MAX} bytes or {LINES_MAX} lines is not read")]
    TooLarge {
        /// The line.
        line: u64,
    },
    /// A line is no line of an exported task.
    #[error("read line {line}: {reason}")]
    Malformed {
        /// The line.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A column of a record cannot be read.
    #[error("read line {line}, record {seq}: its {column} is {found:?}")]
    Column {
        /// The line.
        line: u64,
        /// The record.
        seq: u64,
        /// Which column.
        column: &'static str,
        /// What stands there.
        found: String,
    },
    /// The records are not in order.
    #[error("read line {line}: record {expected} comes next, and this is record {found}")]
    Order {
        /// The line.
        line: u64,
        /// The record that should stand there.
        expected: u64,
        /// The one that does.
        found: u64,
    },
    /// A line is not as it was written.
    #[error("read line {line}{}: it was changed after it was written", record(*.seq))]
    Changed {
        /// The line.
        line: u64,
        /// The record, where it is one.
        seq: Option<u64>,
    },
    /// The file ends too early, or goes on too long.
    #[error(
        "read the file to its end: its first line says {records} records and {fragments} fragments, and there are \
         {found_records} and {found_fragments}"
    )]
    Incomplete {
        /// Records that there should be.
        records: u64,
        /// Fragments that there should be.
        fragments: u64,
        /// Records that there are.
        found_records: u64,
        /// Fragments that there are.
        found_fragments: u64,
    },
}

fn record(seq: Option<u64>) -> String {
    seq.map(|seq| format!(", record {seq}")).unwrap_or_default()
}

/// What stands in a line after the first.
#[derive(Debug)]
pub enum Line {
    /// A piece of a prompt.
    Fragment(String),
    /// A record.
    Record(Box<Stored>),
}

/// A record with what the journal keeps of it besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// The encoding of its body.
    pub format: u16,
    /// Its value in the task's chain, in hexadecimal. Whether it fits is not known here.
    pub chain: String,
}

/// One line as it stands there. What it leaves out, writing it again shows.
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
    /// Fragments that records have named, and those that stand before the next record, with their lines.
    named: BTreeSet<FragmentHash>,
    waiting: Vec<(u64, FragmentHash)>,
}

impl<R> std::fmt::Debug for Importer<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Importer").field("task", &self.seal.task_id).finish_non_exhaustive()
    }
}

impl<'s, R: BufRead> Importer<'s, R> {
    /// Reads the first line; `slug_of` gives an intent's slug.
    ///
    /// # Errors
    /// A first line that is none of an exported task.
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

    /// What the first line says.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// The line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// The next line; `None` after the last, when everything that was sealed is there.
    ///
    /// # Errors
    /// A line that is not what was written, and an end that comes too early.
    #[expect(clippy::should_implement_trait, reason = "it fails, and an iterator would go on after that")]
    pub fn next(&mut self) -> Result<Option<Line>, ImportError> {
        let Some(text) = self.lines.next()? else { return self.end() };
        let event: Event<'_> = serde_json::from_str(&text)
            .map_err(|error| self.lines.malformed(format!("it is no event: {error}")))?;
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
            .map_err(|error| self.lines.malformed(format!("the fragment is no text: {error}")))?;
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
        Ok(Line::Record(Box::new(Stored { record, format, chain })))
    }

    /// What stands before a record is what it is the first to name, in that order. A piece that the journal did not have
    /// is in no file: how many there are is sealed.
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

/// The kind in a line's type.
fn kind_of<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    event.r#type.strip_prefix(EVENT_PREFIX)
}

/// The sender's address in a line's source.
fn sender_in<'e>(source: &'e str, task: &TaskId) -> Option<&'e str> {
    source.strip_prefix("/setpoint/tasks/")?.strip_prefix(task.as_str())?.strip_prefix('/')
}

/// The version that a seal says, whatever else a newer one holds.
fn version_of(data: &RawValue) -> Option<u64> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    serde_json::from_str::<Version>(data.get()).ok().map(|read| read.version)
}

/// Lines within bounds.
struct Lines<R> {
    input: R,
    number: u64,
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end; `None` after the last. A line that has no end was cut.
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
