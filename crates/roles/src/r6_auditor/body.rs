//! The part of a body that the Auditor reads: only what a rule needs, so that parsing is quick and unknown fields are
//! ignored.

use serde::Deserialize;
use serde::de::IgnoredAny;
use setpoint_protocol::message::{
    ApprovalWord, EndState, EndedBy, ExecutionStatus, FailureClass, FaultKind, Loss, MacroState, Mode,
    Origin, OutcomeStatus, VerdictWord,
};
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{ModelFailureKind, Purpose, Usage};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect};
use setpoint_protocol::{Any, CallId, CriterionId, RoleId, SubTaskId};

#[derive(Deserialize)]
pub(super) struct Opened {
    #[serde(default)]
    pub(super) controller: ControllerSettings,
    #[serde(default)]
    pub(super) budgets: Budgets,
    #[serde(default)]
    pub(super) models: Models,
    #[serde(default)]
    pub(super) forked_from: Option<Fork>,
}

#[derive(Deserialize)]
pub(super) struct Fork {
    pub(super) seq: u64,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    pub(super) call: CallId,
    pub(super) ask: Ask,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    Model {
        purpose: Purpose,
    },
    Tool {
        call: ToolName,
        effect: Effect,
        #[serde(default)]
        grant: Option<String>,
    },
    Timer {},
    Survey {},
}

#[derive(Deserialize)]
pub(super) struct ToolName {
    pub(super) tool: String,
}

#[derive(Deserialize)]
pub(super) struct Reasked {
    pub(super) call: CallId,
    pub(super) attempt: u64,
    #[serde(default)]
    pub(super) by_runtime: bool,
}

#[derive(Deserialize)]
pub(super) struct Answered {
    pub(super) call: CallId,
    /// Number of the last attempt.
    pub(super) attempt: u64,
    pub(super) answer: Answer,
    #[serde(default)]
    pub(super) spent: Usage,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Model(Reply),
    ModelFailed(ModelFailure),
    Tool(ToolAnswer),
    Timer,
    Survey(IgnoredAny),
    Interrupted,
}

#[derive(Deserialize)]
pub(super) struct Reply {
    #[serde(default)]
    pub(super) parts: Vec<Part>,
    #[serde(default)]
    pub(super) usage: Usage,
    #[serde(default)]
    pub(super) is_cut: bool,
    #[serde(default)]
    pub(super) by: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    Text(serde::de::IgnoredAny),
    ToolCall(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct ModelFailure {
    pub(super) kind: ModelFailureKind,
}

#[derive(Deserialize)]
pub(super) struct ToolAnswer {
    pub(super) ok: bool,
    #[serde(default)]
    pub(super) error_kind: Option<ErrorKind>,
    #[serde(default)]
    pub(super) duration_ms: u64,
    #[serde(default)]
    pub(super) side_effect: SideEffect,
}

#[derive(Deserialize)]
pub(super) struct Manifest {
    pub(super) round: u32,
    pub(super) subtasks: Vec<ManifestEntry>,
    #[serde(default)]
    pub(super) task_criteria: Vec<Criterion>,
    #[serde(default)]
    pub(super) withdrawn: Vec<Withdrawn>,
    #[serde(default)]
    pub(super) overridden_rules: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Withdrawn {
    pub(super) criterion_id: CriterionId,
    #[serde(default)]
    pub(super) check_replaced: bool,
}

#[derive(Deserialize)]
pub(super) struct ManifestEntry {
    pub(super) subtask_id: SubTaskId,
    #[serde(default)]
    pub(super) carried: Option<serde::de::IgnoredAny>,
}

/// A criterion that must not change. Its check is kept as written.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize)]
pub(super) struct Criterion {
    pub(super) id: CriterionId,
    pub(super) criterion: String,
    pub(super) mode: Mode,
    #[serde(default)]
    pub(super) check: Option<Any>,
    #[serde(default)]
    pub(super) origin: Origin,
}

#[derive(Deserialize)]
pub(super) struct SubTask {
    pub(super) subtask_id: SubTaskId,
}

#[derive(Deserialize)]
pub(super) struct ExecutionResult {
    pub(super) subtask_id: SubTaskId,
    pub(super) attempt: u32,
    pub(super) status: ExecutionStatus,
}

#[derive(Deserialize)]
pub(super) struct CorrectionSignal {
    pub(super) subtask_id: SubTaskId,
    pub(super) attempt_number: u32,
}

#[derive(Deserialize)]
pub(super) struct Outcome {
    pub(super) subtask_id: SubTaskId,
    pub(super) status: OutcomeStatus,
    #[serde(default)]
    pub(super) success_criteria: Vec<CriterionName>,
    #[serde(default)]
    pub(super) criteria_verdicts: Vec<Verdict>,
    #[serde(default)]
    pub(super) tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
pub(super) struct CriterionName {
    pub(super) id: CriterionId,
}

#[derive(Deserialize)]
pub(super) struct Call {
    pub(super) call_id: CallId,
    pub(super) ok: bool,
}

#[derive(Deserialize)]
pub(super) struct Verdict {
    pub(super) criterion_id: CriterionId,
    pub(super) verdict: VerdictWord,
    #[serde(default)]
    pub(super) cites: Vec<setpoint_protocol::message::Cite>,
    pub(super) judged_by: setpoint_protocol::message::JudgedBy,
    #[serde(default)]
    pub(super) self_made: bool,
}

/// R4b's report on a round, positive or negative.
#[derive(Deserialize)]
pub(super) struct Measured {
    #[serde(default)]
    pub(super) outcomes: Vec<Reported>,
    #[serde(default)]
    pub(super) task_criteria_verdicts: Option<Vec<Verdict>>,
}

#[derive(Deserialize)]
pub(super) struct Reported {
    pub(super) subtask_id: SubTaskId,
    pub(super) status: OutcomeStatus,
}

#[derive(Deserialize)]
pub(super) struct Fault {
    pub(super) role: RoleId,
    pub(super) kind: FaultKind,
    #[serde(default)]
    pub(super) failure_class: Option<FailureClass>,
}

#[derive(Deserialize)]
pub(super) struct Directive {
    pub(super) loss: Loss,
    pub(super) directive: MacroState,
    pub(super) grad_l: f64,
}

#[derive(Deserialize)]
pub(super) struct End {
    pub(super) loss: Loss,
    pub(super) grad_l: f64,
    pub(super) replans: u32,
    pub(super) directive: EndState,
    pub(super) ended_by: EndedBy,
    #[serde(default)]
    pub(super) verdicts: Vec<Verdict>,
    #[serde(default)]
    pub(super) subtask_verdicts: Vec<Verdict>,
    #[serde(default)]
    pub(super) unmet_criteria: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct ApprovalRequest {
    pub(super) call_id: CallId,
    pub(super) need: Need,
}

#[derive(Deserialize)]
pub(super) struct Need {
    pub(super) digest: String,
}

#[derive(Deserialize)]
pub(super) struct Decision {
    pub(super) call_id: CallId,
    pub(super) decision: ApprovalWord,
    pub(super) digest: String,
}

/// The id of a question to a person or to memory.
#[derive(Deserialize)]
pub(super) struct Question {
    pub(super) call_id: CallId,
}
