//! The controller's settings: every symbol of SPEC 6.1's table and the choices of SPEC 6.2.
//!
//! Gains are validated once, when a task's trajectory starts, and govern the whole task.

use std::fmt;
use std::str::FromStr;

use crate::law::{self, UnknownLaw};

/// The longest time budget that can be set, in milliseconds: 365 days.
pub const TIME_BUDGET_MS_MAX: u64 = 365 * 24 * 60 * 60 * 1_000;
/// The largest number of replans that can be set.
pub const REPLANS_MAX: u32 = 100;
/// The largest number of worsening rounds in a row that Law 2 can be set to.
pub const LAW2_ROUNDS_MAX: u32 = 100;

/// The settings that govern one task. `Default` is the reference table of SPEC 6.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Gains {
    /// α: weight of the distance D in the loss. No unit, 0 to 10.
    pub alpha: f64,
    /// β: weight of the logical share P in the loss, before it fades with Ω. No unit, 0 to 10.
    pub beta: f64,
    /// λ: weight of the budget pressure Ω in the loss. No unit, 0 to 10.
    pub lambda: f64,
    /// w1: share of the rounds in Ω. No unit, 0 to 10.
    pub w1: f64,
    /// w2: share of the time in Ω. No unit, 0 to 10.
    pub w2: f64,
    /// ε: the |∇L| from which a round carries signal; below it the round is a plateau. 0.000001 to 10.
    pub epsilon: f64,
    /// δ: the distance D up to which the result is close enough. 0 to 0.999, since D = 1 means that
    /// nothing was achieved, which is never close enough.
    pub delta: f64,
    /// ρ: the logical share P above which the approach is held to be wrong. 0 to 1.
    pub rho: f64,
    /// θ: the budget pressure Ω from which the task is given up. 0.01 to 1.
    pub theta: f64,
    /// The soft time budget in milliseconds, 1 to [`TIME_BUDGET_MS_MAX`].
    pub time_budget_ms: u64,
    /// How many replans a task may have, 1 to [`REPLANS_MAX`].
    pub max_replans: u32,
    /// How many worsening rounds in a row end a task (Law 2), 1 to [`LAW2_ROUNDS_MAX`].
    pub law2_rounds: u32,
    /// Which gradient Law 2 counts.
    pub law2_gradient: Law2Gradient,
    /// What urgency changes.
    pub urgency: UrgencyEffect,
    /// The control law's name; one of [`law::names`].
    pub law: String,
}

/// Which gradient Law 2 counts as worsening (SPEC 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Law2Gradient {
    /// The whole ∇L, the budget's part included.
    #[default]
    Full,
    /// ∇L without the part that is budget alone.
    Net,
}

/// What urgency changes (SPEC 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UrgencyEffect {
    /// How firmly the directive is worded, and nothing else.
    #[default]
    Words,
    /// The blocked sets too: low narrows `refine` to the newest targets, high widens `change_approach`
    /// to the tools of all rounds.
    Sets,
}

/// Why gains were refused. Names the key as the configuration spells it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GainsError {
    /// The value is NaN or infinite.
    #[error("accept {key} = {value}: it must be a finite number from {min} to {max}")]
    NotFinite {
        /// The key.
        key: &'static str,
        /// What was given.
        value: f64,
        /// The least allowed value.
        min: f64,
        /// The greatest allowed value.
        max: f64,
    },
    /// The value lies outside the allowed range.
    #[error("accept {key} = {value}: it must be from {min} to {max}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What was given.
        value: f64,
        /// The least allowed value.
        min: f64,
        /// The greatest allowed value.
        max: f64,
    },
    /// The value of a choice is none of its names.
    #[error("accept {key} = {value:?}: it must be one of {known}")]
    UnknownChoice {
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// The known names, separated by commas.
        known: &'static str,
    },
    /// No law has this name.
    #[error("accept law = {:?}", .0.name)]
    Law(#[from] UnknownLaw),
}

