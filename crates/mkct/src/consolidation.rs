//! What becomes of records: rules are made of them, rules lose their standing, and what has faded is forgotten (SPEC 7).

use crate::decay::{DAY_US, Moments, days_until};
use crate::megram::Trace;
use crate::potential::Potentials;
use crate::quantization::Quantum;
use crate::threshold::{TOLERANCE, at_least, below};

/// Own attention below which an M or K record is forgotten.
pub const GC_ATTENTION: f64 = 0.1;
/// How fast a demoted rule, and feedback against a rule, fade: in 1/days.
pub const DEMOTED_K: f64 = 0.05;

/// Which way a rule points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Prefer this.
    BestPractice,
    /// Do not do this.
    Constraint,
}

impl Rule {
    /// The numbers of a new rule: it does not fade.
    #[must_use]
    pub const fn quantum(self) -> Quantum {
        let sigma = match self {
            Rule::BestPractice => 1.0,
            Rule::Constraint => -1.0,
        };
        Quantum { f: 1.0, sigma, k: 0.0 }
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rule::BestPractice => "best_practice",
            Rule::Constraint => "constraint",
        }
    }

    /// The rule that a record with this σ is; `None` for one without a sign.
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

/// Sums from which on a rule is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Least attention.
    pub attention: f64,
    /// Least decision, either way.
    pub decision: f64,
}

impl Thresholds {
    /// Those for what was learnt by doing.
    pub const USUAL: Self = Thresholds { attention: 5.0, decision: 3.0 };
    /// Those for facts, which are rarely said more than once or twice. Ours: the sources know one threshold for all.
    pub const FACTS: Self = Thresholds { attention: 1.5, decision: 1.5 };

    /// The rule that sums like these make, if they make one.
    #[must_use]
    pub fn promotion(self, potentials: Potentials) -> Option<Rule> {
        let Potentials { attention, decision } = potentials;
        if !at_least(attention, self.attention) || !at_least(decision.abs(), self.decision) {
            return None;
        }
        Rule::of_sigma(decision)
    }
}

/// σ_rule·(σ_rule·f_rule + M_dec), where only the sign of σ_rule counts: what still speaks for a rule once the `evidence`
/// since (its pair's M_decision) is counted.
#[must_use]
pub fn standing(rule: Quantum, evidence: f64) -> f64 {
    let sign = sign(rule.sigma);
    sign * (rule.sigma * rule.f + evidence)
}

/// Whether the evidence has turned against a rule's own sign. A constraint does not go bankrupt by being one.
#[must_use]
pub fn is_bankrupt(rule: Quantum, evidence: f64) -> bool {
    below(standing(rule, evidence), 0.0)
}

/// The numbers that a rule has from its demotion on, as K: it fades.
#[must_use]
pub const fn demoted(rule: Quantum) -> Quantum {
    Quantum { k: DEMOTED_K, ..rule }
}

/// The numbers of a record against a rule: as strong as the rule, with the opposite sign, fading.
#[must_use]
pub fn feedback(rule: Quantum) -> Quantum {
    Quantum { f: rule.f, sigma: -sign(rule.sigma), k: DEMOTED_K }
}

/// Whether a record is forgotten now: M and K alone, consolidated ones included.
#[must_use]
pub fn is_forgotten(trace: &Trace, now_us: i64) -> bool {
    trace.level.fades() && below(trace.attention(now_us), GC_ATTENTION)
}

/// The moment by which a record of M or K with these numbers has certainly faded; [`is_forgotten`] says whether it has at
/// any. At most a millisecond after it has; `None` when it never does.
#[must_use]
pub fn fades_by_us(quantum: Quantum, moments: Moments) -> Option<i64> {
    let days = days_until(quantum.f, quantum.k, GC_ATTENTION - TOLERANCE)?;
    // A day's fraction has no exact form; what is rounded away is much less than this.
    let us = (days * DAY_US as f64).ceil() as i64;
    Some(moments.origin_us().saturating_add(us).saturating_add(1_000))
}

/// 1 or −1 with the number's sign, and 0 for 0.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::megram::Level;

    #[test]
    fn a_rule_without_evidence_stands_whichever_way_it_points() {
        for rule in [Rule::BestPractice, Rule::Constraint] {
            assert_eq!(standing(rule.quantum(), 0.0), 1.0);
            assert!(!is_bankrupt(rule.quantum(), 0.0));
            let against = feedback(rule.quantum());
            assert_eq!((against.f, against.k), (1.0, DEMOTED_K));
            assert_eq!(standing(rule.quantum(), against.sigma * against.f), 0.0);
        }
    }

    #[test]
    fn sums_of_either_sign_make_a_rule_and_those_that_cancel_make_none() {
        let rule = |attention, decision| Thresholds::USUAL.promotion(Potentials { attention, decision });
        assert_eq!(rule(5.0, 3.0), Some(Rule::BestPractice));
        assert_eq!(rule(5.0, -3.0), Some(Rule::Constraint));
        assert_eq!((rule(4.9, 4.9), rule(9.0, 2.9), rule(9.0, 0.0)), (None, None, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_record_has_faded_by_the_moment_that_says_so_and_not_long_before(
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
