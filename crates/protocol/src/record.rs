//! The records of the journal that are not messages: how a task opened, what it asked of the world, what was answered.
//!
//! Messages and these bodies together are everything that a task received and sent.

mod forked;
mod prompt;
mod survey;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::any::Any;
use crate::id::CallId;
use crate::models::{ModelCard, Models};
use crate::role::RoleId;
use crate::settings::{Budgets, ControllerSettings};
use crate::time::Timestamp;
use crate::tool::{Effect, Phase, ToolAnswer, ToolCall, ToolSpec};
use crate::topology::Kind;

pub use self::forked::{EarlierFork, ForkedFrom};
pub use self::prompt::{FragmentHash, PromptStart, Prompts};
pub use self::survey::{GitState, Guide, NamedPath, ProjectFile, Skill, Survey, SurveyAsk, SurveyEntry};

/// The format of bodies written now. Readers accept every older format and refuse newer ones.
pub const FORMAT: u16 = 2;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKind {
    /// A message of the topology.
    Message(Kind),
    /// How the task opened: the first record of its stream.
    Opened,
    /// An ask of a machine: model, tool, timer or survey.
    Asked,
    /// A further attempt of an ask, recorded before the request is sent.
    Reasked,
    /// The answer to an ask.
    Answered,
    /// Every stopped ask has returned.
    Quiesced,
    /// An input that made a machine panic: stored, but never delivered again.
    Poisoned,
}

impl RecordKind {
    /// Returns the name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RecordKind::Message(kind) => kind.name(),
            RecordKind::Opened => "Opened",
            RecordKind::Asked => "Asked",
            RecordKind::Reasked => "Reasked",
            RecordKind::Answered => "Answered",
            RecordKind::Quiesced => "Quiesced",
            RecordKind::Poisoned => "Poisoned",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that names no record kind.
#[derive(Debug, thiserror::Error)]
#[error("read {0:?} as a record kind")]
pub struct RecordKindError(String);

impl FromStr for RecordKind {
    type Err = RecordKindError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "Opened" => RecordKind::Opened,
            "Asked" => RecordKind::Asked,
            "Reasked" => RecordKind::Reasked,
            "Answered" => RecordKind::Answered,
            "Quiesced" => RecordKind::Quiesced,
            "Poisoned" => RecordKind::Poisoned,
            other => RecordKind::Message(
                other.parse().map_err(|_| RecordKindError(other.chars().take(60).collect()))?,
            ),
        })
    }
}

/// How a task opened: everything from outside that its machines may depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// The version of the machines' logic; replay compares byte by byte only under the same one.
    pub logic_version: u32,
    /// The controller's settings.
    pub controller: ControllerSettings,
    /// Hard limits.
    #[serde(default)]
    pub budgets: Budgets,
    /// Whether a person can be asked.
    pub interactive: bool,
    /// Whether the person wants to see each plan before it runs.
    #[serde(default)]
    pub preview_plan: bool,
    /// Whether small talk may be answered at once.
    #[serde(default)]
    pub direct_answers: bool,
    /// The machine and place the task works in.
    pub surroundings: Arc<Surroundings>,
    /// The tool catalogue.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The models.
    pub models: Models,
    /// What the operator has laid down for every task (memory's layer T): part of every model's standing instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking: Vec<String>,
    /// The session's last exchanges, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Exchange>,
    /// The task that this one continues from a point of, when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

impl Opened {
    /// Returns the card of the model that the role asked in the record at `seq`. Records that a fork inherited were
    /// answered by the models of the original task.
    #[must_use]
    pub fn card(&self, role: RoleId, seq: u64) -> &ModelCard {
        let taken = self.forked_from.as_ref().and_then(|from| from.models_of(seq));
        taken.unwrap_or(&self.models).of(role)
    }
}

/// The machine and place a task works in, as it was when the task opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    /// Absolute working directory.
    pub cwd: String,
    /// Absolute home directory.
    pub home: String,
    /// Absolute folder for files that the task generates.
    pub workspace: String,
    /// Environment variables that paths may name.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// `linux`, `macos`, …
    pub os: String,
    /// Installed programs out of those worth knowing about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Local date and time with zone, for R2, R4a and R4b.
    pub local_time: String,
    /// Whether programs can be run on a view of the working directory whose changes are discarded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_sandbox: bool,
    /// The tools of MCP servers in the catalogue, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub server_tools: BTreeMap<String, ServerTool>,
}

/// What holds of a server's tool for the whole task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTool {
    /// BLAKE3 over its definition, hexadecimal. A tool that is defined differently by now is not called.
    pub definition: String,
    /// Whether it counts as one that changes nothing: the server says so, and the person trusts this server's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_read_only: bool,
}

/// One earlier exchange of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// What the person typed.
    pub input: String,
    /// What the result's summary said.
    pub summary: String,
    /// The beginning of the output.
    pub output: String,
}

