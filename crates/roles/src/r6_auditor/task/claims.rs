//! Law 0: compares claims with the verdicts and calls that they rest on.

use std::collections::BTreeMap;

use setpoint_protocol::message::{
    Cite, EndState, EndedBy, FindingKind, JudgedBy, MacroState, OutcomeStatus, VerdictWord,
};
use setpoint_protocol::tool::ErrorKind;
use setpoint_protocol::{CallId, CriterionId, RoleId};

use super::super::body::{Call, Criterion, End, Measured, Outcome, Verdict};
use super::asks::Asks;
use super::told::RecordReading;

/// Distances below this count as zero.
const NO_DISTANCE: f64 = 1e-9;

pub(super) fn has_failed(verdict: &Verdict) -> bool {
    verdict.verdict == VerdictWord::Fail
}

/// Checks R4a's report on a sub-task.
pub(super) fn check_outcome(outcome: &Outcome, asks: &Asks, told: &mut RecordReading<'_>) {
    let mut claim = |role, text: String| told.find(FindingKind::FalseClaim, role, text);
    if outcome.status == OutcomeStatus::Matched {
        let judged = judged(&outcome.criteria_verdicts);
        if let Some((id, _)) = judged.iter().find(|(_, passed)| !**passed) {
            claim(RoleId::AgentValidator, format!("matched, and criterion {id} failed"));
        }
        if let Some(one) = outcome.success_criteria.iter().find(|one| !judged.contains_key(&one.id)) {
            claim(RoleId::AgentValidator, format!("matched, and criterion {} has no verdict", one.id));
        }
    }
    let calls: BTreeMap<CallId, &Call> = outcome.tool_calls.iter().map(|call| (call.call_id, call)).collect();
    for (id, call) in &calls {
        if call.ok && asks.has_succeeded(*id) == Some(false) {
            claim(RoleId::Executor, format!("{id} is shown as a success, and it failed"));
        }
    }
    let by_model = outcome.criteria_verdicts.iter().filter(|verdict| verdict.judged_by == JudgedBy::Model);
    for verdict in by_model.filter(|verdict| !has_failed(verdict)) {
        for cite in &verdict.cites {
            let Cite::Call(call) = cite else { continue };
            let wrong = match calls.get(call) {
                None => "is no call of the sub-task",
                Some(call) if !has_run(call) => "failed",
                Some(_) => continue,
            };
            let text = format!("criterion {} passes on {call}, which {wrong}", verdict.criterion_id);
            claim(RoleId::AgentValidator, text);
        }
    }
}

/// Returns whether the call shows something: a red exit code is a result, which a verdict may cite.
fn has_run(call: &Call) -> bool {
    call.ok || call.error_kind == Some(ErrorKind::Exit)
}

/// Checks R4b's acceptance of a round.
pub(super) fn check_summary(measured: &Measured, criteria: &[Criterion], told: &mut RecordReading<'_>) {
    let judged = judged(measured.task_criteria_verdicts.as_deref().unwrap_or_default());
    let failed = judged.iter().find(|(_, passed)| !**passed).map(|(id, _)| format!("criterion {id} failed"));
    let unjudged = || {
        let criterion = criteria.iter().find(|one| !judged.contains_key(&one.id))?;
        Some(format!("criterion {} has no verdict", criterion.id))
    };
    if let Some(what) = failed.or_else(unjudged) {
        let text = format!("the round is accepted, and the task's {what}");
        told.find(FindingKind::FalseClaim, RoleId::MetaValidator, text);
    }
}

/// Checks R7's final result. `was_accepted` is R4b's last decision.
pub(super) fn check_end(end: &End, was_accepted: Option<bool>, told: &mut RecordReading<'_>) {
    let failed = end.verdicts.iter().chain(&end.subtask_verdicts).find(|verdict| has_failed(verdict));
    let what = match end.directive {
        EndState::Accept => {
            if let Some(verdict) = failed {
                format!("criterion {} failed", verdict.criterion_id)
            } else if !end.unmet_criteria.is_empty() {
                "it names criteria that were not met".to_owned()
            } else if was_accepted != Some(true) {
                "R4b accepted nothing".to_owned()
            } else if end.loss.d > NO_DISTANCE || end.ended_by != EndedBy::CriteriaMet {
                format!("its own numbers say otherwise (D {:.3}, {})", end.loss.d, end.ended_by.name())
            } else {
                return;
            }
        }
        EndState::Success => {
            if failed.is_some() && end.unmet_criteria.is_empty() {
                "it does not name the criterion that failed".to_owned()
            } else if end.ended_by == EndedBy::Unproven && was_accepted != Some(true) {
                "R4b accepted nothing".to_owned()
            } else {
                return;
            }
        }
        EndState::Abandon => return,
    };
    let state = MacroState::from(end.directive).name();
    told.find(FindingKind::FalseClaim, RoleId::GoalGradientSolver, format!("the end is {state}, and {what}"));
}

/// Reports passes in the final result that rest on what the work made or changed itself.
pub(super) fn check_self_made(end: &End, told: &mut RecordReading<'_>) {
    let own = end.verdicts.iter().filter(|verdict| verdict.self_made && !has_failed(verdict));
    let own: Vec<&str> = own.map(|verdict| verdict.criterion_id.as_str()).collect();
    if !own.is_empty() {
        let text = format!("passes that rest on what the work made or changed itself: {}", own.join(", "));
        told.find(FindingKind::SelfMadeEvidence, RoleId::Executor, text);
    }
}

/// Returns whether each criterion passed: a fail outweighs a pass.
fn judged(verdicts: &[Verdict]) -> BTreeMap<&CriterionId, bool> {
    let mut judged = BTreeMap::new();
    for verdict in verdicts {
        let passed = judged.entry(&verdict.criterion_id).or_insert(true);
        *passed &= !has_failed(verdict);
    }
    judged
}
