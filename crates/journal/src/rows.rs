//! A task's rows, read page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::journal::Journal;
use crate::limits::PAGE_ROWS_MAX;
use crate::row::Row;

/// The rows of one task in order, read page by page. Ends at the task's last row as of the last page, or after
/// an error.
pub struct Rows {
    journal: Journal,
    task: Arc<str>,
    next_seq: u64,
    page: VecDeque<Row>,
    done: bool,
}

impl Rows {
    pub(crate) fn new(journal: Journal, task: &str, from_seq: u64) -> Self {
        Self { journal, task: task.into(), next_seq: from_seq.max(1), page: VecDeque::new(), done: false }
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && !self.done {
            match self.journal.read_rows(&self.task, self.next_seq, PAGE_ROWS_MAX) {
                Ok(rows) => self.page = rows.into(),
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        match self.page.pop_front() {
            Some(row) => {
                self.next_seq = row.seq.saturating_add(1);
                Some(Ok(row))
            }
            None => {
                self.done = true;
                None
            }
        }
    }
}
