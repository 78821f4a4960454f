//! What stands in the Auditor's own log, a JSON object an entry.

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
        /// The journal's row behind which it goes on; 0 where it begins anew.
        after: u64,
        /// Why it begins anew, where it was further already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Where the journal ended then, if it begins anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
    },
    /// A person let a task go on although an older journal was put back.
    Forced {
        /// When.
        at: Timestamp,
        /// The task.
        task: TaskId,
    },
    /// Rows of the journal were read.
    Rows {
        /// Behind this one.
        after: u64,
        /// Up to this one, included.
        to: u64,
        /// How many: places may be left out where rows were lost.
        count: u64,
        /// BLAKE3 over their places, streams, numbers and hashes, in hexadecimal.
        digest: String,
    },
    /// Rows of the journal could not be read, and were passed over.
    Unreadable {
        /// Behind this one.
        after: u64,
        /// Up to this one, included.
        to: u64,
        /// Why, for the first of them.
        why: String,
    },
    /// Something is not as it should be.
    Finding(Finding),
    /// A report that was due.
    Report(Box<AuditReport>),
    /// What is known was written down beside the log: whatever else stands there is not believed.
    Known {
        /// BLAKE3 over it, in hexadecimal.
        digest: String,
        /// Whether all that the log says up to here is known again. Otherwise what was said has to be looked up in the log.
        is_settled: bool,
    },
    /// A process stopped auditing, in order.
    Stopped {
        /// When.
        at: Timestamp,
        /// The last row that it read.
        after: u64,
    },
}

impl LogEntry {
    /// As it is written. A report that is too long for an entry is told by its head: its findings stand in the log anyway.
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

/// What an entry of the log says; `None` for one that is none of the Auditor's, or a later program's.
#[must_use]
pub fn parse(json: &str) -> Option<LogEntry> {
    serde_json::from_str(json).ok()
}

/// Whether an entry may say something of tasks that go on after another journal was put back. Most entries do not, and need not
/// be taken apart.
pub(super) fn is_about_resuming(json: &str) -> bool {
    [r#"{"entry":"begun""#, r#"{"entry":"forced""#].iter().any(|beginning| json.starts_with(beginning))
}

/// Why the log before this one was put aside, where this entry is the mark with which a log begins that took its place.
pub(super) fn why_put_aside(entry: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Mark {
        put_aside: Aside,
    }
    #[derive(Deserialize)]
    struct Aside {
        why: String,
    }
    serde_json::from_str(entry).ok().map(|mark: Mark| mark.put_aside.why)
}
