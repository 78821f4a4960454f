//! Dispatches each input to its handler.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::topology::{inbox, party};

use super::dispatch::Running;
use super::history::Task;
use super::plan::Planning;
use super::preview::Preview;
use super::report::Reporting;

/// The machine of R2, one per task.
#[derive(Debug, Default)]
pub struct Planner {
    /// State left by earlier rounds; `None` before the `TaskSpec`.
    pub(super) task: Option<Task>,
    /// Number of effector instances assigned so far, over all rounds.
    pub(super) instances: u16,
    pub(super) phase: Phase,
}

/// What R2 waits for.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// A `TaskSpec`, a `PlanDirective` or an `AbandonNotice`.
    #[default]
    Idle,
    /// Memory and the survey.
    Calibrating {
        /// Pending memory query; `None` once answered.
        query: Option<CallId>,
        /// Pending survey; `None` once answered.
        survey: Option<CallId>,
    },
    /// A model's plan.
    Planning(Planning),
    /// The person's decision on a plan.
    Previewing(Box<Preview>),
    /// A group's outcome, or R7.
    Running(Running),
    /// A model's report.
    Reporting(Box<Reporting>),
    /// Nothing: the report has been sent.
    Closed,
}

/// The effects of R2.
pub(super) type Fx<'a> = Effects<'a, party::Planner>;

impl Machine for Planner {
    type Role = party::Planner;

    fn handle(&mut self, input: Input<party::Planner>, fx: &mut Fx<'_>) {
        match input {
            Input::Message(message) => match message {
                inbox::Planner::TaskSpec(spec) => self.on_task_spec(spec, fx),
                inbox::Planner::PlanDirective(directive) => self.on_directive(directive, fx),
                inbox::Planner::MemoryReply(reply) => self.on_memory(reply.call_id, Some(&reply), fx),
                inbox::Planner::PlanDecision(decision) => self.on_decision(decision, fx),
                inbox::Planner::GroupMatched(group) => self.on_group_matched(group, fx),
                inbox::Planner::AbandonNotice(notice) => self.on_abandon(notice, fx),
            },
            // An answer to any other call is stale: its round has been closed.
            Input::Answer { call, answer } => match &self.phase {
                Phase::Calibrating { query: Some(query), .. } if *query == call => {
                    self.on_memory(call, None, fx);
                }
                Phase::Calibrating { .. } => self.on_survey(call, answer, fx),
                Phase::Planning(planning) if planning.call == call => self.on_plan_answer(&answer, fx),
                Phase::Previewing(preview) if preview.call == call => self.on_no_decision(fx),
                Phase::Reporting(reporting) => {
                    if let Some(report) = reporting.answered(call, &answer) {
                        self.give_report(report, fx);
                    }
                }
                Phase::Planning(_) | Phase::Previewing(_) => {}
                Phase::Idle | Phase::Running(_) | Phase::Closed => {}
            },
            Input::Quiesced => {}
        }
    }
}
