//! Toy machines for the real roles: just enough behaviour to make every kind of record.
//!
//! Texts steer what a toy does: a plan is a list of intents, separated by commas, and an intent may be `panic`,
//! `approve`, `watch` or `read`.

use serde_json::json;
use setpoint_protocol::message::{
    AbandonNotice, ApprovalRequest, ClarificationRequest, DirectAnswer, DispatchManifest, EndedBy,
    ExecutionResult, FaultKind, FinalResult, MemoryQuery, OutcomeSummary, PartialReport, SubTask,
    SubTaskOutcome, TaskSpec,
};
use setpoint_protocol::record::{Answer, Surroundings};
use setpoint_protocol::tool::{CallReading, Effect, ToolCall};
use setpoint_protocol::topology::{inbox, party};
use setpoint_protocol::{Address, Any, Instance, RoleId, SubTaskId, ToolId};

use super::super::Factory;
use crate::brief::{Brief, PerceiveBrief, ReportBrief};
use crate::ctx::Ctx;
use crate::effects::Effects;
use crate::input::Input;
use crate::machine::{AnyMachine, Machine};
use crate::model_call::{ModelCall, ModelLimits};
use crate::prompt::Prompt;
use crate::reading::CallReader;

pub(super) struct Toys;

impl Factory for Toys {
    fn machine(&self, address: Address) -> Option<Box<dyn AnyMachine>> {
        Some(match address.role {
            RoleId::Perceiver => Box::new(Perceiver),
            RoleId::Planner => Box::new(Planner::default()),
            RoleId::Executor => Box::new(Executor::default()),
            RoleId::AgentValidator => Box::new(AgentValidator::default()),
            RoleId::MetaValidator => Box::new(MetaValidator::default()),
            RoleId::GoalGradientSolver => Box::new(Controller::default()),
            _ => return None,
        })
    }

    fn slug(&self, intent: &str) -> String {
        intent.replace(' ', "_")
    }

    fn reader(&self) -> &dyn CallReader {
        self
    }
}

impl CallReader for Toys {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        let effect = if call.tool == "read" { Effect::ReadOnly } else { Effect::Unsafe };
        CallReading {
            tools: vec![ToolId::of_name(&call.tool)],
            target: String::new(),
            beyond: None,
            effect,
            volatile: false,
        }
    }
}

struct Perceiver;

impl Machine for Perceiver {
    type Role = party::Perceiver;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        match input {
            Input::Message(inbox::Perceiver::UserInput(goal)) => match goal.raw_input.as_str() {
                "hello" => fx.publish(DirectAnswer { text: "hello".to_owned() }),
                "do it" => {
                    let questions = vec!["do what?".to_owned()];
                    fx.request(|call_id| ClarificationRequest { call_id, round: 1, questions });
                }
                goal => drop(fx.ask_model(question(goal))),
            },
            Input::Message(inbox::Perceiver::ClarificationAnswer(answer)) => {
                fx.publish(spec(&answer.answers.concat()));
            }
            Input::Answer { answer, .. } => fx.publish(spec(&text_of(&answer))),
            Input::Quiesced => {}
        }
    }
}

/// Returns a spec; a deadline follows ` by `.
fn spec(text: &str) -> TaskSpec {
    let (intent, deadline) = text.split_once(" by ").unwrap_or((text, ""));
    let mut spec: TaskSpec = serde_json::from_value(json!({ "intent": intent, "raw_input": text })).unwrap();
    spec.constraints.deadline = deadline.parse().ok();
    spec
}

#[derive(Default)]
struct Planner {
    instance: u16,
    spec: Option<TaskSpec>,
    reporting: bool,
}

impl Machine for Planner {
    type Role = party::Planner;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        let ctx = fx.ctx;
        match input {
            Input::Message(inbox::Planner::TaskSpec(spec)) => {
                self.spec = Some(spec);
                let (space, entity) = (format!("intent:{}", ctx.slug), "env:local".to_owned());
                fx.request(|call_id| MemoryQuery {
                    call_id,
                    space,
                    entity,
                    about: String::new(),
                    hypotheses: false,
                    tools: vec![],
                    limit: 10,
                });
            }
            Input::Message(inbox::Planner::MemoryReply(_) | inbox::Planner::PlanDirective(_)) => {
                fx.ask_model(question("plan"));
            }
            Input::Message(inbox::Planner::AbandonNotice(notice)) => {
                self.reporting = true;
                let brief = ReportBrief {
                    spec: self.spec.clone().unwrap(),
                    ended_by: notice.ended_by,
                    reason: notice.reason,
                    verdicts: vec![],
                    subtask_verdicts: vec![],
                    unmet_criteria: vec![],
                    partial_output: Any::NULL,
                };
                fx.ask_model(ModelCall { brief: Brief::Report(Box::new(brief)), ..question("report") });
            }
            Input::Answer { answer, .. } if self.reporting => {
                let achieved = text_of(&answer);
                fx.publish(PartialReport { achieved, blocked_by: String::new(), next_moves: vec![] });
            }
            Input::Answer { answer: Answer::Model(reply), .. } => self.dispatch(&reply.text(), fx),
            Input::Answer { .. } | Input::Message(_) | Input::Quiesced => {}
        }
    }
}

