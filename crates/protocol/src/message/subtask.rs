//! The work for R3 and the rubric for R4a: one message with two receivers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::{SubTaskId, ToolId};
use crate::message::criterion::Criterion;
use crate::time::Timestamp;
use crate::tool::ToolRecord;

/// One atomic piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTask {
    /// Its id, minted after the plan is parsed.
    pub subtask_id: SubTaskId,
    /// What it is for.
    pub intent: String,
    /// What must hold of its result.
    pub success_criteria: Vec<Criterion>,
    /// The planner's notes for the executor.
    pub context: String,
    /// Outputs of earlier sub-tasks, as code put them together: data, and nobody's instruction.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outputs: String,
    /// Earlier sub-tasks whose outputs these are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<SubTaskId>,
    /// When it must be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Whether it is the only sub-task of its plan: then it is to do all that the person asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_only: bool,
    /// Its group, from 1; equal numbers run in parallel.
    pub sequence: u32,
    /// Tools it may use; none named means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// What it may not do.
    #[serde(default)]
    pub limits: Limits,
    /// Fingerprint of the sub-task: intent and tools without the task's own ids.
    pub fingerprint: String,
    /// Where a playbook's plan comes from, so that nothing has to parse prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
    /// What the probes of its checks found before the task's work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Arc<ToolRecord>>,
}

/// What a sub-task may not do. Enforced when the plan is validated and again when a call is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Tools that are not offered and not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_tools: Vec<ToolId>,
    /// Targets that are refused, as `<tool>: <target>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_targets: Vec<String>,
    /// Tools whose side effects need an approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caution_tools: Vec<ToolId>,
}

/// A playbook's approach with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approach {
    /// The playbook's name.
    pub playbook: String,
    /// The approach's name.
    pub approach: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Any,
}

impl Approach {
    /// Returns the playbook's variant of the approach, if its parameters name one.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.params.0.get("variant").and_then(serde_json::Value::as_str)
    }

    /// Returns the approach without its other parameters.
    #[must_use]
    pub fn name(&self) -> ApproachName {
        ApproachName {
            playbook: self.playbook.clone(),
            approach: self.approach.clone(),
            variant: self.variant().map(str::to_owned),
        }
    }
}

/// Which of a playbook's approaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ApproachName {
    /// The playbook's name.
    pub playbook: String,
    /// The approach's name.
    pub approach: String,
    /// The variation of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}
