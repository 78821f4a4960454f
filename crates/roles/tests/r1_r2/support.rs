//! The fixture of R1's and R2's scripts: a small catalogue, a call reader, and the display of a model call.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::machine::AnyMachine;
use setpoint_machine::script::{self, Setup};
use setpoint_machine::{AnyInput, Brief, CallReader, Ctx, Ledger, ModelCall};
use setpoint_protocol::record::{Answer, Opened, Part, Reply, Surroundings, Usage};
use setpoint_protocol::tool::{self, CallReading, ToolCall};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, CallId, Instance, RoleId, TaskId, Timestamp, ToolId};

/// Runs every script of a folder and compares its `<` lines with what the machine does now.
///
/// A script's first line may set the task's opening: `# opened {"interactive": true}`.
pub(crate) fn check_scripts<M: AnyMachine + Default>(folder: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no scripts in {}", folder.display());
    for path in paths {
        let script = std::fs::read_to_string(&path).unwrap();
        let actual = run_script(&mut M::default(), &script)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        expect_test::expect_file![path].assert_eq(&actual);
    }
}

/// Runs one script.
pub(crate) fn run_script(machine: &mut dyn AnyMachine, script: &str) -> Result<String, script::ScriptError> {
    let patch = script.lines().next().and_then(|line| line.strip_prefix("# opened "));
    let patch = patch.map_or(json!({}), |patch| serde_json::from_str(patch).unwrap());
    let opened = opened_for(machine.role(), &patch);
    let setup = Setup { opened, instance: Instance(0), reader: &Reader, describe };
    script::run(machine, script, setup)
}

/// Returns the opening for a role. The brain of R2's tests is free, so that only tests about the survey, which set
/// the models, run one.
fn opened_for(role: RoleId, patch: &Value) -> Opened {
    let mut opened = opened(patch);
    opened.models.brain.is_free |= role == RoleId::Planner && patch.get("models").is_none();
    opened
}

/// Returns the opening of a task on a small machine with six tools, with the fields of `patch` set.
pub(crate) fn opened(patch: &Value) -> Opened {
    let tool = |name: &str, class: &str, description: &str, field: &str| {
        json!({
            "name": name, "class": class, "description": description,
            "input_schema": { "type": "object", "properties": { field: { "type": "string" } } },
        })
    };
    let mut opened = json!({
        "logic_version": setpoint_roles::factory::LOGIC_VERSION,
        "controller": {},
        "interactive": false,
        "surroundings": Surroundings {
            cwd: "/home/ada/notes".to_owned(),
            home: "/home/ada".to_owned(),
            workspace: "/home/ada/.work".to_owned(),
            os: "linux".to_owned(),
            programs: vec!["curl".to_owned(), "wc".to_owned()],
            local_time: "Friday 2026-01-02 04:04:05 Europe/Vienna".to_owned(),
            ..Surroundings::default()
        },
        "tools": [
            tool("read_file", "read", "Reads a text file.", "path"),
            tool("search", "search", "Finds files whose text matches.", "query"),
            tool("write_file", "write", "Creates or changes a file.", "path"),
            tool("shell", "run", "Runs one program.", "program"),
            tool("fetch", "fetch", "Fetches a page.", "url"),
        ],
        "models": { "brain": "b", "tool": "t" },
    });
    for (field, value) in patch.as_object().unwrap() {
        opened[field] = value.clone();
    }
    serde_json::from_value(opened).unwrap()
}

/// A call reader for that catalogue. Reading, searching and `wc` change nothing; everything else may.
pub(crate) struct Reader;

impl CallReader for Reader {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        let field = |name: &str| call.input.get(name).and_then(Value::as_str);
        let tool: ToolId = match (call.tool.as_str(), field("program")) {
            ("shell", Some(program)) => format!("shell/{program}").parse().unwrap(),
            (name, _) => name.parse().unwrap_or_else(|_| "unknown".parse().unwrap()),
        };
        let changes_nothing = ["read_file", "search", "grep", "shell/wc"].contains(&tool.as_str());
        CallReading {
            target: ["path", "url", "command"]
                .into_iter()
                .find_map(field)
                .map_or_else(|| call.input.to_text(), str::to_owned),
            beyond: None,
            effect: if changes_nothing { tool::Effect::ReadOnly } else { tool::Effect::Unsafe },
            volatile: false,
            tools: vec![tool],
        }
    }
}

