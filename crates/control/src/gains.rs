//! The controller's settings: every symbol of SPEC 6.1's table and the choices of SPEC 6.2.
//!
//! Gains are checked once, when a task's trajectory starts, and govern the whole task.

/// Longest time budget that can be set, in milliseconds: 365 days.
pub const TIME_BUDGET_MS_MAX: u64 = 365 * 24 * 60 * 60 * 1_000;
/// Largest number of replans that can be set.
pub const REPLANS_MAX: u32 = 100;
/// Largest number of consecutive worsening rounds that can be set for Law 2.
pub const LAW2_ROUNDS_MAX: u32 = 100;
/// Name of the law of SPEC 6.2, the default.
pub const REFERENCE_LAW: &str = "reference";

// The documentation of the types below is also the description in the JSON Schema of the messages, and the order of the
// fields is the order in the JSON. `Gains::ranges` has each number's range.

/// The controller's settings (SPEC section 6.1), as they stand in the configuration and in the journal.
/// `setpoint_control::Gains` validates the ranges.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "ControllerSettings"))]
pub struct Gains {
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

/// Which gradient Law 2 looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Law2Gradient {
    /// ∇L as it is.
    #[default]
    Full,
    /// ∇L without `grad_l_budget`.
    Net,
}

/// What urgency changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum UrgencyMode {
    /// The directive's wording and the number of alternatives to weigh.
    #[default]
    Words,
    /// The blocked sets as well.
    Sets,
}

/// Why gains were refused, with the key as the configuration spells it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GainsError {
    /// The value is NaN or infinite.
    #[error("accept {key} = {value}: it must be a finite number from {min} to {max}")]
    NotFinite {
        /// Key of the setting.
        key: &'static str,
        /// The refused value.
        value: f64,
        /// Minimum allowed value.
        min: f64,
        /// Greatest allowed value.
        max: f64,
    },
    /// The value is outside the allowed range.
    #[error("accept {key} = {value}: it must be from {min} to {max}")]
    OutOfRange {
        /// Key of the setting.
        key: &'static str,
        /// The refused value.
        value: f64,
        /// Minimum allowed value.
        min: f64,
        /// Greatest allowed value.
        max: f64,
    },
    /// No law has this name.
    #[error("accept law = {:?}", .0.name)]
    Law(#[from] UnknownLaw),
}

/// No law has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("find a control law named {name:?}: known are {known}")]
pub struct UnknownLaw {
    /// The unknown name.
    pub name: String,
    /// The known names, separated by commas.
    pub known: String,
}

impl Default for Gains {
    fn default() -> Self {
        Self {
            law: REFERENCE_LAW.to_owned(),
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
            law2_gradient: Law2Gradient::default(),
            urgency: UrgencyMode::default(),
        }
    }
}

impl Gains {
    /// Checks every number against its range. [`crate::law::governing`] also checks the law.
    ///
    /// # Errors
    /// [`GainsError`] for the first key, in the order of the fields, whose value is not allowed.
    pub fn check_ranges(&self) -> Result<(), GainsError> {
        for (key, value, min, max) in self.ranges() {
            if !value.is_finite() {
                return Err(GainsError::NotFinite { key, value, min, max });
            }
            if value < min || value > max {
                return Err(GainsError::OutOfRange { key, value, min, max });
            }
        }
        Ok(())
    }

