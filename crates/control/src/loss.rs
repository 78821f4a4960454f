//! The loss of one round (SPEC 6.1).
//!
//! ```text
//! L = α·D + β_eff·P + λ·Ω          β_eff = β·(1 − Ω)
//! D = Σ weight(failed criterion) / Σ criteria
//! P = logical / (logical + environmental)        over failed criteria, unweighted
//! Ω = min(1, w1·rounds/max_replans + w2·elapsed_ms/time_budget_ms)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::gains::{Gains, ms};
use crate::measurement::{Criterion, Event, FailureClass, Merge, Mode, Outcome, OutcomeStatus, Verdict};

// The documentation is also the description in the JSON Schema of the messages.
/// The loss and its parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Distance between intent and result, 0 to 1.
    #[cfg_attr(feature = "serde", serde(rename = "D"))]
    pub d: f64,
    /// Process implausibility, 0 to 1.
    #[cfg_attr(feature = "serde", serde(rename = "P"))]
    pub p: f64,
    /// Resource cost, 0 to 1.
    #[cfg_attr(feature = "serde", serde(rename = "Omega"))]
    pub omega: f64,
    /// α·D + β·(1 − Ω)·P + λ·Ω.
    #[cfg_attr(feature = "serde", serde(rename = "L"))]
    pub l: f64,
}

impl Loss {
    /// Returns the loss of an event in round `rounds` (this one included if it counts as one, SPEC 6.1) after
    /// `elapsed_ms` milliseconds. The order of the outcomes does not change any bit of it.
    ///
    /// A cancel counts as unmeasured, like a fault.
    #[must_use]
    pub fn of(event: &Event, rounds: u32, elapsed_ms: f64, gains: &Gains) -> Self {
        let (d, p) = match event {
            // SPEC 6.1: on the accept path D = P = 0 and L = λ·Ω.
            Event::Accepted { .. } => (0.0, 0.0),
            Event::Rejected { .. } | Event::Fault { .. } | Event::Cancelled => Tally::of(event).shares(),
        };
        Self::weighed(d, p, omega(rounds, elapsed_ms, gains), gains)
    }

    /// Returns the loss of a round in which nothing could be measured: D = 1, P = 0.5 (SPEC 6.1).
    #[must_use]
    pub fn unmeasured(omega: f64, gains: &Gains) -> Self {
        let (d, p) = Tally::unmeasured().shares();
        Self::weighed(d, p, omega, gains)
    }

    /// Returns the loss of these parts, each from 0 to 1 (SPEC 6.1).
    #[must_use]
    pub fn weighed(d: f64, p: f64, omega: f64, gains: &Gains) -> Self {
        Self { d, p, omega, l: gains.alpha * d + beta_eff(omega, gains) * p + gains.lambda * omega }
    }

    /// Returns the loss of the same measurement under another budget pressure, for a task that is ended between
    /// two rounds.
    #[must_use]
    pub fn under(&self, omega: f64, gains: &Gains) -> Self {
        Self::weighed(self.d, self.p, omega, gains)
    }
}

/// Returns Ω of SPEC 6.1, from 0 to 1, for a finite `elapsed_ms` of at least 0. Only the sum is clamped, not each ratio,
/// so that time or rounds alone can reach θ.
#[must_use]
pub fn omega(rounds: u32, elapsed_ms: f64, gains: &Gains) -> f64 {
    let spent_rounds = gains.w1 * f64::from(rounds) / f64::from(gains.max_replans);
    let spent_time = gains.w2 * elapsed_ms / ms(gains.time_budget_ms);
    (spent_rounds + spent_time).min(1.0)
}

/// Returns β_eff of SPEC 6.1: the part of β left under the budget pressure, 0 to β.
#[must_use]
pub fn beta_eff(omega: f64, gains: &Gains) -> f64 {
    gains.beta * (1.0 - omega)
}

/// Counts over the criteria of a round. Weights are kept as k per N and summed once, in the order of N: adding the
/// fractions one by one would make the last bit depend on the order of the sub-tasks.
#[derive(Debug, Default)]
pub struct Tally {
    failed_attempts: BTreeMap<u32, u32>,
    total: u32,
    failed: u32,
    logical: u32,
    environmental: u32,
}

