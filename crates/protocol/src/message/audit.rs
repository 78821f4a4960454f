//! The operator asks the Auditor; the Auditor reports.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{Loss, MacroState};

use crate::id::TaskId;
use crate::record::ModelFailureKind;
use crate::role::RoleId;
use crate::time::Timestamp;
use crate::tool::ErrorKind;

/// A snapshot is wanted; nothing is reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditQuery {
    /// An id that the report repeats.
    pub query_id: String,
}

/// What the Auditor saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditReport {
    /// What caused it: `interval`, or a query's id.
    pub trigger: String,
    /// When it was made.
    pub at: Timestamp,
    /// The journal's last record that it knows of; 0 for none.
    pub position: u64,
    /// From when the window is.
    pub window_from: Timestamp,
    /// To when: the last record of the window.
    pub window_to: Timestamp,
    /// Tasks with a record in the window.
    pub tasks_observed: u64,
    /// Corrections in the window.
    pub total_corrections: u64,
    /// Loss over rounds, a task; those of the window that needed more than one round, the newest last.
    pub gap_trends: Vec<GapTrend>,
    /// Messages that no route allows, in the window.
    pub boundary_violations: Vec<Finding>,
    /// Roles that left their own long-run band, in the window.
    pub drift_alerts: Vec<Finding>,
    /// Everything else, in the window.
    pub anomalies: Vec<Finding>,
    /// Findings of the window that are counted and not listed.
    pub findings_left_out: u64,
    /// How tools fare, by tool, in the window.
    pub tool_health: Vec<ToolHealth>,
    /// How models fare, by model, in the window.
    pub model_health: Vec<ModelHealth>,
    /// How roles fare, by role and model, over all time.
    pub role_health: Vec<RoleHealth>,
    /// What R3 claimed against what R4a found, by model, over all time.
    pub false_claims: Vec<ClaimRate>,
    /// Everything since the Auditor first looked.
    pub lifetime: AuditTotals,
}

/// The rounds of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapTrend {
    /// The task.
    pub task_id: TaskId,
    /// Its rounds that were measured, in order.
    pub rounds: Vec<GapRound>,
    /// Whether it has ended.
    pub is_ended: bool,
}

/// One measured round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapRound {
    /// The loss.
    pub loss: Loss,
    /// What was decided on it.
    pub directive: MacroState,
}

/// How a tool fared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolHealth {
    /// The tool's name in the catalogue.
    pub tool: String,
    /// Calls that came back.
    pub calls: u64,
    /// Those that failed.
    pub failed: u64,
    /// Failed ones by kind, the most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Milliseconds of all calls together.
    pub duration_ms: u64,
}

/// How a model fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelHealth {
    /// The model's name.
    pub model: String,
    /// Questions that came back, answered or not.
    pub calls: u64,
    /// Those that no attempt answered, by kind, the most frequent first.
    pub failures: Vec<FailureCount>,
    /// Further attempts that were made.
    pub retries: u64,
    /// Answers that end at the bound on their length.
    pub cut: u64,
    /// Answers that could not be used as they were.
    pub malformed: u64,
    /// Milliseconds from question to answer, of all of them together.
    pub duration_ms: u64,
}

/// How often a model failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureCount {
    /// The kind; none for a call that was stopped or cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ModelFailureKind>,
    /// How often.
    pub count: u64,
}

/// How often a kind of failure was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// The kind; none where code could not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// How often.
    pub count: u64,
}

/// How a role fares with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleHealth {
    /// The role.
    pub role: RoleId,
    /// The model that answers it; empty for one that needs none.
    pub model: String,
    /// What is counted.
    pub rate: DriftRate,
    /// How often it could have happened.
    pub seen: u64,
    /// How often it did.
    pub happened: u64,
    /// Its share over all time, 0 to 1.
    pub mean: f64,
    /// Its share of late, 0 to 1: an exponentially weighted mean.
    pub recent: f64,
    /// The share that counts as a change: what the test is set to notice. None until enough was seen to know what is usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// How much speaks for a change, from 0 to 1, at which one is reported.
    pub score: f64,
}

/// What is counted of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftRate {
    /// Questions to its model that had to be asked again because none, or a broken answer, came.
    Retry,
    /// Work that failed: R3's sub-tasks, R2's and R1's faults.
    Failure,
    /// Verdicts that are `fail`.
    FailVerdict,
    /// Answers of its model that could not be used as they were.
    Malformed,
}

