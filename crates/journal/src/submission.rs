//! What one task appends at once: rows, and everything that must become durable together with them.

use std::sync::Arc;

use crate::chain::TaskHead;
use crate::entry::{Lease, TaskOpening};
use crate::error::{JournalError, Result};
use crate::limits::{
    COMMANDS_PER_TASK_MAX, FRAGMENTS_PER_SUBMISSION_MAX, ROWS_PER_SUBMISSION_MAX, SUBMISSION_BYTES_MAX,
    TITLE_BYTES_MAX,
};
use crate::row::{Fragment, NewRow, SealedRow, check_size};

/// One task's rows of one step, and what belongs to them: all of it becomes durable, or nothing.
///
/// Rows are numbered, checked against the limits and chained as they are pushed, in the submitter's thread, so
/// that the writer only has to compare the head. A submission made from an outdated [`TaskHead`] is refused.
#[derive(Debug, Clone)]
pub struct Submission {
    pub(crate) before: TaskHead,
    pub(crate) after: TaskHead,
    /// Shared, so that a journal in memory stores them without a copy.
    pub(crate) rows: Vec<Arc<SealedRow>>,
    pub(crate) opening: Option<TaskOpening>,
    pub(crate) closed_at_us: Option<i64>,
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) lease_epoch: Option<u64>,
    pub(crate) commands_taken: Vec<u64>,
    bytes: usize,
}

/// The result of a durable submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitReceipt {
    /// Position of the first row.
    pub first_pos: u64,
    /// Position of the last row. The rows of a submission have consecutive positions.
    pub last_pos: u64,
    /// The task's new head.
    pub head: TaskHead,
    /// The lease that the opening asked for, if any.
    pub lease: Option<Lease>,
    /// Commands that were still pending when the task was closed; they were marked as too late.
    pub commands_too_late: Vec<u64>,
}

impl Submission {
    /// Returns an empty submission that continues the task after `head`.
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

    /// Adds the next row. Fails with [`JournalError::SeqConflict`] if its number is not the next one, and
    /// with [`JournalError::Limit`] or [`JournalError::BadName`] if it or the submission would exceed a
    /// bound; the submission is then unchanged.
    pub fn push(&mut self, row: NewRow) -> Result<&mut Self> {
        row.check_limits()?;
        check_size("rows of a submission", self.rows.len() + 1, ROWS_PER_SUBMISSION_MAX)?;
        let bytes = self.grown_by(row.bytes())?;
        let sealed = self.after.seal(row)?;
        self.rows.push(Arc::new(sealed));
        self.bytes = bytes;
        Ok(self)
    }

    /// Adds a fragment that the rows name; one that is already stored costs nothing. Fails with
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

    /// Closes the task with these rows: no row can follow them.
    pub fn close(&mut self, closed_at_us: i64) -> &mut Self {
        self.closed_at_us = Some(closed_at_us);
        self
    }

    /// Appends under a lease: refused if the task has another epoch by then.
    pub fn under(&mut self, lease: &Lease) -> &mut Self {
        self.lease_epoch = Some(lease.epoch);
        self
    }

    /// Marks a pending command as taken by these rows. Fails with [`JournalError::Limit`].
    pub fn take_command(&mut self, id: u64) -> Result<&mut Self> {
        check_size("commands of a submission", self.commands_taken.len() + 1, COMMANDS_PER_TASK_MAX)?;
        self.commands_taken.push(id);
        Ok(self)
    }

    /// Returns the task's head once this is durable; the next submission starts from it.
    #[must_use]
    pub fn head(&self) -> &TaskHead {
        &self.after
    }

    /// Id of the task.
    #[must_use]
    pub fn task(&self) -> &Arc<str> {
        self.before.task()
    }

    /// Number of rows so far.
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

/// Errors.
impl Submission {
    pub(crate) fn empty(&self) -> JournalError {
        JournalError::EmptySubmission { task: self.task().to_string() }
    }
}
