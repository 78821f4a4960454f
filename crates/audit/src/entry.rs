//! The entries of the Auditor's log, one JSON object per entry.

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{AuditReport, Finding};
use setpoint_protocol::{TaskId, Timestamp};

use crate::log::limits::ENTRY_BYTES_MAX;

/// An entry of the Auditor's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum LogEntry {
    /// A process began to audit.
    Begun {
        /// When.
        at: Timestamp,
        /// The program's version.
        version: String,
        /// The row of the journal after which it continues; 0 if it starts again from the first row.
        after: u64,
        /// Why it starts again, if it had read further before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Where the journal ended then, if it starts again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
    },
    /// A person let a task go on although an older journal was restored.
    Forced {
        /// When.
        at: Timestamp,
        task: TaskId,
    },
    /// Rows of the journal were read.
    Rows {
        /// After this row.
        after: u64,
        /// Up to this row, included.
        to: u64,
        /// Number of rows: positions may be missing where rows were lost.
        count: u64,
        /// BLAKE3 over their positions, streams, numbers and hashes, in hexadecimal.
        digest: String,
    },
    /// Rows of the journal could not be read, and were skipped.
    Unreadable {
        /// After this row.
        after: u64,
        /// Up to this row, included.
        to: u64,
        /// Why the first of them could not be read.
        why: String,
    },
    /// The Auditor found something wrong.
    Finding(Finding),
    /// A report was due.
    Report(Box<AuditReport>),
    /// The Auditor's state was stored beside the log. A stored state with another digest is not used.
    Known {
        /// BLAKE3 over it, in hexadecimal.
        digest: String,
        /// Whether the state includes every finding up to here. If not, the next process looks the findings up in
        /// the log.
        is_settled: bool,
    },
    /// A process stopped auditing as planned.
    Stopped {
        /// When.
        at: Timestamp,
        /// The last row that it read.
        after: u64,
    },
}

impl LogEntry {
    /// Serialises the entry. A report that is too long loses its lists: its findings have entries of their own.
    pub(super) fn write(&self) -> String {
        let text = json(self);
        match self {
            LogEntry::Report(report) if text.len() > ENTRY_BYTES_MAX => {
                let mut short = report.clone();
                let listed = [&short.boundary_violations, &short.drift_alerts, &short.anomalies];
                let listed: usize = listed.iter().map(|list| list.len()).sum();
                short.findings_left_out += u64::try_from(listed).unwrap_or(u64::MAX);
                short.boundary_violations.clear();
                short.drift_alerts.clear();
                short.anomalies.clear();
                short.gap_trends.clear();
                let text = json(&LogEntry::Report(short.clone()));
                if text.len() <= ENTRY_BYTES_MAX {
                    return text;
                }
                short.role_health.clear();
                short.tool_health.clear();
                short.model_health.clear();
                short.false_claims.clear();
                json(&LogEntry::Report(short))
            }
            _ => text,
        }
    }
}

fn json(entry: &LogEntry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

/// Parses an entry; `None` if it is not one of the Auditor's, or of a later version.
#[must_use]
pub fn parse(json: &str) -> Option<LogEntry> {
    serde_json::from_str(json).ok()
}

/// Returns whether an entry can decide if a task may continue after an older journal was restored. Looks at its
/// first bytes only: most entries cannot, and need no parsing.
pub(super) fn is_about_resuming(json: &str) -> bool {
    [r#"{"entry":"begun""#, r#"{"entry":"forced""#].iter().any(|beginning| json.starts_with(beginning))
}

/// Returns why the previous log was put aside, if this is the first entry of the log that replaced it.
pub(super) fn why_put_aside(entry: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Mark {
        put_aside: AsideEntry,
    }
    #[derive(Deserialize)]
    struct AsideEntry {
        why: String,
    }
    serde_json::from_str(entry).ok().map(|mark: Mark| mark.put_aside.why)
}
