//! What a backend must be able to do. The rules of the journal are written once, above these two traits.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::chain::Chain;
use crate::command::{Command, CommandEntry, NewCommand};
use crate::damage::Damage;
use crate::error::Result;
use crate::head::Mark;
use crate::prune::KeptKinds;
use crate::row::{Fragment, Row, SealedRow};
use crate::submission::TaskOpening;
use crate::task::TaskFilter;

/// The short number by which a backend knows a task. Later tasks have higher numbers.
pub(crate) type Tid = i64;

/// What is noted about a task once, when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskEntry {
    pub(crate) id: Arc<str>,
    pub(crate) opened_at_us: i64,
    pub(crate) logic_version: u32,
    pub(crate) title: String,
}

/// What changes about a task with every submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskState {
    pub(crate) seq: u64,
    pub(crate) chain: Chain,
    pub(crate) closed_at_us: Option<i64>,
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) epoch: u64,
    pub(crate) until_us: i64,
}

/// Which commands to list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CommandScope {
    Task(Tid),
    All,
}

/// Kinds of rows that are asked for together; where they are fewer, one stands twice.
pub type Kinds<'a> = [&'a str; 4];

/// Reading. Entries that no chain covers are checked here; rows are not (see `reader`). Rows come with an
/// empty `task`, which only the reader knows to fill cheaply.
pub(crate) trait View {
    /// The directory, for errors.
    fn dir(&self) -> &Path;
    /// A task by its id.
    fn find(&self, task: &str) -> Result<Option<(Tid, TaskState)>>;
    /// What was noted when the task was opened.
    fn entry(&self, tid: Tid) -> Result<TaskEntry>;
    /// Where the task stands.
    fn state(&self, tid: Tid) -> Result<TaskState>;
    /// Tasks that pass the filter, newest first, the stream `system` included.
    fn tids(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Tid>>;
    /// Ids in order, from `first` on.
    fn ids_from(&self, first: &str, limit: usize) -> Result<Vec<String>>;
    /// Ids that end in `last`, in order; `last` is not empty.
    fn ids_to(&self, last: &str, limit: usize) -> Result<Vec<String>>;
    /// Rows behind `pos` in order of position.
    fn rows_after(&self, pos: u64, page: Page) -> Result<Vec<(Tid, Row)>>;
    /// The same of these kinds alone.
    fn rows_of_kinds_after(&self, pos: u64, kinds: Kinds<'_>, page: Page) -> Result<Vec<(Tid, Row)>>;
    /// A task's rows from `seq` on in order.
    fn task_rows(&self, tid: Tid, from_seq: u64, page: Page) -> Result<Vec<Row>>;
    /// Place and chain value of one row.
    fn row_at(&self, tid: Tid, seq: u64) -> Result<Option<Mark>>;
    /// Position of the first row behind `pos`.
    fn next_pos(&self, pos: u64) -> Result<Option<u64>>;
    /// Position of the last row; 0 for none.
    fn last_pos(&self) -> Result<u64>;
    /// Bytes by their hash.
    fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    /// One command.
    fn command(&self, id: u64) -> Result<Option<CommandEntry>>;
    /// Commands that wait, by id, behind `after_id`.
    fn pending(&self, scope: CommandScope, after_id: u64, limit: usize) -> Result<Vec<Command>>;
    /// Where a cursor stands.
    fn cursor(&self, name: &str) -> Result<Option<u64>>;
    /// Where the pruning of a task is recorded, if it was pruned.
    fn pruning(&self, tid: Tid) -> Result<Option<u64>>;
    /// Where the last pruning is recorded; 0 for none.
    fn last_pruning(&self) -> Result<u64>;
    /// Tasks that were closed before this time and were not pruned, oldest first.
    fn prunable(&self, before_us: i64, limit: usize) -> Result<Vec<Tid>>;
    /// Rows that pruning a task would empty, and the bytes that their bodies take.
    fn content(&self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)>;
    /// Checks everything that is not a row, and the storage's own structure.
    fn check_entries(&self, found: &mut dyn FnMut(Damage)) -> Result<EntryCounts>;
}

/// Writing, inside a transaction. Rules are checked before the first of these calls, so what fails here is
/// the storage.
pub(crate) trait Store: View {
    fn insert_task(&mut self, id: &str, opening: &TaskOpening, state: &TaskState) -> Result<Tid>;
    /// Writes what every submission changes: the last row.
    fn save_progress(&mut self, tid: Tid, state: &TaskState) -> Result<()>;
    /// Writes everything of the state.
    fn save_state(&mut self, tid: Tid, state: &TaskState) -> Result<()>;
    /// Appends rows side by side and says where the last one stands.
    fn insert_rows(&mut self, tid: Tid, rows: &[Arc<SealedRow>]) -> Result<u64>;
    /// Lets the next row stand behind `pos`, although there are no rows up to it.
    fn skip_to(&mut self, pos: u64) -> Result<()>;
    fn insert_fragment(&mut self, fragment: &Fragment) -> Result<()>;
    fn insert_command(&mut self, tid: Tid, command: &NewCommand) -> Result<u64>;
    /// Notes the row that took a command; 0 for a command that came too late.
    fn mark_command(&mut self, id: u64, taken_seq: u64) -> Result<()>;
    fn set_cursor(&mut self, name: &str, pos: u64) -> Result<()>;
    /// Takes the bodies of a task's rows away, but for the first row and these kinds; how many, and the bytes they took.
    fn empty_rows(&mut self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)>;
    fn set_pruning(&mut self, tid: Tid, pos: u64) -> Result<()>;
    /// Deletes every other fragment; how many, and the bytes they took.
    fn delete_fragments_but(&mut self, kept: &BTreeSet<[u8; 32]>) -> Result<(u64, u64)>;
}

/// How many entries there are besides rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EntryCounts {
    pub(crate) fragments: u64,
    pub(crate) commands: u64,
    pub(crate) cursors: u64,
}

/// How much to read at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    rows: usize,
    bytes: usize,
}

impl Page {
    /// At most so many rows, and never more than the limits of a page.
    pub(crate) fn of(rows: usize) -> Self {
        Self { rows: rows.min(crate::limits::PAGE_ROWS_MAX), bytes: crate::limits::PAGE_BYTES_MAX }
    }

    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// Counts a row in; false when the page takes none after it.
    pub(crate) fn take(&mut self, row_bytes: usize) -> bool {
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(row_bytes);
        self.rows > 0 && self.bytes > 0
    }
}
