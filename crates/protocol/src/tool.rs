//! Tools as data: the request of a call, its result, and the catalogue's entry for each tool.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::FailureClass;

use crate::any::Any;
use crate::gate::{Facts, Rule};
use crate::id::{CallId, ToolId};

/// A call of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The tool's name, as in the catalogue.
    pub tool: String,
    /// Its parameters; the tool's own schema says which.
    #[serde(default)]
    pub input: Any,
}

/// The kind of thing a tool does. `break_symmetry` never blocks the last available tool of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityClass {
    /// Reads a known thing.
    Read,
    /// Finds things.
    Search,
    /// Changes files.
    Write,
    /// Runs programs.
    Run,
    /// Reaches the network.
    Fetch,
    /// Asks a server of tools, which may do any of these.
    Server,
}

/// What a call may do to the world, as far as its reading can tell before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Provably changes nothing: may run as a probe, and runs again after a crash.
    ReadOnly,
    /// Changes something, or cannot be proven not to: never repeated silently.
    Unsafe,
}

/// One entry of the tool catalogue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// The name in a [`ToolCall`].
    pub name: String,
    /// One or two sentences for whoever chooses a tool.
    pub description: String,
    /// What its result holds that a check can look at, in a few words: its text, and its facts as JSON pointers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub gives: String,
    /// JSON Schema of the input.
    pub input_schema: Any,
    /// What kind of thing it does.
    pub class: CapabilityClass,
    /// Whether two equal calls may rightly give different results (a clock, a poll).
    #[serde(default)]
    pub volatile: bool,
    /// Whether an executor is offered it from the start, where its sub-task names no tools; the others it loads by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub core: bool,
}

/// What can be known of a call before it runs. Made by code from the call and the task's surroundings alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallReading {
    /// The tool ids the call runs as; several for a shell pipeline, sorted, never empty.
    pub tools: Vec<ToolId>,
    /// The call's input in normal form: cosmetic differences vanish.
    pub target: String,
    /// What the target leaves out of the call, in normal form too: two calls with equal tools, target and this do the
    /// same. `None` where that is not known: then the parameters count as they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<String>,
    /// What it may do.
    pub effect: Effect,
    /// Whether two equal calls may rightly differ.
    pub volatile: bool,
}

/// Why a call did not succeed, where code can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A path or resource that is not there.
    NotFound,
    /// A path or resource that may not be touched.
    Permission,
    /// A program or tool that is not there.
    MissingTool,
    /// It ran longer than allowed and was stopped.
    Timeout,
    /// The network failed.
    Network,
    /// Told to come back later.
    RateLimit,
    /// The disk is full or a quota is reached.
    Storage,
    /// It ran and said no: a non-zero exit code.
    Exit,
    /// It was ended by a signal that we did not send.
    Signal,
    /// The parameters do not fit the tool.
    InvalidInput,
    /// The thing is not of the kind the tool reads (binary, malformed).
    InvalidData,
    /// The process died while the call ran: outcome unknown.
    Interrupted,
    /// A limit of the task forbids this tool or target.
    Blocked,
    /// It needs an approval that has not been given yet.
    ApprovalRequired,
    /// The person, or the policy that speaks for them, refused.
    Consent,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Returns the failure class that this kind implies; `None` for a refusal, which is neither.
    #[must_use]
    pub const fn failure_class(self) -> Option<FailureClass> {
        match self {
            ErrorKind::NotFound
            | ErrorKind::Permission
            | ErrorKind::MissingTool
            | ErrorKind::Timeout
            | ErrorKind::Network
            | ErrorKind::RateLimit
            | ErrorKind::Storage
            | ErrorKind::Signal
            | ErrorKind::Interrupted
            | ErrorKind::Other => Some(FailureClass::Environmental),
            ErrorKind::Exit | ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Blocked => {
                Some(FailureClass::Logical)
            }
            ErrorKind::ApprovalRequired | ErrorKind::Consent => None,
        }
    }
}

/// Whether what a call changed can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// Changed nothing.
    #[default]
    None,
    /// Created something, kept a backup, or changed what the task itself had made.
    Reversible,
    /// Deleted, overwrote or sent something that was there before the task, or may have.
    Irreversible,
}

