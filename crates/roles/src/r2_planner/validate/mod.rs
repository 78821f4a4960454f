//! The plan validator: code that refuses a plan with its reasons, whatever the model says for it.
//!
//! It is a pure function of the draft and the [`Rules`]. A plan is refused when it has no sub-task or too many, when
//! a sub-task or the task has no criterion or too many, when a criterion says nothing that can be found false
//! ([`criteria`]), when a check cannot run ([`checks`]), when a tool is unknown or blocked or a target is blocked,
//! when the person asks for a test run and nothing shows that tests ran ([`test_run`]), when it withdraws what it may
//! not ([`premise`]), when an input does not run before the sub-task that needs it ([`order`]), or when it repeats a
//! plan that failed, in this task ([`repetition`]) or by memory. Mere deviations of form (a sequence of 0, a longer
//! text, an unreadable deadline, a malformed approach) are corrected silently.

mod beyond;
mod checks;
mod criteria;
mod order;
mod origin;
mod premise;
mod refusal;
mod repetition;
mod subtask;
mod test_run;

use std::sync::Arc;

use setpoint_extract::draft::PlanDraft;
use setpoint_machine::{CallReader, Ctx};
use setpoint_protocol::limits::{CRITERIA_MAX, SUBTASKS_MAX};
use setpoint_protocol::message::{Approach, Criterion, Limits, Mode, Origin, Withdrawal};
use setpoint_protocol::predicate::Check;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ToolSpec;
use setpoint_protocol::{CriterionId, RoleId, Timestamp, ToolId};

use super::history::Task;

use self::refusal::{REASONS_MAX, Reasons, TASK, subtask_place};

pub(super) use self::premise::{Infeasible, infeasible, refuted};
pub(super) use self::refusal::{Refusal, annotated};

/// Maximum needs of a plan.
const NEEDS_MAX: usize = 8;
/// Maximum characters of a need.
const NEED_CHARS_MAX: usize = 300;

/// The rules and state that a plan is validated against.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    task: &'a Task,
    limits: &'a Limits,
    tools: &'a [Arc<ToolSpec>],
    surroundings: &'a Surroundings,
    reader: &'a dyn CallReader,
    now: Timestamp,
    /// Version of the logic by which the task was opened.
    logic_version: u32,
    /// Whether the plan is the embedded brain's, whose criteria a person wrote in a playbook.
    is_of_playbook: bool,
}

/// A plan that may be dispatched. It has no ids yet.
#[derive(Debug)]
pub(super) struct ValidPlan {
    /// New sub-tasks in the draft's order; empty if only the whole is to be judged again.
    pub(super) subtasks: Vec<ValidSubTask>,
    /// Criteria added to the task's.
    pub(super) added_criteria: Vec<ValidCriterion>,
    /// New checks for criteria of the task whose own check does not apply to what it looks at.
    pub(super) replaced: Vec<(CriterionId, Check)>,
    /// Criteria of the task that it withdraws.
    pub(super) withdrawn: Vec<Withdrawal>,
    /// Fingerprint of the kept and the new sub-tasks together.
    pub(super) fingerprint: String,
    /// What a person must allow, as lines of an approval file, as far as that can be told here.
    pub(super) needs: Vec<String>,
}

/// A sub-task that may be dispatched.
#[derive(Debug)]
pub(super) struct ValidSubTask {
    pub(super) intent: String,
    pub(super) criteria: Vec<ValidCriterion>,
    pub(super) context: String,
    /// Indexes in [`ValidPlan::subtasks`] of sub-tasks in lower groups.
    pub(super) inputs: Vec<usize>,
    /// Group number, from 1, without gaps over the plan.
    pub(super) sequence: u32,
    pub(super) tools: Vec<ToolId>,
    pub(super) deadline: Option<Timestamp>,
    pub(super) approach: Option<Approach>,
    pub(super) fingerprint: String,
}

