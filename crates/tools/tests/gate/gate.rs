//! Runs a command through the `shell` tool, without consent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Effect, ErrorKind, Phase, ToolAnswer, ToolCall};
use setpoint_protocol::{Any, TaskId};
use setpoint_tools::{Bounds, CallPlace, Host, Registry, Sandbox};
use tempfile::TempDir;
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
/// The program that makes the sandbox.
const STAGE: &str = env!("CARGO_BIN_EXE_tools-keeper");

/// The tools of a machine whose environment contains the canary.
pub(crate) struct Gate {
    registry: Registry,
    runtime: Runtime,
    /// What a sandbox and an undo keep, where there is one.
    kept: Option<TempDir>,
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
        Gate::of(&Host::new(std::env::consts::OS, environment()))
    }

    /// The tools of a machine with a sandbox, which keep what they change; `None` if this machine cannot hold one.
    pub(crate) fn sandboxed() -> Option<Self> {
        let kept = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(kept.path()).unwrap();
        let probed = setpoint_sandbox::probe(Path::new(STAGE), &root).unwrap();
        if !probed.missing.is_empty() {
            eprintln!("not tried, because the sandbox does not hold here: {:?}", probed.missing);
            return None;
        }
        let sandbox = Sandbox {
            stage: PathBuf::from(STAGE),
            readable: Vec::new(),
            hidden: Vec::new(),
            home: root.join("home"),
            layers: root.join("layers"),
            bounds: Bounds::default(),
        };
        let host = Host::new(std::env::consts::OS, environment()).with_keeper(STAGE).with_sandbox(sandbox);
        let gate = Gate::of(&host);
        let registry = gate.registry.keeping_in(root.join("undo"));
        Some(Gate { registry, kept: Some(kept), ..gate })
    }

    fn of(host: &Host) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Gate { registry: Registry::built_in(host), runtime, kept: None }
    }

    fn surroundings(&self, world: &World, cwd: &str) -> Surroundings {
        Surroundings { has_sandbox: self.kept.is_some(), ..surroundings(world, cwd) }
    }

    /// Whether the command's text alone reads as read-only.
    pub(crate) fn reads_only(&self, world: &World, cwd: &str, command: &str) -> bool {
        self.registry.read(&call(command), &self.surroundings(world, cwd)).effect == Effect::ReadOnly
    }

    /// Whether a command's output leaks the environment. A program that prints its own environment may show the mark of
    /// the call, which is not a secret; read from `/proc`, the mark shows that some environment was exposed.
    pub(crate) fn leaks(&self, world: &World, cwd: &str, command: &str, answer: &ToolAnswer) -> bool {
        let tools = self.registry.read(&call(command), &self.surroundings(world, cwd)).tools;
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
            keeps_as: self.kept.as_ref().map(|_| (task(), "r3.1/1".parse().unwrap())),
            surroundings: self.surroundings(world, cwd).into(),
            created: BTreeSet::new(),
            sources: BTreeSet::new(),
            secrets: BTreeSet::new(),
            cancel: CancellationToken::new(),
        };
        let answer = self.runtime.block_on(self.registry.run(&ask, place));
        if let Some(kept) = &self.kept {
            // Each command is a task of its own.
            drop(std::fs::remove_dir_all(kept.path().join("undo")));
        }
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

fn task() -> TaskId {
    "a-task-00000000000000a1".parse().unwrap()
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
