//! The part of a record that the arithmetic uses.

use crate::decay::{Moments, remaining_share};
use crate::quantization::Quantum;

/// The four layers of memory (SPEC 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Raw experience.
    M,
    /// Knowledge: a task's matched outputs, and rules that were demoted.
    K,
    /// Common sense: timeless rules.
    C,
    /// Thinking: the system's own laws.
    T,
}

/// The current numbers of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trace {
    /// Layer of the record.
    pub level: Level,
    /// Strength, value and decay of the record.
    pub quantum: Quantum,
    /// Moments from which it may fade.
    pub moments: Moments,
    /// Whether a rule was promoted from it; the rule then counts in its place.
    pub is_consolidated: bool,
}

impl Level {
    /// Returns whether records of this layer fade, are summed, and are forgotten in the end.
    #[must_use]
    pub const fn fades(self) -> bool {
        matches!(self, Level::M | Level::K)
    }
}

impl Trace {
    /// Returns whether it counts in its pair's sums.
    #[must_use]
    pub const fn is_summed(&self) -> bool {
        self.level.fades() && !self.is_consolidated
    }

    /// Returns |f|·e^(−k·Δt): its own attention.
    #[must_use]
    pub fn attention(&self, now_us: i64) -> f64 {
        self.quantum.f.abs() * remaining_share(self.quantum.k, self.moments.origin_us(), now_us)
    }

    /// Returns σ·f·e^(−k·Δt): its part of the decision.
    #[must_use]
    pub fn decision(&self, now_us: i64) -> f64 {
        let Quantum { f, sigma, k } = self.quantum;
        sigma * f * remaining_share(k, self.moments.origin_us(), now_us)
    }
}