impl DriftRate {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DriftRate::Retry => "retry",
            DriftRate::Failure => "failure",
            DriftRate::FailVerdict => "fail_verdict",
            DriftRate::Malformed => "malformed",
        }
    }
}

/// What R3 claimed to have done with a model, and what R4a found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimRate {
    /// R3's model.
    pub model: String,
    /// Attempts that R3 called completed and R4a judged.
    pub claims: u64,
    /// Those of which a criterion failed.
    pub refuted: u64,
}

/// Sums since the Auditor first looked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuditTotals {
    /// Records of the journal.
    pub records: u64,
    /// Tasks that were opened.
    pub tasks: u64,
    /// Tasks that ended in `accept`.
    pub accepted: u64,
    /// Tasks that ended in `success`: accepted with gaps.
    pub with_gaps: u64,
    /// Tasks that ended in `abandon`.
    pub abandoned: u64,
    /// Replans.
    pub replans: u64,
    /// Corrections.
    pub corrections: u64,
    /// Attempts of model calls.
    pub model_calls: u64,
    /// Tool calls that came back.
    pub tool_calls: u64,
    /// Tokens in and out.
    pub tokens: u64,
    /// Findings, by kind.
    pub findings: Vec<FindingCount>,
}

/// How often a kind of finding was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingCount {
    /// The kind.
    pub kind: FindingKind,
    /// How often.
    pub count: u64,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Who is accountable.
    pub accountable: RoleId,
    /// The task, where it is one task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The records it rests on, by their place in the task's stream; of a finding without a task, in the journal.
    pub records: Vec<u64>,
    /// When it was seen: the last record's time, or the time at which something was missed.
    pub at: Timestamp,
    /// What was seen.
    pub text: String,
}

/// What is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A message that no route allows, or a wish for something its role is not capable of.
    BoundaryViolation,
    /// Memory was written by somebody who may not.
    MemoryWrite,
    /// A sub-task id that was there before.
    DuplicateSubtask,
    /// A result of a sub-task that was not given out.
    ForeignSubtask,
    /// A round was closed without every sub-task's outcome.
    FanInIncomplete,
    /// A task with more than one end, or that is closed without one.
    FinalResult,
    /// More attempts than are allowed.
    RetriesAboveBudget,
    /// A hard budget was overrun.
    BudgetOverrun,
    /// Replans without the distance falling.
    ConvergenceFailure,
    /// Two `break_symmetry` in a row without the distance falling.
    GgsThrashing,
    /// R4b asked a model in a round in which an outcome failed.
    MergeAfterFailure,
    /// A claim that the evidence does not bear out (Law 0).
    FalseClaim,
    /// Something that cannot be undone was done without an approval (Law 1).
    UnapprovedAction,
    /// An answer of the world that nobody had asked for on record.
    UnrecordedEffect,
    /// A decision that its own numbers do not give.
    DecisionMismatch,
    /// A role left its own long-run band.
    RoleDrift,
    /// A tool fails far more often than it used to.
    ToolUnhealthy,
    /// A task that costs many times what tasks cost here.
    CostRunaway,
    /// A plan was let through against what memory forbids.
    ConstraintRelaxed,
    /// A criterion of the planner's own making was withdrawn, because what it rests on is shown not to be so.
    CriterionWithdrawn,
    /// A pass rests on tests or files that the work made or changed itself.
    SelfMadeEvidence,
    /// The task's criteria were dropped or changed.
    CriteriaChanged,
    /// A task that waits for nobody does not go on.
    TaskStalled,
    /// A machine failed, or does not replay.
    MachineFault,
    /// Records of the journal were lost, and that was accepted.
    JournalLoss,
    /// The journal cannot be read on.
    JournalDamaged,
    /// The Auditor's own log did not hold what it should, and was put aside.
    AuditLogDamaged,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing was broken.
    Notice,
    /// Something does not go as it should.
    Warning,
    /// A rule of the system was broken.
    Violation,
}

impl Severity {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Violation => "violation",
        }
    }
}

