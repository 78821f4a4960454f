//! The rules of appending, for every backend: who may append what after which row.

use std::sync::Arc;

use crate::command;
use crate::entry::{Lease, TaskOpening, TaskState, Tid};
use crate::error::{JournalError, Result};
use crate::lease;
use crate::store::Store;
use crate::submission::{CommitReceipt, Submission};
use crate::system::SYSTEM_STREAM;

/// Appends one submission. All rules are checked before the first write.
pub(crate) fn apply(
    store: &mut dyn Store,
    submission: &Submission,
    row_format_known: u16,
) -> Result<CommitReceipt> {
    let task = Arc::clone(submission.task());
    check_form(submission, row_format_known)?;
    let found = store.find(&task)?;
    let place = match (found, &submission.opening) {
        (Some(_), Some(_)) => return Err(JournalError::TaskExists { task: task.to_string() }),
        (None, None) => return Err(JournalError::UnknownTask { task: task.to_string() }),
        (Some((tid, state)), None) => Place::Known(tid, state),
        (None, Some(opening)) => Place::New(opening),
    };
    let state = match &place {
        Place::Known(_, state) => state.clone(),
        Place::New(opening) => lease::opening_state(&task, opening)?,
    };
    let opened_under = match &place {
        Place::New(TaskOpening { lease: Some(_), .. }) => Lease::of(&task, &state),
        Place::New(_) | Place::Known(..) => None,
    };
    check_fences(&task, &state, submission, matches!(place, Place::New(_)))?;
    let known = match &place {
        Place::Known(tid, _) => Some(*tid),
        Place::New(_) => None,
    };
    command::check_taken(store, &task, known, &submission.commands_taken)?;

    write(store, &place, state, submission, opened_under)
}

enum Place<'a> {
    Known(Tid, TaskState),
    New(&'a TaskOpening),
}

fn check_form(submission: &Submission, row_format_known: u16) -> Result<()> {
    if submission.rows.is_empty() {
        return Err(submission.empty());
    }
    if submission.closed_at_us.is_some() && &**submission.task() == SYSTEM_STREAM {
        return Err(JournalError::NeverCloses { task: submission.task().to_string() });
    }
    match submission.rows.iter().find(|sealed| sealed.row.format > row_format_known) {
        None => Ok(()),
        Some(sealed) => Err(JournalError::RowFormatTooNew {
            task: submission.task().to_string(),
            seq: sealed.row.seq,
            found: sealed.row.format,
            known: row_format_known,
        }),
    }
}

fn check_fences(task: &str, state: &TaskState, submission: &Submission, is_new: bool) -> Result<()> {
    if state.closed_at_us.is_some() {
        return Err(JournalError::TaskClosed { task: task.to_owned() });
    }
    if !is_new {
        lease::check_epoch(task, state, submission.lease_epoch)?;
    }
    let before = &submission.before;
    if before.seq() != state.seq {
        let expected = state.seq + 1;
        return Err(JournalError::SeqConflict { task: task.to_owned(), expected, got: before.seq() + 1 });
    }
    if before.chain() != &state.chain {
        return Err(JournalError::ChainBroken { task: task.to_owned(), seq: before.seq() + 1 });
    }
    Ok(())
}

fn write(
    store: &mut dyn Store,
    place: &Place<'_>,
    mut state: TaskState,
    submission: &Submission,
    lease: Option<Lease>,
) -> Result<CommitReceipt> {
    let Submission { before, after, rows, closed_at_us, fragments, commands_taken, .. } = submission;
    state.seq = after.seq();
    state.chain = *after.chain();
    if closed_at_us.is_some() {
        state.closed_at_us = *closed_at_us;
        state.owner = None;
    }
    let tid = match place {
        Place::New(opening) => store.insert_task(after.task(), opening, &state)?,
        Place::Known(tid, _) if closed_at_us.is_some() => {
            store.save_state(*tid, &state)?;
            *tid
        }
        Place::Known(tid, _) => {
            store.save_progress(*tid, &state)?;
            *tid
        }
    };
    for fragment in fragments {
        store.insert_fragment(fragment)?;
    }
    let last_pos = store.insert_rows(tid, rows)?;
    let first_pos = last_pos + 1 - rows.len() as u64;
    for id in commands_taken {
        store.mark_command(*id, before.seq() + 1)?;
    }
    let commands_too_late = if closed_at_us.is_some() { command::expire(store, tid)? } else { Vec::new() };
    let lease = if closed_at_us.is_some() { None } else { lease };
    Ok(CommitReceipt { first_pos, last_pos, head: after.clone(), lease, commands_too_late })
}