impl Default for Gains {
    fn default() -> Self {
        Self {
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
            urgency: UrgencyEffect::default(),
            law: law::REFERENCE.to_owned(),
        }
    }
}

impl Gains {
    /// Checks every value against its range and the law against the known ones.
    ///
    /// # Errors
    /// [`GainsError`] for the first key, in the order of the fields, whose value is not allowed.
    pub fn validate(&self) -> Result<(), GainsError> {
        for (key, value, min, max) in self.ranges() {
            if !value.is_finite() {
                return Err(GainsError::NotFinite { key, value, min, max });
            }
            if value < min || value > max {
                return Err(GainsError::OutOfRange { key, value, min, max });
            }
        }
        law::named(&self.law)?;
        Ok(())
    }

    /// Key, value, least and greatest allowed value. Every bound is exact in f64.
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

impl Law2Gradient {
    /// The name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Net => "net",
        }
    }
}

impl UrgencyEffect {
    /// The name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Sets => "sets",
        }
    }
}

impl fmt::Display for Law2Gradient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for UrgencyEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Law2Gradient {
    type Err = GainsError;

    fn from_str(name: &str) -> Result<Self, GainsError> {
        match name {
            "full" => Ok(Self::Full),
            "net" => Ok(Self::Net),
            _ => Err(GainsError::UnknownChoice {
                key: "law2_gradient",
                value: name.to_owned(),
                known: "full, net",
            }),
        }
    }
}

impl FromStr for UrgencyEffect {
    type Err = GainsError;

    fn from_str(name: &str) -> Result<Self, GainsError> {
        match name {
            "words" => Ok(Self::Words),
            "sets" => Ok(Self::Sets),
            _ => Err(GainsError::UnknownChoice {
                key: "urgency",
                value: name.to_owned(),
                known: "words, sets",
            }),
        }
    }
}

/// Weights above this would only scale the others away.
const WEIGHT_MAX: f64 = 10.0;
/// Far above the comparison tolerance: at ε = 0 a round without change would improve and worsen at once.
const EPSILON_MIN: f64 = 1e-6;
/// Below 1 by far more than the tolerance: a fault measures D = 1 and must never count as success.
const DELTA_MAX: f64 = 0.999;
/// A θ of 0 would give up every task before its first round is weighed.
const THETA_MIN: f64 = 0.01;

/// Milliseconds as f64: exact up to 2^53, 285,000 years; what is beyond, the range check refuses.
pub(crate) fn ms(milliseconds: u64) -> f64 {
    milliseconds as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_table_is_valid() {
        assert_eq!(Gains::default().validate(), Ok(()));
    }

    /// Every numeric key is covered: each is broken alone, and the error names it, the value and the range.
    #[test]
    fn each_key_is_refused_by_name() {
        type Break = fn(&mut Gains);
        let cases: [(Break, &str); 14] = [
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
            (|g| g.law = "pid".into(), "accept law = \"pid\""),
        ];
        for (break_one, text) in cases {
            let mut gains = Gains::default();
            break_one(&mut gains);
            assert_eq!(gains.validate().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn the_ends_of_a_range_are_allowed() {
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
        assert_eq!(low.validate(), Ok(()));
        let high = Gains {
            delta: 0.999,
            rho: 1.0,
            theta: 1.0,
            time_budget_ms: TIME_BUDGET_MS_MAX,
            max_replans: REPLANS_MAX,
            law2_rounds: LAW2_ROUNDS_MAX,
            ..Gains::default()
        };
        assert_eq!(high.validate(), Ok(()));
    }

    #[test]
    fn choices_are_read_by_name() {
        assert_eq!("net".parse(), Ok(Law2Gradient::Net));
        assert_eq!("sets".parse(), Ok(UrgencyEffect::Sets));
        assert_eq!(
            "half".parse::<Law2Gradient>().unwrap_err().to_string(),
            "accept law2_gradient = \"half\": it must be one of full, net"
        );
        assert_eq!(
            "".parse::<UrgencyEffect>().unwrap_err().to_string(),
            "accept urgency = \"\": it must be one of words, sets"
        );
    }
}
