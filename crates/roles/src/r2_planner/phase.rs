//! What R2 waits for, and what follows an input. Handlers return [`Next`]; the machine alone applies it.

use std::collections::BTreeMap;

use setpoint_machine::Effects;
use setpoint_machine::brief::Repair;
use setpoint_protocol::message::{AbandonNotice, Criterion, PartialReport, SubTask, TaskFault, Withdrawal};
use setpoint_protocol::topology::party;
use setpoint_protocol::{CallId, Instance, SubTaskId};

use super::outputs::Output;
use super::validate::ValidPlan;

/// The context of an input of R2, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::Planner>;

/// What R2 waits for.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// A `TaskSpec`, a `PlanDirective` or an `AbandonNotice`.
    #[default]
    Idle,
    /// Memory and the survey; `None` for one that has answered.
    Calibrating { query: Option<CallId>, survey: Option<CallId> },
    /// A model's plan. `is_repair` says that it repairs an answer that was not a plan.
    Planning { call: CallId, is_repair: bool, attempts: Attempts },
    /// The person's decision on a plan.
    Previewing { call: CallId, plan: ReadyPlan, attempts: Attempts },
    /// A group's outcome, or R7.
    Running(RunningPlan),
    /// A model's report, until its timer ends.
    Reporting { model: CallId, timer: CallId, notice: Box<AbandonNotice> },
    /// Nothing: the report has been sent.
    Closed,
}

/// What follows an input.
#[must_use = "a step that is dropped leaves the round hanging"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Phase),
    /// Ask memory and survey the place.
    Calibrate,
    /// Ask the model for a plan.
    Plan(Attempts, Option<Repair>),
    /// Mint the ids of a valid plan.
    Assemble(ValidPlan, Attempts),
    /// Dispatch a plan.
    Dispatch(ReadyPlan),
    /// Raise a fault and wait for R7's decision.
    Raise(TaskFault),
    /// Send the report of an abandoned task.
    Report(PartialReport),
}

impl Next {
    /// Asks for the plan once neither memory nor the survey is pending.
    pub(super) fn plan_when_ready(query: Option<CallId>, survey: Option<CallId>) -> Self {
        match (query, survey) {
            (None, None) => Next::Plan(Attempts::default(), None),
            (query, survey) => Next::Wait(Phase::Calibrating { query, survey }),
        }
    }
}

/// The results of a round's plan calls so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    /// Plan calls made, repairs included.
    pub(super) calls: u32,
    /// Reasons for refusals, oldest first.
    pub(super) refusals: Vec<String>,
    /// Reasons for refusing the last plan.
    pub(super) last: Vec<String>,
    /// Last refused plan, with each reason beside the part that it concerns.
    pub(super) refused: Option<String>,
    /// The person's note on a plan that was shown.
    pub(super) note: Option<String>,
}

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
    /// What a person must allow, as lines of an approval file.
    pub(super) needs: Vec<String>,
}

/// A new sub-task with the effector that will execute it.
#[derive(Clone, Debug)]
pub(super) struct PlannedSubTask {
    pub(super) instance: Instance,
    /// Sub-task as shown; `inputs` are those that the plan names, without outputs yet.
    pub(super) subtask: SubTask,
}

/// A plan being executed.
#[derive(Debug)]
pub(super) struct RunningPlan {
    pub(super) round: u32,
    /// Group dispatched last; 0 before the first.
    pub(super) current: u32,
    /// Groups not yet dispatched.
    pub(super) waiting: BTreeMap<u32, Vec<PlannedSubTask>>,
    /// Intents of the dispatched groups, which head their outputs.
    pub(super) intents: BTreeMap<SubTaskId, String>,
    /// Outputs of carried sub-tasks; every new one receives them.
    pub(super) carried: Vec<Output>,
    /// Outputs of this round's groups so far.
    pub(super) outputs: Vec<Output>,
}
