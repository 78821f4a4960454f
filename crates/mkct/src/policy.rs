//! What a pair's sums imply for the next plan (SPEC 7).

use std::fmt;

use crate::potential::Potentials;
use crate::threshold::{above, below};

/// Attention below which a pair is ignored.
pub const ATTENTION_GATE: f64 = 0.5;
/// Minimum distance of a decision from 0.
pub const DECISION_BAND: f64 = 0.2;

/// Advice to the planner about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Too little is remembered for any advice.
    Ignore,
    /// Do it the same way again.
    Exploit,
    /// Do not do it the same way again.
    Avoid,
    /// Go on with care: the memories contradict each other.
    Caution,
}

impl Action {
    /// Returns the advice that follows from these sums.
    #[must_use]
    pub fn of(potentials: Potentials) -> Self {
        let Potentials { attention, decision } = potentials;
        if below(attention, ATTENTION_GATE) {
            Action::Ignore
        } else if above(decision, DECISION_BAND) {
            Action::Exploit
        } else if below(decision, -DECISION_BAND) {
            Action::Avoid
        } else {
            Action::Caution
        }
    }

    /// Returns the name that people read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Action::Ignore => "Ignore",
            Action::Exploit => "Exploit",
            Action::Avoid => "Avoid",
            Action::Caution => "Caution",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
