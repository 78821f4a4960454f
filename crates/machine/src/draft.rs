//! What a model may answer, by purpose. A draft is hostile input: roles validate it before it becomes a message.
//!
//! No draft has a field for an id that the runtime makes; one in the text is ignored like any unknown field.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_protocol::Any;
use setpoint_protocol::message::{Approach, FailureClass, Mode, VerdictWord};
use setpoint_protocol::predicate::Check;

/// R1's answer: an intent, or questions, or an answer to small talk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerceiveDraft {
    /// One sentence in the person's words and language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Where the task may act, if the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// An absolute RFC 3339 time, if the person gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Questions about ambiguous references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The answer to small talk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// R2's plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDraft {
    /// The sub-tasks.
    pub subtasks: Vec<SubTaskDraft>,
    /// The task's own criteria; on a replan, only additional ones count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_criteria: Vec<CriterionDraft>,
}

/// One sub-task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTaskDraft {
    /// What it is for.
    pub intent: String,
    /// What must hold of its result.
    #[serde(default)]
    pub success_criteria: Vec<CriterionDraft>,
    /// What the executor needs to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Earlier sub-tasks whose outputs it needs, by their place in this list, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<u32>,
    /// Its group: equal numbers run in parallel, a higher one waits for the lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<i64>,
    /// Tools it may use; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// When it must be done, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Where a playbook's plan comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
}

/// A criterion: a plain sentence is read as verifiable, without a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CriterionDraft {
    /// A sentence.
    Plain(String),
    /// With mode and check.
    Structured {
        /// The sentence.
        criterion: String,
        /// How firmly it can be judged.
        #[serde(default)]
        mode: Mode,
        /// How code judges it. Kept as JSON here, so that a malformed check is a reason and not a lost plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<Any>,
    },
}

impl CriterionDraft {
    /// A criterion that code judges.
    #[must_use]
    pub fn checked(criterion: String, check: &Check) -> Self {
        let check = serde_json::to_value(check).ok().map(Any);
        CriterionDraft::Structured { criterion, mode: Mode::Verifiable, check }
    }
}

/// R2's report of an abandon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportDraft {
    /// What was achieved.
    pub achieved: String,
    /// What blocked the rest.
    #[serde(default)]
    pub blocked_by: String,
    /// What a person could try next.
    #[serde(default)]
    pub next_moves: Vec<String>,
}

/// R3's answer, when it is one JSON value. Other text is a completed output as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecuteDraft {
    /// How R3 sees it.
    pub status: StatusDraft,
    /// The result.
    #[serde(default)]
    pub output: Any,
    /// What R3 doubts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<String>,
    /// Why it is not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How R3 sees its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusDraft {
    /// Done.
    Completed,
    /// Done, with a doubt.
    Uncertain,
    /// Not possible.
    Failed,
}

/// R4a's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeDraft {
    /// One verdict a criterion, by id.
    pub verdicts: Vec<VerdictDraft>,
}

/// One judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictDraft {
    /// The criterion's id.
    pub criterion_id: String,
    /// Pass or fail.
    pub verdict: VerdictWord,
    /// What was seen.
    #[serde(default)]
    pub evidence: String,
    /// Call ids, or `output`.
    #[serde(default)]
    pub cites: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
}

/// R4b's answer. It holds no long text: the merged output is put together by code from the sub-tasks' outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeDraft {
    /// One verdict a criterion, by id.
    #[serde(default)]
    pub verdicts: Vec<VerdictDraft>,
    /// What was done, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whose outputs make up the result, by place from 1, in order; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_of: Vec<u32>,
}
