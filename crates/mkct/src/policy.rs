//! What a pair's sums say about the next plan (SPEC 7).

use std::fmt;

use crate::potential::Potentials;
use crate::threshold::{above, below};

/// Attention below which a pair says nothing.
pub const ATTENTION_GATE: f64 = 0.5;
/// How far from 0 a decision must lie to be one.
pub const DECISION_BAND: f64 = 0.2;

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Nothing: too little is remembered.
    Ignore,
    /// Do it again as it was done.
    Exploit,
    /// Do not do it as it was done.
    Avoid,
    /// Go on with care: memory is of two minds.
    Caution,
}

impl Action {
    /// What follows from these sums.
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

    /// The name that people read.
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
