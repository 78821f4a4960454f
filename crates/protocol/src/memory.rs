//! Changes of memory outside tasks: by the operator and by the Dreamer.
//!
//! Memory is a projection of the journal. The lessons of tasks are in the tasks' own records. Every other change is
//! written to the journal's stream for records outside tasks, one [`MemoryAct`] per row, before it takes effect. So a
//! lost or damaged memory can be rebuilt from the journal, and a crash between two writes leaves no partial change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::MegramId;
use crate::message::{Insight, Megram};
use crate::record::Usage;
use crate::time::Timestamp;

/// Kind of the journal's rows that hold a [`MemoryAct`].
pub const MEMORY_ACT_KIND: &str = "memory_act";

/// Body of such a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum MemoryAct {
    /// A record that no task wrote.
    Recorded {
        /// The record.
        megram: Megram,
        /// Who wrote it.
        by: Author,
    },
    /// Records were deleted for good, and do not come back when memory is made anew.
    Forgotten {
        /// Which.
        ids: Vec<MegramId>,
    },
    /// A pair's records became a rule. They are its sources, and are summed no more.
    Promoted {
        /// The rule: level C, of the pair that it speaks for.
        rule: Megram,
        /// The journal's place up to which the pair's records are sources.
        as_of: u64,
        /// The model that was asked for its words; none where none was, or none answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worded: Option<Worded>,
    },
    /// A rule lost its standing: it is knowledge now, and fades.
    Demoted {
        /// The rule.
        rule: MegramId,
        /// Since when.
        at: Timestamp,
    },
    /// Whether a model may be told what was learnt without it. The last word stands; without one it is not.
    Shared {
        /// Whether it may.
        is_allowed: bool,
    },
    /// A proposal for the layer T was approved.
    Approved {
        /// The proposal.
        id: MegramId,
    },
    /// What a record teaches, put in better words than those it was written with.
    Reflected {
        /// The record.
        id: MegramId,
        /// What takes its content's place.
        content: Insight,
        /// The model that was asked for words. One whose answer was of no use leaves those that there were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worded: Option<Worded>,
    },
}

/// A model that put something into words, outside every task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worded {
    /// Its name.
    pub model: String,
    /// What it took.
    pub usage: Usage,
}

/// Who wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A task.
    Task,
    /// The operator, who stated it.
    Operator,
    /// The Dreamer, which made it of others.
    Dreamer,
    /// It was imported.
    Import,
}

impl Author {
    /// Every author.
    pub const ALL: [Self; 4] = [Self::Task, Self::Operator, Self::Dreamer, Self::Import];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Operator => "operator",
            Self::Dreamer => "dreamer",
            Self::Import => "import",
        }
    }
}
