//! The controller's state for one task, from the first round to the ending (SPEC 6).
//!
//! A task has one [`Trajectory`], created when the task starts and dropped when it ends; tasks share
//! nothing.

use crate::blocked::{RoundFailures, TriedPairs};
use crate::decision::{Decision, DirectiveClass};
use crate::gains::{Gains, GainsError};
use crate::history::{History, Point};
use crate::law::{self, Law};
use crate::lesson::lessons;
use crate::loss::{self, Loss};
use crate::measurement::{Event, FaultKind, Measurement, MeasurementError, Merge, Outcome};
use crate::rationale::rationale;
use crate::ruling::{EndedBy, Ruling};
use crate::urgency::Urgency;

/// The state of one task through its rounds.
#[derive(Debug)]
pub struct Trajectory {
    gains: Gains,
    law: &'static dyn Law,
    history: History,
    tried: TriedPairs,
    judged: bool,
    ended: Option<EndedBy>,
}

/// Why a trajectory did not advance. It is unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdvanceError {
    /// The measurement was refused.
    #[error("use the measurement of round {round}")]
    Measurement {
        /// Number of the round that was measured.
        round: u32,
        /// Why it was refused.
        source: MeasurementError,
    },
    /// The task has already ended.
    #[error("decide on a task that has ended already ({by})")]
    Ended {
        /// The rule that ended it.
        by: EndedBy,
    },
}

impl Trajectory {
    /// Creates the trajectory of a task before its first round. The gains govern the task to its end.
    ///
    /// # Errors
    /// [`GainsError`] if a gain is outside its range or the law is unknown.
    pub fn new(gains: Gains) -> Result<Self, GainsError> {
        let law = law::governing(&gains)?;
        Ok(Self {
            gains,
            law,
            history: History::default(),
            tried: TriedPairs::default(),
            judged: false,
            ended: None,
        })
    }

    /// Applies one round's measurement, and returns the decision. The same measurements give the same
    /// decisions, bit for bit.
    ///
    /// # Errors
    /// [`AdvanceError`] if the task has ended, or the measurement is refused; nothing changes then.
    pub fn advance(&mut self, measurement: &Measurement) -> Result<Decision, AdvanceError> {
        if let Some(by) = self.ended {
            return Err(AdvanceError::Ended { by });
        }
        let point = self.measure(measurement)?;
        let is_fatal = matches!(measurement.event, Event::Fault { retryable: false, .. });
        let ruling = before_the_table(&measurement.event)
            .unwrap_or_else(|| self.law.rule(&self.history, &point, is_fatal, &self.gains));

        let outcomes = measurement.outcomes();
        let round = RoundFailures::of(outcomes);
        self.tried.add(&round);
        self.judged |= is_judged(&measurement.event);
        let prev_directive = self.history.prev_directive();
        self.history.add(point, ruling.state());
        if let Ruling::End(by) = ruling {
            self.ended = Some(by);
        }

        let trend = point.gradient.trend(&self.gains);
        let urgency = Urgency::of(trend);
        Ok(Decision {
            rounds: point.rounds,
            loss: point.loss,
            gradient: point.gradient,
            trend,
            worsening_count: point.worsening_count,
            ruling,
            prev_directive,
            replans: self.history.replans(),
            failure_class: DirectiveClass::of(point.loss.p),
            urgency,
            blocked_tools: self.tried.blocked_tools(ruling, &round, urgency, self.gains.urgency),
            blocked_targets: self.tried.blocked_targets(ruling, urgency, self.gains.urgency),
            lessons: lessons(ruling, prev_directive, &round, outcomes, self.judged),
            rationale: rationale(ruling, &point, &self.gains),
        })
    }

    /// Returns the rounds so far, and the directives that were given after them.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the gains that govern the task.
    #[must_use]
    pub fn gains(&self) -> &Gains {
        &self.gains
    }

    /// Returns the rule that ended the task; `None` while it goes on.
    #[must_use]
    pub fn ended_by(&self) -> Option<EndedBy> {
        self.ended
    }

    /// Returns the round's point. An accept and a cancel do not count as rounds (SPEC 6.1: on accept only the
    /// rounds before count); a cancel keeps the last measurement, under the current budget pressure.
    fn measure(&self, measurement: &Measurement) -> Result<Point, AdvanceError> {
        let rounds_before = self.history.rounds();
        let rounds = match measurement.event {
            Event::Rejected { .. } | Event::Fault { .. } => rounds_before.saturating_add(1),
            Event::Accepted { .. } | Event::Cancelled => rounds_before,
        };
        measurement.validate().map_err(|source| AdvanceError::Measurement { round: rounds, source })?;

        let gains = &self.gains;
        let loss = match (&measurement.event, self.history.points().last()) {
            (Event::Cancelled, Some(previous)) => {
                previous.loss.under(loss::omega(rounds, measurement.elapsed_ms, gains), gains)
            }
            _ => Loss::of(&measurement.event, rounds, measurement.elapsed_ms, gains),
        };
        Ok(self.history.next(rounds, loss, gains))
    }
}

/// Returns the endings that SPEC 6.2 puts before the table, which no law may overrule.
fn before_the_table(event: &Event) -> Option<Ruling> {
    let by = match event {
        Event::Accepted { unproven: false, .. } => EndedBy::CriteriaMet,
        Event::Accepted { unproven: true, .. } => EndedBy::Unproven,
        Event::Cancelled => EndedBy::Cancelled,
        Event::Fault { kind: FaultKind::Budget, .. } => EndedBy::Budget,
        Event::Fault { kind: FaultKind::Deadline, .. } => EndedBy::Deadline,
        Event::Fault { kind: FaultKind::Consent, .. } => EndedBy::Consent,
        Event::Fault { kind: FaultKind::Infeasible, .. } => EndedBy::Infeasible,
        Event::Fault { kind: FaultKind::Fault, .. } => return None,
        Event::Rejected { outcomes, .. } if outcomes.iter().any(Outcome::was_refused_consent) => {
            EndedBy::Consent
        }
        Event::Rejected { .. } => return None,
    };
    Some(Ruling::End(by))
}

/// Returns whether there was a verdict on anything in the round. An accept is R4b's own verdict.
fn is_judged(event: &Event) -> bool {
    match event {
        Event::Accepted { .. } => true,
        Event::Rejected { outcomes, merge } => {
            let merge_judged = matches!(merge, Merge::Rejected(criteria) if !criteria.is_empty());
            merge_judged || outcomes.iter().any(|outcome| !outcome.criteria.is_empty())
        }
        Event::Fault { .. } | Event::Cancelled => false,
    }
}
