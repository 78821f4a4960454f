//! The interface of a backend. The rules of the journal are written once, above these two traits.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::damage::Damage;
use crate::entry::{
    Command, CommandEntry, CommandScope, EntryCounts, KeptKinds, NewCommand, TaskEntry, TaskFilter,
    TaskOpening, TaskState, Tid,
};
use crate::error::Result;
use crate::head::Mark;
use crate::row::{Fragment, Row, SealedRow};

/// Kinds of rows to read together; if there are fewer, one is repeated.
pub type Kinds<'a> = [&'a str; 4];

/// Reading. Entries that no chain covers are checked here; rows are not (see `reader`). Rows are returned with an
/// empty `task`, which only the reader can fill cheaply.
pub(crate) trait View {
    /// Returns the journal's directory, for errors.
    fn dir(&self) -> &Path;
    /// Finds a task by its id.
    fn find(&self, task: &str) -> Result<Option<(Tid, TaskState)>>;
    /// Returns what was recorded when the task was opened.
    fn entry(&self, tid: Tid) -> Result<TaskEntry>;
    /// Returns the current state of a task.
    fn state(&self, tid: Tid) -> Result<TaskState>;
    /// Lists tasks that pass the filter, newest first, the stream `system` included.
    fn tids(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Tid>>;
    /// Lists ids in order, from `first` on.
    fn ids_from(&self, first: &str, limit: usize) -> Result<Vec<String>>;
    /// Lists ids that end with `last`, in order; `last` is not empty.
    fn ids_to(&self, last: &str, limit: usize) -> Result<Vec<String>>;
    /// Returns rows after `pos`, in order of position.
    fn rows_after(&self, pos: u64, page: Page) -> Result<Vec<(Tid, Row)>>;
    /// Returns rows of these kinds after `pos`, in order of position.
    fn rows_of_kinds_after(&self, pos: u64, kinds: Kinds<'_>, page: Page) -> Result<Vec<(Tid, Row)>>;
    /// Returns a task's rows from `from_seq` on, in order.
    fn task_rows(&self, tid: Tid, from_seq: u64, page: Page) -> Result<Vec<Row>>;
    /// Returns position and chain value of one row.
    fn row_at(&self, tid: Tid, seq: u64) -> Result<Option<Mark>>;
    /// Returns the position of the first row after `pos`.
    fn next_pos(&self, pos: u64) -> Result<Option<u64>>;
    /// Returns the position of the last row; 0 if there are no rows.
    fn last_pos(&self) -> Result<u64>;
    /// Returns the bytes with this hash.
    fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    fn command(&self, id: u64) -> Result<Option<CommandEntry>>;
    /// Lists pending commands with numbers above `after_id`, in order.
    fn pending(&self, scope: CommandScope, after_id: u64, limit: usize) -> Result<Vec<Command>>;
    /// Returns the position of a cursor.
    fn cursor(&self, name: &str) -> Result<Option<u64>>;
    /// Returns the position of the row that records the task's pruning, if it was pruned.
    fn pruning(&self, tid: Tid) -> Result<Option<u64>>;
    /// Returns the position of the row that records the last pruning; 0 if there was none.
    fn last_pruning(&self) -> Result<u64>;
    /// Lists tasks that were closed before this time and not pruned, oldest first.
    fn prunable(&self, before_us: i64, limit: usize) -> Result<Vec<Tid>>;
    /// Returns how many rows pruning a task would empty, and the bytes that their bodies take.
    fn content(&self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)>;
    /// Checks everything that is not a row, and the storage's own structure.
    fn check_entries(&self, found: &mut dyn FnMut(Damage)) -> Result<EntryCounts>;
}

/// Writing, inside a transaction. Rules are checked before the first of these calls, so a failure here is one
/// of the storage.
pub(crate) trait Store: View {
    fn insert_task(&mut self, id: &str, opening: &TaskOpening, state: &TaskState) -> Result<Tid>;
    /// Writes what every submission changes: the task's last row.
    fn save_progress(&mut self, tid: Tid, state: &TaskState) -> Result<()>;
    /// Writes the whole state.
    fn save_state(&mut self, tid: Tid, state: &TaskState) -> Result<()>;
    /// Appends rows at consecutive positions, and returns the last position.
    fn insert_rows(&mut self, tid: Tid, rows: &[Arc<SealedRow>]) -> Result<u64>;
    /// Makes the next row come after `pos`, although there are no rows up to it.
    fn skip_to(&mut self, pos: u64) -> Result<()>;
    fn insert_fragment(&mut self, fragment: &Fragment) -> Result<()>;
    fn insert_command(&mut self, tid: Tid, command: &NewCommand) -> Result<u64>;
    /// Records the row that took a command; 0 for a command that came too late.
    fn mark_command(&mut self, id: u64, taken_seq: u64) -> Result<()>;
    fn set_cursor(&mut self, name: &str, pos: u64) -> Result<()>;
    /// Removes the bodies of a task's rows, except of the first row and of these kinds; returns how many, and the bytes
    /// that they took.
    fn empty_rows(&mut self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)>;
    fn set_pruning(&mut self, tid: Tid, pos: u64) -> Result<()>;
    /// Deletes all other fragments; returns how many, and the bytes that they took.
    fn delete_fragments_but(&mut self, kept: &BTreeSet<[u8; 32]>) -> Result<(u64, u64)>;
}

/// How much to read at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    rows: usize,
    bytes: usize,
}

impl Page {
    /// At most this many rows, and never more than the limits of a page.
    pub(crate) fn of(rows: usize) -> Self {
        Self { rows: rows.min(crate::limits::PAGE_ROWS_MAX), bytes: crate::limits::PAGE_BYTES_MAX }
    }

    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// Counts a row; returns false if the page takes no row after it.
    pub(crate) fn take(&mut self, row_bytes: usize) -> bool {
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(row_bytes);
        self.rows > 0 && self.bytes > 0
    }
}
