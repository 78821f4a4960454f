//! The two sums over a pair's records: how much is remembered, and what it speaks for (SPEC 7).

use crate::megram::Trace;
use crate::sum::Sum;

/// The sums of one pair at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Potentials {
    /// M_attention = Σ |f|·e^(−k·Δt). No unit, not negative.
    pub attention: f64,
    /// M_decision = Σ σ·f·e^(−k·Δt). No unit, at most the attention either way.
    pub decision: f64,
}

impl Potentials {
    /// The plain sum over those of `traces` that are summed. Costs as much as there are; see
    /// [`Accumulators`](crate::Accumulators) for the sums that do not.
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
