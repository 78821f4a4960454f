//! What the journal tells memory.

use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Megram, NegativeFeedback};
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// Something that happened, at its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The row's place.
    pub pos: u64,
    /// What it was.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// A task wrote a record.
    Written {
        /// The task.
        task: TaskId,
        /// The record.
        megram: Box<Megram>,
    },
    /// A task's end speaks against a rule that it applied or overrode.
    Contradicted {
        /// The task.
        task: TaskId,
        /// The id of the record that comes of it.
        id: MegramId,
        /// When.
        at: Timestamp,
        /// The rule, and what happened.
        feedback: Box<NegativeFeedback>,
        /// The language models of the task.
        known_to: Vec<String>,
    },
    /// A task has ended: what was kept for its later rounds is of no more use.
    Ended {
        /// The task.
        task: TaskId,
    },
    /// Something that belongs to no task.
    Act(Box<MemoryAct>),
}

/// What became of a batch of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Records that are new.
    pub written: u64,
    /// Records that were there already, or that were forgotten for good.
    pub known: u64,
    /// Records that cannot be kept: numbers out of their range, or more bytes than a record may have.
    pub refused: u64,
}

/// Whether a batch was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All of it.
    Applied(Applied),
    /// Nothing of it: memory stands at another place of the journal than the batch follows.
    Elsewhere {
        /// Where.
        cursor: u64,
    },
}
