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
use crate::measurement::{Criterion, Event, FailureClass, Merge, Mode, Outcome, Status, Verdict};

/// A round's loss, with what it was made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// D, the distance from the goal: the weighted share of criteria that failed. 0 to 1.
    pub d: f64,
    /// P, the share of logical ones among the classified failures. 0 to 1; 0 without a failure, 0.5 when
    /// none is classified.
    pub p: f64,
    /// Ω, the budget pressure. 0 to 1.
    pub omega: f64,
    /// L, the loss. 0 or more; at most α + β + λ.
    pub l: f64,
    /// β_eff, what is left of β under the budget pressure. 0 to β.
    pub beta_eff: f64,
    /// Σ of the failed criteria's weights.
    pub weighted_failures: f64,
    /// How many criteria were counted.
    pub total_criteria: u32,
    /// How many failed criteria are classified logical.
    pub logical: u32,
    /// How many failed criteria are classified environmental.
    pub environmental: u32,
}

impl Loss {
    /// The loss of an event in round `rounds` (this one included where it counts as one, SPEC 6.1) after
    /// `elapsed_ms` milliseconds. The order of the outcomes does not matter, not even to the last bit.
    ///
    /// A cancel measures nothing, as a fault does.
    #[must_use]
    pub fn of(event: &Event, rounds: u32, elapsed_ms: f64, gains: &Gains) -> Self {
        let omega = omega(rounds, elapsed_ms, gains);
        match event {
            Event::Accepted { outcomes, .. } => Tally::of_outcomes(outcomes).accepted(omega, gains),
            Event::Rejected { outcomes, merge } => Tally::of_rejection(outcomes, merge).loss(omega, gains),
            Event::Fault { .. } | Event::Cancelled => Self::unmeasured(omega, gains),
        }
    }

    /// The loss of a round in which nothing could be measured: D = 1, P = 0.5 (SPEC 6.1), shown as one
    /// failed, unclassified criterion.
    #[must_use]
    pub fn unmeasured(omega: f64, gains: &Gains) -> Self {
        let mut tally = Tally::default();
        tally.fail(1, 1, None);
        tally.loss(omega, gains)
    }

    /// The same measurement under another budget pressure: what is known when a task is ended between
    /// two rounds.
    #[must_use]
    pub fn under(&self, omega: f64, gains: &Gains) -> Self {
        let (beta_eff, l) = weigh(self.d, self.p, omega, gains);
        Self { omega, beta_eff, l, ..*self }
    }
}

/// Ω of SPEC 6.1. Neither ratio is clamped on its own, so that time or rounds alone can reach θ; the sum
/// is. 0 to 1, for `elapsed_ms` finite and 0 or more.
#[must_use]
pub fn omega(rounds: u32, elapsed_ms: f64, gains: &Gains) -> f64 {
    let spent_rounds = gains.w1 * f64::from(rounds) / f64::from(gains.max_replans);
    let spent_time = gains.w2 * elapsed_ms / ms(gains.time_budget_ms);
    (spent_rounds + spent_time).min(1.0)
}

/// β_eff and L of SPEC 6.1, for D, P and Ω from 0 to 1.
#[must_use]
pub fn weigh(d: f64, p: f64, omega: f64, gains: &Gains) -> (f64, f64) {
    let beta_eff = gains.beta * (1.0 - omega);
    (beta_eff, gains.alpha * d + beta_eff * p + gains.lambda * omega)
}

/// Counts over criteria. Weights are kept as k per N and summed once, in the order of N: adding the
/// fractions as they come would make the last bit depend on the order of the sub-tasks.
#[derive(Debug, Default)]
struct Tally {
    failed_attempts: BTreeMap<u32, u32>,
    total: u32,
    failed: u32,
    logical: u32,
    environmental: u32,
}

impl Tally {
    /// The task criteria alone when the merge was rejected: every sub-task criterion passed, so D over
    /// those would be 0 and the rejection would be delivered. A failed sub-task comes first: then nothing
    /// was merged, whatever the message says.
    fn of_rejection(outcomes: &[Outcome], merge: &Merge) -> Self {
        if outcomes.iter().any(|outcome| outcome.status == Status::Failed) {
            return Self::of_outcomes(outcomes);
        }
        match merge {
            Merge::NotReached => Self::of_outcomes(outcomes),
            // A rejection that names no failed criterion says no more than a merge that was not judged.
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

    /// SPEC 6.1: criteria without a verdict share their sub-task's fate, unclassified, with weight 1; a
    /// sub-task that shows no criterion at all counts as one. So does a failed one that shows no failed
    /// criterion: nothing is called done that is not.
    fn count_outcome(&mut self, outcome: &Outcome) {
        let failed_before = self.failed;
        self.count(&outcome.criteria, &outcome.gap_trajectory);
        let shows_nothing = outcome.criteria.is_empty() && outcome.unjudged == 0;
        match outcome.status {
            Status::Matched => self.total += if shows_nothing { 1 } else { outcome.unjudged },
            Status::Failed => {
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
                        // A verdict that stands failed at least once, even where the trajectory omits it.
                        let k = failed_attempts.get(criterion.id.as_str()).copied().unwrap_or(0).max(1);
                        self.fail(k, attempts, class);
                    }
                    Mode::Plausible | Mode::Verifiable => self.fail(1, 1, class),
                },
            }
        }
    }

    /// One failed criterion of weight `k / n`.
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

    fn loss(&self, omega: f64, gains: &Gains) -> Loss {
        if self.total == 0 {
            return Loss::unmeasured(omega, gains);
        }
        let weighted_failures =
            self.failed_attempts.iter().map(|(&n, &k)| f64::from(k) / f64::from(n)).sum::<f64>();
        let d = weighted_failures / f64::from(self.total);
        let p = match (self.failed, self.logical + self.environmental) {
            (0, _) => 0.0,
            (_, 0) => 0.5,
            (_, classified) => f64::from(self.logical) / f64::from(classified),
        };
        let (beta_eff, l) = weigh(d, p, omega, gains);
        Loss {
            d,
            p,
            omega,
            l,
            beta_eff,
            weighted_failures,
            total_criteria: self.total,
            logical: self.logical,
            environmental: self.environmental,
        }
    }

    /// SPEC 6.1: on the accept path D = P = 0 and L = λ·Ω.
    fn accepted(&self, omega: f64, gains: &Gains) -> Loss {
        let (beta_eff, l) = weigh(0.0, 0.0, omega, gains);
        Loss {
            d: 0.0,
            p: 0.0,
            omega,
            l,
            beta_eff,
            weighted_failures: 0.0,
            total_criteria: self.total,
            logical: 0,
            environmental: 0,
        }
    }
}

/// In how many attempts each criterion failed; one that is named twice in an attempt failed once in it.
fn failed_attempts_by_criterion(gap_trajectory: &[Vec<String>]) -> BTreeMap<&str, u32> {
    let mut failed_attempts = BTreeMap::new();
    for attempt in gap_trajectory {
        for id in attempt.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            *failed_attempts.entry(id).or_default() += 1;
        }
    }
    failed_attempts
}
