//! A condition that a result must meet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::Mode;

use crate::id::{CallId, CriterionId};
use crate::predicate::Check;

/// One falsifiable statement about the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    /// Its id, from the runtime.
    pub id: CriterionId,
    /// The statement.
    pub criterion: String,
    /// How firmly it can be judged.
    pub mode: Mode,
    /// How code judges it, where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Whose wish it is. Code tells it from the person's words, never a model.
    #[serde(default, skip_serializing_if = "Origin::is_planner")]
    pub origin: Origin,
    /// What it rests on that the survey did not show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumes: Option<String>,
}

impl Criterion {
    /// Returns the assumption in brackets after a space, for roles that work by the criterion or judge it; empty if it
    /// assumes nothing.
    #[must_use]
    pub fn assumed(&self) -> String {
        self.assumes.as_ref().map(|assumes| format!(" (assumes: {assumes})")).unwrap_or_default()
    }
}

/// Whose wish a criterion is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The planner's own making. It may be withdrawn, in the open, when what it rests on is shown not to be so.
    #[default]
    Planner,
    /// It rests on words of the person's. It is never withdrawn.
    Person,
}

impl Origin {
    /// Returns whether the Planner added the criterion.
    #[must_use]
    pub const fn is_planner(&self) -> bool {
        matches!(self, Origin::Planner)
    }
}

/// A criterion of the planner's own making that is withdrawn, because what it rests on is shown not to be so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Withdrawal {
    /// The criterion.
    pub criterion_id: CriterionId,
    /// Its statement.
    pub criterion: String,
    /// Why, in the planner's words.
    pub why: String,
    /// Calls of this task that show it, each cited by a verdict that the criterion cannot hold here.
    pub seen: Vec<CallId>,
    /// Not the criterion is withdrawn but its check, which could not be evaluated; it has another one now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check_replaced: bool,
}
