//! Runs a command through the `shell` tool, without consent.

use std::collections::BTreeSet;

use serde_json::json;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::Any;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Effect, ErrorKind, Phase, ToolAnswer, ToolCall};
use setpoint_tools::{CallPlace, Host, Registry};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::bash::{self, environment};
use crate::world::{CANARY, World};

/// Seconds per command by default.
const SECONDS: u64 = 60;

/// Programs that print their own environment.
const OWN_ENVIRONMENT: &[&str] = &["shell/env", "shell/jq", "shell/printenv"];
/// A variable in the environment of every command of a tool.
const CALL_MARK: &str = "SETPOINT_CALL=";

/// The tools of a machine whose environment contains the canary.
pub(crate) struct Gate {
    registry: Registry,
    runtime: Runtime,
}

/// What the gate did with a command.
pub(crate) enum Outcome {
    /// It asked for consent.
    Asked,
    /// It refused with this message, even with an approval.
    Refused(String),
    /// It ran the command.
    Ran(Box<ToolAnswer>),
}

impl Gate {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Gate { registry: Registry::built_in(&Host::new(std::env::consts::OS, environment())), runtime }
    }

    /// Whether the command's text alone reads as read-only.
    pub(crate) fn reads_only(&self, world: &World, cwd: &str, command: &str) -> bool {
        self.registry.read(&call(command), &surroundings(world, cwd)).effect == Effect::ReadOnly
    }

    /// Whether a command's output leaks the environment. A program that prints its own environment may show the mark of
    /// the call, which is not a secret; read from `/proc`, the mark shows that some environment was exposed.
    pub(crate) fn leaks(&self, world: &World, cwd: &str, command: &str, answer: &ToolAnswer) -> bool {
        let tools = self.registry.read(&call(command), &surroundings(world, cwd)).tools;
        let shows_its_own = tools.iter().any(|tool| OWN_ENVIRONMENT.contains(&tool.as_str()));
        let text = answer.text.as_bytes();
        bash::has(text, CANARY) || (!shows_its_own && bash::has(text, CALL_MARK))
    }

    pub(crate) fn run(&self, world: &World, cwd: &str, command: &str) -> Outcome {
        self.run_for(world, cwd, command, SECONDS)
    }

    /// Runs a command that is stopped after this many seconds.
    pub(crate) fn run_for(&self, world: &World, cwd: &str, command: &str, seconds: u64) -> Outcome {
        let mut call = call(command);
        call.input.0["timeout_s"] = seconds.into();
        let ask = ToolAsk { call, phase: Phase::Work, probe: false, grant: None, caution: false };
        let place = CallPlace {
            keeps_as: None,
            surroundings: surroundings(world, cwd).into(),
            created: BTreeSet::new(),
            cancel: CancellationToken::new(),
        };
        let answer = self.runtime.block_on(self.registry.run(&ask, place));
        if answer.approval.is_some() {
            return Outcome::Asked;
        }
        match answer.error_kind {
            Some(ErrorKind::Timeout | ErrorKind::Signal | ErrorKind::Interrupted) => {
                Outcome::Ran(Box::new(answer))
            }
            _ if answer.exit_code.is_some() => Outcome::Ran(Box::new(answer)),
            _ => Outcome::Refused(answer.text),
        }
    }
}

fn call(command: &str) -> ToolCall {
    ToolCall { tool: "shell".to_owned(), input: Any(json!({ "command": command })) }
}

fn surroundings(world: &World, cwd: &str) -> Surroundings {
    let text = |name: &str| world.at(name).to_str().unwrap().to_owned();
    Surroundings {
        cwd: text(cwd),
        home: text("home"),
        workspace: text("space"),
        vars: [("PROJECT".to_owned(), text("project"))].into(),
        os: std::env::consts::OS.to_owned(),
        ..Surroundings::default()
    }
}
