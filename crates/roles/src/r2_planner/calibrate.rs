//! Opens a round: asks memory and surveys the place, without a model call, before every plan and replan.

use setpoint_mkct::intent_space;
use setpoint_mkct::tags::{ENV_LOCAL, INTENT_SPACE};
use setpoint_protocol::message::{ActionState, FaultKind, MemoryQuery, MemoryReply, PlanDirective, TaskSpec};
use setpoint_protocol::text::clip;
use setpoint_protocol::{CallId, RoleId};

use super::calibration::{ABOUT_CHARS_MAX, Calibration, RECORDS_MAX};
use super::fault::Fault;
use super::history::Task;
use super::machine::{Fx, Phase, Planner};
use super::validate::refuted;

impl Planner {
    /// Opens the first round. A second `TaskSpec` starts over; instance numbers continue.
    pub(super) fn on_task_spec(&mut self, spec: TaskSpec, fx: &mut Fx<'_>) {
        if self.is_closing() {
            return;
        }
        self.task = Some(Task::new(spec));
        self.calibrate(fx);
    }

    /// Opens the next round, dropping whatever was pending, unless the last round has shown that no plan can help.
    pub(super) fn on_directive(&mut self, directive: PlanDirective, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        if self.is_closing() {
            return;
        }
        if let Some(task) = &mut self.task {
            let executor = ctx.ledger.usage.by_role.get(&RoleId::Executor);
            task.redirect(directive, executor.map_or(0, |usage| usage.tool_calls));
        }
        if let Some(shown) = self.task.as_ref().and_then(refuted) {
            self.raise(Fault::infeasible(shown), fx);
            return;
        }
        self.calibrate(fx);
    }

    /// Continues to the plan if `call` is the pending query, with memory's reply or without it.
    pub(super) fn on_memory(&mut self, call: CallId, reply: Option<&MemoryReply>, fx: &mut Fx<'_>) {
        let Phase::Calibrating { query, .. } = &mut self.phase else { return };
        if *query != Some(call) {
            return;
        }
        *query = None;
        if let Some(task) = &mut self.task {
            task.calibration = reply.map(Calibration::of).unwrap_or_default();
            task.overridden = Vec::new();
        }
        self.plan_when_ready(fx);
    }

    fn calibrate(&mut self, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(task) = &self.task else {
            self.raise(Fault::new(FaultKind::Fault, "a replan was asked for before there was a goal"), fx);
            return;
        };
        let space = match ctx.slug {
            "" => intent_space(&task.spec.intent),
            slug => format!("{INTENT_SPACE}{slug}"),
        };
        let tools = ctx.opened.tools.iter().filter_map(|tool| tool.name.parse().ok()).collect();
        let query = fx.request(|call_id| MemoryQuery {
            call_id,
            space,
            entity: ENV_LOCAL.to_owned(),
            hypotheses: task
                .directive
                .as_ref()
                .is_some_and(|directive| directive.directive == ActionState::BreakSymmetry),
            about: clip(&task.spec.intent, ABOUT_CHARS_MAX),
            tools,
            limit: RECORDS_MAX,
        });
        let survey = Self::look_around(&task.spec.raw_input, fx);
        self.phase = Phase::Calibrating { query: Some(query), survey };
    }

    /// Returns whether the task is being abandoned, after which no round opens.
    fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Reporting(_) | Phase::Closed)
    }
}