/// A criterion without its id.
#[derive(Clone, Debug)]
pub(super) struct ValidCriterion {
    text: String,
    mode: Mode,
    check: Option<Check>,
    origin: Origin,
    assumes: Option<String>,
}

/// Validates a draft.
///
/// # Errors
/// Returns the reasons for the refusal, at least one, each with its place by number in the draft.
pub(super) fn validate(draft: &PlanDraft, rules: &Rules<'_>) -> Result<ValidPlan, Vec<Refusal>> {
    let mut reasons = Reasons::default();
    let count = draft.subtasks.len();
    if count > SUBTASKS_MAX {
        reasons.add("the plan", format!("has {count} sub-tasks; at most {SUBTASKS_MAX} are allowed"));
        return Err(reasons.0);
    }
    let mut planned: Vec<Option<ValidSubTask>> = Vec::new();
    for (i, subtask) in draft.subtasks.iter().enumerate() {
        let mut own = Reasons::default();
        let subtask = subtask::subtask(subtask, &subtask_place(i), rules, &mut own);
        // A repeated kept sub-task is left out, so its errors do not matter.
        let is_kept = rules.task.kept.iter().any(|kept| kept.subtask.fingerprint == subtask.fingerprint);
        if !is_kept {
            reasons.0.extend(own.0);
        }
        planned.push((!is_kept).then_some(subtask));
    }
    order::arrange(&mut planned, &draft.subtasks, &mut reasons);
    let subtasks: Vec<ValidSubTask> = planned.into_iter().flatten().collect();
    if subtasks.is_empty() && !rules.task.whole_unjudged {
        let what = match count {
            0 => "has no sub-task",
            _ => "holds only what is done already; plan what is missing",
        };
        reasons.add("the plan", what);
    }
    let (added_criteria, replaced) = task_criteria(draft, &subtasks, rules, &mut reasons);
    let withdrawn = premise::withdrawn(&draft.withdraw, !added_criteria.is_empty(), rules.task, &mut reasons);
    let fingerprint = repetition::fingerprint(&subtasks, rules.task);
    let needs = needs(draft.subtasks.iter().flat_map(|subtask| &subtask.allow).chain(&draft.allow));
    let plan = ValidPlan { subtasks, added_criteria, replaced, withdrawn, fingerprint, needs };
    // A plan without sub-tasks is refused already, or has only the criteria that it had.
    if !plan.subtasks.is_empty() {
        test_run::require(&plan.checks(rules.task), rules, &mut reasons);
    }
    // Only a plan that could run is checked for repetition; for any other the reason would not help.
    if reasons.0.is_empty()
        && let Some(reason) = repetition::refusal(&plan.subtasks, &plan.fingerprint, rules.task)
    {
        reasons.add("the plan", reason);
    }
    if let Some(reason) = rules.task.calibration.must_not.refusal(&plan.fingerprint) {
        reasons.add("the plan", reason);
    }
    reasons.0.truncate(REASONS_MAX);
    if reasons.0.is_empty() { Ok(plan) } else { Err(reasons.0) }
}

/// Returns the needs that may be lines of an approval file; anything else is left out, because each call is asked about
/// anyway.
fn needs<'d>(drafted: impl Iterator<Item = &'d String>) -> Vec<String> {
    let is_line = |line: &&str| {
        let subject = line.split_once(' ').map(|(subject, _)| subject);
        matches!(subject, Some("path" | "command" | "host"))
            && line.chars().count() <= NEED_CHARS_MAX
            && !line.chars().any(char::is_control)
    };
    let mut needs: Vec<String> = Vec::new();
    for line in drafted.map(|line| line.trim()).filter(is_line) {
        if needs.len() < NEEDS_MAX && !needs.iter().any(|known| known == line) {
            needs.push(line.to_owned());
        }
    }
    needs
}

