//! What governs a task and is recorded with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::Money;

/// The controller's settings (SPEC section 6.1), as they stand in the configuration and in the journal.
/// `setpoint_control::Gains` validates the ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ControllerSettings {
    /// The law's name.
    pub law: String,
    /// α, the weight of the distance D.
    pub alpha: f64,
    /// β, the weight of the process implausibility P before it is scaled by what is left of the budget.
    pub beta: f64,
    /// λ, the weight of the resource cost Ω.
    pub lambda: f64,
    /// w1, the share of rounds in Ω.
    pub w1: f64,
    /// w2, the share of time in Ω.
    pub w2: f64,
    /// ε, the plateau threshold of |∇L|.
    pub epsilon: f64,
    /// δ, the convergence threshold of D.
    pub delta: f64,
    /// ρ, the threshold of P above which failures count as logical.
    pub rho: f64,
    /// θ, the threshold of Ω from which the task is abandoned.
    pub theta: f64,
    /// Time budget in milliseconds.
    pub time_budget_ms: u64,
    /// Replans that Ω counts against.
    pub max_replans: u32,
    /// Worsening rounds in a row that end the task.
    pub law2_rounds: u32,
    /// Whether Law 2 counts the part of the gradient that is budget alone.
    pub law2_gradient: Law2Gradient,
    /// What urgency changes.
    pub urgency: UrgencyMode,
}

impl Default for ControllerSettings {
    fn default() -> Self {
        ControllerSettings {
            law: "reference".to_owned(),
            alpha: 0.6,
            beta: 0.3,
            lambda: 0.4,
            w1: 0.6,
            w2: 0.4,
            epsilon: 0.1,
            delta: 0.3,
            rho: 0.5,
            theta: 0.8,
            time_budget_ms: 300_000,
            max_replans: 3,
            law2_rounds: 2,
            law2_gradient: Law2Gradient::Full,
            urgency: UrgencyMode::Words,
        }
    }
}

/// Which gradient Law 2 looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Law2Gradient {
    /// ∇L as it is.
    #[default]
    Full,
    /// ∇L without `grad_l_budget`.
    Net,
}

/// What urgency changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UrgencyMode {
    /// The directive's wording and the number of alternatives to weigh.
    #[default]
    Words,
    /// The blocked sets as well.
    Sets,
}

/// Hard limits of one task. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens in and out together.
    pub tokens: Option<u64>,
    /// Money, in the currency of the price table.
    pub money: Option<Money>,
}