/// An ask of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// Its id.
    pub call: CallId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked of the world. Questions to people and to memory are messages; their ids are asks too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A model.
    Model {
        /// What for.
        purpose: Purpose,
        /// The prompt, as content hashes of its fragments in order; without those that `after` stands for.
        fragments: Vec<FragmentHash>,
        /// What the prompt begins with, where that is the beginning of an earlier prompt of the same machine: so a
        /// conversation costs the journal only what each turn adds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<PromptStart>,
    },
    /// A tool.
    Tool {
        /// The call.
        call: ToolCall,
        /// When in the sub-task's life.
        phase: Phase,
        /// What it may do; decides what happens to it after a crash.
        effect: Effect,
        /// The approval it runs under, as the digest that was approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<String>,
    },
    /// A timer on the task's clock.
    Timer {
        /// Milliseconds from now.
        ms: u64,
    },
    /// A look around where the task works. It only reads.
    Survey(SurveyAsk),
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// R1.
    Perceive,
    /// R2: a plan or a replan.
    Plan,
    /// R2: the report of an abandon.
    Report,
    /// R3: the next step of an attempt.
    Execute,
    /// R4a: criteria that code cannot judge.
    Judge,
    /// R4b: merge, and task criteria that code cannot judge.
    Merge,
    /// R5: the words of a rule; outside every task.
    Distil,
    /// R5: what a task taught; after its end.
    Reflect,
}

impl Purpose {
    /// Returns the name of the purpose.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Perceive => "perceive",
            Purpose::Plan => "plan",
            Purpose::Report => "report",
            Purpose::Execute => "execute",
            Purpose::Judge => "judge",
            Purpose::Merge => "merge",
            Purpose::Distil => "distil",
            Purpose::Reflect => "reflect",
        }
    }
}

/// A further attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reasked {
    /// The ask.
    pub call: CallId,
    /// The attempt that starts now.
    pub attempt: u32,
    /// Why.
    pub reason: String,
    /// What the attempt before it cost, as far as the provider counted, else by our own estimate.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub spent: Usage,
    /// Whether it starts for no fault of whoever was asked: the process that asked has died, or the task was forked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_runtime: bool,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// The ask.
    pub call: CallId,
    /// The last attempt that was made; 0 for an ask that was stopped before anything was asked.
    pub attempt: u32,
    /// The answer.
    pub answer: Answer,
    /// What the last attempt of a model cost that gave no answer, as far as the provider counted, else by our own
    /// estimate. An answer states its own cost.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub spent: Usage,
}

impl Answered {
    /// Creates an answer that states its own cost, or has none.
    #[must_use]
    pub fn new(call: CallId, attempt: u32, answer: Answer) -> Self {
        Answered { call, attempt, answer, spent: Usage::default() }
    }
}

/// An answer of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A model's reply.
    Model(Reply),
    /// A model that did not answer.
    ModelFailed(ModelFailure),
    /// A tool's answer, failed ones included.
    Tool(Box<ToolAnswer>),
    /// The timer went off.
    Timer,
    /// What there is where the task works.
    Survey(Box<Survey>),
    /// It was stopped, or the process died while it ran: outcome unknown.
    Interrupted,
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// What it cost.
    pub usage: Usage,
    /// Whether it ends at the bound on its length and not where the model wanted to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The model that said it, where that is not the one that the task was opened with: its price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Reply {
    /// Returns all text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if let Part::Text(part) = part {
                text.push_str(part);
            }
        }
        text
    }

    /// Returns all tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(request) => Some(request.to_call()),
            Part::Text(_) | Part::Opaque(_) => None,
        })
    }
}

/// One part of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A request to call a tool.
    ToolCall(ToolRequest),
    /// What only the provider understands (reasoning items, thinking blocks, thought signatures): kept to be sent back
    /// with the conversation, and read by nothing of ours.
    Opaque(Opaque),
}

/// A model's request to call a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRequest {
    /// The tool's name.
    pub tool: String,
    /// Its parameters.
    pub input: Any,
    /// The provider's id of the request, which the result names when it is sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl ToolRequest {
    /// Returns the requested call.
    #[must_use]
    pub fn to_call(&self) -> ToolCall {
        ToolCall { tool: self.tool.clone(), input: self.input.clone() }
    }
}

impl From<ToolCall> for ToolRequest {
    fn from(call: ToolCall) -> Self {
        ToolRequest { tool: call.tool, input: call.input, id: None }
    }
}

/// An item of a reply that only its provider understands.
///
/// It belongs to the part that follows it in the reply, or to the reply's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opaque {
    /// The wire and model that gave it (`anthropic/claude-opus-4`): it is sent back to no other.
    pub by: String,
    /// The item as JSON, as it came.
    pub body: String,
}

/// Tokens of one call; 0 where the model does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
    /// Tokens in that were read from a cache.
    #[serde(default)]
    pub tokens_cached: u64,
}

