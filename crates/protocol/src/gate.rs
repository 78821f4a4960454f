//! What the approval gate knows of a call when it decides, and the names of its rules. `machine::gate` decides by them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Secret, Source};

/// Why a call needs consent, or is refused whatever anyone allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It would change what belongs to Setpoint itself. No consent covers that.
    Closed,
    /// A line of the approval file denies it. No consent covers that.
    Denied,
    /// The place of a path cannot be told.
    UnknownPlace,
    /// At level L0 every change outside the workspace asks.
    LevelL0,
    /// It would change something outside the working directory and the workspace.
    Elsewhere,
    /// Other programs execute or obey what it would change.
    Obeyed,
    /// The old state cannot be kept for an undo.
    NotKept,
    /// The file has other names (hard links).
    HardLink,
    /// A link that it would put in place leads out of the folder, or to what other programs obey.
    Link,
    /// The command is not known to only read, and nothing confines it.
    NotReadOnly,
    /// The command would run outside the sandbox of this machine.
    OutsideSandbox,
    /// It would connect to a host.
    Network,
    /// It would call a tool of an MCP server.
    Server,
    /// It would send to a trusted MCP server after the task has read text from elsewhere.
    ReadElsewhere,
    /// It would send to a trusted MCP server after the task has read keys.
    SecretRead,
    /// It would send what looks like a key.
    SecretSent,
    /// Memory advises caution.
    Caution,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 17] = [
        Rule::Closed,
        Rule::Denied,
        Rule::UnknownPlace,
        Rule::LevelL0,
        Rule::Elsewhere,
        Rule::Obeyed,
        Rule::NotKept,
        Rule::HardLink,
        Rule::Link,
        Rule::NotReadOnly,
        Rule::OutsideSandbox,
        Rule::Network,
        Rule::Server,
        Rule::ReadElsewhere,
        Rule::SecretRead,
        Rule::SecretSent,
        Rule::Caution,
    ];

    /// Returns the name that is shown and stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Closed => "closed",
            Rule::Denied => "denied",
            Rule::UnknownPlace => "unknown_place",
            Rule::LevelL0 => "level_l0",
            Rule::Elsewhere => "elsewhere",
            Rule::Obeyed => "obeyed",
            Rule::NotKept => "not_kept",
            Rule::HardLink => "hard_link",
            Rule::Link => "link",
            Rule::NotReadOnly => "not_read_only",
            Rule::OutsideSandbox => "outside_sandbox",
            Rule::Network => "network",
            Rule::Server => "server",
            Rule::ReadElsewhere => "read_elsewhere",
            Rule::SecretRead => "secret_read",
            Rule::SecretSent => "secret_sent",
            Rule::Caution => "caution",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much a task may change without a person's consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunLevel {
    /// Nothing but its own workspace: every other change asks.
    L0,
    /// What is in the working directory, if it is kept for an undo and no other program obeys it.
    #[default]
    L1,
}

/// Everything that the gate decides by, gathered before. The paths in it are shown ones: no rule opens them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The level of the run.
    pub level: RunLevel,
    /// The working directory.
    pub cwd: String,
    /// What asks whatever paths are touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The paths that it touches. In a record only the one that decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<TouchFacts>,
    /// Whether all old states are kept for an undo.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
    /// Whether memory advises caution.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cautious: bool,
    /// Where the task has read text that somebody elsewhere wrote. In a record only what decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The keys that the task may have read. In a record only what decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// The keys that the call seems to contain, if it may send something. In a record only what decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contains: Vec<Secret>,
    /// The line of the approval file that denies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
    /// The first of the paths whose content acts outside the sandbox by itself, such as a program in a folder of `PATH`: at
    /// level L3 a person decides about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_outside: Option<String>,
    /// What confines the command.
    #[serde(default, skip_serializing_if = "Stage::is_plain")]
    pub stage: Stage,
    /// What the call's approval covers.
    #[serde(default, skip_serializing_if = "Grant::is_none")]
    pub grant: Grant,
}

/// What asks whatever paths are touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A program whose effects are not known to be none, and why.
    Command(String),
    /// What the content of a new file does to other programs.
    Content(String),
    /// Where a new link leads.
    Link(String),
    /// A request to this host.
    Connects {
        /// Name or address.
        host: String,
        /// The names of the secrets that it sends.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sends: Vec<String>,
    },
    /// A query to the search engine at this host.
    Query(String),
    /// A call of a tool of an MCP server.
    Calls {
        /// The tool's name at the server.
        tool: String,
        /// The server.
        server: Source,
        /// Whether the person trusts the server's word that the tool only reads.
        is_trusted: bool,
        /// Whether the server can send elsewhere what it receives.
        is_connected: bool,
    },
}

/// One path that a call touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchFacts {
    /// The path.
    pub path: String,
    /// Whether it is deleted; otherwise it is created or changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_delete: bool,
    /// Whether it belongs to Setpoint itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
    /// Where it is.
    pub area: Area,
    /// Whether it is a file with other names in a folder that is marked as a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_cache: bool,
    /// What is there.
    pub found: Found,
    /// Whether a file there has other names (hard links).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_other_names: bool,
    /// Why other programs execute or obey what would be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obeyed: Option<String>,
}

/// Where a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// In the task's own workspace.
    Workspace,
    /// In the working directory.
    WorkingDirectory,
    /// Anywhere else.
    Elsewhere,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It cannot be told, for this reason.
    Unknown(String),
    /// Nothing.
    Nothing,
    /// Something that the task may change: it created it, or a program makes it again.
    Own,
    /// Something that the task did not create.
    Foreign {
        /// The path of what it did not create, which may be below the touched one.
        path: String,
        /// The target, if it is a link.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
}

/// What confines a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing, or it is not a command.
    #[default]
    Plain,
    /// Nothing, on a machine with a sandbox.
    Outside,
    /// Nothing, because the sandbox could not be made for this reason.
    Unmade(String),
    /// It ran in the sandbox, and what it changed is not in place.
    Ran,
}

impl Stage {
    /// Returns whether nothing is known to confine it.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Stage::Plain
    }
}

/// What the approval that a call has covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// There is none.
    #[default]
    None,
    /// Exactly this.
    Covers,
    /// Something else, or what was here before.
    Void,
}

impl Grant {
    /// Returns whether the call has no approval.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Grant::None
    }
}