/// Shows a model call in a script: the parts of the brief that differ between calls.
pub(crate) fn describe(call: &ModelCall) -> String {
    let mut shown = match &call.brief {
        Brief::Perceive(brief) => json!({
            "title_only": brief.title_only.then_some(true),
            "may_ask": brief.may_ask,
            "may_answer": brief.may_answer,
            "history": brief.history.iter().map(|exchange| &exchange.input).collect::<Vec<_>>(),
            "clarifications": brief.clarifications,
            "repair": brief.repair.as_ref().map(|repair| &repair.error),
        }),
        Brief::Plan(brief) => json!({
            "round": brief.round,
            "alternatives": brief.alternatives,
            "directive": brief.directive.as_ref().map(|directive| directive.directive),
            "calibration": brief
                .calibration
                .iter()
                .map(|line| format!("{:?}: {}", line.heading, line.text))
                .collect::<Vec<_>>(),
            "limits": brief.limits,
            "tools": brief.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            "previous": brief.previous.iter().map(|plan| (plan.round, plan.judged_failed)).collect::<Vec<_>>(),
            "kept": brief.kept.iter().map(|outcome| &outcome.output).collect::<Vec<_>>(),
            "task_criteria": brief.task_criteria.iter().map(|one| &one.criterion).collect::<Vec<_>>(),
            "survey": brief.survey.as_ref().map(|survey| survey.entries.len()),
            "refusals": brief.refusals,
            "note": brief.note,
            "repair": brief.repair.as_ref().map(|repair| &repair.error),
        }),
        Brief::Report(brief) => json!({ "ended_by": brief.ended_by, "ms_max": call.limits.ms_max }),
        Brief::Execute(_) | Brief::Judge(_) | Brief::Merge(_) | Brief::Distil(_) | Brief::Reflect(_) => {
            json!({})
        }
    };
    // Shows only fields that are set.
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = shown.as_object_mut().unwrap();
    if fields.get("round") == Some(&json!(1)) {
        fields.remove("tools");
    }
    fields.retain(|_, value| is_set(value));
    shown.to_string()
}

/// A machine on a test bench: it receives inputs one by one and returns its effects as values.
pub(crate) struct Bench<M> {
    machine: M,
    opened: Opened,
    task: TaskId,
    seq: u64,
    calls: u32,
    pub(crate) ledger: Ledger,
}

impl<M: AnyMachine + Default> Bench<M> {
    pub(crate) fn new(patch: &Value) -> Self {
        let machine = M::default();
        Bench {
            opened: opened_for(machine.role(), patch),
            machine,
            task: TaskId::mint("bench", 1),
            seq: 0,
            calls: 0,
            ledger: Ledger::default(),
        }
    }

    /// Sends it a message.
    pub(crate) fn message(&mut self, kind: Kind, body: &Value) -> Vec<Effect> {
        let payload = Payload::decode(kind, body.to_string().as_bytes()).unwrap();
        self.give(AnyInput::Message(payload))
    }

    /// Sends it a model's text.
    pub(crate) fn reply(&mut self, call: CallId, text: &str) -> Vec<Effect> {
        let reply = Reply {
            parts: vec![Part::Text(text.to_owned())],
            usage: Usage::default(),
            is_cut: false,
            by: None,
        };
        self.give(AnyInput::Answer { call, answer: Answer::Model(reply) })
    }

    /// Sends it the result of a survey.
    pub(crate) fn survey(&mut self, call: CallId, survey: &Value) -> Vec<Effect> {
        let survey = serde_json::from_value(survey.clone()).unwrap();
        self.give(AnyInput::Answer { call, answer: Answer::Survey(Box::new(survey)) })
    }

    fn give(&mut self, input: AnyInput) -> Vec<Effect> {
        self.seq += 1;
        let now = Timestamp::from_micros(1_767_323_045_000_000);
        let address = Address::singleton(self.machine.role());
        let mut buffer = EffectBuffer::new(address, self.calls, self.task.clone(), self.seq, now);
        let ctx = Ctx {
            task: &self.task,
            now,
            clock_ms: 0,
            opened: &self.opened,
            words: "",
            slug: "bench",
            time_budget_ms: 300_000,
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

/// Returns the single model call among the effects.
pub(crate) fn model_call(effects: Vec<Effect>) -> (CallId, ModelCall) {
    let mut calls: Vec<(CallId, ModelCall)> = effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Model { call, ask } => Some((call, ModelCall::clone(&ask))),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

/// Returns a directive with the fields of `patch` set.
pub(crate) fn directive(patch: &Value) -> Value {
    let mut directive = json!({
        "loss": { "D": 0.5, "P": 0.2, "Omega": 0.1, "L": 0.4 },
        "prev_directive": "init",
        "directive": "refine",
        "blocked_tools": [],
        "blocked_targets": [],
        "failed_criterion": "the output is one whole number",
        "failure_class": "environmental",
        "findings": [],
        "budget_pressure": 0.1,
        "matched": [],
        "failed_subtasks": [],
        "grad_l": 0.0,
        "grad_l_budget": 0.0,
        "urgency": "normal",
        "rationale": "D 0.50, P 0.20: environmental, plateau",
    });
    for (field, value) in patch.as_object().unwrap() {
        directive[field] = value.clone();
    }
    directive
}

/// Returns a matched outcome.
pub(crate) fn matched(subtask_id: &str, output: &str) -> Value {
    json!({
        "subtask_id": subtask_id, "status": "matched", "output": output, "fingerprint": "0123456789abcdef",
        "success_criteria": [{ "id": "s1.c1", "criterion": "one line a file", "mode": "verifiable" }],
        "criteria_verdicts": [], "gap_trajectory": [], "tool_calls": [],
    })
}
