//! Consolidation of records: promotion to rules, bankruptcy of rules, and forgetting (SPEC 7).

use crate::decay::{DAY_US, Moments, days_until};
use crate::megram::Trace;
use crate::potential::Potentials;
use crate::quantization::Quantum;
use crate::threshold::{TOLERANCE, at_least, below};

/// Attention of its own below which an M or K record is forgotten.
pub const GC_ATTENTION: f64 = 0.1;
/// Decay of a demoted rule, and of feedback against a rule, in 1/days.
pub const DEMOTED_K: f64 = 0.05;

/// The direction of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Prefer this.
    BestPractice,
    /// Do not do this.
    Constraint,
}

impl Rule {
    /// Returns the numbers of a new rule, which does not fade.
    #[must_use]
    pub const fn quantum(self) -> Quantum {
        let sigma = match self {
            Rule::BestPractice => 1.0,
            Rule::Constraint => -1.0,
        };
        Quantum { f: 1.0, sigma, k: 0.0 }
    }

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rule::BestPractice => "best_practice",
            Rule::Constraint => "constraint",
        }
    }

    /// Returns the rule of a record with this σ; `None` for σ = 0.
    #[must_use]
    pub fn of_sigma(sigma: f64) -> Option<Self> {
        if sigma > 0.0 {
            Some(Rule::BestPractice)
        } else if sigma < 0.0 {
            Some(Rule::Constraint)
        } else {
            None
        }
    }
}

/// Sums from which on a rule is promoted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Minimum attention. No unit.
    pub attention: f64,
    /// Minimum decision of either sign. No unit.
    pub decision: f64,
}

impl Thresholds {
    /// Thresholds for lessons from the system's own work.
    pub const USUAL: Self = Thresholds { attention: 5.0, decision: 3.0 };
    /// Thresholds for facts, which are rarely stated more than once or twice. Our choice: the sources have one threshold for all.
    pub const FACTS: Self = Thresholds { attention: 1.5, decision: 1.5 };

    /// Returns the rule that these sums promote, if any.
    #[must_use]
    pub fn promotion(self, potentials: Potentials) -> Option<Rule> {
        let Potentials { attention, decision } = potentials;
        if !at_least(attention, self.attention) || !at_least(decision.abs(), self.decision) {
            return None;
        }
        Rule::of_sigma(decision)
    }
}

/// Returns σ_rule·(σ_rule·f_rule + M_dec), where only the sign of the first σ_rule counts: the support left for a rule
/// after the `evidence` since (its pair's M_decision).
#[must_use]
pub fn standing(rule: Quantum, evidence: f64) -> f64 {
    let sign = sign(rule.sigma);
    sign * (rule.sigma * rule.f + evidence)
}

/// Returns whether the evidence contradicts a rule's own sign. A constraint is not bankrupt just because σ is negative.
#[must_use]
pub fn is_bankrupt(rule: Quantum, evidence: f64) -> bool {
    below(standing(rule, evidence), 0.0)
}

/// Returns the numbers of a rule after its demotion to K: it fades.
#[must_use]
pub const fn demoted(rule: Quantum) -> Quantum {
    Quantum { k: DEMOTED_K, ..rule }
}

/// Returns the numbers of a record against a rule: as strong as the rule, with the opposite sign, fading.
#[must_use]
pub fn feedback(rule: Quantum) -> Quantum {
    Quantum { f: rule.f, sigma: -sign(rule.sigma), k: DEMOTED_K }
}

/// Returns whether a record is forgotten now: only M and K, consolidated ones included.
#[must_use]
pub fn is_forgotten(trace: &Trace, now_us: i64) -> bool {
    trace.level.fades() && below(trace.attention(now_us), GC_ATTENTION)
}

/// Returns a moment by which an M or K record with these numbers has certainly faded, at most a millisecond late; `None`
/// if it never does. [`is_forgotten`] gives the state at any moment.
#[must_use]
pub fn fades_by_us(quantum: Quantum, moments: Moments) -> Option<i64> {
    let days = days_until(quantum.f, quantum.k, GC_ATTENTION - TOLERANCE)?;
    // A fraction of a day has no exact form; the rounding error is much smaller than the millisecond added.
    let us = (days * DAY_US as f64).ceil() as i64;
    Some(moments.origin_us().saturating_add(us).saturating_add(1_000))
}

/// Returns 1 or −1 with the number's sign, and 0 for 0.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::megram::Level;

    #[test]
    fn rule_without_evidence_is_not_bankrupt() {
        for rule in [Rule::BestPractice, Rule::Constraint] {
            assert_eq!(standing(rule.quantum(), 0.0), 1.0);
            assert!(!is_bankrupt(rule.quantum(), 0.0));
            let against = feedback(rule.quantum());
            assert_eq!((against.f, against.k), (1.0, DEMOTED_K));
            assert_eq!(standing(rule.quantum(), against.sigma * against.f), 0.0);
        }
    }

    #[test]
    fn sums_of_either_sign_promote_and_cancelled_sums_do_not() {
        let rule = |attention, decision| Thresholds::USUAL.promotion(Potentials { attention, decision });
        assert_eq!(rule(5.0, 3.0), Some(Rule::BestPractice));
        assert_eq!(rule(5.0, -3.0), Some(Rule::Constraint));
        assert_eq!((rule(4.9, 4.9), rule(9.0, 2.9), rule(9.0, 0.0)), (None, None, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn fades_by_us_is_late_by_at_most_two_milliseconds(
            f in 0.0..=1.0, k in 1e-3..2.0, created_us in any::<i32>(),
        ) {
            let moments = Moments::created(i64::from(created_us));
            let quantum = Quantum { f, sigma: 1.0, k };
            let trace = Trace { level: Level::M, quantum, moments, is_consolidated: false };
            let by = fades_by_us(quantum, moments).unwrap();
            prop_assert!(is_forgotten(&trace, by));
            let before = by - 2_000;
            prop_assert!(before < moments.created_us || !is_forgotten(&trace, before));
        }
    }
}
