//! Writes a task as one file that other programs read and that replays elsewhere: CloudEvents 1.0, one JSON object
//! per line.
//!
//! The first line seals the rest: how many records and fragments follow, and the chain's last value. Then follow the
//! records in order, each fragment of a prompt before the first record that names it. `data` holds a record's body
//! byte for byte; if the wire form carries the task's id, that is appended, so that removing it restores the body.
//! The journal's other columns (clock, cause, format, chain) are attributes of the line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use setpoint_protocol::envelope::{EVENT_PREFIX, EXPORT_KIND, FRAGMENT_KIND, task_id_field};
use setpoint_protocol::id::derive;
use setpoint_protocol::record::{FragmentHash, Record, RecordKind};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{TaskId, Timestamp};

use super::import::{FILE_BYTES_MAX, LINE_BYTES_MAX, LINES_MAX};

/// Version of the file format. Raised with every change that an older reader would misread.
pub const EXPORT_VERSION: u32 = 1;

/// The first line's description of the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Version of the file format.
    pub version: u32,
    /// Exported task.
    pub task_id: TaskId,
    /// The task's title.
    pub title: String,
    /// Time of its first record: when it was opened or, for a fork, when the original task was.
    pub opened_at: Timestamp,
    /// When it was closed; `None` while it was open.
    pub closed_at: Option<Timestamp>,
    /// Version of the machine logic that made it.
    pub logic_version: u32,
    /// Number of records that follow.
    pub records: u64,
    /// Number of fragments that follow.
    pub fragments: u64,
    /// Chain value of the last record, in hexadecimal.
    pub chain: String,
}

/// The seal with a hash over itself, as written in the file.
#[derive(Serialize, Deserialize)]
struct CheckedSeal {
    #[serde(flatten)]
    seal: Seal,
    check: FragmentHash,
}

/// Why a task cannot be written as a file that could be read back.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A record's body is not one line of JSON.
    #[error("write record {seq} as a line: its body is not JSON on one line")]
    Body {
        /// Sequence number of the record.
        seq: u64,
    },
    /// A line is too long.
    #[error(
        "export the task: line {line} would be longer than the {LINE_BYTES_MAX} bytes that are read back"
    )]
    LineTooLong {
        /// Line number, from 1.
        line: u64,
    },
    /// The file is too large.
    #[error(
        "export the task: its file would have more than the {FILE_BYTES_MAX} bytes or {LINES_MAX} lines that are read back"
    )]
    TooLarge,
}

/// The lines of a file, within the limits of an import.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<String>,
    /// Bytes so far, line ends included.
    pub(crate) bytes: u64,
}

impl Lines {
    /// Adds the next line, without its end.
    ///
    /// # Errors
    /// If the line or the file is longer than what is read back.
    pub fn push(&mut self, line: String) -> Result<(), ExportError> {
        let number = self.lines.len() as u64 + 1;
        if line.len() > LINE_BYTES_MAX {
            return Err(ExportError::LineTooLong { line: number });
        }
        self.bytes = self.bytes.saturating_add(line.len() as u64 + 1);
        if self.bytes > FILE_BYTES_MAX || number > LINES_MAX {
            return Err(ExportError::TooLarge);
        }
        self.lines.push(line);
        Ok(())
    }

    /// Returns all lines.
    #[must_use]
    pub fn finish(self) -> Vec<String> {
        self.lines
    }
}

/// A line of the file. Attributes that CloudEvents does not define are extensions, in lower case without a separator.
#[derive(Serialize)]
struct Line<'a> {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    time: String,
    datacontenttype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causationid: Option<String>,
    correlationid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    slug: Option<&'a str>,
    /// Written as text: integers of CloudEvents end at 2³¹, and a task's clock may exceed that.
    #[serde(skip_serializing_if = "Option::is_none")]
    clockms: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<&'a str>,
    data: &'a RawValue,
}

/// Writes the lines of one task, in order from the first.
///
/// It remembers what a line says of earlier records: their times, and the slug since the `TaskSpec`.
pub struct Exporter<'s> {
    task: TaskId,
    slug_of: &'s dyn Fn(&str) -> String,
    slug: Option<String>,
    times: BTreeMap<u64, Timestamp>,
    opened_at: Timestamp,
}

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").field("task", &self.task).finish_non_exhaustive()
    }
}

impl<'s> Exporter<'s> {
    /// Creates an exporter for the sealed task; `slug_of` returns an intent's slug.
    #[must_use]
    pub fn new(seal: &Seal, slug_of: &'s dyn Fn(&str) -> String) -> Self {
        Exporter {
            task: seal.task_id.clone(),
            slug_of,
            slug: None,
            times: BTreeMap::new(),
            opened_at: seal.opened_at,
        }
    }

    /// Returns the first line; like all lines, without its end.
    #[must_use]
    pub fn seal(&self, seal: &Seal) -> String {
        let check = check_of(seal);
        let data = serde_json::value::to_raw_value(&CheckedSeal { seal: seal.clone(), check });
        self.aside(EXPORT_KIND, None, data.unwrap_or_default())
    }