impl Planner {
    fn dispatch(&mut self, plan: &str, fx: &mut Effects<'_, party::Planner>) {
        let ctx = fx.ctx;
        let intents: Vec<&str> = plan.split(',').collect();
        let tasks: Vec<SubTask> =
            intents.iter().map(|intent| subtask(SubTaskId::from_uuid(fx.new_id()), intent)).collect();
        let entries: Vec<_> = tasks
            .iter()
            .map(|task| json!({ "subtask_id": task.subtask_id, "sequence": 1, "intent": task.intent, "success_criteria": [] }))
            .collect();
        fx.publish::<DispatchManifest>(
            serde_json::from_value(json!({ "round": 1, "plan_fingerprint": "p", "subtasks": entries,
                "task_criteria": [], "dispatched_at": ctx.now }))
            .unwrap(),
        );
        for task in tasks {
            self.instance += 1;
            fx.publish_to(Instance(self.instance), task);
        }
    }
}

fn subtask(id: SubTaskId, intent: &str) -> SubTask {
    serde_json::from_value(json!({ "subtask_id": id, "intent": intent, "success_criteria": [], "context": "",
        "sequence": 1, "fingerprint": intent }))
    .unwrap()
}

#[derive(Default)]
struct Executor {
    id: Option<SubTaskId>,
}

impl Machine for Executor {
    type Role = party::Executor;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        let ctx = fx.ctx;
        match input {
            Input::Message(inbox::Executor::SubTask(task)) => {
                self.id = Some(task.subtask_id.clone());
                fx.start_timer(60_000);
                let tool = if task.intent == "read" { "read" } else { "shell" };
                let call = fx.run_tool(ToolCall { tool: tool.to_owned(), input: Any::NULL }, None, false);
                match task.intent.as_str() {
                    "panic" => panic!("an intent that nobody can bear"),
                    "quote" => fx.publish(result(self.id.as_ref(), json!(ctx.words))),
                    "approve" => drop(fx.request(|call_id| {
                        ApprovalRequest {
                            call_id,
                            subtask_id: task.subtask_id,
                            for_call: call,
                            need: serde_json::from_value(
                                json!({ "command": "rm x", "reason": "", "digest": "d1" }),
                            )
                            .unwrap(),
                        }
                    })),
                    _ => {}
                }
            }
            Input::Message(inbox::Executor::ApprovalDecision(_)) => {
                let grants: Vec<&String> = ctx.grants.iter().collect();
                fx.publish(result(self.id.as_ref(), json!(grants)));
            }
            Input::Answer { answer: Answer::Tool(_), .. } => fx.publish(result(self.id.as_ref(), json!(3))),
            Input::Answer { .. } | Input::Message(_) | Input::Quiesced => {}
        }
    }
}

fn result(id: Option<&SubTaskId>, output: serde_json::Value) -> ExecutionResult {
    serde_json::from_value(json!({ "subtask_id": id, "attempt": 1, "status": "completed", "output": output,
        "tool_calls": [] }))
    .unwrap()
}

#[derive(Default)]
struct AgentValidator {
    task: Option<SubTask>,
}

impl Machine for AgentValidator {
    type Role = party::AgentValidator;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        match input {
            Input::Message(inbox::AgentValidator::SubTask(task)) => {
                if task.intent == "watch" {
                    fx.start_timer(1);
                }
                self.task = Some(task);
            }
            Input::Message(inbox::AgentValidator::ExecutionResult(_)) => {
                fx.ask_model(question("judge"));
            }
            Input::Answer { .. } => {
                let task = self.task.as_ref().unwrap();
                fx.publish::<SubTaskOutcome>(
                    serde_json::from_value(json!({ "subtask_id": task.subtask_id, "success_criteria": [],
                        "status": "matched", "output": 3, "criteria_verdicts": [], "gap_trajectory": [],
                        "tool_calls": [], "fingerprint": task.fingerprint }))
                    .unwrap(),
                );
            }
            Input::Quiesced => {}
        }
    }
}

