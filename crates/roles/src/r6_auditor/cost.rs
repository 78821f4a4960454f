//! What a task costs, held against what tasks cost here.

use serde::{Deserialize, Serialize};

/// Tasks that must have ended before one can cost too much.
const WARM_UP: u64 = 20;
/// A task runs away when it uses so many times the tokens of a task …
const FACTOR: f64 = 8.0;
/// … and at least so many.
const TOKENS_MIN: u64 = 50_000;
/// The weight of the last task in the mean: about the last fifty count.
const WEIGHT: f64 = 0.04;

/// The tokens of tasks that have ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsualCost {
    tasks: u64,
    mean: f64,
}

impl UsualCost {
    /// Takes in a task that has ended. Tasks without tokens say nothing about those with. One that runs away counts as one that
    /// just does not: a single number that somebody claims must not hide those that follow.
    pub(super) fn ended(&mut self, tokens: u64) {
        if tokens == 0 {
            return;
        }
        let bound = if self.tasks < WARM_UP { f64::INFINITY } else { FACTOR * self.mean };
        let tokens = (tokens as f64).min(bound);
        self.tasks += 1;
        // The plain mean first; from then on the later ones count more.
        let weight = WEIGHT.max(1.0 / self.tasks as f64);
        self.mean += weight * (tokens - self.mean);
    }

    /// The mean, where a task that used so many tokens runs away.
    pub(super) fn is_run_away(&self, tokens: u64) -> Option<f64> {
        let is_far = tokens >= TOKENS_MIN && tokens as f64 > FACTOR * self.mean;
        (self.tasks >= WARM_UP && is_far).then_some(self.mean)
    }
}
