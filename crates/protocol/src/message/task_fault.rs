//! A failure before there was an outcome to measure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{FailureClass, FaultKind};

use crate::role::RoleId;

/// A round that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskFault {
    /// The role that is accountable.
    pub role: RoleId,
    /// What kind of end it asks for.
    pub kind: FaultKind,
    /// What happened, in words.
    pub reason: String,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether another round may help.
    pub retryable: bool,
    /// Milliseconds since the `TaskSpec`; 0 before there is one.
    pub elapsed_ms: u64,
}
