//! The words of a `FinalResult`, for a person: what was done first, then by name what was not met, then why it ended.
//! Code says what was not met and why; R2's report and R4b's words are quoted. Nothing here calls a result complete
//! unless every criterion is met. The numbers of the decision are fields of the result and are not repeated in
//! sentences.

use setpoint_control::Decision;
use setpoint_machine::ledger::AnswerFailure;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{EndState, EndedBy, FinalResult, PartialReport, Shown, Withdrawal};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ErrorKind;

use super::round::{Cause, Round, has_failed, is_empty};
use super::unproven;
use crate::blocking::target_name;
use crate::line::one_line;

/// Maximum length, in characters, of a part of a summary that R2 or R4b worded; a longer one is cut with a mark.
const WORDS_CHARS_MAX: usize = 4_000;
/// At most this many things are named in a sentence; the rest are counted, and `unmet_criteria` lists them all.
pub(super) const NAMED_MAX: usize = 20;
/// Maximum length, in characters, of a criterion, reason or next move; a longer one is cut with a mark.
pub(super) const ITEM_CHARS_MAX: usize = 400;
/// At most this many next moves; the rest are dropped, because people try the first ones.
const NEXT_MOVES_MAX: usize = 8;

/// Next move for failed models if no failure suggests one.
const MODEL_MOVE: &str = "a model did not answer: try again later, or choose another model";

/// Returns the summary of an end.
pub(super) fn of(result: &FinalResult, facts: &Facts, report: &PartialReport) -> String {
    match result.directive {
        EndState::Accept => accepted(result, facts),
        EndState::Success if result.unproven => accepted_unproven(result, facts),
        EndState::Success => with_gaps(result, facts),
        EndState::Abandon => given_up(result, facts, report),
    }
}

fn accepted(result: &FinalResult, facts: &Facts) -> String {
    let mut text = match facts.words.is_empty() {
        true => format!("Every criterion is met: {}.", quoted(&facts.met)),
        false => clip(&facts.words, WORDS_CHARS_MAX),
    };
    push_withdrawn(&mut text, result);
    text
}

/// Returns the note on a result that R4b accepted although no pass shows that the work did it.
fn accepted_unproven(result: &FinalResult, facts: &Facts) -> String {
    let accepted = accepted(result, facts);
    match result.overlooked.is_empty() {
        true => format!("{accepted} {}", unproven::why(result)),
        false => format!("{accepted} Unproven: no call that ran names {}.", result.overlooked.join(", ")),
    }
}

fn with_gaps(result: &FinalResult, facts: &Facts) -> String {
    let mut text = match facts.met.is_empty() {
        true => "No criterion of the task is met as a whole.".to_owned(),
        false => format!("Met: {}.", quoted(&facts.met)),
    };
    push_unmet(&mut text, result, facts);
    push_unanswered(&mut text, facts);
    text.push(' ');
    text.push_str(&facts.why());
    text
}

fn given_up(result: &FinalResult, facts: &Facts, report: &PartialReport) -> String {
    if let Some(reason) = &facts.not_started {
        let mut text = format!("Not started: {}", sentence(reason));
        push_unanswered(&mut text, facts);
        return text;
    }
    let mut text = match &facts.stopped {
        Some(reason) => format!("Stopped: {} ", sentence(reason)),
        None => String::new(),
    };
    text.push_str(&sentence(&clip(report.achieved.trim(), WORDS_CHARS_MAX)));
    push_unmet(&mut text, result, facts);
    text.push(' ');
    text.push_str(&facts.why());
    push_unanswered(&mut text, facts);
    // R7's own words are not repeated.
    let blocked_by = report.blocked_by.trim();
    let blocked_by = blocked_by.strip_prefix(facts.reason().as_str()).unwrap_or(blocked_by).trim();
    if !blocked_by.is_empty() {
        text.push_str(&format!(" In the way: {}", sentence(&clip(blocked_by, WORDS_CHARS_MAX))));
    }
    text
}

fn push_unmet(text: &mut String, result: &FinalResult, facts: &Facts) {
    if !result.unmet_criteria.is_empty() {
        let names: Vec<String> =
            result.unmet_criteria.iter().map(|name| with_word(name, result, facts)).collect();
        text.push_str(&format!(" Not met: {}.", named(names.iter().map(String::as_str), NAMED_MAX)));
    }
    push_withdrawn(text, result);
}

/// Returns a criterion that was not met, with what its verdict showed, or "not judged".
fn with_word(name: &str, result: &FinalResult, facts: &Facts) -> String {
    let all = result.verdicts.iter().chain(&result.subtask_verdicts);
    let judged = all.filter(|verdict| verdict.criterion == name).find(|verdict| has_failed(verdict));
    let word = match judged {
        Some(verdict) => verdict.shown.map(Shown::words),
        None => facts.unjudged.iter().any(|one| one == name).then_some("not judged"),
    };
    let name = one_line(name, ITEM_CHARS_MAX);
    word.map_or_else(|| name.clone(), |word| format!("{name} ({word})"))
}

