//! The part of a body that the Auditor reads: only what a rule needs, so that parsing is quick and unknown fields are
//! ignored.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{
    ApprovalWord, Cite, EndState, EndedBy, ExecutionStatus, FailureClass, FaultKind, JudgedBy, Loss,
    MacroState, Mode, Origin, OutcomeStatus, VerdictWord,
};
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{ModelFailureKind, Purpose, Usage};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect};
use setpoint_protocol::{Any, CallId, CriterionId, RoleId, SubTaskId};

/// Declares bodies. A field marked `[default]` may be missing.
macro_rules! bodies {
    ($($(#[$about:meta])* $name:ident { $($field:ident $([$default:ident])?: $type:ty),+ $(,)? })+) => {
        $($(#[$about])* #[derive(Deserialize)]
        pub(super) struct $name { $($(#[serde($default)])? pub(super) $field: $type),+ })+
    };
}

bodies! {
    Opened {
        controller[default]: ControllerSettings, budgets[default]: Budgets, models[default]: Models,
        forked_from[default]: Option<Fork>,
    }
    Fork { seq: u64 }
    Asked { call: CallId, ask: Ask }
    ToolName { tool: String }
    Reasked { call: CallId, attempt: u64, by_runtime[default]: bool }
    Answered { call: CallId, attempt: u64, answer: Answer, spent[default]: Usage }
    Reply {
        parts[default]: Vec<Part>, usage[default]: Usage, is_cut[default]: bool,
        by[default]: Option<String>,
    }
    ModelFailure { kind: ModelFailureKind }
    ToolAnswer {
        ok: bool, error_kind[default]: Option<ErrorKind>, duration_ms[default]: u64,
        side_effect[default]: SideEffect,
    }
    Manifest {
        round: u32, subtasks: Vec<ManifestEntry>, task_criteria[default]: Vec<Criterion>,
        withdrawn[default]: Vec<Withdrawn>, overridden_rules[default]: Vec<IgnoredAny>,
    }
    Withdrawn { criterion_id: CriterionId, check_replaced[default]: bool }
    ManifestEntry { subtask_id: SubTaskId, carried[default]: Option<IgnoredAny> }
    SubTask { subtask_id: SubTaskId }
    ExecutionResult { subtask_id: SubTaskId, attempt: u32, status: ExecutionStatus }
    CorrectionSignal { subtask_id: SubTaskId, attempt_number: u32 }
    Outcome {
        subtask_id: SubTaskId, status: OutcomeStatus, success_criteria[default]: Vec<CriterionName>,
        criteria_verdicts[default]: Vec<Verdict>, tool_calls[default]: Vec<Call>,
    }
    CriterionName { id: CriterionId }
    Call { call_id: CallId, ok: bool, error_kind[default]: Option<ErrorKind> }
    Verdict {
        criterion_id: CriterionId, verdict: VerdictWord, cites[default]: Vec<Cite>, judged_by: JudgedBy,
        self_made[default]: bool,
    }
    /// R4b's report on a round, positive or negative.
    Measured { outcomes[default]: Vec<Reported>, task_criteria_verdicts[default]: Option<Vec<Verdict>> }
    Reported { subtask_id: SubTaskId, status: OutcomeStatus }
    Fault { role: RoleId, kind: FaultKind, failure_class[default]: Option<FailureClass> }
    Directive { loss: Loss, directive: MacroState, grad_l: f64 }
    End {
        loss: Loss, grad_l: f64, replans: u32, directive: EndState, ended_by: EndedBy,
        verdicts[default]: Vec<Verdict>, subtask_verdicts[default]: Vec<Verdict>,
        unmet_criteria[default]: Vec<IgnoredAny>,
    }
    ApprovalRequest { call_id: CallId, need: Need }
    Need { digest: String, scope[default]: Option<String> }
    Decision { call_id: CallId, decision: ApprovalWord, digest: String }
    /// The id of a question to a person or to memory.
    Question { call_id: CallId }
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
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    Text(IgnoredAny),
    ToolCall(IgnoredAny),
}

/// A criterion that must not change. Its check is kept as written.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Criterion {
    pub(super) id: CriterionId,
    pub(super) criterion: String,
    pub(super) mode: Mode,
    #[serde(default)]
    pub(super) check: Option<Any>,
    #[serde(default)]
    pub(super) origin: Origin,
}
