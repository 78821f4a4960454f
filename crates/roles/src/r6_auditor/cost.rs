//! Compares a task's cost with the usual cost of tasks here.

use serde::{Deserialize, Serialize};

/// Ended tasks before one can be reported.
const WARM_UP: u64 = 20;
/// Factor of the usual tokens above which a task runs away.
const FACTOR: f64 = 8.0;
/// Minimum tokens of a task that runs away.
const TOKENS_MIN: u64 = 50_000;
/// Weight of the last task in the mean: about the last fifty count.
const WEIGHT: f64 = 0.04;

/// The mean token use of ended tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsualCost {
    tasks: u64,
    mean: f64,
}

impl UsualCost {
    /// Adds an ended task. Tasks without tokens are skipped: they say nothing about those with. One that runs away is
    /// capped at the threshold: a single claimed number must not hide those that follow.
    pub(super) fn ended(&mut self, tokens: u64) {
        if tokens == 0 {
            return;
        }
        let bound = if self.tasks < WARM_UP { f64::INFINITY } else { FACTOR * self.mean };
        let tokens = (tokens as f64).min(bound);
        self.tasks += 1;
        // A plain mean at first; after that, later tasks weigh more.
        let weight = WEIGHT.max(1.0 / self.tasks as f64);
        self.mean += weight * (tokens - self.mean);
    }

    /// Returns the mean if a task with this many tokens runs away; `None` otherwise.
    pub(super) fn mean_if_runaway(&self, tokens: u64) -> Option<f64> {
        let is_far = tokens >= TOKENS_MIN && tokens as f64 > FACTOR * self.mean;
        (self.tasks >= WARM_UP && is_far).then_some(self.mean)
    }
}
