//! Drives one R7 machine without a cell.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::machine::AnyMachine;
use setpoint_machine::{AnyInput, CallReader, Ctx, Ledger};
use setpoint_protocol::message::{FinalResult, PlanDirective};
use setpoint_protocol::record::{Answer, Opened, Surroundings};
use setpoint_protocol::tool::{CallReading, Effect as ToolEffect, ToolCall};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, CallId, RoleId, TaskId, Timestamp, ToolId};
use setpoint_roles::r7_goal_gradient_solver::GoalGradientSolver;

/// A machine with its context.
pub(crate) struct Driver {
    machine: GoalGradientSolver,
    opened: Opened,
    task: TaskId,
    ledger: Ledger,
    seq: u64,
    calls: u32,
    pub(crate) clock_ms: u64,
}

impl Driver {
    /// Returns a new machine in a task that has its `TaskSpec`; `patch` sets fields of the opening.
    pub(crate) fn new(patch: &Value) -> Self {
        Driver {
            machine: GoalGradientSolver::default(),
            opened: opened(patch),
            task: TaskId::mint("driver", 1),
            ledger: Ledger::started_at(0),
            seq: 0,
            calls: 0,
            clock_ms: 0,
        }
    }

    /// Delivers a message in full form.
    pub(crate) fn message(&mut self, kind: Kind, body: &Value) -> Vec<Effect> {
        let payload = Payload::decode(kind, &serde_json::to_vec(body).unwrap()).unwrap();
        self.input(AnyInput::Message(payload))
    }

    /// Delivers a timer's answer.
    pub(crate) fn timer(&mut self, call: CallId) -> Vec<Effect> {
        self.input(AnyInput::Answer { call, answer: Answer::Timer })
    }

    pub(crate) fn input(&mut self, input: AnyInput) -> Vec<Effect> {
        self.seq += 1;
        let now = Timestamp::from_micros(1_767_323_045_000_000);
        let address = Address::singleton(RoleId::GoalGradientSolver);
        let mut buffer = EffectBuffer::new(address, self.calls, self.task.clone(), self.seq, now);
        let ctx = Ctx {
            task: &self.task,
            now,
            clock_ms: self.clock_ms,
            opened: &self.opened,
            words: "",
            slug: "the_slug",
            time_budget_ms: self.opened.controller.time_budget_ms,
            ledger: &self.ledger,
            grants: &BTreeSet::new(),
            reader: &Reader,
        };
        self.machine.handle_any(input, &ctx, &mut buffer).unwrap();
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        effects
    }
}

/// Returns the directive, which must be last.
pub(crate) fn directive(effects: Vec<Effect>) -> PlanDirective {
    match effects.into_iter().last() {
        Some(Effect::Send { payload: Payload::PlanDirective(directive), .. }) => directive,
        other => panic!("{other:?}"),
    }
}

/// Returns the result, which must be last.
pub(crate) fn result(effects: Vec<Effect>) -> FinalResult {
    match effects.into_iter().last() {
        Some(Effect::Send { payload: Payload::FinalResult(result), .. }) => result,
        other => panic!("{other:?}"),
    }
}

/// Returns the opening of a task with six tools, of which reading, writing, running and fetching have one each.
pub(crate) fn opened(patch: &Value) -> Opened {
    let tool = |name: &str, class: &str| json!({ "name": name, "description": "", "input_schema": {}, "class": class });
    let mut opened = json!({
        "logic_version": 1, "controller": {}, "interactive": false,
        "surroundings": Surroundings::default(),
        "tools": [
            tool("read_file", "read"), tool("search", "search"), tool("glob", "search"),
            tool("write_file", "write"), tool("shell", "run"), tool("fetch", "fetch"),
        ],
        "models": { "brain": "b", "tool": "t" },
    });
    for (field, value) in patch.as_object().unwrap() {
        opened[field] = value.clone();
    }
    serde_json::from_value(opened).unwrap()
}

/// A reader of the calls in short-form messages. Read-only are `read_file`, `search`, `glob`, and commands of only
/// `ls`, `grep` and `git`.
pub(crate) struct Reader;

impl CallReader for Reader {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        let command = call.input.0["command"].as_str().unwrap_or_default();
        let programs: Vec<&str> =
            command.split(" | ").filter_map(|part| part.split_whitespace().next()).collect();
        let is_read_only = match call.tool.as_str() {
            "read_file" | "search" | "glob" => true,
            "shell" => !programs.is_empty() && programs.iter().all(|one| ["ls", "grep", "git"].contains(one)),
            _ => false,
        };
        let ids = programs.iter().map(|program| ToolId::of_name(&format!("shell/{program}")));
        CallReading {
            tools: if programs.is_empty() { vec![ToolId::of_name(&call.tool)] } else { ids.collect() },
            target: command.to_owned(),
            beyond: None,
            effect: if is_read_only { ToolEffect::ReadOnly } else { ToolEffect::Unsafe },
            volatile: false,
        }
    }
}