fn push_withdrawn(text: &mut String, result: &FinalResult) {
    let line = |one: &Withdrawal| format!("{} ({})", one.criterion, one.why);
    for (what, check_replaced) in [("Withdrawn", false), ("Judged by another check than at first", true)] {
        let lines: Vec<String> =
            result.withdrawn.iter().filter(|one| one.check_replaced == check_replaced).map(line).collect();
        if !lines.is_empty() {
            text.push_str(&format!(" {what}: {}.", quoted(&lines)));
        }
    }
}

fn push_unanswered(text: &mut String, facts: &Facts) {
    if !facts.unanswered.is_empty() {
        text.push_str(&format!(" No answer from a model: {}.", facts.unanswered.join("; ")));
    }
}

/// The facts that the words rest on.
#[derive(Debug)]
pub(super) struct Facts {
    ended_by: EndedBy,
    /// Why the work never began: R1 or R2 had no answer.
    not_started: Option<String>,
    /// Why a playbook's step was given up.
    stopped: Option<String>,
    /// Deciding rule with its numbers, as a sentence.
    rule: String,
    /// Words of the fault or the person.
    said: Option<String>,
    /// What a person can do about the fault.
    hints: Vec<String>,
    /// Why models did not answer in the last round, each with the role that asked.
    unanswered: Vec<String>,
    /// What a person can do about the model failures.
    model_hints: Vec<String>,
    /// Calls that were refused consent, as `<tool>: <target>`.
    refused: Vec<String>,
    /// The task's own criteria that were met.
    met: Vec<String>,
    /// The task's own criteria without a verdict.
    unjudged: Vec<String>,
    /// R4b's words about the round.
    words: String,
    has_output: bool,
    /// Whether any round was judged.
    is_judged: bool,
    /// What a person can do about a result that nothing proves.
    unproven_moves: Vec<String>,
}

impl Facts {
    pub(super) fn new(
        decision: &Decision,
        ended_by: EndedBy,
        cause: &Cause<'_>,
        shown: Option<&Round>,
    ) -> Self {
        let not_started = match cause {
            Cause::Fault(fault)
                if shown.is_none()
                    && ended_by == EndedBy::Fault
                    && matches!(fault.role, RoleId::Perceiver | RoleId::Planner) =>
            {
                Some(one_line(&fault.reason, ITEM_CHARS_MAX))
            }
            _ => None,
        };
        let stopped = shown.and_then(Round::given_up).map(|reason| one_line(reason, ITEM_CHARS_MAX));
        let (said, hints) = match cause {
            Cause::Round(_) => (None, Vec::new()),
            Cause::Fault(fault) => (Some(fault.reason.as_str()), fault.hints.clone()),
            Cause::Cancel(cancel) => (cancel.reason.as_deref(), Vec::new()),
        };
        // The rationale begins with the state, which is another field of the result.
        let state = format!("{}: ", decision.directive());
        let rule = decision.rationale.strip_prefix(&state).unwrap_or(&decision.rationale);
        Facts {
            ended_by,
            not_started,
            stopped,
            rule: rule.to_owned(),
            said: said.map(|text| one_line(text, ITEM_CHARS_MAX)).filter(|text| !text.is_empty()),
            hints,
            unanswered: Vec::new(),
            model_hints: Vec::new(),
            refused: if ended_by == EndedBy::Consent {
                shown.map(refused).unwrap_or_default()
            } else {
                Vec::new()
            },
            met: shown.map(Round::own_met).unwrap_or_default(),
            unjudged: shown.map(Round::own_unjudged).unwrap_or_default(),
            words: shown.map(|round| round.words.trim().to_owned()).unwrap_or_default(),
            has_output: shown.is_some_and(|round| !is_empty(&round.output)),
            is_judged: shown.is_some(),
            unproven_moves: shown.map(unproven::moves).unwrap_or_default(),
        }
    }

    /// Adds the failures of models, except what the fault already says.
    pub(super) fn add_failures(&mut self, unanswered: &[AnswerFailure]) {
        for AnswerFailure { role, failure } in unanswered {
            let reason = one_line(&failure.reason, ITEM_CHARS_MAX);
            let is_said = self.said.as_ref().is_some_and(|said| said.contains(&reason));
            let line = format!("{}: {reason}", role.label());
            if !is_said && !self.unanswered.contains(&line) {
                self.unanswered.push(line);
                self.model_hints.extend(failure.hints.iter().cloned());
            }
        }
        if self.model_hints.is_empty() && !self.unanswered.is_empty() {
            self.model_hints.push(MODEL_MOVE.to_owned());
        }
    }

    /// Returns the rule that ended the task, by name, and why, with its numbers: for R2's report.
    pub(super) fn reason(&self) -> String {
        let rule = sentence(&self.rule);
        match self.stated_reason() {
            Some(said) => format!("{}: {rule} {said}", self.ended_by.name()),
            None => format!("{}: {rule}", self.ended_by.name()),
        }
    }

