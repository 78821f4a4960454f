//! The control input: which direction the next plan takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{ActionState, DirectiveClass, FailureClass, Loss, MacroState, Urgency};

use crate::id::{CallId, CriterionId, SubTaskId, ToolId};
use crate::message::subtask_outcome::SubTaskOutcome;
use crate::message::verdict::Shown;

/// A directed replan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDirective {
    /// The round's loss.
    pub loss: Loss,
    /// The state before.
    pub prev_directive: MacroState,
    /// The direction: one of the four action states.
    pub directive: ActionState,
    /// Tools that the next plan may not use, sorted.
    pub blocked_tools: Vec<ToolId>,
    /// Targets that the next plan may not use, in first-seen order, as `<tool>: <target>`.
    pub blocked_targets: Vec<String>,
    /// The first failed criterion, in words.
    pub failed_criterion: String,
    /// Which way the failures lean.
    pub failure_class: DirectiveClass,
    /// What failed and what was seen.
    pub findings: Vec<DirectiveFinding>,
    /// Ω, between 0 and 1.
    pub budget_pressure: f64,
    /// Outcomes that matched and are kept.
    pub matched: Vec<SubTaskOutcome>,
    /// What else stands, for the next plan to build on.
    #[serde(default, skip_serializing_if = "RoundStanding::is_empty")]
    pub standing: RoundStanding,
    /// The sub-tasks that failed.
    pub failed_subtasks: Vec<SubTaskId>,
    /// ∇L.
    pub grad_l: f64,
    /// The part of ∇L that is budget alone.
    pub grad_l_budget: f64,
    /// How firmly the directive is worded.
    pub urgency: Urgency,
    /// Why, with the numbers.
    pub rationale: String,
}

/// What a round left behind besides the outcomes that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundStanding {
    /// Criteria of failed sub-tasks and of the whole that hold, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// Calls that changed something, as `<tool>: <target>`, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What the last failed sub-task answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl RoundStanding {
    /// Returns whether every part is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == RoundStanding::default()
    }
}

/// One failed criterion as R2 sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectiveFinding {
    /// The criterion, where one was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion_id: Option<CriterionId>,
    /// Whether its check says nothing of what it looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unevaluable: bool,
    /// The criterion, in words.
    pub criterion: String,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    /// What the failure came to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// What was seen.
    pub evidence: String,
    /// The calls that it was seen in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<CallId>,
}