/// What confined the program of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxTier {
    /// Nothing: it ran as programs of the person run.
    #[default]
    None,
    /// The sandbox in full: a view of some folders, without network and without other processes.
    Full,
}

/// When in a sub-task's life a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A probe before the work, to find vacuous checks.
    Before,
    /// The work.
    Work,
    /// A probe after the answer.
    After,
}

/// A file that a call executed, with its content's hash at that time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ExecutedFile {
    /// Absolute path.
    pub path: String,
    /// BLAKE3 of the content, hexadecimal.
    pub hash: String,
    /// Files that its text names and that were there; bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// What a person is asked to allow: exactly this, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalNeed {
    /// The exact command or operation.
    pub command: String,
    /// The folder it runs in, where that is not the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Paths it would create or change.
    #[serde(default)]
    pub writes: Vec<String>,
    /// Paths it would delete.
    #[serde(default)]
    pub deletes: Vec<String>,
    /// Hosts it would connect to: names or addresses, without ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Why consent is needed.
    pub reason: String,
    /// The rule that asks for it; absent in journals from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// The facts that decided: the rule follows from them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<Facts>>,
    /// BLAKE3 over command, working directory and paths; an approval is bound to it.
    pub digest: String,
    /// BLAKE3 over the command, the working directory, the executed files and the paths that need the consent, whatever is
    /// there; where it is present, an approval for the whole task is bound to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Where text came from that the task has read by now and that somebody elsewhere wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Source>,
    /// The keys that the task may have read by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// What it would change in a file, as a diff; bounded, with a mark of what is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

impl ApprovalNeed {
    /// Returns what the task has read by now that matters to consent: text from elsewhere, and keys.
    #[must_use]
    pub fn read(&self) -> Vec<String> {
        let secrets = self.secrets.iter().map(ToString::to_string);
        self.after.iter().map(ToString::to_string).chain(secrets).collect()
    }

    /// Returns the reason with the name of the rule that asks, for a person.
    #[must_use]
    pub fn why(&self) -> String {
        match self.rule {
            Some(rule) => format!("{} [{rule}]", self.reason),
            None => self.reason.clone(),
        }
    }

    /// Returns whether an approval of `grant`, a digest or a scope, allows this.
    #[must_use]
    pub fn is_covered_by(&self, grant: &str) -> bool {
        self.digest == grant || self.scope.as_deref() == Some(grant)
    }
}

/// Where text came from that somebody elsewhere wrote, perhaps for a model to obey.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Pages of this host.
    Web(String),
    /// Answers of this MCP server.
    Server(String),
    /// What memory learnt in a task that had read from this source, directly or not.
    Memory(Box<Source>),
    /// Files that a task wrote after it had read from this source, directly or not.
    Written(Box<Source>),
    /// A source that is no longer known, because the record of it was pruned or cannot be read.
    Unknown,
}

impl Source {
    /// Returns the source of what memory learnt from this one.
    #[must_use]
    pub fn remembered(&self) -> Self {
        Source::Memory(Box::new(self.origin().clone()))
    }

    /// Returns the source of a file that was written after reading from this one.
    #[must_use]
    pub fn written(&self) -> Self {
        Source::Written(Box::new(self.origin().clone()))
    }

    /// Returns who wrote the text, however it came here.
    #[must_use]
    pub fn origin(&self) -> &Self {
        match self {
            Source::Memory(from) | Source::Written(from) => from.origin(),
            Source::Web(_) | Source::Server(_) | Source::Unknown => self,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Web(host) => write!(f, "pages of {host}"),
            Source::Server(name) => write!(f, "the MCP server {name}"),
            Source::Memory(source) => write!(f, "memory of {source}"),
            Source::Written(source) => write!(f, "files written after reading {source}"),
            Source::Unknown => f.write_str("text from elsewhere whose origin is no longer known"),
        }
    }
}

/// A key that a text may hold, or may have held before it was removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// What a file holds that by its name holds keys.
    File(String),
    /// A known key of this name, which was removed.
    Key(String),
    /// What has the form of a key of this kind: `a key of GitHub`.
    Form(String),
    /// What files hold that a task wrote after it had read this.
    Written(Box<Secret>),
    /// Keys that are no longer known, because the record of them cannot be read.
    Unknown,
    /// What files hold that were not looked at for keys, because there are too many.
    Unsearched,
}

