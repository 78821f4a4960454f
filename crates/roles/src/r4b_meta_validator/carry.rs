//! Verdicts of a single sub-task that also hold for the task.

use setpoint_protocol::message::{Criterion, Verdict, VerdictWord};

use super::round::Round;

/// Returns the sub-task's verdict on the same criterion, if the round has one sub-task and the result is its output.
///
/// Same means: sentence, mode and check. A check of an earlier round is repeated, because the world may have changed;
/// a model's judgement is not, because output and calls are the same.
pub(super) fn carried(criterion: &Criterion, round: &Round) -> Option<Verdict> {
    let [entry] = round.manifest.subtasks.as_slice() else { return None };
    let is_fresh = entry.carried.is_none();
    if criterion.check.is_some() && !is_fresh {
        return None;
    }
    let outcome = round.outcomes.get(&entry.subtask_id)?;
    let is_same = |own: &&Criterion| {
        own.criterion == criterion.criterion && own.mode == criterion.mode && own.check == criterion.check
    };
    let own = outcome.success_criteria.iter().find(is_same)?;
    let verdict = outcome.criteria_verdicts.iter().find(|verdict| verdict.criterion_id == own.id)?;
    (verdict.verdict == VerdictWord::Pass)
        .then(|| Verdict { criterion_id: criterion.id.clone(), ..verdict.clone() })
}
