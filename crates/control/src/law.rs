//! The control law: the next step, from a task's history and its gains (SPEC 6.2).
//!
//! A law is one function, so that other laws can be compared with the reference on the same inputs. It is chosen by
//! name, and the name is recorded with the task.

use std::fmt;

use crate::compare;
use crate::gains::{self, Gains, GainsError, UnknownLaw};
use crate::gradient::Trend;
use crate::history::{History, Point};
use crate::measurement::{MeasurementError, finite};
use crate::ruling::{ActionState, EndedBy, Ruling};

/// A control law.
///
/// A law is not asked about accepts and the events that end a task before the table (cancel; a fault of kind
/// budget, deadline, consent or infeasible; refused consent), so it cannot overrule them.
pub trait Law: fmt::Debug + Sync {
    /// Returns the name in the configuration and in the journal.
    fn name(&self) -> &'static str;

    /// Rules on the round `current`, which follows the rounds of `history`. `is_fatal` is true if a fault that is not
    /// retryable ended the round.
    ///
    /// The same arguments must give the same ruling: the Auditor asks again, with what the journal recorded.
    fn rule(&self, history: &History, current: &Point, is_fatal: bool, gains: &Gains) -> Ruling;
}

/// Returns the law with this name.
///
/// # Errors
/// [`UnknownLaw`], whose text lists the known names.
pub fn named(name: &str) -> Result<&'static dyn Law, UnknownLaw> {
    LAWS.iter()
        .copied()
        .find(|law| law.name() == name)
        .ok_or_else(|| UnknownLaw { name: name.to_owned(), known: names().join(", ") })
}

/// Returns the law that governs a task under `gains`, after checking them.
///
/// # Errors
/// [`GainsError`] for a value outside its range, or an unknown law.
pub fn governing(gains: &Gains) -> Result<&'static dyn Law, GainsError> {
    gains.check_ranges()?;
    Ok(named(&gains.law)?)
}

/// Returns the names of all laws.
#[must_use]
pub fn names() -> Vec<&'static str> {
    LAWS.iter().map(|law| law.name()).collect()
}

/// The law of SPEC 6.2.
#[derive(Debug)]
pub struct Reference;

impl Law for Reference {
    fn name(&self) -> &'static str {
        gains::REFERENCE_LAW
    }

    fn rule(&self, _: &History, current: &Point, is_fatal: bool, gains: &Gains) -> Ruling {
        Cell::of(current, is_fatal).rule(gains)
    }
}

/// The numbers that the reference law uses. All are finite: a NaN would fail every comparison and
/// lead to `refine`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    grad_l: f64,
    d: f64,
    p: f64,
    omega: f64,
    worsening_count: u32,
    rounds: u32,
    fatal: bool,
}

impl Cell {
    /// Creates a cell for a task's first round, without a fault.
    ///
    /// # Errors
    /// [`MeasurementError::NotFinite`] for a NaN or an infinite number.
    pub fn new(grad_l: f64, d: f64, p: f64, omega: f64) -> Result<Self, MeasurementError> {
        finite("grad_l", grad_l)?;
        finite("D", d)?;
        finite("P", p)?;
        finite("Omega", omega)?;
        Ok(Self { grad_l, d, p, omega, worsening_count: 0, rounds: 1, fatal: false })
    }

    /// Returns the same cell for a later round: with `worsening_count` consecutive worsening rounds, numbered `rounds`, and
    /// `fatal` if a fault that is not retryable ended it.
    #[must_use]
    pub fn in_round(self, worsening_count: u32, rounds: u32, fatal: bool) -> Self {
        Self { worsening_count, rounds, fatal, ..self }
    }

    /// Applies the cascade of SPEC 6.2: the first rule that applies. The rules are complete and do not overlap.
    #[must_use]
    pub fn rule(&self, gains: &Gains) -> Ruling {
        if compare::at_least(self.omega, gains.theta) {
            return Ruling::End(EndedBy::Omega);
        }
        if compare::at_most(self.d, gains.delta) {
            return Ruling::End(EndedBy::Distance);
        }
        if self.worsening_count >= gains.law2_rounds {
            return Ruling::End(EndedBy::Law2);
        }
        if self.rounds > gains.max_replans {
            return Ruling::End(EndedBy::Rounds);
        }
        if self.fatal {
            return Ruling::End(EndedBy::Fault);
        }
        let signal = Trend::of(self.grad_l, gains) != Trend::Plateau;
        let logical = compare::above(self.p, gains.rho);
        Ruling::Replan(match (signal, logical) {
            (false, true) => ActionState::BreakSymmetry,
            (true, true) => ActionState::ChangeApproach,
            (false, false) => ActionState::ChangePath,
            (true, false) => ActionState::Refine,
        })
    }

    /// Creates a cell from a trajectory's point, which is finite: its measurement and gains were checked.
    fn of(point: &Point, fatal: bool) -> Self {
        Self {
            grad_l: point.gradient.grad_l,
            d: point.loss.d,
            p: point.loss.p,
            omega: point.loss.omega,
            worsening_count: point.worsening_count,
            rounds: point.rounds,
            fatal,
        }
    }
}

static LAWS: [&dyn Law; 1] = [&Reference];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_gains_select_the_reference_law() {
        assert_eq!(governing(&Gains::default()).unwrap().name(), "reference");
    }

    #[test]
    fn unknown_law_is_refused_by_name() {
        let gains = Gains { law: "pid".into(), ..Gains::default() };
        assert_eq!(governing(&gains).unwrap_err().to_string(), "accept law = \"pid\"");
    }
}
