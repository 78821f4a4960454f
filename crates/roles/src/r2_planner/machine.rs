//! Dispatches R2's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::message::FaultKind;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::inbox::Planner as Inbox;
use setpoint_protocol::topology::party;

use super::fault::fault;
use super::history::Task;
use super::phase::{Fx, Next, Phase};
use super::{assemble, calibrate, dispatch, plan, preview, report, survey};

/// The machine of R2, one per task.
#[derive(Debug, Default)]
pub struct Planner {
    /// State left by earlier rounds; `None` before the `TaskSpec`.
    task: Option<Task>,
    /// Number of effector instances assigned so far, over all rounds.
    instances: u16,
    phase: Phase,
}

impl Machine for Planner {
    type Role = party::Planner;

    fn handle(&mut self, input: Input<party::Planner>, fx: &mut Fx<'_>) {
        let phase = std::mem::take(&mut self.phase);
        let next = match input {
            Input::Message(message) => self.on_message(message, phase, fx),
            Input::Answer { call, answer } => self.on_answer(call, answer, phase, fx),
            Input::Quiesced => Next::Wait(phase),
        };
        self.phase = self.apply(next, fx);
    }
}

impl Planner {
    fn on_message(&mut self, message: Inbox, phase: Phase, fx: &mut Fx<'_>) -> Next {
        match (message, phase, &mut self.task) {
            (Inbox::MemoryReply(reply), Phase::Calibrating { query: Some(query), survey }, Some(task))
                if query == reply.call_id =>
            {
                calibrate::on_memory_reply(task, Some(&reply), survey)
            }
            (Inbox::PlanDecision(decision), Phase::Previewing { call, plan, attempts }, _)
                if call == decision.call_id =>
            {
                preview::on_plan_decision(decision, plan, attempts, fx)
            }
            (Inbox::GroupMatched(group), Phase::Running(running), Some(task)) => {
                dispatch::on_group_matched(task, running, group, fx)
            }
            // Once the task is being abandoned no round opens, and no second report is given. Other messages are
            // stale here, because their round has been closed.
            (_, phase @ (Phase::Reporting { .. } | Phase::Closed), _)
            | (Inbox::MemoryReply(_) | Inbox::PlanDecision(_) | Inbox::GroupMatched(_), phase, _) => {
                Next::Wait(phase)
            }
            (Inbox::TaskSpec(spec), _, task) => calibrate::on_task_spec(task, spec),
            (Inbox::PlanDirective(directive), _, task) => {
                calibrate::on_plan_directive(task.as_mut(), directive, fx)
            }
            (Inbox::AbandonNotice(notice), _, task) => report::on_abandon_notice(task.as_ref(), notice, fx),
        }
    }

    /// Passes an answer to its handler. An answer to any other call is stale: its round has been closed.
    fn on_answer(&mut self, call: CallId, answer: Answer, phase: Phase, fx: &mut Fx<'_>) -> Next {
        match (phase, &mut self.task) {
            (Phase::Calibrating { query: Some(query), survey }, Some(task)) if query == call => {
                calibrate::on_memory_reply(task, None, survey)
            }
            (Phase::Calibrating { query, survey: Some(survey) }, Some(task)) if survey == call => {
                survey::on_survey(task, answer, query, fx)
            }
            (Phase::Planning { call: asked, is_repair, attempts }, Some(task)) if asked == call => {
                plan::on_answer(task, &answer, is_repair, attempts, fx)
            }
            (Phase::Previewing { call: asked, plan, .. }, _) if asked == call => {
                preview::on_no_decision(plan, fx)
            }
            (Phase::Reporting { timer, notice, .. }, _) if timer == call => report::on_timer(&notice),
            (Phase::Reporting { model, notice, .. }, _) if model == call => {
                report::on_answer(&notice, &answer)
            }
            (phase, _) => Next::Wait(phase),
        }
    }

    /// Takes the steps that follow one another without another input; returns what R2 waits for then.
    fn apply(&mut self, mut next: Next, fx: &mut Fx<'_>) -> Phase {
        loop {
            next = match (next, &mut self.task) {
                (Next::Wait(phase), _) => return phase,
                (Next::Raise(fault), _) => {
                    fx.publish(fault);
                    return Phase::Idle;
                }
                (Next::Report(report), _) => {
                    fx.publish(report);
                    return Phase::Closed;
                }
                (Next::Calibrate, Some(task)) => calibrate::begin(task, fx),
                (Next::Plan(attempts, repair), Some(task)) => plan::ask(task, attempts, repair, fx),
                (Next::Assemble(plan, attempts), Some(task)) => {
                    assemble::assemble(task, &mut self.instances, plan, attempts, fx)
                }
                (Next::Dispatch(plan), Some(task)) => dispatch::begin(task, plan, fx),
                (Next::Calibrate | Next::Plan(..) | Next::Assemble(..) | Next::Dispatch(_), None) => {
                    Next::Raise(fault(
                        FaultKind::Fault,
                        "a replan was asked for before there was a goal",
                        fx.ctx,
                    ))
                }
            }
        }
    }
}
