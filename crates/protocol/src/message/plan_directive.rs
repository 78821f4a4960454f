//! The control input: which direction the next plan takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CallId, CriterionId, SubTaskId, ToolId};
use crate::message::subtask_outcome::SubTaskOutcome;
use crate::message::verdict::{FailureClass, Shown};

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
    /// Whether nothing was left.
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

/// The loss and its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// Distance between intent and result, 0 to 1.
    #[serde(rename = "D")]
    pub d: f64,
    /// Process implausibility, 0 to 1.
    #[serde(rename = "P")]
    pub p: f64,
    /// Resource cost, 0 to 1.
    #[serde(rename = "Omega")]
    pub omega: f64,
    /// α·D + β·(1 − Ω)·P + λ·Ω.
    #[serde(rename = "L")]
    pub l: f64,
}

/// The four states that ask for another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// Signal, environment: tighten parameters.
    Refine,
    /// Stuck, environment: another target.
    ChangePath,
    /// Signal, wrong method: another method.
    ChangeApproach,
    /// Stuck, wrong method: another class of tool.
    BreakSymmetry,
}

/// All states of the medium loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MacroState {
    /// Before the first decision.
    Init,
    /// See [`ActionState::Refine`].
    Refine,
    /// See [`ActionState::ChangePath`].
    ChangePath,
    /// See [`ActionState::ChangeApproach`].
    ChangeApproach,
    /// See [`ActionState::BreakSymmetry`].
    BreakSymmetry,
    /// Every criterion met.
    Accept,
    /// Close enough: 0 < D ≤ δ.
    Success,
    /// Given up.
    Abandon,
}

impl From<ActionState> for MacroState {
    fn from(state: ActionState) -> Self {
        match state {
            ActionState::Refine => MacroState::Refine,
            ActionState::ChangePath => MacroState::ChangePath,
            ActionState::ChangeApproach => MacroState::ChangeApproach,
            ActionState::BreakSymmetry => MacroState::BreakSymmetry,
        }
    }
}

impl MacroState {
    /// The name on the wire and in the UI.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MacroState::Init => "init",
            MacroState::Refine => "refine",
            MacroState::ChangePath => "change_path",
            MacroState::ChangeApproach => "change_approach",
            MacroState::BreakSymmetry => "break_symmetry",
            MacroState::Accept => "accept",
            MacroState::Success => "success",
            MacroState::Abandon => "abandon",
        }
    }
}

/// Which way the failures lean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectiveClass {
    /// P > 0.5.
    Logical,
    /// P < 0.5.
    Environmental,
    /// P = 0.5.
    Mixed,
    /// Nothing that failed has a class.
    Unknown,
}

/// From the sign of ∇L.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// ∇L ≤ −ε.
    Low,
    /// Between.
    Normal,
    /// ∇L ≥ ε.
    High,
}
