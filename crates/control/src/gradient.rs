//! The change of the loss from round to round (SPEC 6.1), and its trend.
//!
//! ```text
//! ∇L = L − L_prev                                          0 in the first round
//! ∇L_budget = (λ − β·P_t)·(Ω_t − Ω_{t−1})                  the part of ∇L that is budget alone
//! ```
//!
//! The rest, `α·(D_t − D_{t−1}) + β_eff,t−1·(P_t − P_{t−1})`, is the change by the round itself.

use std::fmt;

use crate::compare;
use crate::gains::Gains;
use crate::loss::Loss;

/// ∇L of one round. No unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gradient {
    /// ∇L: positive is worse.
    pub grad_l: f64,
    /// Part of ∇L that the budget alone contributes: a round in which nothing else changed has
    /// `grad_l == grad_l_budget`.
    pub grad_l_budget: f64,
}

/// Trend of the loss. With signal (|∇L| ≥ ε) a round is either improving or worsening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// ∇L ≤ −ε.
    Improving,
    /// |∇L| < ε.
    Plateau,
    /// ∇L ≥ ε.
    Worsening,
}

impl Gradient {
    /// Returns the change from `previous` to `current`; zero if there is no previous round.
    #[must_use]
    pub fn between(previous: Option<&Loss>, current: &Loss, gains: &Gains) -> Self {
        previous.map_or_else(Self::default, |previous| Self {
            grad_l: current.l - previous.l,
            grad_l_budget: (gains.lambda - gains.beta * current.p) * (current.omega - previous.omega),
        })
    }

    /// Returns ∇L without the budget's part.
    #[must_use]
    pub fn net(&self) -> f64 {
        self.grad_l - self.grad_l_budget
    }

    /// Returns the trend of the whole ∇L.
    #[must_use]
    pub fn trend(&self, gains: &Gains) -> Trend {
        Trend::of(self.grad_l, gains)
    }

    /// Returns whether the round is worsening only because of the budget's part.
    #[must_use]
    pub fn worsens_by_budget_alone(&self, gains: &Gains) -> bool {
        self.trend(gains) == Trend::Worsening && Trend::of(self.net(), gains) != Trend::Worsening
    }
}

impl Trend {
    /// Returns the trend of a gradient, by ε.
    #[must_use]
    pub fn of(grad_l: f64, gains: &Gains) -> Self {
        if compare::at_least(grad_l, gains.epsilon) {
            Self::Worsening
        } else if compare::at_most(grad_l, -gains.epsilon) {
            Self::Improving
        } else {
            Self::Plateau
        }
    }

    /// Returns the name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Improving => "improving",
            Self::Plateau => "plateau",
            Self::Worsening => "worsening",
        }
    }
}

impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
