//! What an operator sees of memory, as data.

use serde::Serialize;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{Level, Megram, MemoryAction, SopKind};
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// The size of memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryStats {
    /// Folder of the store.
    pub place: String,
    /// Records of any state.
    pub records: u64,
    /// Summed records: neither rules nor sources of rules.
    pub summed: u64,
    /// Rules in force.
    pub rules: u64,
    /// Facts that the operator stated.
    pub facts: u64,
    /// Pairs of space and entity.
    pub pairs: u64,
    /// Records that the operator had forgotten.
    pub forgotten: u64,
    /// Records of the journal that memory has applied.
    pub journal_records: u64,
    /// Bytes on disk, without the log.
    pub bytes: u64,
    /// Time of the Dreamer's last complete pass.
    pub dreamt_at: Option<Timestamp>,
    /// Whether a language model may see what was learnt without it; `None` if the operator has not decided, and then it
    /// may not.
    pub is_shared: Option<bool>,
}

/// The sums of a pair, and the action that follows for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sums {
    /// M_attention: how strong.
    pub attention: f64,
    /// M_decision: how good (positive) or bad.
    pub decision: f64,
    /// Action that follows for a plan.
    pub action: MemoryAction,
}

/// A pair in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairLine {
    pub space: String,
    pub entity: String,
    /// Number of summed records.
    pub records: u64,
    /// Number of rules in force.
    pub rules: u64,
    #[serde(flatten)]
    pub sums: Sums,
}

/// The present state of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Counted in its pair's sums.
    Summed,
    /// Faded: the Dreamer's next pass deletes it.
    Faded,
    /// Source of a rule, which replaces it.
    Source { rule: MegramId },
    /// A rule or fact in force.
    InForce,
    /// A rule that another one has replaced.
    Superseded {
        /// The replacing rule.
        by: MegramId,
    },
    /// A demoted rule, which fades.
    Demoted,
    /// Proposed for the layer T: shown to no model before the operator approves it.
    Proposed,
}

/// One record as memory has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordLine {
    /// The record, with reworded content if there is one.
    #[serde(flatten)]
    pub megram: Megram,
    /// Author of the record.
    pub author: Author,
    /// Task that the record comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Present layer: a demoted rule is knowledge.
    pub level_now: Level,
    /// Remaining strength.
    pub attention: f64,
    /// Its part of its pair's decision if it were summed.
    pub decision: f64,
    /// Days in which its strength halves; `None` if it does not fade.
    pub half_life_days: Option<f64>,
    /// Time at which it will have faded; `None` if it does not fade.
    pub fades_at: Option<Timestamp>,
    /// Time at which a question last recalled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled_at: Option<Timestamp>,
    /// Present state.
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
    pub space: String,
    pub entity: String,
    /// Moment of all numbers.
    pub at: Timestamp,
    #[serde(flatten)]
    pub sums: Sums,
    /// Number of summed records; the newest of them are in `records`.
    pub count: u64,
    /// Rules and facts in force.
    pub rules: Vec<RecordLine>,
    /// Its newest fading records, newest first.
    pub records: Vec<RecordLine>,
    /// Its sums from the moment on, in equal steps, assuming no further records.
    pub curve: Vec<CurvePoint>,
}

/// The answer to a question about pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// One pair matched.
    Pair(Box<PairReport>),
    /// Several pairs may match: those with summed records, the strongest first.
    Pairs(Vec<PairLine>),
}

/// A question about pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairQuestion {
    /// The space; `None` for all.
    pub space: Option<String>,
    /// The entity; `None` for all pairs of the space.
    pub entity: Option<String>,
    /// The moment; `None` for now.
    pub at: Option<Timestamp>,
}

/// A selection of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFilter {
    /// Only this space.
    pub space: Option<String>,
    /// Only this entity.
    pub entity: Option<String>,
    /// Only this layer.
    pub level: Option<Level>,
    /// Maximum records to list, the newest ones.
    pub limit: usize,
    /// The moment; `None` for now.
    pub at: Option<Timestamp>,
}

/// A record with its sources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordReport {
    #[serde(flatten)]
    pub record: RecordLine,
    /// Source records of a rule, newest first; empty for other records.
    pub sources: Vec<RecordLine>,
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleLine {
    #[serde(flatten)]
    pub record: RecordLine,
    /// Sign of the rule; `None` for a fact.
    pub kind: Option<SopKind>,
    /// Number of source records that still exist.
    pub sources: u64,
    /// Tasks that they come from.
    pub tasks: Vec<TaskId>,
    /// Remaining strength after what came since; below 0 the rule is demoted (SPEC 7).
    pub left: f64,
}

/// A stated fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactLine {
    /// Id of the fact.
    pub id: MegramId,
    /// Whether the same fact existed; then nothing was written.
    pub is_known: bool,
}

/// The result of one pass of the Dreamer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DreamReport {
    /// Whether another process was dreaming; then nothing was done here.
    pub is_elsewhere: bool,
    /// Demoted rules.
    pub demoted: Vec<RecordLine>,
    /// Lessons of tasks that a model has reworded.
    pub reflected: Vec<RecordLine>,
    /// Rules that were made.
    pub promoted: Vec<RecordLine>,
    /// Proposals for every task, which the operator may approve.
    pub proposed: Vec<RecordLine>,
    /// Hypotheses made from what worked for other intents, for tasks that are stuck.
    pub hypotheses: Vec<RecordLine>,
    /// Number of faded records deleted.
    pub faded: u64,
    /// Number of deleted outputs of tasks that have ended.
    pub outputs: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Number of new records.
    pub taken: u64,
    /// Number of records that existed, or were forgotten permanently.
    pub known: u64,
    /// Rejected lines.
    pub refused: Vec<ImportProblem>,
}

/// A rejected line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Records that can be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PrunableRecords {
    /// Time before which they were learnt.
    pub before: Timestamp,
    /// The records, oldest first.
    pub records: Vec<RecordLine>,
}
