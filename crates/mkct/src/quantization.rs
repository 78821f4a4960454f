//! The table of SPEC 6.4: from a task's state to the numbers of its Megram.

use std::fmt;
use std::str::FromStr;

/// The task states that leave a Megram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The task was abandoned.
    Abandon,
    /// Every criterion was met.
    Accept,
    /// The approach was wrong.
    ChangeApproach,
    /// The result was good enough, with gaps.
    Success,
    /// An approach unlike any before succeeded.
    BreakSymmetry,
    /// The path was blocked; the approach may still be right.
    ChangePath,
    /// The result was nearly right.
    Refine,
}

/// The numbers of one Megram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantum {
    /// f: strength of the memory. No unit, 0 to 1.
    pub f: f64,
    /// σ: value of the experience, from −1 (avoid) to 1 (repeat).
    pub sigma: f64,
    /// k: decay, in 1/days, not negative. After t days e^(−k·t) of the strength is left.
    pub k: f64,
}

/// Numbers of a K Megram: the output of a sub-task that matched, kept for the task's later rounds
/// (SPEC 6.4).
pub const MATCHED_OUTPUT: Quantum = Quantum { f: 0.5, sigma: 0.0, k: 0.5 };

/// Numbers of a hypothesis: weak, slightly in favour, forgotten after five and a half days. Our choice: the sources name none.
pub const HYPOTHESIS: Quantum = Quantum { f: 0.3, sigma: 0.5, k: 0.2 };

/// Returns the numbers of an M Megram written in this state (SPEC 6.4).
#[must_use]
pub const fn quantize(state: State) -> Quantum {
    let (f, sigma, k) = match state {
        State::Abandon => (0.95, -1.0, 0.05),
        State::Accept => (0.90, 1.0, 0.05),
        State::ChangeApproach => (0.85, -1.0, 0.05),
        State::Success => (0.80, 1.0, 0.05),
        State::BreakSymmetry => (0.75, 1.0, 0.05),
        State::ChangePath => (0.30, 0.0, 0.2),
        State::Refine => (0.10, 0.5, 0.5),
    };
    Quantum { f, sigma, k }
}

/// Why a record may not have these numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum QuantumError {
    /// f is out of range.
    #[error("use f = {0}: it must be a number from 0 to 1")]
    Strength(f64),
    /// σ is out of range.
    #[error("use sigma = {0}: it must be a number from -1 to 1")]
    Sign(f64),
    /// k is out of range.
    #[error("use k = {0}: it must be a number from 0 to {K_MAX}, in 1/days")]
    Decay(f64),
}

/// Fastest decay allowed, in 1/days: a half-life of a minute.
pub const K_MAX: f64 = 1_000.0;

impl Quantum {
    /// Returns the same numbers if a record may have them. Applied to numbers from outside, because one number that is not
    /// finite would make a whole sum useless.
    ///
    /// # Errors
    /// If a number is not finite or out of its range.
    pub fn check(self) -> Result<Self, QuantumError> {
        if !(0.0..=1.0).contains(&self.f) {
            return Err(QuantumError::Strength(self.f));
        }
        if !(-1.0..=1.0).contains(&self.sigma) {
            return Err(QuantumError::Sign(self.sigma));
        }
        if !(0.0..=K_MAX).contains(&self.k) {
            return Err(QuantumError::Decay(self.k));
        }
        Ok(self)
    }
}

/// No state has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("find a state named {name:?}: known are {}", State::ALL.map(State::name).join(", "))]
pub struct UnknownState {
    /// The unknown name.
    pub name: String,
}

impl State {
    /// All states, strongest first.
    pub const ALL: [Self; 7] = [
        Self::Abandon,
        Self::Accept,
        Self::ChangeApproach,
        Self::Success,
        Self::BreakSymmetry,
        Self::ChangePath,
        Self::Refine,
    ];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abandon => "abandon",
            Self::Accept => "accept",
            Self::ChangeApproach => "change_approach",
            Self::Success => "success",
            Self::BreakSymmetry => "break_symmetry",
            Self::ChangePath => "change_path",
            Self::Refine => "refine",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(name: &str) -> Result<Self, UnknownState> {
        let state = Self::ALL.into_iter().find(|state| state.name() == name);
        state.ok_or_else(|| UnknownState { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table is ordered by strength, and neutral or weak states also fade faster.
    #[test]
    fn table_is_ordered_by_strength() {
        let table = State::ALL.map(quantize);
        assert!(table.windows(2).all(|pair| pair[0].f > pair[1].f && pair[0].k <= pair[1].k));
        assert!(table.iter().all(|row| (-1.0..=1.0).contains(&row.sigma) && row.k > 0.0 && row.f <= 1.0));
    }

    #[test]
    fn sigma_is_negative_for_wrong_approaches_and_zero_for_paths() {
        let with_sign = |sign: fn(f64) -> bool| {
            State::ALL.into_iter().filter(|&state| sign(quantize(state).sigma)).collect::<Vec<_>>()
        };
        assert_eq!(with_sign(|sigma| sigma < 0.0), [State::Abandon, State::ChangeApproach]);
        assert_eq!(with_sign(|sigma| sigma == 0.0), [State::ChangePath]);
    }

    #[test]
    fn numbers_not_finite_or_out_of_range_are_refused() {
        for state in State::ALL {
            assert_eq!(quantize(state).check(), Ok(quantize(state)));
        }
        let usual = quantize(State::Accept);
        for wrong in [f64::NAN, f64::INFINITY, -1.5, 1_001.0] {
            assert!(Quantum { f: wrong, ..usual }.check().is_err());
            assert!(Quantum { sigma: wrong, ..usual }.check().is_err());
            assert!(Quantum { k: wrong, ..usual }.check().is_err());
        }
        assert_eq!(
            Quantum { f: -0.1, ..usual }.check().unwrap_err().to_string(),
            "use f = -0.1: it must be a number from 0 to 1"
        );
    }

    #[test]
    fn states_are_read_by_name() {
        for state in State::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
        assert_eq!(
            "init".parse::<State>().unwrap_err().to_string(),
            "find a state named \"init\": known are abandon, accept, change_approach, success, \
             break_symmetry, change_path, refine"
        );
    }
}
