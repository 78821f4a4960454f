//! Which criteria a plan may withdraw, and when the goal is infeasible here: only with calls that a verdict cites for
//! a criterion that cannot hold. If nothing is left to plan, code says so without asking the model.

use std::collections::BTreeSet;

use setpoint_extract::draft::{CannotDraft, WithdrawDraft};
use setpoint_protocol::CallId;
use setpoint_protocol::message::{Criterion, DirectiveFinding, Shown, Withdrawal};

use super::super::history::Task;
use super::refusal::{Reasons, Refusal};
use crate::evidence::call_ids;
use crate::line::one_line;

/// Maximum length, in characters, of a reason and of a needed thing.
const WHY_CHARS_MAX: usize = 600;
/// At most this many things are listed that a person must supply.
const NEEDS_MAX: usize = 8;
/// Why `cannot` is refused if no cited call shows it.
const NOT_SHOWN: &str = "names no call in `seen` that a verdict cites for a criterion that cannot hold here";
/// How R2 can show that the goal cannot be reached.
const LOOK_FIRST: &str = "plan one sub-task with the single look-up that shows it (list the folder, ask for the branch), \
    and a criterion that says that what is needed is there";

/// A goal that cannot be reached here.
#[derive(Debug)]
pub(crate) struct Infeasible {
    pub(crate) why: String,
    pub(crate) needs: Vec<String>,
}

/// Checks whether R2 may report the goal as infeasible.
///
/// # Errors
/// Returns why not, for the model.
pub(crate) fn infeasible(draft: &CannotDraft, task: &Task) -> Result<Infeasible, Refusal> {
    if supporting_calls(&draft.seen, task).is_empty() {
        return Err(Refusal::new("`cannot`", &format!("{NOT_SHOWN}; {LOOK_FIRST}")));
    }
    let needs = draft.needs.iter().map(|needs| one_line(needs, WHY_CHARS_MAX));
    let needs = needs.filter(|needs| !needs.is_empty()).take(NEEDS_MAX).collect();
    let why = one_line(&draft.why, WHY_CHARS_MAX);
    let why = if why.is_empty() { "something that the goal rests on is not here".to_owned() } else { why };
    Ok(Infeasible { why, needs })
}

/// Returns the goal as infeasible if the last round leaves nothing to plan: every failure concerns what the person
/// asked for and was shown to be impossible here, and the plan had stated its assumption. What the person asked for
/// is never withdrawn, so another plan would reach the same result.
pub(crate) fn refuted(task: &Task) -> Option<Infeasible> {
    let findings = &task.directive.as_ref()?.findings;
    let known = |finding: &DirectiveFinding| {
        let of_plan = task.plans.last()?.subtasks.iter().flat_map(|subtask| &subtask.criteria);
        let is_it = |criterion: &&Criterion| finding.criterion_id.as_ref() == Some(&criterion.id);
        of_plan.chain(&task.criteria).find(is_it)
    };
    let is_settled = |finding: &DirectiveFinding| {
        finding.shown == Some(Shown::Cannot)
            && known(finding).is_some_and(|criterion| !criterion.origin.is_planner())
    };
    if !findings.iter().all(is_settled) {
        return None;
    }
    let (first, premise) =
        findings.iter().find_map(|finding| Some((finding, known(finding)?.assumes.as_ref()?)))?;
    let mut needs: Vec<String> = Vec::new();
    for premise in findings.iter().filter_map(|finding| known(finding)?.assumes.as_ref()) {
        let need = format!("make this true first: {premise}");
        if !needs.contains(&need) && needs.len() < NEEDS_MAX {
            needs.push(need);
        }
    }
    let why = format!("the plan assumed: {premise}. Found: {}", first.evidence);
    Some(Infeasible { why: one_line(&why, WHY_CHARS_MAX), needs })
}

/// Returns the withdrawals of a draft.
pub(super) fn withdrawn(
    drafts: &[WithdrawDraft],
    are_some_added: bool,
    task: &Task,
    reasons: &mut Reasons,
) -> Vec<Withdrawal> {
    let mut withdrawn: Vec<Withdrawal> = Vec::new();
    for (i, draft) in drafts.iter().enumerate() {
        let place = format!("withdrawal {}", i + 1);
        match withdrawal(draft, task) {
            Ok(new) if withdrawn.iter().any(|old| old.criterion_id == new.criterion_id) => {}
            Ok(new) => withdrawn.push(new),
            Err(reason) => reasons.add(&place, reason),
        }
    }
    if !withdrawn.is_empty() && withdrawn.len() == task.criteria.len() && !are_some_added {
        reasons.add("the plan", "withdraws every criterion of the task; give one that it is held against");
    }
    withdrawn
}

fn withdrawal(draft: &WithdrawDraft, task: &Task) -> Result<Withdrawal, String> {
    let named = draft.criterion.trim();
    let is_meant = |criterion: &&Criterion| criterion.id.as_str() == named || criterion.criterion == named;
    let Some(criterion) = task.criteria.iter().find(is_meant) else {
        return Err("names no criterion of the task; give its id".to_owned());
    };
    if !criterion.origin.is_planner() {
        return Err(format!("is of {}, which rests on the person's own words", criterion.id));
    }
    let seen = supporting_calls(&draft.seen, task);
    if seen.is_empty() {
        return Err(NOT_SHOWN.to_owned());
    }
    Ok(Withdrawal {
        criterion_id: criterion.id.clone(),
        criterion: criterion.criterion.clone(),
        why: one_line(&draft.why, WHY_CHARS_MAX),
        seen: seen.into_iter().collect(),
        check_replaced: false,
    })
}

/// Returns the named calls that show an impossibility.
fn supporting_calls(named: &[String], task: &Task) -> BTreeSet<CallId> {
    named.iter().flat_map(|text| call_ids(text)).filter(|id| task.lacks.contains(id)).collect()
}
