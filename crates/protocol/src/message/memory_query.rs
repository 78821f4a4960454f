//! R2 asks what is remembered; R5 answers with structured records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::MegramId;
use crate::id::{CallId, ToolId};
use crate::message::megram::Megram;
use crate::message::subtask::ApproachName;
use crate::tool::Source;

/// The calibration question before every plan. No model call is behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryQuery {
    /// The ask that the reply names.
    pub call_id: CallId,
    /// `intent:<slug>`.
    pub space: String,
    /// `env:local`.
    pub entity: String,
    /// What records of other pairs are looked for by: words of the intent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Tools whose tool-level sums are wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// Whether hypotheses are wanted: what is made up of what worked elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hypotheses: bool,
    /// Records wanted at most.
    pub limit: u32,
}

/// Whether memory could be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It answered.
    Available,
    /// It could not be asked; the plan is made without it.
    Unavailable,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryReply {
    /// The ask that is answered.
    pub call_id: CallId,
    /// Whether memory could be asked.
    pub availability: Availability,
    /// Why it could not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rules of the pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<SopRecord>,
    /// The pair's potentials.
    #[serde(default)]
    pub potentials: Potentials,
    /// At most ten records of the pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Megram>,
    /// Records and rules of other pairs that share words with the intent, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Megram>,
    /// What worked elsewhere and might work here, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hypotheses: Vec<Megram>,
    /// What the operator stated, known in every task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Megram>,
    /// Tool-level potentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolPotentials>,
    /// Calls that failed before and must not be made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avoided: Vec<AvoidedCall>,
    /// Records and rules that would be told as well, but that the task's language models do not know and may not be told:
    /// they were learnt without them, and the operator has not allowed it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u32,
    /// Where the tasks that this was learnt in had read text that somebody elsewhere wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Source>,
}

impl MemoryReply {
    /// Returns what the task that receives this has read by it.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        self.after.iter().map(Source::remembered)
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A tool on a target that memory speaks against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AvoidedCall {
    /// The tool.
    pub tool: ToolId,
    /// The target, in normal form.
    pub target: String,
    /// The pair's potentials.
    pub potentials: Potentials,
    /// The rule against it, or the newest of the records.
    pub evidence: Megram,
}

/// A timeless rule distilled from experience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SopRecord {
    /// Its id.
    pub id: MegramId,
    /// Best practice or constraint.
    pub kind: SopKind,
    /// At most two sentences.
    pub rule: String,
    /// Playbooks' approaches that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approaches: Vec<ApproachName>,
    /// Its pair's space.
    pub space: String,
    /// Its pair's entity.
    pub entity: String,
}

/// Which way a rule points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SopKind {
    /// Prefer this.
    BestPractice,
    /// Do not do this.
    Constraint,
}

/// The two sums over a pair's records and the action that follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Potentials {
    /// Sum of |f| decayed.
    pub attention: f64,
    /// Sum of sigma times f decayed.
    pub decision: f64,
    /// What follows.
    pub action: MemoryAction,
}

/// What the potentials say about the next plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAction {
    /// Nothing.
    #[default]
    Ignore,
    /// Prefer what worked.
    Exploit,
    /// Do not repeat what failed.
    Avoid,
    /// Allowed with care.
    Caution,
}

/// The potentials of one tool over all its targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPotentials {
    /// The tool.
    pub tool: ToolId,
    /// Its sums.
    pub potentials: Potentials,
    /// Tasks that the records come from.
    pub tasks: u32,
}
