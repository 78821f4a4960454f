//! Every message, one file per message (or per question with its answer), in loop order.
//!
//! A message is plain data. States, classes and the loss are declared in `control`, the controller's arithmetic, and
//! re-exported here. [`crate::topology`] alone says who may send a message to whom.

mod abandon;
mod approval;
mod audit;
mod cancel_request;
mod clarification;
mod correction_signal;
mod criterion;
mod direct_answer;
mod dispatch_manifest;
mod execution_result;
mod final_result;
mod group_matched;
mod megram;
mod memory_command;
mod memory_query;
mod outcome_summary;
mod plan_directive;
mod plan_preview;
mod replan_request;
mod subtask;
mod subtask_outcome;
mod task_fault;
mod task_spec;
mod user_input;
mod verdict;

pub use self::abandon::{AbandonNotice, PartialReport};
pub use self::approval::{ApprovalDecision, ApprovalRequest, ApprovalWord};
pub use self::audit::{
    AuditQuery, AuditReport, AuditTotals, ClaimRate, DriftRate, ErrorCount, FailureCount, Finding,
    FindingCount, FindingKind, FindingKindError, GapRound, GapTrend, ModelHealth, RoleHealth, Severity,
    ToolHealth,
};
pub use self::cancel_request::CancelRequest;
pub use self::clarification::{Clarification, ClarificationAnswer, ClarificationRequest};
pub use self::correction_signal::CorrectionSignal;
pub use self::criterion::{Criterion, Origin, Withdrawal};
pub use self::direct_answer::DirectAnswer;
pub use self::dispatch_manifest::{DispatchManifest, ManifestEntry, RuleRef};
pub use self::execution_result::{ExecutionResult, ExecutionStatus, Unmet};
pub use self::final_result::{FinalResult, RoleUsage, UsageReport};
pub use self::group_matched::{BASELINE_GROUP, GroupMatched, SubTaskOutput};
pub use self::megram::{Insight, InsightCategory, Level, Megram, NegativeFeedback};
pub use self::memory_command::{MemoryCommand, MemoryListing};
pub use self::memory_query::{
    Availability, AvoidedCall, MemoryAction, MemoryQuery, MemoryReply, Potentials, SopKind, SopRecord,
    ToolPotentials,
};
pub use self::outcome_summary::OutcomeSummary;
pub use self::plan_directive::{DirectiveFinding, PlanDirective, RoundStanding};
pub use self::plan_preview::{PlanDecision, PlanProposal};
pub use self::replan_request::{Recommendation, ReplanRequest};
pub use self::subtask::{Approach, ApproachName, Limits, SubTask};
pub use self::subtask_outcome::{FailedCriterion, GapPoint, SubTaskOutcome};
pub use self::task_fault::TaskFault;
pub use self::task_spec::{Constraints, TaskSpec};
pub use self::user_input::UserInput;
pub use self::verdict::{Cite, JudgedBy, OutputWord, Shown, Strength, Verdict, VerdictWord};

pub use setpoint_control::{
    ActionState, DirectiveClass, EndState, EndedBy, FailureClass, FaultKind, Loss, MacroState, Mode,
    OutcomeStatus, Urgency,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::topology::{Kind, Payload};

/// A payload that may travel on the bus. Only the topology implements it, for the messages that it lists.
pub trait Message:
    Serialize + DeserializeOwned + JsonSchema + Into<Payload> + Clone + sealed::Sealed
{
    /// Its kind.
    const KIND: Kind;
}

pub(crate) mod sealed {
    /// Prevents implementations outside the topology.
    pub trait Sealed {}
}