impl Tally {
    /// Counts an event's criteria. On an accept none counts as failed; if nothing was measured, one failed and
    /// unclassified criterion is counted.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let measured = match event {
            Event::Accepted { outcomes, .. } => {
                return Self { total: Self::of_outcomes(outcomes).total, ..Self::default() };
            }
            Event::Rejected { outcomes, merge } => Self::of_rejection(outcomes, merge),
            Event::Fault { .. } | Event::Cancelled => Self::default(),
        };
        if measured.total == 0 { Self::unmeasured() } else { measured }
    }

    /// Returns the sum of the failed criteria's weights.
    #[must_use]
    pub fn weighted_failures(&self) -> f64 {
        self.failed_attempts.iter().map(|(&n, &k)| f64::from(k) / f64::from(n)).sum()
    }

    /// Number of criteria counted.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Number of failed criteria with the class logical.
    #[must_use]
    pub fn logical(&self) -> u32 {
        self.logical
    }

    /// Number of failed criteria with the class environmental.
    #[must_use]
    pub fn environmental(&self) -> u32 {
        self.environmental
    }

    /// Returns D, the weighted share of failed criteria, and P, the share of logical ones among the classified failures:
    /// 0 without a failure, 0.5 if none is classified.
    fn shares(&self) -> (f64, f64) {
        let p = match (self.failed, self.logical + self.environmental) {
            (0, _) => 0.0,
            (_, 0) => 0.5,
            (_, classified) => f64::from(self.logical) / f64::from(classified),
        };
        (self.weighted_failures() / f64::from(self.total), p)
    }

    fn unmeasured() -> Self {
        let mut tally = Self::default();
        tally.fail(1, 1, None);
        tally
    }

    /// Counts only the task criteria if the merge was rejected: every sub-task criterion passed, so D over those would be 0
    /// and the rejected result would be delivered. A failed sub-task takes precedence: then nothing was merged, even if
    /// the message has task criteria.
    fn of_rejection(outcomes: &[Outcome], merge: &Merge) -> Self {
        if outcomes.iter().any(|outcome| outcome.status == OutcomeStatus::Failed) {
            return Self::of_outcomes(outcomes);
        }
        match merge {
            Merge::NotReached => Self::of_outcomes(outcomes),
            // A rejection without a failed criterion is treated like a merge that was not judged.
            Merge::Rejected(criteria) => {
                let mut tally = Self::default();
                tally.count(criteria, &[]);
                if tally.failed == 0 { Self::default() } else { tally }
            }
            Merge::Unjudged => Self::default(),
        }
    }

    fn of_outcomes(outcomes: &[Outcome]) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            tally.count_outcome(outcome);
        }
        tally
    }

    /// SPEC 6.1: criteria without a verdict count like their sub-task, unclassified, with weight 1; a
    /// sub-task without any criterion counts as one. So does a failed one without a failed criterion, so that a
    /// failed sub-task never counts as done.
    fn count_outcome(&mut self, outcome: &Outcome) {
        let failed_before = self.failed;
        self.count(&outcome.criteria, &outcome.gap_trajectory);
        let shows_nothing = outcome.criteria.is_empty() && outcome.unjudged == 0;
        match outcome.status {
            OutcomeStatus::Matched => self.total += if shows_nothing { 1 } else { outcome.unjudged },
            OutcomeStatus::Failed => {
                (0..outcome.unjudged).for_each(|_| self.fail(1, 1, None));
                if self.failed == failed_before {
                    self.fail(1, 1, None);
                }
            }
        }
    }

    fn count(&mut self, criteria: &[Criterion], gap_trajectory: &[Vec<String>]) {
        let attempts = u32::try_from(gap_trajectory.len()).unwrap_or(u32::MAX);
        let failed_attempts = failed_attempts_by_criterion(gap_trajectory);
        for criterion in criteria {
            match criterion.verdict {
                Verdict::Pass if criterion.vacuous => {}
                Verdict::Pass => self.total += 1,
                Verdict::Fail(class) => match criterion.mode {
                    Mode::Plausible if attempts > 0 => {
                        // A failed verdict means at least one failed attempt, even if the trajectory omits it.
                        let k = failed_attempts.get(criterion.id.as_str()).copied().unwrap_or(0).max(1);
                        self.fail(k, attempts, class);
                    }
                    Mode::Plausible | Mode::Verifiable => self.fail(1, 1, class),
                },
            }
        }
    }

    /// Counts one failed criterion of weight `k / n`.
    fn fail(&mut self, k: u32, n: u32, class: Option<FailureClass>) {
        *self.failed_attempts.entry(n).or_default() += k;
        self.total += 1;
        self.failed += 1;
        match class {
            Some(FailureClass::Logical) => self.logical += 1,
            Some(FailureClass::Environmental) => self.environmental += 1,
            None => {}
        }
    }
}

/// Returns in how many attempts each criterion failed; a criterion named twice in one attempt counts once.
fn failed_attempts_by_criterion(gap_trajectory: &[Vec<String>]) -> BTreeMap<&str, u32> {
    let mut failed_attempts = BTreeMap::new();
    for attempt in gap_trajectory {
        for id in attempt.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            *failed_attempts.entry(id).or_default() += 1;
        }
    }
    failed_attempts
}
