//! A request of the operator to memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::MegramId;
use crate::message::megram::{Insight, Megram};

/// What the operator wants of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryCommand {
    /// List records of a pair, or all.
    List {
        /// The pair's space.
        space: Option<String>,
        /// The pair's entity.
        entity: Option<String>,
    },
    /// Ask for a pair's potentials.
    Query {
        /// The pair's space.
        space: String,
        /// The pair's entity.
        entity: String,
    },
    /// State a fact.
    Remember(Insight),
    /// Delete records, leaving a tombstone.
    Forget(Vec<MegramId>),
    /// Speak against a rule.
    Feedback {
        /// The rule.
        rule_id: MegramId,
        /// What happened.
        content: Insight,
    },
    /// Approve a proposed change of the system's persona.
    Approve(MegramId),
    /// One consolidation pass now.
    Dream,
    /// Take records in.
    Import(Vec<Megram>),
}

/// What memory answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListing {
    /// The records.
    pub records: Vec<Megram>,
    /// What was done, for a person.
    pub notes: Vec<String>,
}
