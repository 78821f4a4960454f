//! Measures again, at the end, what one piece showed before another one acted: a look only reads, so that it need not be
//! guessed from the calls whether its result still holds. Where it does not, a judge of the whole tells whether that was
//! meant: a backup differs from its original once the original was edited.

use setpoint_machine::Ctx;
use setpoint_protocol::message::{
    Criterion, ManifestEntry, OutcomeStatus, SubTaskOutcome, Verdict, VerdictWord,
};
use setpoint_protocol::predicate::{Check, CheckOn};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Phase, SideEffect, ToolCall};
use setpoint_protocol::{CriterionId, SubTaskId, ToolId};

use super::round::Round;
use crate::judging::{Case, EVIDENCE_CHARS_MAX, OWN_JUDGED_SINCE, by_check, is_a_look};

/// First version of the logic in which this is measured again.
const SINCE: u32 = 23;

/// A criterion of a piece that is measured again.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) piece: SubTaskId,
    /// It looks at a probe, also where the piece's own call showed it.
    pub(super) criterion: Criterion,
}

/// A criterion of a piece that held when the piece was done and does not any more.
#[derive(Clone, Debug)]
pub(super) struct Outlived {
    piece: SubTaskId,
    id: CriterionId,
    /// What the check found at the end.
    now: Verdict,
}

/// Returns the criteria of pieces that passed a look and after which another piece acted. A playbook measures its whole
/// answer itself.
pub(super) fn due(round: &Round, ctx: &Ctx<'_>) -> Vec<Due> {
    if ctx.opened.logic_version < SINCE {
        return Vec::new();
    }
    let matched = round.matched();
    let acted_later = |entry: &ManifestEntry| {
        matched.iter().any(|(other, outcome)| {
            other.subtask_id != entry.subtask_id && is_later(other, entry) && has_acted(outcome)
        })
    };
    let of_models =
        matched.iter().filter(|(entry, outcome)| outcome.approach.is_none() && acted_later(entry));
    of_models
        .flat_map(|(entry, outcome)| {
            let passed = outcome.criteria_verdicts.iter().filter(|one| one.verdict == VerdictWord::Pass);
            passed.filter_map(|verdict| {
                let mut criteria = outcome.success_criteria.iter();
                let criterion = criteria.find(|criterion| criterion.id == verdict.criterion_id)?;
                let check = criterion.check.as_ref()?;
                let look = match &check.on {
                    CheckOn::Probe(look) => look.clone(),
                    CheckOn::Call { tool, .. } if ctx.opened.logic_version >= OWN_JUDGED_SINCE => {
                        look_of(tool, verdict, outcome)?
                    }
                    CheckOn::Call { .. } | CheckOn::Output => return None,
                };
                let check = Check { on: CheckOn::Probe(look), expect: check.expect.clone() };
                let criterion = Criterion { check: Some(check), ..criterion.clone() };
                Some(Due { piece: entry.subtask_id.clone(), criterion })
            })
        })
        .collect()
}

/// Returns the call of the work that showed it, if it only looked.
fn look_of(tool: &str, verdict: &Verdict, outcome: &SubTaskOutcome) -> Option<ToolCall> {
    let wanted = ToolId::of_name(tool);
    let cited = verdict.cites.iter().filter_map(|cite| cite.call());
    let mut looks = cited.filter_map(|id| {
        let mut calls = outcome.tool_calls.iter();
        calls.find(|call| call.call_id == id && call.phase == Phase::Work && wanted.covers(&call.tool))
    });
    let look = looks.next_back()?;
    let is_plain = is_a_look(look) && look.executed_files.is_empty();
    is_plain.then(|| ToolCall { tool: look.tool.tool().to_owned(), input: look.input.clone() })
}

/// Takes over what was found again, and marks what rests on the work's own files by now. Returns what does not hold any more.
pub(super) fn settle(round: &mut Round, found: Vec<(Due, Verdict)>) -> Vec<Outlived> {
    let mut outlived = Vec::new();
    for (Due { piece, criterion }, now) in found {
        if now.verdict != VerdictWord::Pass {
            outlived.push(Outlived { piece, id: criterion.id, now });
        } else if let Some(before) = verdict_mut(round, &piece, &criterion.id) {
            before.self_made |= now.self_made;
        }
    }
    outlived
}

/// Returns what was found again.
pub(super) fn found(due: Vec<Due>, case: &Case<'_>) -> Vec<(Due, Verdict)> {
    let verdict = |due: &Due| Some(by_check(&due.criterion, due.criterion.check.as_ref()?, case));
    due.into_iter().filter_map(|due| verdict(&due).map(|found| (due, found))).collect()
}

impl Outlived {
    /// Returns the question of whether that was meant.
    pub(super) fn question(&self, round: &Round) -> Option<Criterion> {
        let at = round.matched().iter().position(|(entry, _)| entry.subtask_id == self.piece)?;
        let (_, outcome) = *round.matched().get(at)?;
        let criterion = outcome.success_criteria.iter().find(|criterion| criterion.id == self.id)?;
        let sentence = format!(
            "{}: piece {} showed this, and after the later pieces its check finds: {}. It passes only if the later pieces were to \
             change that, and what the person asks for holds as it is now",
            criterion.criterion.trim_end_matches('.'),
            at + 1,
            self.now.evidence
        );
        Some(Criterion { criterion: sentence, check: None, ..criterion.clone() })
    }

    /// Takes the judge's word on whether that was meant; without one, or where it was not, the criterion fails. Returns
    /// whether it holds.
    pub(super) fn settle(self, round: &mut Round, heard: Option<Verdict>) -> bool {
        let was_meant = heard.as_ref().is_some_and(|heard| heard.verdict == VerdictWord::Pass);
        let Some(before) = verdict_mut(round, &self.piece, &self.id) else { return true };
        let says = heard.map(|heard| format!("; a judge of the whole work: {}", heard.evidence));
        let now = format!("after the other pieces: {}{}", self.now.evidence, says.unwrap_or_default());
        if was_meant {
            before.evidence = clip(&format!("{}; {now}", before.evidence), EVIDENCE_CHARS_MAX);
            return true;
        }
        let evidence = clip(&format!("it held, and does not any more; {now}"), EVIDENCE_CHARS_MAX);
        *before = Verdict { evidence, ..self.now };
        if let Some(outcome) = round.outcomes.get_mut(&self.piece) {
            outcome.status = OutcomeStatus::Failed;
        }
        false
    }
}

fn verdict_mut<'r>(round: &'r mut Round, piece: &SubTaskId, id: &CriterionId) -> Option<&'r mut Verdict> {
    let verdicts = &mut round.outcomes.get_mut(piece)?.criteria_verdicts;
    verdicts.iter_mut().find(|verdict| verdict.criterion_id == *id)
}

fn is_later(other: &ManifestEntry, one: &ManifestEntry) -> bool {
    match (other.carried.is_some(), one.carried.is_some()) {
        (false, true) => true,
        (true, false) => false,
        _ => other.sequence >= one.sequence,
    }
}

fn has_acted(outcome: &SubTaskOutcome) -> bool {
    let mut calls = outcome.tool_calls.iter();
    calls.any(|call| call.phase == Phase::Work && call.side_effect != SideEffect::None)
}
