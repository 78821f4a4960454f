//! R3 asks before it changes anything that this task did not create; the person decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CallId, SubTaskId};
use crate::tool::ApprovalNeed;

/// Consent is wanted for exactly this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequest {
    /// The ask that the decision names.
    pub call_id: CallId,
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// The tool call that waits.
    pub for_call: CallId,
    /// What is asked.
    pub need: ApprovalNeed,
}

/// The person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDecision {
    /// The ask that is answered.
    pub call_id: CallId,
    /// The word.
    pub decision: ApprovalWord,
    /// What was allowed; must equal the request's digest.
    pub digest: String,
    /// Who decided: `terminal`, `terminal: <line>` by what was allowed before, `file:<path>:<line>`, `headless`.
    pub by: String,
    /// What else the person allowed for the rest of the task, as lines of an approval file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allows: Vec<String>,
}

/// What a person says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWord {
    /// This once.
    Once,
    /// Whenever this task asks for exactly this, or for the same with other content ([`ApprovalNeed::scope`]).
    ForTask,
    /// No.
    Never,
}
