//! The tools and targets that the next plan must not use (SPEC 6.2).
//!
//! The sets follow the table literally, with one exception: if a sub-task failed because a model's service was away, that
//! does not count against the tools and targets whose calls succeeded. Unblocking the last tool of a capability class is
//! not done here.

use std::collections::BTreeSet;
use std::fmt;

use crate::gains::UrgencyMode;
use crate::measurement::{Call, CallEnd, Outcome, OutcomeStatus};
use crate::ruling::{ActionState, Ruling};
use crate::urgency::Urgency;

/// A tool and its target. Displays as `<tool>: <target>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Id of the tool.
    pub tool: String,
    /// Target of the call, in normal form.
    pub target: String,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tool, self.target)
    }
}

/// Tools and failed targets of the failing sub-tasks of one round.
#[derive(Debug, Default)]
pub(crate) struct RoundFailures {
    /// Tools of all their calls; after an outage only of failed calls.
    pub(crate) tools: BTreeSet<String>,
    /// Their failed targets, distinct, in the order first seen.
    pub(crate) targets: Vec<Pair>,
}

impl RoundFailures {
    pub(crate) fn of(outcomes: &[Outcome]) -> Self {
        let mut failures = Self::default();
        let mut targets = Vec::new();
        for outcome in outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Failed) {
            let failed = failed_calls(outcome);
            let at_fault = if outcome.outage { failed.clone() } else { outcome.calls.iter().collect() };
            failures.tools.extend(at_fault.into_iter().flat_map(|call| &call.tools).cloned());
            targets.extend(failed.into_iter().flat_map(pairs));
        }
        failures.targets = distinct(targets);
        failures
    }
}

/// Tools and targets of the failing sub-tasks of a task so far, this round included.
#[derive(Debug, Default)]
pub(crate) struct TriedPairs {
    tools: BTreeSet<String>,
    targets: Vec<Pair>,
    /// The members of `targets`, for fast look-up.
    seen: BTreeSet<Pair>,
    /// Targets of the latest round that had any.
    newest: BTreeSet<Pair>,
}

impl TriedPairs {
    pub(crate) fn add(&mut self, round: &RoundFailures) {
        self.tools.extend(round.tools.iter().cloned());
        for target in &round.targets {
            if self.seen.insert(target.clone()) {
                self.targets.push(target.clone());
            }
        }
        if !round.targets.is_empty() {
            self.newest = round.targets.iter().cloned().collect();
        }
    }

    /// Returns the tools blocked under a ruling, sorted. `round` must have been added already.
    pub(crate) fn blocked_tools(
        &self,
        ruling: Ruling,
        round: &RoundFailures,
        urgency: Urgency,
        effect: UrgencyMode,
    ) -> Vec<String> {
        let widened = effect == UrgencyMode::Sets && urgency == Urgency::High;
        let tools = match ruling {
            Ruling::Replan(ActionState::BreakSymmetry) => &self.tools,
            Ruling::Replan(ActionState::ChangeApproach) if widened => &self.tools,
            Ruling::Replan(ActionState::ChangeApproach) => &round.tools,
            Ruling::Replan(ActionState::ChangePath | ActionState::Refine) | Ruling::End(_) => {
                return Vec::new();
            }
        };
        tools.iter().cloned().collect()
    }

    /// Returns the targets blocked under a ruling, in the order first seen in the task.
    pub(crate) fn blocked_targets(&self, ruling: Ruling, urgency: Urgency, effect: UrgencyMode) -> Vec<Pair> {
        let narrowed = effect == UrgencyMode::Sets && urgency == Urgency::Low;
        match ruling {
            Ruling::Replan(ActionState::Refine) if narrowed => {
                self.targets.iter().filter(|target| self.newest.contains(target)).cloned().collect()
            }
            Ruling::Replan(ActionState::ChangePath | ActionState::Refine) => self.targets.clone(),
            Ruling::Replan(ActionState::BreakSymmetry | ActionState::ChangeApproach) | Ruling::End(_) => {
                Vec::new()
            }
        }
    }
}

/// Returns the pairs of the round's matched sub-tasks, distinct, in the order first seen. Excludes carried sub-tasks, which
/// matched in an earlier round, and refused calls, which never ran.
pub(crate) fn winning_pairs(outcomes: &[Outcome]) -> Vec<Pair> {
    let won = outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Matched && !outcome.carried);
    let ran = won.flat_map(|outcome| &outcome.calls).filter(|call| call.end != CallEnd::Refused);
    distinct(ran.flat_map(pairs))
}

/// Returns the failed calls of a failing sub-task; if none failed, its last one. After an outage of a model's service, a
/// last call that succeeded is not the cause and is not returned.
fn failed_calls(outcome: &Outcome) -> Vec<&Call> {
    let failed: Vec<&Call> = outcome.calls.iter().filter(|call| call.end != CallEnd::Ok).collect();
    match failed.is_empty() && !outcome.outage {
        true => outcome.calls.last().into_iter().collect(),
        false => failed,
    }
}

fn pairs(call: &Call) -> impl Iterator<Item = Pair> + '_ {
    call.tools.iter().map(|tool| Pair { tool: tool.clone(), target: call.target.clone() })
}

fn distinct(pairs: impl IntoIterator<Item = Pair>) -> Vec<Pair> {
    let mut seen = BTreeSet::new();
    pairs.into_iter().filter(|pair| seen.insert(pair.clone())).collect()
}
