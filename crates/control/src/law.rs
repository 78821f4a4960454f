//! The control law: what to do, given a task's trajectory and its gains (SPEC 6.2).
//!
//! A law is one function, so that others can stand beside the reference on the same inputs and be
//! compared. It is chosen by name and recorded with the task.

use std::fmt;

use crate::compare;
use crate::decision::{EndedBy, Replan, Ruling};
use crate::gains::Gains;
use crate::gradient::Trend;
use crate::measurement::{MeasurementError, finite};
use crate::trajectory::{Point, Trajectory};

/// The name of the reference law, the default.
pub const REFERENCE: &str = "reference";

/// One control law.
///
/// A law sees neither accepts nor the events that end a task before the table (cancel; a fault of kind
/// budget, deadline or consent; refused consent): no law can overrule those.
pub trait Law: fmt::Debug + Sync {
    /// The name in the configuration and in the journal.
    fn name(&self) -> &'static str;

    /// What to do about the round `current`, which follows the rounds of `trajectory`.
    fn rule(&self, trajectory: &Trajectory, current: &Point, gains: &Gains) -> Ruling;
}

/// No law has the name that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("find a control law named {name:?}: known are {}", names().join(", "))]
pub struct UnknownLaw {
    /// What was asked for.
    pub name: String,
}

/// The law with this name.
///
/// # Errors
/// [`UnknownLaw`], whose text lists the known names.
pub fn named(name: &str) -> Result<&'static dyn Law, UnknownLaw> {
    LAWS.iter().copied().find(|law| law.name() == name).ok_or_else(|| UnknownLaw { name: name.to_owned() })
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
        REFERENCE
    }

    fn rule(&self, _trajectory: &Trajectory, current: &Point, gains: &Gains) -> Ruling {
        Cell::of(current).rule(gains)
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
            (false, true) => Replan::BreakSymmetry,
            (true, true) => Replan::ChangeApproach,
            (false, false) => Replan::ChangePath,
            (true, false) => Replan::Refine,
        })
    }

    /// A trajectory's points are made from checked measurements and validated gains, so they are finite.
    fn of(point: &Point) -> Self {
        Self {
            grad_l: point.gradient.grad_l,
            d: point.loss.d,
            p: point.loss.p,
            omega: point.loss.omega,
            worsening_count: point.worsening_count,
            rounds: point.rounds,
            fatal: point.fatal,
        }
    }
}

static LAWS: [&dyn Law; 1] = [&Reference];