    /// Returns why the task ended, in whole sentences for a person.
    fn why(&self) -> String {
        let why = match self.ended_by {
            EndedBy::CriteriaMet => "Every criterion is met.",
            EndedBy::Unproven => "Nothing independent of the work shows that it holds.",
            EndedBy::Distance => "Enough is met to stop here, as the settings say.",
            EndedBy::Omega => "It was given up because its rounds and its time are nearly used up.",
            EndedBy::Law2 => "It was given up because it got worse round after round.",
            EndedBy::Rounds => "It was given up because no replans are left.",
            EndedBy::Infeasible => "The goal cannot be reached here.",
            EndedBy::Fault => "Something broke that another round cannot mend.",
            EndedBy::Consent => "It needs an action that was refused.",
            EndedBy::Budget => "A budget is used up.",
            EndedBy::Deadline => "Its time is used up.",
            EndedBy::Cancelled => "It was cancelled.",
        };
        match self.stated_reason() {
            Some(said) => format!("{why} {said}"),
            None => why.to_owned(),
        }
    }

    /// Returns the fault, the person's words or the refusal.
    fn stated_reason(&self) -> Option<String> {
        let label = match self.ended_by {
            EndedBy::Omega | EndedBy::Law2 | EndedBy::Rounds => "The last round ended in a fault",
            EndedBy::CriteriaMet
            | EndedBy::Unproven
            | EndedBy::Distance
            | EndedBy::Infeasible
            | EndedBy::Fault
            | EndedBy::Consent
            | EndedBy::Budget
            | EndedBy::Deadline
            | EndedBy::Cancelled => "Reason",
        };
        let said = self.said.as_ref().map(|said| format!("{label}: {}", sentence(said)));
        let refused = Some(&self.refused).filter(|refused| !refused.is_empty());
        let refused = refused.map(|refused| format!("Refused: {}.", quoted(refused)));
        let all: Vec<String> = said.into_iter().chain(refused).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns the report used if R2 gives none.
    pub(super) fn report(&self) -> PartialReport {
        let mut achieved = match self.met.len() {
            // Sub-tasks may have matched in a round that was never closed.
            0 if !self.is_judged => "No round was judged, so nothing can be called achieved.".to_owned(),
            0 => "No criterion was met.".to_owned(),
            _ => format!("Met: {}.", quoted(&self.met)),
        };
        if self.has_output {
            achieved.push_str(" What there is of a result is delivered.");
        }
        PartialReport { achieved, blocked_by: String::new(), next_moves: self.own_moves() }
    }

    /// Returns what a person could try next: the fault's own hints first, then those about failed models, then the
    /// report's.
    pub(super) fn next_moves(&self, report: &PartialReport) -> Vec<String> {
        let mut moves: Vec<String> = Vec::new();
        // A fault's own hints are more specific than the report's general ones.
        let of_report = match self.ended_by {
            EndedBy::Fault if !self.hints.is_empty() => &[],
            _ => report.next_moves.as_slice(),
        };
        for text in self.hints.iter().chain(&self.model_hints).chain(of_report) {
            let text = one_line(text, ITEM_CHARS_MAX);
            if !text.is_empty() && !moves.contains(&text) {
                moves.push(text);
            }
        }
        moves.truncate(NEXT_MOVES_MAX);
        moves
    }

    fn own_moves(&self) -> Vec<String> {
        let text = match self.ended_by {
            EndedBy::CriteriaMet | EndedBy::Distance | EndedBy::Cancelled => return Vec::new(),
            EndedBy::Unproven => return self.unproven_moves.clone(),
            EndedBy::Omega => "allow more time or more replans, or state the goal in smaller steps",
            EndedBy::Law2 => {
                "state the goal another way, or in smaller steps: each new plan made things worse"
            }
            EndedBy::Rounds => "allow more replans, or state the goal in smaller steps",
            EndedBy::Fault | EndedBy::Infeasible if !self.hints.is_empty() => return Vec::new(),
            EndedBy::Infeasible => "supply what the reason names and state the goal again",
            EndedBy::Fault => "mend what the reason names and state the goal again",
            EndedBy::Consent => "allow the action that was refused, or say how to go without it",
            // The fault itself says which budget it is and how to raise it.
            EndedBy::Budget => "state the goal in smaller steps and run them one by one",
            EndedBy::Deadline => "give the task more time, or state the goal in smaller steps",
        };
        vec![text.to_owned()]
    }
}

/// Returns the first `max` of some names, and how many more there are.
pub(super) fn named<'a>(names: impl ExactSizeIterator<Item = &'a str>, max: usize) -> String {
    let more = names.len().saturating_sub(max);
    let shown = names.take(max).collect::<Vec<_>>().join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more") }
}

fn quoted(names: &[String]) -> String {
    let lines: Vec<String> = names.iter().map(|name| one_line(name, ITEM_CHARS_MAX)).collect();
    named(lines.iter().map(String::as_str), NAMED_MAX)
}

/// Returns `text`, with a full stop unless it ends with punctuation.
pub(super) fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', '!', '?', '…']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// Returns the calls of failing sub-tasks that were refused consent.
fn refused(round: &Round) -> Vec<String> {
    let calls = round.failed().flat_map(|outcome| &outcome.tool_calls);
    let refused = calls.filter(|call| call.error_kind == Some(ErrorKind::Consent));
    refused.map(|call| target_name(call.tool.as_str(), &call.target)).collect()
}