    /// Returns key, value, least and greatest allowed value of every number. Each bound is exact in `f64`.
    fn ranges(&self) -> [(&'static str, f64, f64, f64); 12] {
        [
            ("alpha", self.alpha, 0.0, WEIGHT_MAX),
            ("beta", self.beta, 0.0, WEIGHT_MAX),
            ("lambda", self.lambda, 0.0, WEIGHT_MAX),
            ("w1", self.w1, 0.0, WEIGHT_MAX),
            ("w2", self.w2, 0.0, WEIGHT_MAX),
            ("epsilon", self.epsilon, EPSILON_MIN, WEIGHT_MAX),
            ("delta", self.delta, 0.0, DELTA_MAX),
            ("rho", self.rho, 0.0, 1.0),
            ("theta", self.theta, THETA_MIN, 1.0),
            ("time_budget_ms", ms(self.time_budget_ms), 1.0, ms(TIME_BUDGET_MS_MAX)),
            ("max_replans", f64::from(self.max_replans), 1.0, f64::from(REPLANS_MAX)),
            ("law2_rounds", f64::from(self.law2_rounds), 1.0, f64::from(LAW2_ROUNDS_MAX)),
        ]
    }
}

/// A larger weight would only make the other weights negligible.
const WEIGHT_MAX: f64 = 10.0;
/// Far above the comparison tolerance: with ε = 0 a round without change would both improve and worsen.
const EPSILON_MIN: f64 = 1e-6;
/// Below 1 by far more than the tolerance: a fault measures D = 1 and must never count as success.
const DELTA_MAX: f64 = 0.999;
/// With θ = 0 every task would be abandoned in its first round.
const THETA_MIN: f64 = 0.01;

/// Converts milliseconds to `f64`: exact up to 2^53, 285,000 years; the range check refuses more.
pub(crate) fn ms(milliseconds: u64) -> f64 {
    milliseconds as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_gains_are_in_range() {
        assert_eq!(Gains::default().check_ranges(), Ok(()));
    }

    /// Sets each numeric key alone to a bad value; the error must name the key, the value and the range.
    #[test]
    fn each_key_out_of_range_is_refused_by_name() {
        type Break = fn(&mut Gains);
        let cases: [(Break, &str); 13] = [
            (|g| g.alpha = -0.1, "accept alpha = -0.1: it must be from 0 to 10"),
            (|g| g.beta = 10.5, "accept beta = 10.5: it must be from 0 to 10"),
            (|g| g.lambda = f64::NAN, "accept lambda = NaN: it must be a finite number from 0 to 10"),
            (|g| g.w1 = f64::INFINITY, "accept w1 = inf: it must be a finite number from 0 to 10"),
            (|g| g.w2 = f64::NEG_INFINITY, "accept w2 = -inf: it must be a finite number from 0 to 10"),
            (|g| g.epsilon = 0.0, "accept epsilon = 0: it must be from 0.000001 to 10"),
            (|g| g.delta = 1.0, "accept delta = 1: it must be from 0 to 0.999"),
            (|g| g.rho = 1.5, "accept rho = 1.5: it must be from 0 to 1"),
            (|g| g.theta = 0.0, "accept theta = 0: it must be from 0.01 to 1"),
            (|g| g.time_budget_ms = 0, "accept time_budget_ms = 0: it must be from 1 to 31536000000"),
            (|g| g.max_replans = 0, "accept max_replans = 0: it must be from 1 to 100"),
            (|g| g.max_replans = 101, "accept max_replans = 101: it must be from 1 to 100"),
            (|g| g.law2_rounds = 0, "accept law2_rounds = 0: it must be from 1 to 100"),
        ];
        for (break_one, text) in cases {
            let mut gains = Gains::default();
            break_one(&mut gains);
            assert_eq!(gains.check_ranges().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn ends_of_a_range_are_allowed() {
        let low = Gains {
            alpha: 0.0,
            beta: 0.0,
            lambda: 0.0,
            w1: 0.0,
            w2: 0.0,
            epsilon: 1e-6,
            delta: 0.0,
            rho: 0.0,
            theta: 0.01,
            time_budget_ms: 1,
            max_replans: 1,
            law2_rounds: 1,
            ..Gains::default()
        };
        assert_eq!(low.check_ranges(), Ok(()));
        let high = Gains {
            delta: 0.999,
            rho: 1.0,
            theta: 1.0,
            time_budget_ms: TIME_BUDGET_MS_MAX,
            max_replans: REPLANS_MAX,
            law2_rounds: LAW2_ROUNDS_MAX,
            ..Gains::default()
        };
        assert_eq!(high.check_ranges(), Ok(()));
    }
}
