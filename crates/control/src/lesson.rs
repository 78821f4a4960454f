//! Which memory writes a decision implies (SPEC 6.4).
//!
//! A lesson names its state; how strong, how good and how lasting that is (f, σ, k) is memory's table. The
//! matched outputs of a round and the feedback to applied rules are the role's to write, not the law's.

use crate::blocked::{Pair, RoundFailures, winning_pairs};
use crate::measurement::Outcome;
use crate::ruling::{ActionState, EndedBy, MacroState, Ruling};

/// One memory write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The row of the quantization table.
    pub state: MacroState,
    /// What it is about.
    pub subject: Subject,
}

/// What a lesson is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The task's intent: `space = "intent:<slug>"`, `entity = "env:local"`.
    Intent,
    /// A tool and a target: `space = "tool:<tool>"`, `entity = "path:<target>"`.
    Pair(Pair),
}

/// The lessons of a ruling: the ending's own first, then one per distinct pair.
///
/// `judged` says whether any outcome of the task carried a verdict: a provider that was down all along
/// says nothing about the approach.
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
        // Its valence is positive, and what just failed must not be praised.
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
        // What nothing shows to have worked must not be praised either.
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
