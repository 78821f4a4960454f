//! What an operator asks of the Auditor and sees of it, as data.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;
use setpoint_protocol::message::{AuditReport, Finding, FindingKind, Severity};
use setpoint_protocol::{RoleId, Timestamp};

/// Events that may wait for whoever follows; the Auditor waits for them then.
pub const AUDIT_EVENTS_MAX: usize = 256;

/// A report, with what may be missing from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audited {
    /// The report.
    #[serde(flatten)]
    pub report: AuditReport,
    /// Whether another process audits at the moment.
    pub is_elsewhere: bool,
    /// Why the journal could not be read to its end, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Why what was read could not be written down, if it could not. It is read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
}

/// A finding, as the log has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingLine {
    /// Its entry in the log.
    pub entry: u64,
    /// How much it weighs.
    pub severity: Severity,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

impl FindingLine {
    /// The finding of this entry.
    #[must_use]
    pub fn of(entry: u64, finding: Finding) -> Self {
        Self { entry, severity: finding.kind.severity(), finding }
    }
}

/// Which findings are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingFilter {
    /// Only of this kind.
    pub kind: Option<FindingKind>,
    /// Only of this task: its id begins with this.
    pub task: Option<String>,
    /// Only this role's.
    pub role: Option<RoleId>,
    /// Only those that weigh at least so much.
    pub severity: Option<Severity>,
    /// Only from this moment on.
    pub since: Option<Timestamp>,
    /// How many at most, the newest.
    pub limit: usize,
}

/// What the log is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Against {
    /// Exported checkpoints.
    pub checkpoints: Option<PathBuf>,
    /// The key that it must be signed with, in hexadecimal.
    pub key: Option<String>,
    /// Look at the log alone, not at the journal.
    pub log_only: bool,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditVerdict {
    /// Whether nothing is wrong, with the log or the journal.
    pub is_sound: bool,
    /// Entries of the log.
    pub entries: u64,
    /// Those under a signed checkpoint.
    pub sealed: u64,
    /// Checkpoints in the log's directory.
    pub checkpoints: u64,
    /// Entries that the exported checkpoints cover; `None` where none were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_by_export: Option<u64>,
    /// The key that signed, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is wrong with the log, a line each.
    pub log: Vec<String>,
    /// Rows of the journal that the log notes and that are those that were read; `None` where the journal was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Those of them whose bodies are gone since their tasks were pruned.
    #[serde(default, skip_serializing_if = "is_none")]
    pub rows_pruned: u64,
    /// Rows that the log does not note yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_not_noted: Option<u64>,
    /// What is wrong with the journal, a line each.
    pub journal: Vec<String>,
    /// Things that are wrong and not listed.
    pub left_out: u64,
    /// What this proves.
    pub proves: Vec<String>,
    /// What it does not.
    pub cannot_prove: Vec<String>,
}

/// Where a page of totals is served for Prometheus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsDoor {
    /// The address.
    pub address: SocketAddr,
    /// Whether others than this machine may read it.
    pub is_public: bool,
}

/// What the Auditor says as it goes.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditEvent {
    /// The log cannot be read on. Reported once, until it can.
    Unreadable,
    /// A finding.
    Finding(Box<FindingLine>),
    /// A report that was due.
    Report(Box<AuditReport>),
    /// Something about the auditing itself.
    Note(String),
}

/// Whether there are none; for serde.
fn is_none(count: &u64) -> bool {
    *count == 0
}
