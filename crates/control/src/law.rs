//! The control law: what to do, given a task's history and its gains (SPEC 6.2).
//!
//! A law is one function, so that others can stand beside the reference on the same inputs and be
//! compared. It is chosen by name and recorded with the task.

use std::fmt;

use crate::compare;
use crate::gains::{self, Gains, GainsError, UnknownLaw};
use crate::gradient::Trend;
use crate::history::{History, Point};
use crate::measurement::{MeasurementError, finite};
use crate::ruling::{ActionState, EndedBy, Ruling};

/// One control law.
///
/// A law sees neither accepts nor the events that end a task before the table (cancel; a fault of kind
/// budget, deadline or consent; refused consent): no law can overrule those.
pub trait Law: fmt::Debug + Sync {
    /// The name in the configuration and in the journal.
    fn name(&self) -> &'static str;

    /// What to do about the round `current`, which follows the rounds of `history`. `is_fatal` if a fault that is not
    /// retryable closed it.
    ///
    /// The same arguments give the same ruling: the Auditor asks again, with what the journal recorded.
    fn rule(&self, history: &History, current: &Point, is_fatal: bool, gains: &Gains) -> Ruling;
}

/// The law with this name.
///
/// # Errors
/// [`UnknownLaw`], whose text lists the known names.
pub fn named(name: &str) -> Result<&'static dyn Law, UnknownLaw> {
    LAWS.iter()
        .copied()
        .find(|law| law.name() == name)
        .ok_or_else(|| UnknownLaw { name: name.to_owned(), known: names().join(", ") })
}

/// The law that governs a task under `gains`, which are checked first.
///
/// # Errors
/// [`GainsError`] for a value outside its range, and for a law that is not known.
pub fn governing(gains: &Gains) -> Result<&'static dyn Law, GainsError> {
    gains.check_ranges()?;
    Ok(named(&gains.law)?)
}

/// The names of all laws.
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

/// The numbers that the reference law looks at. All are finite: a NaN would fail every comparison and
/// fall through to `refine`.
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
    /// A cell of the table in a task's first round, without a fault.
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

    /// The same cell in a later round: after `worsening_count` worsening rounds in a row and as round
    /// `rounds`, `fatal` if a fault that is not retryable closed it.
    #[must_use]
    pub fn in_round(self, worsening_count: u32, rounds: u32, fatal: bool) -> Self {
        Self { worsening_count, rounds, fatal, ..self }
    }

    /// The cascade of SPEC 6.2: the first rule that applies. Complete and non-overlapping.
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

    /// A trajectory's points are made from checked measurements and validated gains, so they are finite.
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
    fn the_reference_settings_are_governed_by_the_reference() {
        assert_eq!(governing(&Gains::default()).unwrap().name(), "reference");
    }

    #[test]
    fn an_unknown_law_is_refused_by_name() {
        let gains = Gains { law: "pid".into(), ..Gains::default() };
        assert_eq!(governing(&gains).unwrap_err().to_string(), "accept law = \"pid\"");
    }
}
