//! A task's place in a temporary folder, and calls in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::Any;
use setpoint_protocol::record::{ServerTool, Surroundings};
use setpoint_protocol::tool::{ApprovalNeed, CallReading, Phase, Secret, Source, ToolAnswer, ToolCall};
use setpoint_protocol::{CallId, TaskId};
use setpoint_tools::undo::Undoing;
use setpoint_tools::{CallPlace, Host, Registry};
use tokio_util::sync::CancellationToken;

/// `home`, `project` (the working directory) and `space` (the workspace) in one temporary folder.
pub(crate) struct World {
    folder: PathBuf,
    /// Removes the folder, if this world made it.
    _made: Option<tempfile::TempDir>,
    /// Whose calls they are.
    pub(crate) task: TaskId,
    pub(crate) registry: Registry,
    pub(crate) created: BTreeSet<PathBuf>,
    pub(crate) sources: BTreeSet<Source>,
    pub(crate) secrets: BTreeSet<Secret>,
    pub(crate) cancel: CancellationToken,
    pub(crate) caution: bool,
    pub(crate) probe: bool,
    pub(crate) has_sandbox: bool,
    pub(crate) server_tools: BTreeMap<String, ServerTool>,
    /// The name of the working directory in the temporary folder.
    pub(crate) cwd: &'static str,
    /// The number of the next call.
    pub(crate) call: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        let made = tempfile::tempdir().unwrap();
        for name in ["home", "project", "space"] {
            std::fs::create_dir(made.path().join(name)).unwrap();
        }
        let world = World::of_another_process(made.path());
        World { _made: Some(made), ..world }
    }

    /// The world that another process made in this folder.
    pub(crate) fn of_another_process(folder: &Path) -> Self {
        World {
            folder: folder.to_path_buf(),
            _made: None,
            task: task(),
            registry: Registry::built_in(&host()),
            created: BTreeSet::new(),
            sources: BTreeSet::new(),
            secrets: BTreeSet::new(),
            cancel: CancellationToken::new(),
            caution: false,
            probe: false,
            has_sandbox: false,
            server_tools: BTreeMap::new(),
            cwd: "project",
            call: 1,
        }
    }

    /// The same, with calls that keep what they change.
    pub(crate) fn keeping(self) -> Self {
        let folder = self.root().join("kept");
        World { registry: self.registry.clone().keeping_in(folder), ..self }
    }

    /// Plans to undo the calls with these numbers.
    pub(crate) fn undoing(&self, is_meant: impl Fn(u32) -> bool, is_forced: bool) -> Undoing {
        let folder = self.root().join("kept").join(TASK);
        Undoing::of(&folder, |call| is_meant(call.n), is_forced).unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        std::fs::canonicalize(&self.folder).unwrap()
    }

    /// Returns a path in the working directory.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join("project").join(name)
    }

    pub(crate) fn in_space(&self, name: &str) -> PathBuf {
        self.root().join("space").join(name)
    }

    /// Creates a file in the working directory, with the folders above it.
    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        let text = |name: &str| self.root().join(name).to_str().unwrap().to_owned();
        Surroundings {
            cwd: text(self.cwd),
            home: text("home"),
            workspace: text("space"),
            vars: [("PROJECT".to_owned(), text("project"))].into(),
            os: std::env::consts::OS.to_owned(),
            has_sandbox: self.has_sandbox,
            server_tools: self.server_tools.clone(),
            ..Surroundings::default()
        }
    }

    pub(crate) fn read(&self, tool: &str, input: Value) -> CallReading {
        self.registry.read(&ToolCall { tool: tool.to_owned(), input: Any(input) }, &self.surroundings())
    }

    /// Runs a call without a grant.
    pub(crate) async fn run(&self, tool: &str, input: Value) -> ToolAnswer {
        self.run_under(tool, input, None).await
    }

    pub(crate) async fn run_under(&self, tool: &str, input: Value, grant: Option<String>) -> ToolAnswer {
        let call = ToolCall { tool: tool.to_owned(), input: Any(input) };
        let ask = ToolAsk { call, phase: Phase::Work, probe: self.probe, grant, caution: self.caution };
        let place = CallPlace {
            keeps_as: Some((self.task.clone(), CallId { n: self.call, .."r3/1".parse().unwrap() })),
            surroundings: self.surroundings().into(),
            created: self.created.clone(),
            sources: self.sources.clone(),
            secrets: self.secrets.clone(),
            cancel: self.cancel.clone(),
        };
        self.registry.run(&ask, place).await
    }

    /// Returns what has to be allowed before the call runs.
    pub(crate) async fn need(&self, tool: &str, input: Value) -> ApprovalNeed {
        let answer = self.run(tool, input).await;
        assert!(!answer.ok, "it ran: {}", answer.text);
        answer.approval.unwrap_or_else(|| panic!("nothing to allow: {}", answer.text))
    }

    /// Runs a call that needs an approval, with one.
    pub(crate) async fn run_allowed(&self, tool: &str, input: Value) -> ToolAnswer {
        let need = self.need(tool, input.clone()).await;
        self.run_under(tool, input, Some(need.digest)).await
    }

    /// Returns the facts of a call that must succeed.
    pub(crate) async fn facts(&self, tool: &str, input: Value) -> Value {
        let answer = self.run(tool, input).await;
        assert!(answer.ok, "{}", answer.text);
        answer.facts.unwrap_or_else(|| panic!("no facts: {}", answer.text)).0
    }
}

/// The task of all calls.
pub(crate) const TASK: &str = "a-task-00000000000000a1";

pub(crate) fn task() -> TaskId {
    TASK.parse().unwrap()
}

/// Returns this machine, with a keeper for calls.
pub(crate) fn host() -> Host {
    Host::this().with_keeper(env!("CARGO_BIN_EXE_tools-keeper"))
}

/// Returns the output of a program of the machine, to compare with.
pub(crate) fn output(folder: &Path, command: &str) -> String {
    let output =
        Command::new("sh").args(["-c", command]).current_dir(folder).env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the first number in the output of a program of the machine.
pub(crate) fn number(folder: &Path, command: &str) -> u64 {
    let printed = output(folder, command);
    printed
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("{command}: {printed}"))
}

/// Whether this process ignores permissions.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