impl FindingKind {
    /// Every kind, in the order of the report.
    pub const ALL: [FindingKind; 27] = [
        FindingKind::BoundaryViolation,
        FindingKind::MemoryWrite,
        FindingKind::DuplicateSubtask,
        FindingKind::ForeignSubtask,
        FindingKind::FanInIncomplete,
        FindingKind::FinalResult,
        FindingKind::RetriesAboveBudget,
        FindingKind::BudgetOverrun,
        FindingKind::ConvergenceFailure,
        FindingKind::GgsThrashing,
        FindingKind::MergeAfterFailure,
        FindingKind::FalseClaim,
        FindingKind::UnapprovedAction,
        FindingKind::UnrecordedEffect,
        FindingKind::DecisionMismatch,
        FindingKind::RoleDrift,
        FindingKind::ToolUnhealthy,
        FindingKind::CostRunaway,
        FindingKind::ConstraintRelaxed,
        FindingKind::CriterionWithdrawn,
        FindingKind::SelfMadeEvidence,
        FindingKind::CriteriaChanged,
        FindingKind::TaskStalled,
        FindingKind::MachineFault,
        FindingKind::JournalLoss,
        FindingKind::JournalDamaged,
        FindingKind::AuditLogDamaged,
    ];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::BoundaryViolation => "boundary_violation",
            FindingKind::MemoryWrite => "memory_write",
            FindingKind::DuplicateSubtask => "duplicate_subtask",
            FindingKind::ForeignSubtask => "foreign_subtask",
            FindingKind::FanInIncomplete => "fan_in_incomplete",
            FindingKind::FinalResult => "final_result",
            FindingKind::RetriesAboveBudget => "retries_above_budget",
            FindingKind::BudgetOverrun => "budget_overrun",
            FindingKind::ConvergenceFailure => "convergence_failure",
            FindingKind::GgsThrashing => "ggs_thrashing",
            FindingKind::MergeAfterFailure => "merge_after_failure",
            FindingKind::FalseClaim => "false_claim",
            FindingKind::UnapprovedAction => "unapproved_action",
            FindingKind::UnrecordedEffect => "unrecorded_effect",
            FindingKind::DecisionMismatch => "decision_mismatch",
            FindingKind::RoleDrift => "role_drift",
            FindingKind::ToolUnhealthy => "tool_unhealthy",
            FindingKind::CostRunaway => "cost_runaway",
            FindingKind::ConstraintRelaxed => "constraint_relaxed",
            FindingKind::CriterionWithdrawn => "criterion_withdrawn",
            FindingKind::SelfMadeEvidence => "self_made_evidence",
            FindingKind::CriteriaChanged => "criteria_changed",
            FindingKind::TaskStalled => "task_stalled",
            FindingKind::MachineFault => "machine_fault",
            FindingKind::JournalLoss => "journal_loss",
            FindingKind::JournalDamaged => "journal_damaged",
            FindingKind::AuditLogDamaged => "audit_log_damaged",
        }
    }

    /// Returns the severity of findings of this kind.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            FindingKind::ConstraintRelaxed
            | FindingKind::CriterionWithdrawn
            | FindingKind::SelfMadeEvidence => Severity::Notice,
            FindingKind::ConvergenceFailure
            | FindingKind::GgsThrashing
            | FindingKind::RoleDrift
            | FindingKind::ToolUnhealthy
            | FindingKind::CostRunaway
            | FindingKind::TaskStalled => Severity::Warning,
            FindingKind::BoundaryViolation
            | FindingKind::MemoryWrite
            | FindingKind::DuplicateSubtask
            | FindingKind::ForeignSubtask
            | FindingKind::FanInIncomplete
            | FindingKind::FinalResult
            | FindingKind::RetriesAboveBudget
            | FindingKind::BudgetOverrun
            | FindingKind::MergeAfterFailure
            | FindingKind::FalseClaim
            | FindingKind::UnapprovedAction
            | FindingKind::UnrecordedEffect
            | FindingKind::DecisionMismatch
            | FindingKind::CriteriaChanged
            | FindingKind::MachineFault
            | FindingKind::JournalLoss
            | FindingKind::JournalDamaged
            | FindingKind::AuditLogDamaged => Severity::Violation,
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that names no kind of finding.
#[derive(Debug, thiserror::Error)]
#[error("read {0:?} as a kind of finding")]
pub struct FindingKindError(String);

impl FromStr for FindingKind {
    type Err = FindingKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        FindingKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| FindingKindError(text.chars().take(60).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_kinds_have_one_name_on_the_wire_and_in_text() {
        for kind in FindingKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse::<FindingKind>().unwrap(), kind);
        }
        assert!("nonsense".parse::<FindingKind>().is_err());
    }
}
