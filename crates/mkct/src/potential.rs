//! The two sums over a pair's records: how much is remembered, and which way it points (SPEC 7).

use crate::megram::Trace;
use crate::sum::Sum;

/// Sums of one pair at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Potentials {
    /// M_attention = Σ |f|·e^(−k·Δt). No unit, not negative.
    pub attention: f64,
    /// M_decision = Σ σ·f·e^(−k·Δt). No unit, its absolute value at most the attention.
    pub decision: f64,
}

impl Potentials {
    /// Computes the plain sum over those of `traces` that are summed. The cost grows with their number; see
    /// [`Accumulators`](crate::Accumulators) for running sums.
    #[must_use]
    pub fn of<'a>(traces: impl IntoIterator<Item = &'a Trace>, now_us: i64) -> Self {
        let (mut attention, mut decision) = (Sum::default(), Sum::default());
        for trace in traces.into_iter().filter(|trace| trace.is_summed()) {
            attention.add(trace.attention(now_us));
            decision.add(trace.decision(now_us));
        }
        Potentials { attention: attention.value(), decision: decision.value() }
    }
}