impl ValidPlan {
    /// Returns the checks that hold under this plan: its own, and those that the task keeps.
    fn checks<'a>(&'a self, task: &'a Task) -> Vec<&'a Check> {
        let own = self.subtasks.iter().flat_map(|subtask| &subtask.criteria).chain(&self.added_criteria);
        let own = own.filter_map(|criterion| criterion.check.as_ref());
        let is_gone = |id: &CriterionId| {
            self.withdrawn.iter().any(|one| one.criterion_id == *id)
                || self.replaced.iter().any(|(one, _)| one == id)
        };
        let stands = task.criteria.iter().filter(|criterion| !is_gone(&criterion.id));
        let carried = task.kept.iter().flat_map(|kept| &kept.subtask.criteria);
        let stands = stands.chain(carried).filter_map(|criterion| criterion.check.as_ref());
        own.chain(self.replaced.iter().map(|(_, check)| check)).chain(stands).collect()
    }
}

impl<'a> Rules<'a> {
    pub(super) fn new(task: &'a Task, limits: &'a Limits, ctx: &Ctx<'a>) -> Self {
        Rules {
            task,
            limits,
            tools: &ctx.opened.tools,
            surroundings: &ctx.opened.surroundings,
            reader: ctx.reader,
            now: ctx.now,
            logic_version: ctx.opened.logic_version,
            is_of_playbook: ctx.opened.models.of(RoleId::Planner).is_free,
        }
    }

    /// Returns why a plan may not name this tool; `None` if it may.
    fn tool_refusal(&self, tool: &ToolId) -> Option<String> {
        if !self.tools.iter().any(|spec| spec.name == tool.tool()) {
            return Some(format!("names the tool `{}`, which does not exist", clip(tool.as_str(), 60)));
        }
        let is_blocked = self.limits.blocked_tools.iter().any(|blocked| blocked.covers(tool));
        is_blocked.then(|| format!("names the tool `{tool}`, which is blocked for this plan"))
    }
}

impl ValidCriterion {
    pub(super) fn with_id(self, id: CriterionId) -> Criterion {
        Criterion {
            id,
            criterion: self.text,
            mode: self.mode,
            check: self.check,
            origin: self.origin,
            assumes: self.assumes,
        }
    }
}

/// Returns the criteria to add to the task's: those of the draft that are not among them yet. The first plan must
/// give at least one; if it gives none and has a single sub-task, that sub-task's criteria are taken. A criterion
/// that already exists in the same words is unchanged, unless its check does not apply to what it looks at: then the
/// check may be replaced.
fn task_criteria(
    draft: &PlanDraft,
    subtasks: &[ValidSubTask],
    rules: &Rules<'_>,
    reasons: &mut Reasons,
) -> (Vec<ValidCriterion>, Vec<(CriterionId, Check)>) {
    let frozen = &rules.task.criteria;
    let mut added = criteria::criteria(&draft.task_criteria, TASK, &rules.task.spec.intent, rules, reasons);
    let mut replaced: Vec<(CriterionId, Check)> = Vec::new();
    for old in frozen.iter().filter(|old| rules.task.unevaluable.contains(&old.id)) {
        let new = added.iter().find(|new| criteria::same_text(&old.criterion, &new.text));
        let check = new.and_then(|new| new.check.clone()).filter(|check| old.check.as_ref() != Some(check));
        replaced.extend(check.map(|check| (old.id.clone(), check)));
    }
    added.retain(|new| !frozen.iter().any(|old| criteria::same_text(&old.criterion, &new.text)));
    if frozen.is_empty() && draft.task_criteria.is_empty() {
        match subtasks {
            [only] => added.clone_from(&only.criteria),
            [] => {}
            [..] => reasons
                .add(TASK, "has no criterion of its own; with several sub-tasks it needs `task_criteria`"),
        }
    }
    let total = frozen.len() + added.len();
    if total > CRITERIA_MAX {
        reasons.add(TASK, format!("would have {total} criteria; at most {CRITERIA_MAX} are allowed"));
    }
    (added, replaced)
}
