//! A model and a tool that answer at once, so that only the organisation is measured.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde_json::{Value, json};
use setpoint_machine::effects::ToolAsk;
use setpoint_machine::{Brief, CallReader, ModelCall};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::Any;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::record::{Part, Reply, Surroundings, ToolRequest, Usage};
use setpoint_protocol::tool::{
    CallReading, CapabilityClass, Effect, ToolAnswer, ToolCall, ToolRecord, ToolSpec,
};
use setpoint_runtime::toolbox::{DeadProcess, ToolRun, Toolbox};
use tokio::sync::Barrier;

/// When an answer comes.
#[derive(Debug)]
pub(crate) enum Pace {
    /// Before anything has to wait for it.
    AtOnce,
    /// After one turn of the scheduler, like an answer over a wire.
    Turn,
    /// At once, but the last answer of a task waits until all tasks have reached theirs, so that all are in flight
    /// together.
    Together(Barrier),
}

/// Answers from the brief without computing anything: its only cost is copying ids.
#[derive(Debug)]
pub(crate) struct InstantModel {
    /// Called before every answer.
    pub(crate) on_call: fn(),
    pub(crate) pace: Pace,
}

#[async_trait]
impl Model for InstantModel {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        (self.on_call)();
        match (&self.pace, &call.brief) {
            (Pace::Turn, _) => tokio::task::yield_now().await,
            (Pace::Together(barrier), Brief::Merge(_)) => {
                barrier.wait().await;
            }
            (Pace::AtOnce | Pace::Together(_), _) => {}
        }
        let part = match &call.brief {
            // The input of the bench needs no escaping.
            Brief::Perceive(_) => Part::Text(r#"{"title":"take stock of the cellar"}"#.to_owned()),
            Brief::Plan(_) => Part::Text(PLAN.clone()),
            Brief::Distil(_) | Brief::Reflect(_) => Part::Text("{}".to_owned()),
            Brief::Report(_) => Part::Text(r#"{"achieved":"nothing"}"#.to_owned()),
            Brief::Execute(brief) if brief.calls.is_empty() => {
                let input = Any(json!({ "name": brief.subtask.intent }));
                Part::ToolCall(ToolRequest { tool: "look".to_owned(), input, id: None })
            }
            Brief::Execute(_) => {
                Part::Text(r#"{"status":"completed","output":"a look was taken and it is fine"}"#.to_owned())
            }
            Brief::Judge(brief) => Part::Text(format!("{{{}}}", verdicts(&brief.criteria, &brief.calls))),
            Brief::Merge(brief) => {
                let calls = brief.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
                let verdicts = verdicts(&brief.criteria, calls);
                Part::Text(format!(r#"{{{verdicts},"summary":"all five were looked at"}}"#))
            }
        };
        Ok(Reply {
            parts: vec![part],
            usage: Usage { tokens_in: 800, tokens_out: 60, tokens_cached: 0 },
            is_cut: false,
            by: None,
        })
    }

    fn name(&self) -> &str {
        "instant"
    }
}

pub(crate) static PLAN: LazyLock<String> = LazyLock::new(|| {
    let subtasks: Vec<Value> = ["north", "east", "south", "west", "middle"]
        .iter()
        .map(|place| {
            json!({ "intent": format!("look at the {place} shelf"),
                    "success_criteria": [format!("the record of the {place} shelf lists at least one jar")],
                    "sequence": 1 })
        })
        .collect();
    json!({ "subtasks": subtasks, "task_criteria": ["every shelf of the cellar has one entry with a jar count"] })
        .to_string()
});

/// Returns a pass on every criterion that cites every call.
fn verdicts<'a>(criteria: &[Criterion], calls: impl IntoIterator<Item = &'a Arc<ToolRecord>>) -> String {
    let cites: Vec<String> = calls.into_iter().map(|record| format!("\"{}\"", record.call_id)).collect();
    let cites = cites.join(",");
    let verdict = |criterion: &Criterion| {
        let id = &criterion.id;
        format!(r#"{{"criterion_id":"{id}","verdict":"pass","evidence":"seen","cites":[{cites}]}}"#)
    };
    let verdicts: Vec<String> = criteria.iter().map(verdict).collect();
    format!(r#""verdicts":[{}]"#, verdicts.join(","))
}

/// A read-only tool in this process.
#[derive(Debug)]
pub(crate) struct InstantTools;

struct Reader;

impl CallReader for Reader {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        CallReading {
            tools: call.tool.parse().into_iter().collect(),
            target: call.input.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            beyond: None,
            effect: Effect::ReadOnly,
            volatile: false,
        }
    }
}

#[async_trait]
impl Toolbox for InstantTools {
    fn specs(&self) -> Vec<Arc<ToolSpec>> {
        vec![Arc::new(ToolSpec {
            name: "look".to_owned(),
            description: "Looks at one thing by its name.".to_owned(),
            gives: String::new(),
            input_schema: Any(json!({ "type": "object", "properties": { "name": { "type": "string" } } })),
            class: CapabilityClass::Read,
            volatile: false,
            core: false,
        })]
    }

    fn reader(&self) -> Arc<dyn CallReader> {
        Arc::new(Reader)
    }

    async fn run(&self, _: ToolAsk, _: ToolRun) -> ToolAnswer {
        ToolAnswer { ok: true, text: "three jars of plums".to_owned(), ..ToolAnswer::default() }
    }

    // It starts no process.
    async fn end_calls_of(&self, _: &DeadProcess) {}
}
