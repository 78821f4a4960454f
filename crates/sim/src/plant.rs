//! Tools that sometimes work, on a world that maps names to texts.

use std::collections::BTreeMap;

use serde_json::json;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{
    ApprovalNeed, CallReading, CapabilityClass, Effect, ErrorKind, SideEffect, ToolAnswer, ToolCall, ToolSpec,
};
use setpoint_protocol::{Any, CallId};

use crate::chance::Chance;

/// The world that tools act on. It survives every crash of the process.
#[derive(Clone, Debug, Default)]
pub struct Plant {
    /// The texts by name.
    pub things: BTreeMap<String, String>,
    /// Every change that was really made, in order: the oracle outside the process.
    pub changes: Vec<(CallId, String)>,
    /// Changes that were made without a required approval.
    pub unapproved: u64,
    /// Percentage of calls that fail because of the environment.
    pub broken_percent: u64,
}

/// Reads the calls of a [`Plant`].
#[derive(Clone, Copy, Debug)]
pub struct PlantReader;

impl CallReader for PlantReader {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        let tool = call.tool.parse().or_else(|_| "unknown".parse());
        CallReading {
            tools: tool.into_iter().collect(),
            target: call.input.get("name").and_then(|name| name.as_str()).unwrap_or("?").to_owned(),
            beyond: None,
            effect: if call.tool == "look" || call.tool == "search" {
                Effect::ReadOnly
            } else {
                Effect::Unsafe
            },
            volatile: false,
        }
    }
}

impl Plant {
    /// Returns the catalogue.
    #[must_use]
    pub fn specs() -> Vec<ToolSpec> {
        let spec = |name: &str, class| ToolSpec {
            name: name.to_owned(),
            description: format!("{name} a thing by its name"),
            gives: String::new(),
            input_schema: Any(json!({"type": "object", "properties": {"name": {"type": "string"}}})),
            class,
            volatile: false,
            core: false,
        };
        vec![
            spec("look", CapabilityClass::Read),
            spec("search", CapabilityClass::Search),
            spec("change", CapabilityClass::Write),
            spec("destroy", CapabilityClass::Run),
        ]
    }

    /// Runs a call.
    pub fn run(&mut self, call: CallId, ask: &ToolAsk, chance: &mut Chance) -> ToolAnswer {
        let name = ask.call.input.get("name").and_then(|name| name.as_str()).unwrap_or("?").to_owned();
        let reading = PlantReader.read(&ask.call, &Surroundings::default());
        if ask.probe && reading.effect != Effect::ReadOnly {
            return failed(ErrorKind::Blocked, "a probe must be read-only");
        }
        if chance.percent(self.broken_percent) {
            let kinds = [ErrorKind::Timeout, ErrorKind::Network, ErrorKind::Permission, ErrorKind::Exit];
            return failed(*chance.pick(&kinds).unwrap_or(&ErrorKind::Other), "the plant is broken today");
        }
        match ask.call.tool.as_str() {
            "look" | "search" => match self.things.get(&name) {
                Some(thing) => answered(thing.clone(), SideEffect::None),
                None => failed(ErrorKind::NotFound, "there is no such thing"),
            },
            "change" => {
                self.things.insert(name.clone(), "changed".to_owned());
                self.changes.push((call, name));
                answered("changed".to_owned(), SideEffect::Reversible)
            }
            "destroy" => {
                let digest = format!("destroy {name}");
                if ask.grant.as_deref() != Some(digest.as_str()) {
                    let need = ApprovalNeed {
                        command: digest.clone(),
                        cwd: None,
                        writes: vec![],
                        deletes: vec![name],
                        hosts: vec![],
                        reason: "it destroys a thing".to_owned(),
                        digest,
                        scope: None,
                        after: Vec::new(),
                        secrets: Vec::new(),
                        rule: None,
                        facts: None,
                        preview: None,
                    };
                    let mut answer = failed(ErrorKind::ApprovalRequired, "needs an approval");
                    answer.approval = Some(need);
                    return answer;
                }
                self.things.remove(&name);
                self.changes.push((call, name));
                answered("destroyed".to_owned(), SideEffect::Irreversible)
            }
            _ => failed(ErrorKind::MissingTool, "there is no such tool"),
        }
    }
}

fn answered(text: String, side_effect: SideEffect) -> ToolAnswer {
    let facts = Some(Any(json!({ "text": text })));
    ToolAnswer {
        ok: true,
        exit_code: Some(0),
        text,
        facts,
        duration_ms: 5,
        side_effect,
        ..ToolAnswer::default()
    }
}

fn failed(kind: ErrorKind, text: &str) -> ToolAnswer {
    ToolAnswer { error_kind: Some(kind), text: text.to_owned(), duration_ms: 5, ..ToolAnswer::default() }
}
