//! Requests of other processes to a task: a command waits in the journal until the task's owner takes it
//! together with the rows that it causes.

use crate::error::{JournalError, Result};
use crate::limits::{COMMAND_BODY_BYTES_MAX, COMMANDS_PER_TASK_MAX, KIND_BYTES_MAX};
use crate::row::{check_name, check_size};
use crate::store::{CommandScope, Store, Tid};

/// A command to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommand {
    /// Kind of the command; 1 to [`KIND_BYTES_MAX`] bytes.
    pub kind: String,
    /// Exact bytes; at most [`COMMAND_BODY_BYTES_MAX`].
    pub body: Vec<u8>,
    /// Time of sending, in microseconds since 1970 (UTC).
    pub at_us: i64,
}

/// A pending command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Number of the command: increases over all tasks and is never reused.
    pub id: u64,
    /// Id of the task that it is for.
    pub task: String,
    /// Kind of the command.
    pub kind: String,
    /// Exact bytes.
    pub body: Vec<u8>,
    /// Time of sending, in microseconds since 1970 (UTC).
    pub at_us: i64,
}

/// The state of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandState {
    /// No submission has taken it yet.
    Pending,
    /// A submission took it.
    Taken {
        /// Number of the first row of that submission.
        seq: u64,
    },
    /// The task was closed before a submission took it.
    TooLate,
}

/// A command's task and state, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandEntry {
    pub(crate) tid: Tid,
    pub(crate) state: CommandState,
}

impl CommandState {
    /// Decodes the column `taken_seq`: null for pending, 0 for too late, otherwise the row that took the command.
    pub(crate) fn from_taken_seq(taken_seq: Option<u64>) -> Self {
        match taken_seq {
            None => Self::Pending,
            Some(0) => Self::TooLate,
            Some(seq) => Self::Taken { seq },
        }
    }
}

impl NewCommand {
    pub(crate) fn check_limits(&self) -> Result<()> {
        check_name("kind", &self.kind, KIND_BYTES_MAX)?;
        check_size("command body", self.body.len(), COMMAND_BODY_BYTES_MAX)
    }
}

pub(crate) fn push(store: &mut dyn Store, task: &str, command: &NewCommand) -> Result<u64> {
    command.check_limits()?;
    let Some((tid, state)) = store.find(task)? else {
        return Err(JournalError::UnknownTask { task: task.to_owned() });
    };
    if state.closed_at_us.is_some() {
        return Err(JournalError::TaskClosed { task: task.to_owned() });
    }
    let waiting = store.pending(CommandScope::Task(tid), 0, COMMANDS_PER_TASK_MAX)?;
    if waiting.len() >= COMMANDS_PER_TASK_MAX {
        return Err(JournalError::CommandsFull { task: task.to_owned(), max: COMMANDS_PER_TASK_MAX });
    }
    store.insert_command(tid, command)
}

/// Checks that every command that a submission takes is pending for its task and is named only once.
pub(crate) fn check_taken(store: &dyn Store, task: &str, tid: Option<Tid>, ids: &[u64]) -> Result<()> {
    for (n, id) in ids.iter().enumerate() {
        let waits = store
            .command(*id)?
            .is_some_and(|entry| Some(entry.tid) == tid && entry.state == CommandState::Pending);
        let named_before = ids.iter().take(n).any(|other| other == id);
        if !waits || named_before {
            return Err(JournalError::CommandGone { task: task.to_owned(), id: *id });
        }
    }
    Ok(())
}

/// Marks every pending command of a task as too late, and returns their numbers.
pub(crate) fn expire(store: &mut dyn Store, tid: Tid) -> Result<Vec<u64>> {
    let waiting = store.pending(CommandScope::Task(tid), 0, COMMANDS_PER_TASK_MAX)?;
    let ids: Vec<u64> = waiting.into_iter().map(|command| command.id).collect();
    for id in &ids {
        store.mark_command(*id, 0)?;
    }
    Ok(ids)
}
