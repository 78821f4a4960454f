//! Why an accepted result is unproven, in words: what its passes rest on, with the names of the criteria.

use setpoint_protocol::message::{FinalResult, Strength, Verdict, VerdictWord};

use super::round::Round;
use super::summary::{ITEM_CHARS_MAX, NAMED_MAX, named, sentence};
use crate::line::one_line;

/// What a pass without a proof can rest on, in the order of the sentences; the names of criteria follow.
const REASONS: [&str; 4] = [
    "Shown only by tests or files that the work made or changed itself",
    "Held before the work began",
    "Judged by the form of the answer alone",
    "A matter of opinion",
];

/// Returns the sentences that say why nothing proves the result.
pub(super) fn why(result: &FinalResult) -> String {
    let all = || result.verdicts.iter().chain(&result.subtask_verdicts);
    let mut text = "Unproven.".to_owned();
    for reason in REASONS {
        let mut names: Vec<String> = Vec::new();
        for verdict in all().filter(|verdict| reason_of(verdict) == Some(reason)) {
            let name = one_line(&verdict.criterion, ITEM_CHARS_MAX);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if !names.is_empty() {
            let named = named(names.iter().map(String::as_str), NAMED_MAX);
            text.push_str(&format!(" {reason}: {}", sentence(&named)));
        }
    }
    text
}

/// What a person can do about each of `REASONS`.
const MOVES: [&str; 4] = [
    "look at the tests or files that the work made, or name a test or command of your own that shows it",
    "it held before: say what must be different afterwards, or take it as done already",
    "say which command shows it, and what that prints",
    "say what would show it: a command, a figure or a file",
];

/// What a person can do if no verdict tells the reason.
const ANY_MOVE: &str = "say what must be different afterwards, or what would show it";

/// Returns what a person can do about a result that nothing proves: by what its passes rest on.
pub(super) fn moves(round: &Round) -> Vec<String> {
    if !round.overlooked.is_empty() {
        return vec![format!("check by yourself that it holds for {}", round.overlooked.join(", "))];
    }
    let verdicts: Vec<Verdict> =
        round.own_verdicts().into_iter().chain(round.subtask_verdicts().cloned()).collect();
    let rests_on = |reason: &str| verdicts.iter().any(|verdict| reason_of(verdict) == Some(reason));
    let moves = REASONS.iter().zip(MOVES).filter(|(reason, _)| rests_on(reason));
    let moves: Vec<String> = moves.map(|(_, own)| own.to_owned()).collect();
    if moves.is_empty() { vec![ANY_MOVE.to_owned()] } else { moves }
}

/// Returns what a pass rests on, if it proves nothing.
fn reason_of(verdict: &Verdict) -> Option<&'static str> {
    let [self_made, before, form, opinion] = REASONS;
    match verdict.strength {
        _ if verdict.verdict == VerdictWord::Fail => None,
        _ if verdict.self_made => Some(self_made),
        _ if verdict.vacuous => Some(before),
        Strength::Form => Some(form),
        Strength::Opinion => Some(opinion),
        Strength::Proof => None,
    }
}
