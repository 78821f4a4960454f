//! What one task appends at once: rows with everything that must become durable together with them.

use std::sync::Arc;

use crate::chain::TaskHead;
use crate::error::{JournalError, Result};
use crate::lease::{Lease, LeaseTerms};
use crate::limits::{
    COMMANDS_PER_TASK_MAX, FRAGMENTS_PER_SUBMISSION_MAX, ROWS_PER_SUBMISSION_MAX, SUBMISSION_BYTES_MAX,
    TITLE_BYTES_MAX,
};
use crate::row::{Fragment, NewRow, SealedRow, check_size};

/// One task's rows of one step, and what goes with them: all of it becomes durable, or nothing.
///
/// Rows are numbered, checked against the limits and chained as they are pushed, in the submitter's thread;
/// the writer only has to compare the head. A submission is as good as its [`TaskHead`]: one made from an old
/// head is refused.
#[derive(Debug, Clone)]
pub struct Submission {
    pub(crate) before: TaskHead,
    pub(crate) after: TaskHead,
    /// Shared, so that a journal in memory keeps them as they are.
    pub(crate) rows: Vec<Arc<SealedRow>>,
    pub(crate) opening: Option<TaskOpening>,
    pub(crate) closed_at_us: Option<i64>,
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) lease_epoch: Option<u64>,
    pub(crate) commands_taken: Vec<u64>,
    bytes: usize,
}

/// What the journal notes about a task when its first rows arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOpening {
    /// When it was opened, in microseconds since 1970 (UTC).
    pub opened_at_us: i64,
    /// Version of the logic that its records were made by.
    pub logic_version: u32,
    /// One line for people (the goal); at most [`TITLE_BYTES_MAX`] bytes, may be empty.
    pub title: String,
    /// Who leases the task from the start; with `None` nobody does.
    pub lease: Option<LeaseTerms>,
}

/// What became durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Position of the first row.
    pub first_pos: u64,
    /// Position of the last row. The rows of a submission stand side by side.
    pub last_pos: u64,
    /// Where the task stands now.
    pub head: TaskHead,
    /// The lease that the opening asked for.
    pub lease: Option<Lease>,
    /// Commands that still waited when the task was closed; they were marked as too late.
    pub commands_too_late: Vec<u64>,
}

impl Submission {
    /// An empty submission that continues the task behind `head`.
    #[must_use]
    pub fn new(head: &TaskHead) -> Self {
        Self {
            before: head.clone(),
            after: head.clone(),
            rows: Vec::new(),
            opening: None,
            closed_at_us: None,
            fragments: Vec::new(),
            lease_epoch: None,
            commands_taken: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds the next row. Fails with [`JournalError::SeqConflict`] where its number is not the next one, and
    /// with [`JournalError::Limit`] or [`JournalError::BadName`] where it or the submission would be out of
    /// bounds; the submission is then as it was.
    pub fn push(&mut self, row: NewRow) -> Result<&mut Self> {
        row.check_limits()?;
        check_size("rows of a submission", self.rows.len() + 1, ROWS_PER_SUBMISSION_MAX)?;
        let bytes = self.grown_by(row.bytes())?;
        let sealed = self.after.seal(row)?;
        self.rows.push(Arc::new(sealed));
        self.bytes = bytes;
        Ok(self)
    }

    /// Adds a fragment that the rows name; one that is stored already costs nothing. Fails with
    /// [`JournalError::Limit`].
    pub fn attach(&mut self, fragment: Fragment) -> Result<&mut Self> {
        check_size("fragments of a submission", self.fragments.len() + 1, FRAGMENTS_PER_SUBMISSION_MAX)?;
        self.bytes = self.grown_by(fragment.bytes().len())?;
        self.fragments.push(fragment);
        Ok(self)
    }

    /// Opens the task with these rows. Fails with [`JournalError::Limit`] or [`JournalError::BadName`].
    pub fn open(&mut self, opening: TaskOpening) -> Result<&mut Self> {
        check_size("title", opening.title.len(), TITLE_BYTES_MAX)?;
        if let Some(terms) = &opening.lease {
            terms.check_limits()?;
        }
        self.opening = Some(opening);
        Ok(self)
    }

    /// Closes the task with these rows: nothing can follow them.
    pub fn close(&mut self, closed_at_us: i64) -> &mut Self {
        self.closed_at_us = Some(closed_at_us);
        self
    }

    /// Acts under a lease: refused if the task has another epoch by then.
    pub fn under(&mut self, lease: &Lease) -> &mut Self {
        self.lease_epoch = Some(lease.epoch);
        self
    }

    /// Marks a waiting command as taken by these rows. Fails with [`JournalError::Limit`].
    pub fn take_command(&mut self, id: u64) -> Result<&mut Self> {
        check_size("commands of a submission", self.commands_taken.len() + 1, COMMANDS_PER_TASK_MAX)?;
        self.commands_taken.push(id);
        Ok(self)
    }

    /// Where the task stands once this is durable; the next submission starts from it.
    #[must_use]
    pub fn head(&self) -> &TaskHead {
        &self.after
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &Arc<str> {
        self.before.task()
    }

    /// How many rows it holds.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn grown_by(&self, bytes: usize) -> Result<usize> {
        let grown = self.bytes.saturating_add(bytes);
        check_size("bytes of a submission", grown, SUBMISSION_BYTES_MAX)?;
        Ok(grown)
    }
}

/// A refusal names the task by an owned text.
impl Submission {
    pub(crate) fn empty(&self) -> JournalError {
        JournalError::EmptySubmission { task: self.task().to_string() }
    }
}
