//! Requests of other processes to a task: a command waits in the journal until the task's owner takes it
//! together with the rows that it causes.

use crate::entry::{CommandScope, CommandState, NewCommand, Tid};
use crate::error::{JournalError, Result};
use crate::limits::COMMANDS_PER_TASK_MAX;
use crate::store::Store;

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