impl Secret {
    /// Returns what a file holds that was written after this was read.
    #[must_use]
    pub fn written(&self) -> Self {
        match self {
            Secret::Written(of) => of.written(),
            of => Secret::Written(Box::new(of.clone())),
        }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::File(path) => write!(f, "keys in {path}"),
            Secret::Key(name) => write!(f, "where the key {name} is"),
            Secret::Form(kind) => write!(f, "what looks like {kind}"),
            Secret::Written(of) => write!(f, "files written after reading {of}"),
            Secret::Unknown => f.write_str("keys that are no longer known"),
            Secret::Unsearched => f.write_str("files that were not looked at for keys"),
        }
    }
}

/// What came back from a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolAnswer {
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Why not, where code can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<ErrorKind>,
    /// A process's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it printed or found, head and tail kept, capped at `TOOL_OUTPUT_BYTES_MAX`.
    pub text: String,
    /// The same as structured data, where the tool has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Any>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// Files it executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executed_files: Vec<ExecutedFile>,
    /// Where its text came from, if somebody elsewhere wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The keys that its text may hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// Files it created that were not there before; this task may change them freely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<String>,
    /// What it did to the world.
    #[serde(default)]
    pub side_effect: SideEffect,
    /// What confined its program; absent where it ran none, and in journals from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<SandboxTier>,
    /// Present when it did nothing because it needs an approval first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalNeed>,
}

/// The tool that tells what the task has changed in files so far. No model calls it.
pub const TASK_CHANGES: &str = "task_changes";

/// The record of one call, as it travels in messages: the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRecord {
    /// The call.
    pub call_id: CallId,
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// When in the sub-task's life.
    pub phase: Phase,
    /// The tool id it ran as (the first of `tools` when a pipeline has several).
    pub tool: ToolId,
    /// All tool ids of a pipeline; empty when `tool` is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// The parameters.
    pub input: Any,
    /// The parameters in normal form.
    pub target: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<ErrorKind>,
    /// A process's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it printed or found: at most `EVIDENCE_CHARS_MAX` characters of a call of the work,
    /// `PROBE_EVIDENCE_CHARS_MAX` of a probe. A longer text has a mark where it was cut.
    pub evidence: String,
    /// The same as structured data, at most `FACTS_BYTES_MAX` bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Any>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// Files it executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executed_files: Vec<ExecutedFile>,
    /// What it did to the world.
    #[serde(default)]
    pub side_effect: SideEffect,
    /// What confined its program; absent where it ran none, and in journals from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<SandboxTier>,
}

impl ToolRecord {
    /// Returns all tool ids of the call.
    pub fn tool_ids(&self) -> impl Iterator<Item = &ToolId> {
        let more = self.tools.iter().filter(|id| **id != self.tool);
        std::iter::once(&self.tool).chain(more)
    }

    /// Returns whether the call produced a result; a non-zero exit code is one.
    #[must_use]
    pub fn ran(&self) -> bool {
        self.ok || matches!((self.error_kind, self.exit_code), (Some(ErrorKind::Exit), _) | (None, Some(_)))
    }

    /// Returns whether the call can show that something is missing here: it ran, or failed because of that. A call that
    /// was refused, blocked, interrupted or malformed shows nothing.
    #[must_use]
    pub fn shows_a_lack(&self) -> bool {
        let is_lack = |kind: ErrorKind| match kind {
            ErrorKind::NotFound | ErrorKind::Permission | ErrorKind::MissingTool | ErrorKind::Network => true,
            ErrorKind::Timeout
            | ErrorKind::RateLimit
            | ErrorKind::Storage
            | ErrorKind::Exit
            | ErrorKind::Signal
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::Interrupted
            | ErrorKind::Blocked
            | ErrorKind::ApprovalRequired
            | ErrorKind::Consent
            | ErrorKind::Other => false,
        };
        self.ran() || self.error_kind.is_some_and(is_lack)
    }
}