    /// Returns the line of a prompt's fragment.
    #[must_use]
    pub fn fragment(&self, text: &str) -> String {
        let hash = hex_of(FragmentHash::of(text));
        let data = serde_json::value::to_raw_value(text).unwrap_or_default();
        self.aside(FRAGMENT_KIND, Some(&hash), data)
    }

    /// Returns the line of the next record, given its format and its chain value in hexadecimal.
    ///
    /// # Errors
    /// If a body is not JSON on one line, which no machine produces.
    pub fn record(&mut self, record: &Record, format: u16, chain: &str) -> Result<String, ExportError> {
        let unwritable = || ExportError::Body { seq: record.seq };
        let data = on_the_wire(record, &self.task).ok_or_else(unwritable)?;
        if record.kind == RecordKind::Message(Kind::TaskSpec)
            && let Ok(spec) = serde_json::from_slice::<serde_json::Value>(&record.body)
            && let Some(intent) = spec.get("intent").and_then(serde_json::Value::as_str)
        {
            self.slug = Some((self.slug_of)(intent));
        }
        self.times.insert(record.seq, record.at);
        let id_of = |seq: u64, at: Timestamp| derive(&self.task, seq, 0, at).to_string();
        let cause_at = |seq: u64| self.times.get(&seq).copied().unwrap_or(record.at);
        let to = record.to_column();
        let line = Line {
            specversion: "1.0",
            id: id_of(record.seq, record.at),
            source: format!("/setpoint/tasks/{}/{}", self.task, record.from),
            r#type: format!("{EVENT_PREFIX}{}", record.kind),
            subject: Some(&to),
            time: record.at.to_string(),
            datacontenttype: "application/json",
            seq: Some(record.seq),
            cause: record.cause,
            causationid: record.cause.map(|seq| id_of(seq, cause_at(seq))),
            correlationid: id_of(1, self.opened_at),
            slug: self.slug.as_deref(),
            clockms: Some(record.clock_ms.to_string()),
            format: Some(format),
            chain: Some(chain),
            data: &data,
        };
        serde_json::to_string(&line).map_err(|_| unwritable())
    }

    /// Returns a line that is not a record.
    fn aside(&self, kind: &str, subject: Option<&str>, data: Box<RawValue>) -> String {
        let line = Line {
            specversion: "1.0",
            id: match subject {
                Some(subject) => format!("{kind}-{subject}"),
                None => kind.to_owned(),
            },
            source: format!("/setpoint/tasks/{}", self.task),
            r#type: format!("{EVENT_PREFIX}{kind}"),
            subject,
            time: self.opened_at.to_string(),
            datacontenttype: "application/json",
            seq: None,
            cause: None,
            causationid: None,
            correlationid: derive(&self.task, 1, 0, self.opened_at).to_string(),
            slug: None,
            clockms: None,
            format: None,
            chain: None,
            data: &data,
        };
        serde_json::to_string(&line).unwrap_or_default()
    }
}

/// Parses a seal; `None` if its hash does not match its content.
pub(crate) fn read_seal(data: &RawValue) -> Result<Option<Seal>, serde_json::Error> {
    let CheckedSeal { seal, check } = serde_json::from_str(data.get())?;
    Ok((check_of(&seal) == check).then_some(seal))
}

/// Returns the body of a record of this kind, extracted from its wire form.
pub(crate) fn body_of(kind: RecordKind, task: &TaskId, data: &str) -> Vec<u8> {
    let Some(added) = added_to(kind, task) else { return data.as_bytes().to_vec() };
    let Some(before) = data.strip_suffix(&*added) else { return data.as_bytes().to_vec() };
    // A comma separates the added field from the others.
    let before = before.strip_suffix(',').unwrap_or(before);
    format!("{before}}}").into_bytes()
}

/// Returns the wire form of a record's body, with every byte of it; `None` if it is not JSON on one line.
fn on_the_wire(record: &Record, task: &TaskId) -> Option<Box<RawValue>> {
    let body = std::str::from_utf8(&record.body).ok()?;
    let raw = RawValue::from_string(body.to_owned()).ok()?;
    if raw.get() != body || body.contains(['\n', '\r']) {
        return None;
    }
    let Some((added, before)) = added_to(record.kind, task).zip(body.strip_suffix('}')) else {
        return Some(raw);
    };
    let comma = if before.ends_with('{') { "" } else { "," };
    RawValue::from_string(format!("{before}{comma}{added}")).ok()
}

/// Returns what the wire form appends to the body of a record of this kind, including the end of the object.
fn added_to(kind: RecordKind, task: &TaskId) -> Option<String> {
    let RecordKind::Message(kind) = kind else { return None };
    // A task's id has no character that JSON would escape.
    Some(format!("\"{}\":\"{task}\"}}", task_id_field(kind)?))
}

fn check_of(seal: &Seal) -> FragmentHash {
    FragmentHash::of(&serde_json::to_string(seal).unwrap_or_default())
}

/// Returns a hash in its written form.
pub(crate) fn hex_of(hash: FragmentHash) -> String {
    match serde_json::to_value(hash) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}
