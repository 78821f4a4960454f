//! What the arithmetic needs to know of one record.

use crate::decay::{Moments, left};
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

/// The numbers of one record, as they are now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trace {
    /// Its layer.
    pub level: Level,
    /// Its strength, its sign and how fast it fades.
    pub quantum: Quantum,
    /// From when it fades.
    pub moments: Moments,
    /// Whether a rule was made of it; its part is told by that rule then.
    pub is_consolidated: bool,
}

impl Level {
    /// Whether records of it fade, are summed, and are forgotten at last.
    #[must_use]
    pub const fn fades(self) -> bool {
        matches!(self, Level::M | Level::K)
    }
}

impl Trace {
    /// Whether it counts in its pair's sums.
    #[must_use]
    pub const fn is_summed(&self) -> bool {
        self.level.fades() && !self.is_consolidated
    }

    /// |f|·e^(−k·Δt): its own attention.
    #[must_use]
    pub fn attention(&self, now_us: i64) -> f64 {
        self.quantum.f.abs() * left(self.quantum.k, self.moments.origin_us(), now_us)
    }

    /// σ·f·e^(−k·Δt): its part of the decision.
    #[must_use]
    pub fn decision(&self, now_us: i64) -> f64 {
        let Quantum { f, sigma, k } = self.quantum;
        sigma * f * left(k, self.moments.origin_us(), now_us)
    }
}
