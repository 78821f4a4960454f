//! Makes ids and messages out of a valid plan. Ids that a model wrote never get here.

use setpoint_protocol::limits::INSTANCES_MAX;
use setpoint_protocol::message::{Criterion, FaultKind, SubTask, Withdrawal};
use setpoint_protocol::{CriterionId, Instance, SubTaskId};

use super::fault::Fault;
use super::machine::{Fx, Planner};
use super::plan::Attempts;
use super::validate::{ValidCriterion, ValidPlan, ValidSubTask};

/// Reason for replacing a criterion's check.
const CHECK_REPLACED: &str = "its first check says nothing of what it looked at";

/// A plan that only needs to be dispatched.
#[derive(Debug)]
pub(super) struct ReadyPlan {
    pub(super) fingerprint: String,
    /// New sub-tasks, in the plan's order.
    pub(super) subtasks: Vec<PlannedSubTask>,
    /// The task's criteria, earlier ones first.
    pub(super) criteria: Vec<Criterion>,
    /// Withdrawn criteria, earlier ones first.
    pub(super) withdrawn: Vec<Withdrawal>,
}

/// A new sub-task with the effector that will execute it.
#[derive(Clone, Debug)]
pub(super) struct PlannedSubTask {
    pub(super) instance: Instance,
    /// Sub-task as shown; `inputs` are those that the plan names, without outputs yet.
    pub(super) subtask: SubTask,
}

impl Planner {
    /// Mints the ids of a valid plan, then dispatches or shows it.
    pub(super) fn settle(&mut self, plan: ValidPlan, attempts: Attempts, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(task) = &self.task else { return };
        let count = u16::try_from(plan.subtasks.len()).unwrap_or(u16::MAX);
        if count > INSTANCES_MAX.saturating_sub(self.instances) {
            let reason = format!("the task has used up its {INSTANCES_MAX} sub-tasks");
            self.raise(Fault::new(FaultKind::Fault, reason), fx);
            return;
        }
        let limits = task.limits();
        let is_withdrawn =
            |criterion: &Criterion| plan.withdrawn.iter().any(|one| one.criterion_id == criterion.id);
        // A number is never reused, not even after its criterion is withdrawn.
        let given = task.criteria.len() + task.withdrawn.iter().filter(|one| !one.check_replaced).count();
        let mut criteria: Vec<Criterion> =
            task.criteria.iter().filter(|criterion| !is_withdrawn(criterion)).cloned().collect();
        let added = (given + 1..).zip(plan.added_criteria);
        criteria.extend(added.map(|(n, added)| added.with_id(CriterionId::of_task(n))));
        let mut withdrawn: Vec<Withdrawal> = task.withdrawn.iter().chain(&plan.withdrawn).cloned().collect();
        for (id, check) in plan.replaced {
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
        let ids: Vec<SubTaskId> = plan.subtasks.iter().map(|_| SubTaskId::from_uuid(fx.new_id())).collect();
        let mut subtasks = Vec::new();
        for (subtask, id) in plan.subtasks.into_iter().zip(&ids) {
            self.instances += 1;
            let instance = Instance(self.instances);
            let ValidSubTask {
                intent,
                criteria,
                context,
                inputs,
                sequence,
                tools,
                deadline,
                approach,
                fingerprint,
            } = subtask;
            let subtask = SubTask {
                subtask_id: id.clone(),
                intent,
                success_criteria: number(criteria, instance),
                context,
                outputs: String::new(),
                inputs: inputs.into_iter().filter_map(|place| ids.get(place).cloned()).collect(),
                deadline,
                sequence,
                tools,
                limits: limits.clone(),
                fingerprint,
                approach,
                baseline: Vec::new(),
            };
            subtasks.push(PlannedSubTask { instance, subtask });
        }
        let ready = ReadyPlan { fingerprint: plan.fingerprint, subtasks, criteria, withdrawn };
        if ctx.opened.preview_plan && !ready.subtasks.is_empty() {
            self.propose(ready, attempts, fx);
        } else {
            self.dispatch(ready, fx);
        }
    }
}

fn number(criteria: Vec<ValidCriterion>, instance: Instance) -> Vec<Criterion> {
    (1..)
        .zip(criteria)
        .map(|(n, criterion)| criterion.with_id(CriterionId::of_subtask(instance, n)))
        .collect()
}
