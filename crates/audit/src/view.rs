//! What an operator asks the Auditor, and its answers, as data.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;
use setpoint_protocol::message::{AuditReport, Finding, FindingKind, Severity};
use setpoint_protocol::{RoleId, Timestamp};

/// Maximum events in the queue to a follower. When it is full, the Auditor waits.
pub const AUDIT_EVENTS_MAX: usize = 256;

/// A report, and why it may be incomplete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditedReport {
    /// What the Auditor reports.
    #[serde(flatten)]
    pub report: AuditReport,
    /// Whether another process audits at the moment.
    pub is_elsewhere: bool,
    /// Why the journal could not be read to its end, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Why what was read could not be written to the log, if it could not. It is read again later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
}

/// A finding, and where the log has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingLine {
    /// Number of its log entry.
    pub entry: u64,
    /// Its severity.
    pub severity: Severity,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

impl FindingLine {
    /// Creates the line for the finding of log entry `seq`.
    #[must_use]
    pub fn of(entry: u64, finding: Finding) -> Self {
        Self { entry, severity: finding.kind.severity(), finding }
    }
}

/// A filter of findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingFilter {
    /// Only this kind.
    pub kind: Option<FindingKind>,
    /// Only tasks whose id begins with this.
    pub task: Option<String>,
    /// Only this role.
    pub role: Option<RoleId>,
    /// Only this severity or a higher one.
    pub severity: Option<Severity>,
    /// Only from this time on.
    pub since: Option<Timestamp>,
    /// At most this number of findings, the newest.
    pub limit: usize,
}

/// What to compare the log with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The exported checkpoints.
    pub checkpoints: Option<PathBuf>,
    /// The key that must have signed it, in hexadecimal.
    pub key: Option<String>,
    /// Whether to skip the comparison with the journal.
    pub log_only: bool,
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditVerdict {
    /// Whether nothing is wrong, in the log or the journal.
    pub is_sound: bool,
    /// Entries of the log.
    pub entries: u64,
    /// Entries covered by a signed checkpoint.
    pub sealed: u64,
    /// Checkpoints in the log's directory.
    pub checkpoints: u64,
    /// Entries covered by the exported checkpoints; `None` if no export was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_by_export: Option<u64>,
    /// The key that signed, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is wrong with the log, one line per finding.
    pub log: Vec<String>,
    /// Rows of the journal that are unchanged since the log noted them; `None` if the journal was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Those of them whose bodies were pruned.
    #[serde(default, skip_serializing_if = "is_none")]
    pub rows_pruned: u64,
    /// Rows that the log does not note yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_not_noted: Option<u64>,
    /// What is wrong with the journal, one line per misfit.
    pub journal: Vec<String>,
    /// Further findings that are not listed.
    pub left_out: u64,
    /// What this proves.
    pub proves: Vec<String>,
    /// What this does not prove.
    pub cannot_prove: Vec<String>,
}

/// Where totals are served to Prometheus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsDoor {
    /// Address to listen on.
    pub address: SocketAddr,
    /// Whether other machines can read it.
    pub is_public: bool,
}

/// An event for a process that follows the log.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditEvent {
    /// The log cannot be read on. Sent once until it can be read again.
    Unreadable,
    /// The log has a new finding.
    Finding(Box<FindingLine>),
    /// A report was due.
    Report(Box<AuditReport>),
    /// A remark on the auditing itself.
    Note(String),
}

/// Returns whether the number is 0, for serde.
fn is_none(count: &u64) -> bool {
    *count == 0
}