#[derive(Default)]
struct MetaValidator {
    expected: usize,
    outcomes: Vec<SubTaskOutcome>,
}

impl Machine for MetaValidator {
    type Role = party::MetaValidator;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        let ctx = fx.ctx;
        match input {
            Input::Message(inbox::MetaValidator::DispatchManifest(manifest)) => {
                self.expected = manifest.subtasks.len();
            }
            Input::Message(inbox::MetaValidator::SubTaskOutcome(outcome)) => {
                self.outcomes.push(outcome);
                if self.outcomes.len() == self.expected {
                    fx.publish(OutcomeSummary {
                        withdrawn: Vec::new(),
                        overlooked: Vec::new(),
                        merged_output: Any::from(json!(self.expected)),
                        summary: "done".to_owned(),
                        task_criteria_verdicts: vec![],
                        outcomes: std::mem::take(&mut self.outcomes),
                        applied_rules: vec![],
                        overridden_rules: vec![],
                        plan_fingerprint: "p".to_owned(),
                        elapsed_ms: ctx.elapsed_ms(),
                    });
                }
            }
            Input::Answer { .. } | Input::Quiesced => {}
        }
    }
}

#[derive(Default)]
struct Controller {
    ending: Option<EndedBy>,
}

impl Machine for Controller {
    type Role = party::GoalGradientSolver;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        let ctx = fx.ctx;
        match input {
            Input::Message(inbox::GoalGradientSolver::OutcomeSummary(outcome))
                if outcome.elapsed_ms == 666 =>
            {
                fx.publish(FinalResult { grad_l: f64::NAN, ..end(EndedBy::CriteriaMet, ctx) });
            }
            Input::Message(inbox::GoalGradientSolver::OutcomeSummary(_)) => {
                fx.publish(end(EndedBy::CriteriaMet, ctx));
            }
            Input::Message(inbox::GoalGradientSolver::TaskFault(fault)) => {
                let first = self.ending.is_none() && fault.kind == FaultKind::Budget;
                self.ending = Some(if first { EndedBy::Budget } else { EndedBy::Fault });
            }
            Input::Message(inbox::GoalGradientSolver::CancelRequest(_)) => {
                self.ending = Some(EndedBy::Cancelled);
            }
            Input::Quiesced if self.ending == Some(EndedBy::Budget) => {
                // A report that breaks the budget as well is not asked for again.
                self.ending = Some(EndedBy::Fault);
                fx.publish(AbandonNotice {
                    ended_by: EndedBy::Budget,
                    reason: "no calls are left".to_owned(),
                    verdicts: vec![],
                    subtask_verdicts: vec![],
                    unmet_criteria: vec![],
                    partial_output: Any::NULL,
                    may_ask_model: true,
                });
            }
            Input::Quiesced | Input::Message(inbox::GoalGradientSolver::PartialReport(_)) => {
                fx.publish(end(self.ending.unwrap(), ctx));
            }
            Input::Answer { .. } | Input::Message(_) => {}
        }
    }
}

fn end(by: EndedBy, ctx: &Ctx<'_>) -> FinalResult {
    serde_json::from_value(
        json!({ "summary": "", "output": 3, "loss": { "D": 0.0, "P": 0.0, "Omega": 0.0, "L": 0.0 },
        "grad_l": 0.0, "replans": 0, "prev_directive": "init", "directive": "accept", "ended_by": by,
        "verdicts": [], "unmet_criteria": [], "next_moves": [], "usage": ctx.ledger.usage }),
    )
    .unwrap()
}

/// Returns the text of a model's reply, or of what came instead of it.
fn text_of(answer: &Answer) -> String {
    match answer {
        Answer::Model(reply) => reply.text(),
        other => format!("{other:?}"),
    }
}

fn question(text: &str) -> ModelCall {
    let brief = PerceiveBrief {
        raw_input: text.to_owned(),
        history: vec![],
        clarifications: vec![],
        title_only: false,
        may_ask: false,
        may_answer: false,
        surroundings: std::sync::Arc::default(),
        repair: None,
    };
    let prompt = Prompt::default().task("question", text, 1_000);
    ModelCall {
        brief: Brief::Perceive(Box::new(brief)),
        prompt,
        schema: None,
        limits: ModelLimits::default(),
    }
}
