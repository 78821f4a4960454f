//! The operator asks the Auditor; the Auditor reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::TaskId;
use crate::role::RoleId;
use crate::time::Timestamp;

/// A snapshot is wanted; nothing is reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditQuery {
    /// An id that the report repeats.
    pub query_id: String,
}

/// What the Auditor saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditReport {
    /// What caused it: a timer or a query's id.
    pub trigger: String,
    /// From when.
    pub window_from: Timestamp,
    /// To when.
    pub window_to: Timestamp,
    /// Tasks in the window.
    pub tasks_observed: u64,
    /// Corrections in the window.
    pub total_corrections: u64,
    /// Loss over rounds, a task.
    pub gap_trends: Vec<Any>,
    /// Messages that no route allows.
    pub boundary_violations: Vec<Finding>,
    /// Roles that left their own long-run band.
    pub drift_alerts: Vec<Finding>,
    /// Everything else.
    pub anomalies: Vec<Finding>,
    /// Error rates, a tool.
    pub tool_health: Vec<Any>,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its name.
    pub kind: String,
    /// Who is accountable.
    pub accountable: RoleId,
    /// The task, where it is one task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The records it rests on.
    pub records: Vec<u64>,
    /// What was seen.
    pub text: String,
}
