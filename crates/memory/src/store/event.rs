//! The events of the journal that concern memory.

use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Megram, NegativeFeedback};
use setpoint_protocol::tool::Source;
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// An event, with its journal position.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position of the row.
    pub pos: u64,
    /// The event.
    pub what: EventKind,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A task wrote a record.
    Written { task: TaskId, megram: Box<Megram> },
    /// The end of a task is evidence against a rule that it applied or overrode.
    Contradicted {
        task: TaskId,
        /// Id of the resulting record.
        id: MegramId,
        /// Time of the feedback.
        at: Timestamp,
        /// The rule, and what happened.
        feedback: Box<NegativeFeedback>,
        /// The language models of the task.
        known_to: Vec<String>,
        /// Where the task had read from.
        after: Vec<Source>,
    },
    /// A task has ended: the outputs kept for its later rounds are no longer needed.
    Ended { task: TaskId },
    /// A change outside tasks.
    Act(Box<MemoryAct>),
}

/// The result of applying a batch of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchResult {
    /// Number of new records.
    pub written: u64,
    /// Number of records that existed, or were forgotten permanently.
    pub known: u64,
    /// Number of rejected records: a number is out of range, or the record is too long.
    pub refused: u64,
}

/// Whether a batch was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The whole batch was applied.
    Applied(BatchResult),
    /// Rejected: the batch does not start at the store's journal position.
    WrongPosition {
        /// The store's position.
        cursor: u64,
    },
}