impl Usage {
    /// Returns whether all counts are zero.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.tokens_in == 0 && self.tokens_out == 0
    }
}

/// Why a model did not answer. Never carries the model's own text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFailure {
    /// What kind.
    pub kind: ModelFailureKind,
    /// What happened, for a person.
    pub reason: String,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelFailureKind {
    /// It has nothing to say to this: another try would give the same.
    Unable,
    /// The service broke, or cannot be reached any more.
    Unavailable,
    /// The service was never reached: the address is wrong, or nothing runs there.
    Unreachable,
    /// It took too long.
    Timeout,
    /// Credentials or payment are missing, or it wants to be left alone for longer than a task waits.
    Refused,
    /// The prompt is larger than its window.
    TooLong,
}

impl ModelFailureKind {
    /// Returns whether another attempt may succeed.
    #[must_use]
    pub const fn retryable(self) -> bool {
        matches!(self, ModelFailureKind::Unavailable | ModelFailureKind::Timeout)
    }
}

/// Body of `Quiesced`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quiesced {
    /// Asks that were stopped.
    pub stopped: u32,
}

/// Body of `Poisoned`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Poisoned {
    /// The kind of the input.
    pub kind: String,
    /// The input's body.
    pub body: Any,
    /// What the machine said when it panicked.
    pub panic: String,
}

/// One record of a task's stream: a row's columns without the ones that the journal adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Position in the task's stream, from 1.
    pub seq: u64,
    /// Time of the input that the step belongs to.
    pub at: Timestamp,
    /// The task's clock at that time.
    pub clock_ms: u64,
    /// Sender.
    pub from: Address,
    /// Receivers, in delivery order. Empty if only the runtime reads the record.
    pub to: Vec<Address>,
    /// Kind.
    pub kind: RecordKind,
    /// `seq` of the causing record; `None` for unsolicited input from outside.
    pub cause: Option<u64>,
    /// Exact JSON bytes.
    pub body: Vec<u8>,
}

impl Record {
    /// Returns the receivers as stored in the journal's column: addresses joined by `+`.
    #[must_use]
    pub fn to_column(&self) -> Cow<'static, str> {
        match self.to.as_slice() {
            [] => Cow::Borrowed(NOBODY),
            [only] => only.text(),
            several => {
                let texts: Vec<_> = several.iter().map(|address| address.text()).collect();
                Cow::Owned(texts.join("+"))
            }
        }
    }

    /// Parses the receivers' column.
    ///
    /// # Errors
    /// If a part of the column is not an address.
    pub fn receivers(column: &str) -> Result<Vec<Address>, crate::address::AddressError> {
        if column == NOBODY {
            return Ok(Vec::new());
        }
        column.split('+').map(str::parse).collect()
    }

    /// Returns the message, if the record is one.
    #[must_use]
    pub fn message(&self) -> Option<crate::topology::Payload> {
        match self.kind {
            RecordKind::Message(kind) => crate::topology::Payload::decode(kind, &self.body).ok(),
            _ => None,
        }
    }

    /// Returns the fragments of the prompt that the record stores: without those inherited from an earlier prompt; none
    /// if the record does not ask a model.
    #[must_use]
    pub fn asked_fragments(&self) -> Vec<FragmentHash> {
        if self.kind != RecordKind::Asked {
            return Vec::new();
        }
        match serde_json::from_slice(&self.body) {
            Ok(Asked { ask: Ask::Model { fragments, .. }, .. }) => fragments,
            _ => Vec::new(),
        }
    }

    /// Returns whether the record came from outside. Machines derive all others, and a replay compares them.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self.kind {
            RecordKind::Opened | RecordKind::Answered | RecordKind::Reasked | RecordKind::Poisoned => true,
            RecordKind::Asked | RecordKind::Quiesced => false,
            RecordKind::Message(_) => match self.from.role {
                RoleId::User | RoleId::Memory | RoleId::Operator => true,
                RoleId::Runtime => self.cause.is_none(),
                _ => false,
            },
        }
    }
}

/// Value of the receivers' column if only the runtime reads the record.
const NOBODY: &str = "-";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Instance;

    #[test]
    fn the_receivers_read_back_from_their_column() {
        let one = Address::singleton(RoleId::Planner);
        let other = Address::effector(RoleId::Executor, Instance(3));
        for (to, expected) in [
            (vec![], "-"),
            (vec![one], "planner"),
            (vec![other], "executor.3"),
            (vec![other, one, one], "executor.3+planner+planner"),
        ] {
            let record = Record {
                seq: 1,
                at: Timestamp::from_micros(0),
                clock_ms: 0,
                from: one,
                to: to.clone(),
                kind: RecordKind::Opened,
                cause: None,
                body: Vec::new(),
            };
            assert_eq!(record.to_column(), expected);
            assert_eq!(Record::receivers(expected).unwrap(), to);
        }
    }
}
