//! Opens a round: asks memory and surveys the place, without a model call, before every plan and replan.

use setpoint_mkct::intent_space;
use setpoint_mkct::tags::{ENV_LOCAL, INTENT_SPACE};
use setpoint_protocol::message::{ActionState, MemoryQuery, MemoryReply, PlanDirective, TaskSpec};
use setpoint_protocol::text::clip;
use setpoint_protocol::{CallId, RoleId};

use super::calibration::{ABOUT_CHARS_MAX, Calibration, RECORDS_MAX};
use super::fault::infeasible;
use super::history::Task;
use super::phase::{Fx, Next, Phase};
use super::survey::look_around;
use super::validate::refuted;

/// Opens the first round. A second `TaskSpec` starts over; instance numbers continue.
pub(super) fn on_task_spec(task: &mut Option<Task>, spec: TaskSpec) -> Next {
    *task = Some(Task::new(spec));
    Next::Calibrate
}

/// Opens the next round, dropping whatever was pending, unless the last round has shown that no plan can help.
pub(super) fn on_plan_directive(task: Option<&mut Task>, directive: PlanDirective, fx: &Fx<'_>) -> Next {
    let shown = task.and_then(|task| {
        let executor = fx.ctx.ledger.usage.by_role.get(&RoleId::Executor);
        task.redirect(directive, executor.map_or(0, |usage| usage.tool_calls));
        refuted(task)
    });
    shown.map_or(Next::Calibrate, |shown| Next::Raise(infeasible(shown, fx.ctx)))
}

/// Asks memory and surveys the place.
pub(super) fn begin(task: &Task, fx: &mut Fx<'_>) -> Next {
    let ctx = fx.ctx;
    let space = match ctx.slug {
        "" => intent_space(&task.spec.intent),
        slug => format!("{INTENT_SPACE}{slug}"),
    };
    let query = fx.request(|call_id| MemoryQuery {
        call_id,
        space,
        entity: ENV_LOCAL.to_owned(),
        hypotheses: task.direction() == Some(ActionState::BreakSymmetry),
        about: clip(&task.spec.intent, ABOUT_CHARS_MAX),
        tools: ctx.opened.tools.iter().filter_map(|tool| tool.name.parse().ok()).collect(),
        limit: RECORDS_MAX,
    });
    let survey = look_around(&task.spec.raw_input, fx);
    Next::Wait(Phase::Calibrating { query: Some(query), survey })
}

/// Continues with memory's reply, or without one.
pub(super) fn on_memory_reply(task: &mut Task, reply: Option<&MemoryReply>, survey: Option<CallId>) -> Next {
    task.calibration = reply.map(Calibration::of).unwrap_or_default();
    task.overridden = Vec::new();
    Next::plan_when_ready(None, survey)
}
