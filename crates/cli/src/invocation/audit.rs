//! `audit`: what is asked of the Auditor, as plain data.

use std::path::PathBuf;

use setpoint_client::audit::MetricsDoor;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FindingKind, Severity};

use crate::moment::At;

/// `audit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditCommand {
    /// `audit report`.
    Report,
    /// `audit query`.
    Query(AskedFindings),
    /// `audit verify`.
    Verify(AuditVerify),
    /// `audit follow`.
    Follow {
        /// Where its totals can be read.
        metrics: Option<MetricsDoor>,
    },
}

/// Which findings `audit query` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFindings {
    /// Only of this kind.
    pub kind: Option<FindingKind>,
    /// Only of this task: an id, or the beginning or the end of one.
    pub task: Option<String>,
    /// Only this role's.
    pub role: Option<RoleId>,
    /// Only those that weigh at least so much.
    pub severity: Option<Severity>,
    /// Only from this moment on.
    pub since: Option<At>,
    /// How many at most.
    pub limit: usize,
}

/// What `audit verify` holds the log against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditVerify {
    /// Exported checkpoints.
    pub checkpoints: Option<PathBuf>,
    /// The key that it must be signed with.
    pub key: Option<String>,
    /// Look at the log alone.
    pub log_only: bool,
}
