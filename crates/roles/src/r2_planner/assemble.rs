//! Makes ids and messages out of a valid plan. Ids that a model wrote are never used.

use setpoint_protocol::limits::INSTANCES_MAX;
use setpoint_protocol::message::{Criterion, FaultKind, Limits, SubTask, Withdrawal};
use setpoint_protocol::predicate::Check;
use setpoint_protocol::{CriterionId, Instance, SubTaskId};

use super::fault::fault;
use super::history::Task;
use super::phase::{Attempts, Fx, Next, PlannedSubTask, ReadyPlan};
use super::preview::propose;
use super::validate::{ValidCriterion, ValidPlan, ValidSubTask};

/// Reason for replacing a criterion's check.
const CHECK_REPLACED: &str = "its first check says nothing of what it looked at";

/// Mints the ids of a valid plan, which is then dispatched or shown. `instances` counts the task's sub-tasks so far.
pub(super) fn assemble(
    task: &Task,
    instances: &mut u16,
    plan: ValidPlan,
    attempts: Attempts,
    fx: &mut Fx<'_>,
) -> Next {
    let count = u16::try_from(plan.subtasks.len()).unwrap_or(u16::MAX);
    if count > INSTANCES_MAX.saturating_sub(*instances) {
        let reason = format!("the task has used up its {INSTANCES_MAX} sub-tasks");
        return Next::Raise(fault(FaultKind::Fault, &reason, fx.ctx));
    }
    let ValidPlan { subtasks, added_criteria, replaced, withdrawn, fingerprint, needs } = plan;
    let (criteria, withdrawn) = criteria(task, added_criteria, replaced, &withdrawn);
    let limits = task.limits();
    let ids: Vec<SubTaskId> = subtasks.iter().map(|_| SubTaskId::from_uuid(fx.new_id())).collect();
    let mut planned = Vec::new();
    for (subtask, id) in subtasks.into_iter().zip(&ids) {
        *instances += 1;
        let instance = Instance(*instances);
        planned.push(PlannedSubTask { instance, subtask: message(subtask, id, instance, &ids, &limits) });
    }
    let ready = ReadyPlan { fingerprint, subtasks: planned, criteria, withdrawn, needs };
    let is_asked = fx.ctx.opened.preview_plan || !ready.needs.is_empty();
    if is_asked && !ready.subtasks.is_empty() {
        propose(task.round, ready, attempts, fx)
    } else {
        Next::Dispatch(ready)
    }
}

/// Returns the task's criteria and withdrawals after this plan.
fn criteria(
    task: &Task,
    added: Vec<ValidCriterion>,
    replaced: Vec<(CriterionId, Check)>,
    dropped: &[Withdrawal],
) -> (Vec<Criterion>, Vec<Withdrawal>) {
    let is_withdrawn = |criterion: &&Criterion| dropped.iter().any(|one| one.criterion_id == criterion.id);
    // A number is never reused, not even after its criterion is withdrawn.
    let given = task.criteria.len() + task.withdrawn.iter().filter(|one| !one.check_replaced).count();
    let mut criteria: Vec<Criterion> =
        task.criteria.iter().filter(|criterion| !is_withdrawn(criterion)).cloned().collect();
    let added = (given + 1..).zip(added);
    criteria.extend(added.map(|(n, added)| added.with_id(CriterionId::of_task(n))));
    let mut withdrawn: Vec<Withdrawal> = task.withdrawn.iter().chain(dropped).cloned().collect();
    for (id, check) in replaced {
        if let Some(criterion) = criteria.iter_mut().find(|criterion| criterion.id == id) {
            criterion.check = Some(check);
            withdrawn.push(Withdrawal {
                criterion_id: id,
                criterion: criterion.criterion.clone(),
                why: CHECK_REPLACED.to_owned(),
                seen: Vec::new(),
                check_replaced: true,
            });
        }
    }
    (criteria, withdrawn)
}

/// Returns the message of a sub-task. Its inputs are places among `ids`.
fn message(
    subtask: ValidSubTask,
    id: &SubTaskId,
    instance: Instance,
    ids: &[SubTaskId],
    limits: &Limits,
) -> SubTask {
    let numbered = (1..).zip(subtask.criteria);
    SubTask {
        subtask_id: id.clone(),
        intent: subtask.intent,
        success_criteria: numbered
            .map(|(n, criterion)| criterion.with_id(CriterionId::of_subtask(instance, n)))
            .collect(),
        context: subtask.context,
        outputs: String::new(),
        inputs: subtask.inputs.into_iter().filter_map(|place| ids.get(place).cloned()).collect(),
        deadline: subtask.deadline,
        is_only: false,
        sequence: subtask.sequence,
        tools: subtask.tools,
        limits: limits.clone(),
        fingerprint: subtask.fingerprint,
        approach: subtask.approach,
        baseline: Vec::new(),
    }
}
