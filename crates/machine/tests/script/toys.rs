//! Two toy machines that show their inputs and use every kind of effect.

use serde_json::json;
use setpoint_machine::brief::PerceiveBrief;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::script::{ScriptError, Setup, run};
use setpoint_machine::{Brief, CallReader, Effects, Input, Machine, ModelCall, Prompt};
use setpoint_protocol::message::{ExecutionResult, ExecutionStatus, MemoryQuery, SubTask};
use setpoint_protocol::record::{Answer, Opened, Surroundings};
use setpoint_protocol::tool::{CallReading, Effect, Phase, ToolCall};
use setpoint_protocol::topology::{inbox, party};
use setpoint_protocol::{Any, Instance, SubTaskId, ToolId};

/// Answers each input with one result that shows the input and its context.
pub(crate) struct Echo;

impl Machine for Echo {
    type Role = party::Executor;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        let ctx = fx.ctx;
        let heard = match input {
            Input::Message(inbox::Executor::SubTask(task)) => json!({ "subtask": task.intent }),
            Input::Message(inbox::Executor::CorrectionSignal(_)) => return ways_out(fx),
            Input::Message(inbox::Executor::ApprovalDecision(decision)) => {
                json!({ "approved": decision.digest })
            }
            Input::Answer { call, answer } => json!({ "call": call, "answer": words(&answer) }),
            Input::Quiesced => json!("quiesced"),
        };
        let usage = ctx.ledger.usage.calls + ctx.ledger.usage.tool_calls;
        let context = json!({ "heard": heard, "now": ctx.now, "clock_ms": ctx.clock_ms, "elapsed_ms": ctx.elapsed_ms(),
            "slug": ctx.slug, "grants": ctx.grants, "asked": usage });
        let subtask_id = SubTaskId::from_uuid(fx.new_id());
        fx.publish(ExecutionResult {
            unmet: Vec::new(),
            subtask_id,
            attempt: 1,
            status: ExecutionStatus::Completed,
            output: Any(context),
            uncertainty: None,
            outage: false,
            tool_calls: vec![],
        });
    }
}

fn ways_out(fx: &mut Effects<'_, party::Executor>) {
    let ctx = fx.ctx;
    let tool = ToolCall { tool: "shell".to_owned(), input: Any(json!({ "command": "ls" })) };
    fx.ask_model(question());
    fx.run_tool(tool.clone(), None, false);
    fx.run_tool(tool.clone(), ctx.grants.first().cloned(), true);
    fx.probe(tool, Phase::After);
    fx.start_timer(500);
}

fn words(answer: &Answer) -> String {
    match answer {
        Answer::Model(reply) => format!("model: {} and {} calls", reply.text(), reply.tool_calls().count()),
        Answer::ModelFailed(failure) => format!("failed: {}", failure.reason),
        Answer::Tool(tool) => format!("tool: {}", tool.text),
        Answer::Timer => "timer".to_owned(),
        Answer::Survey(survey) => format!("survey: {}", survey.entries.len()),
        Answer::Interrupted => "interrupted".to_owned(),
    }
}

/// Sends a sub-task to another instance, and a question.
pub(crate) struct Sender;

impl Machine for Sender {
    type Role = party::Planner;

    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>) {
        if let Input::Message(inbox::Planner::TaskSpec(spec)) = input {
            let task: SubTask = serde_json::from_value(json!({ "subtask_id": SubTaskId::from_uuid(fx.new_id()),
                "intent": spec.intent, "success_criteria": [], "context": "", "sequence": 1, "fingerprint": "" }))
            .unwrap();
            fx.publish_to(Instance(7), task);
            let (space, entity) = ("intent:x".to_owned(), "env:local".to_owned());
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
    }
}

fn question() -> ModelCall {
    let brief = PerceiveBrief {
        raw_input: "what now?".to_owned(),
        history: vec![],
        clarifications: vec![],
        title_only: false,
        may_ask: false,
        may_answer: false,
        surroundings: std::sync::Arc::default(),
        repair: None,
    };
    ModelCall {
        brief: Brief::Perceive(Box::new(brief)),
        prompt: Prompt::default(),
        schema: None,
        limits: ModelLimits::default(),
    }
}

struct Nothing;

impl CallReader for Nothing {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        let tools = vec![ToolId::of_name(&call.tool)];
        CallReading { tools, target: String::new(), beyond: None, effect: Effect::Unsafe, volatile: false }
    }
}

/// Runs a script with the echo machine as effector 3.
pub(crate) fn echo(script: &str) -> Result<String, ScriptError> {
    run(&mut Echo, script, setup(3))
}

pub(crate) fn setup(instance: u16) -> Setup<'static> {
    let opened: Opened =
        serde_json::from_value(json!({ "logic_version": 1, "controller": {}, "interactive": true,
        "surroundings": { "cwd": "/w", "home": "/h", "workspace": "/w", "os": "linux", "local_time": "" },
        "tools": [], "models": { "brain": "", "tool": "" } }))
        .unwrap();
    Setup { opened, instance: Instance(instance), reader: &Nothing, describe: |_| "in two\nlines".to_owned() }
}
