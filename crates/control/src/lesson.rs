//! The memory writes that follow from a decision (SPEC 6.4).
//!
//! A lesson names its state; its strength, value and decay (f, σ, k) are in memory's table. The matched
//! outputs of a round and the feedback to applied rules are written by the role, not by the law.

use crate::blocked::{Pair, RoundFailures, winning_pairs};
use crate::measurement::Outcome;
use crate::ruling::{ActionState, EndedBy, MacroState, Ruling};

/// A memory write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Row of the quantization table.
    pub state: MacroState,
    /// What the lesson is about.
    pub subject: Subject,
}

/// The subject of a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The task's intent: `space = "intent:<slug>"`, `entity = "env:local"`.
    Intent,
    /// A tool and a target: `space = "tool:<tool>"`, `entity = "path:<target>"`.
    Pair(Pair),
}

/// Returns the lessons of a ruling: the ending's own first, then one per distinct pair.
///
/// `judged` is true if any outcome of the task had a verdict: without one, such as when a provider was down all the
/// time, the task says nothing about the approach.
pub(crate) fn lessons(
    ruling: Ruling,
    prev_directive: MacroState,
    round: &RoundFailures,
    outcomes: &[Outcome],
    judged: bool,
) -> Vec<Lesson> {
    match ruling {
        Ruling::Replan(ActionState::Refine | ActionState::ChangePath | ActionState::ChangeApproach) => {
            of_pairs(ruling.state(), round.targets.clone()).collect()
        }
        // The row's valence is positive, and a failed attempt must not be reinforced.
        Ruling::Replan(ActionState::BreakSymmetry) => Vec::new(),
        Ruling::End(EndedBy::CriteriaMet | EndedBy::Distance) => {
            let broke_through = prev_directive == MacroState::BreakSymmetry;
            let breakthrough = if broke_through { winning_pairs(outcomes) } else { Vec::new() };
            let ending = of_ending(ruling, judged).into_iter();
            ending.chain(of_pairs(MacroState::BreakSymmetry, breakthrough)).collect()
        }
        Ruling::End(EndedBy::Omega | EndedBy::Law2 | EndedBy::Rounds) => {
            of_ending(ruling, judged).into_iter().collect()
        }
        // A result without proof that the approach worked must not be reinforced either.
        Ruling::End(
            EndedBy::Unproven
            | EndedBy::Infeasible
            | EndedBy::Fault
            | EndedBy::Consent
            | EndedBy::Budget
            | EndedBy::Deadline
            | EndedBy::Cancelled,
        ) => Vec::new(),
    }
}

fn of_ending(ruling: Ruling, judged: bool) -> Option<Lesson> {
    judged.then_some(Lesson { state: ruling.state(), subject: Subject::Intent })
}

fn of_pairs(state: MacroState, pairs: Vec<Pair>) -> impl Iterator<Item = Lesson> {
    pairs.into_iter().map(move |pair| Lesson { state, subject: Subject::Pair(pair) })
}
