//! What an operator sees of memory, as data.

use serde::Serialize;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{Level, Megram, MemoryAction, SopKind};
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// How much there is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryStats {
    /// The folder that it lies in.
    pub place: String,
    /// Records, whatever became of them.
    pub records: u64,
    /// Those that are summed: neither rules, nor what a rule was made of.
    pub summed: u64,
    /// Rules in force.
    pub rules: u64,
    /// What the operator stated.
    pub facts: u64,
    /// Pairs of space and entity.
    pub pairs: u64,
    /// Records that were forgotten at the operator's word.
    pub forgotten: u64,
    /// Records of the journal that memory has taken in.
    pub journal_records: u64,
    /// Bytes on disk, without the log.
    pub bytes: u64,
    /// When the Dreamer last went through all of it.
    pub dreamt_at: Option<Timestamp>,
    /// Whether a language model may be told what was learnt without it; nothing where the operator has not said, and it is
    /// not told then.
    pub is_shared: Option<bool>,
}

/// The sums of a pair, and what they mean for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sums {
    /// M_attention: how strong.
    pub attention: f64,
    /// M_decision: how good (positive) or bad.
    pub decision: f64,
    /// What follows for a plan.
    pub action: MemoryAction,
}

/// A pair in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairLine {
    /// Its space.
    pub space: String,
    /// Its entity.
    pub entity: String,
    /// Records that are summed.
    pub records: u64,
    /// Rules in force.
    pub rules: u64,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// What a record is by now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// It counts in its pair's sums.
    Summed,
    /// It has faded: the Dreamer's next pass deletes it.
    Faded,
    /// A rule was made of it, with others, and says it now.
    Source {
        /// The rule.
        rule: MegramId,
    },
    /// A rule, or a fact, in force.
    InForce,
    /// A rule that another one has replaced.
    Superseded {
        /// The other one.
        by: MegramId,
    },
    /// A rule that lost its standing, and fades.
    Demoted,
    /// Proposed for the layer T: nobody knows it before the operator has approved it.
    Proposed,
}

/// One record as memory has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordLine {
    /// The record, with the content that reflection has given it.
    #[serde(flatten)]
    pub megram: Megram,
    /// Who wrote it.
    pub author: Author,
    /// The task that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Its layer now: a demoted rule is knowledge.
    pub level_now: Level,
    /// What is left of its strength.
    pub attention: f64,
    /// Its part of its pair's decision, were it summed.
    pub decision: f64,
    /// Days in which its strength halves; `None` for what does not fade.
    pub half_life_days: Option<f64>,
    /// When it will have faded; `None` for what does not.
    pub fades_at: Option<Timestamp>,
    /// When a question last brought it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled_at: Option<Timestamp>,
    /// What it is by now.
    #[serde(flatten)]
    pub standing: Standing,
}

/// A pair's sums at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The moment.
    pub at: Timestamp,
    /// M_attention.
    pub attention: f64,
    /// M_decision.
    pub decision: f64,
}

/// Everything about one pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairReport {
    /// Its space.
    pub space: String,
    /// Its entity.
    pub entity: String,
    /// The moment that everything is as of.
    pub at: Timestamp,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
    /// Records that are summed; the newest of them are below.
    pub count: u64,
    /// Rules and facts in force.
    pub rules: Vec<RecordLine>,
    /// Its newest records that fade, newest first.
    pub records: Vec<RecordLine>,
    /// Its sums from the moment on, in equal steps, as they will be if nothing comes in.
    pub curve: Vec<CurvePoint>,
}

/// What a question about pairs found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// One pair was meant.
    Pair(Box<PairReport>),
    /// Several may have been: those of which something is remembered, the strongest first.
    Pairs(Vec<PairLine>),
}

/// Which pairs are asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairQuestion {
    /// The space; all of them where it is not said.
    pub space: Option<String>,
    /// The entity; where it is not said, the pairs of the space.
    pub entity: Option<String>,
    /// The moment; now where it is not said.
    pub at: Option<Timestamp>,
}

/// Which records are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFilter {
    /// Only this space.
    pub space: Option<String>,
    /// Only this entity.
    pub entity: Option<String>,
    /// Only this layer.
    pub level: Option<Level>,
    /// How many at most, the newest.
    pub limit: usize,
    /// The moment; now where it is not said.
    pub at: Option<Timestamp>,
}

/// A record with where it comes from and where it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordReport {
    /// The record.
    #[serde(flatten)]
    pub record: RecordLine,
    /// What a rule was made of, newest first; empty for other records.
    pub sources: Vec<RecordLine>,
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleLine {
    /// The rule.
    #[serde(flatten)]
    pub record: RecordLine,
    /// Which way it points; `None` for a fact.
    pub kind: Option<SopKind>,
    /// Records that it was made of and that are still there.
    pub sources: u64,
    /// The tasks that they come from.
    pub tasks: Vec<TaskId>,
    /// What still speaks for it, once what came since is counted: below 0 it loses its standing (SPEC 7).
    pub left: f64,
}

/// A fact that was stated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remembered {
    /// Its id.
    pub id: MegramId,
    /// Whether the same had been stated before; nothing was written then.
    pub is_known: bool,
}

/// What one pass of the Dreamer did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DreamReport {
    /// Another process was dreaming: nothing was done here.
    pub is_elsewhere: bool,
    /// Rules that lost their standing.
    pub demoted: Vec<RecordLine>,
    /// What tasks taught that a model has put into better words.
    pub reflected: Vec<RecordLine>,
    /// Rules that were made.
    pub promoted: Vec<RecordLine>,
    /// What was proposed for every task; the operator approves it or not.
    pub proposed: Vec<RecordLine>,
    /// What was made up of what worked elsewhere, for tasks that are stuck.
    pub hypotheses: Vec<RecordLine>,
    /// Records that had faded and were deleted.
    pub faded: u64,
    /// Outputs of tasks that have ended and were deleted.
    pub outputs: u64,
    /// Milliseconds that it took.
    pub duration_ms: u64,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Records that are new.
    pub taken: u64,
    /// Records that were there already, or were forgotten for good.
    pub known: u64,
    /// Lines that cannot be taken.
    pub refused: Vec<ImportProblem>,
}

/// A line that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Records that can be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PrunableRecords {
    /// They were learnt before this time.
    pub before: Timestamp,
    /// The records, oldest first.
    pub records: Vec<RecordLine>,
}
