//! A journal without a disk: the same rules over ordered maps, run in the caller's thread.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::damage::Damage;
use crate::entry::{
    Command, CommandEntry, CommandScope, CommandState, EntryCounts, KeptKinds, NewCommand, TaskEntry,
    TaskFilter, TaskOpening, TaskState, Tid,
};
use crate::error::{JournalError, Result};
use crate::head::Mark;
use crate::job::{Job, Outcome};
use crate::row::{Fragment, Row, SealedRow};
use crate::store::{Kinds, Page, Store, View};
use crate::watch::Watch;

#[derive(Default)]
pub(crate) struct MemoryJournal {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    store: MemoryStore,
    closed: bool,
    finished: VecDeque<(Box<dyn Job>, Outcome, u64)>,
    /// The thread that runs acknowledgements now. They may submit again; what they submit is acknowledged after
    /// them, not inside them.
    finishing: Option<ThreadId>,
}

impl MemoryJournal {
    pub(crate) fn execute(&self, mut job: Box<dyn Job>, watch: &Watch) {
        let mut inner = self.lock();
        let outcome = if inner.closed {
            Err(Arc::new(JournalError::Closed))
        } else {
            job.run(&mut inner.store).map_err(Arc::new)
        };
        let last_pos = inner.store.next_pos() - 1;
        inner.finished.push_back((job, outcome, last_pos));
        if inner.finishing.is_some() {
            return;
        }
        inner.finishing = Some(std::thread::current().id());
        while let Some((job, outcome, last_pos)) = inner.finished.pop_front() {
            drop(inner);
            job.finish(outcome);
            watch.advance(last_pos);
            inner = self.lock();
        }
        inner.finishing = None;
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        let inner = self.lock();
        if inner.closed { Err(JournalError::Closed) } else { work(&inner.store) }
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    pub(crate) fn called_from_ack(&self) -> bool {
        self.lock().finishing == Some(std::thread::current().id())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct MemoryStore {
    tasks: Vec<MemoryTask>,
    by_id: BTreeMap<Arc<str>, Tid>,
    /// For each position, the task of its row and the row's index among that task's rows.
    order: Vec<(Tid, usize)>,
    fragments: BTreeMap<[u8; 32], Fragment>,
    commands: Vec<(CommandEntry, Command)>,
    cursors: BTreeMap<String, u64>,
}

struct MemoryTask {
    entry: TaskEntry,
    state: TaskState,
    /// The rows with their positions.
    rows: Vec<(u64, Arc<SealedRow>)>,
    /// Position of the row that records the task's pruning.
    pruning: Option<u64>,
}

/// Returns whether pruning the task would remove this row's body.
fn loses_body(sealed: &SealedRow, kept: &KeptKinds) -> bool {
    sealed.row.seq > 1 && !sealed.is_pruned && !kept.contains(&&*sealed.row.kind)
}

impl MemoryStore {
    fn next_pos(&self) -> u64 {
        self.order.len() as u64 + 1
    }

    fn task(&self, tid: Tid) -> Result<&MemoryTask> {
        let index = usize::try_from(tid).ok();
        index.and_then(|index| self.tasks.get(index)).ok_or_else(|| unknown(tid))
    }

    fn task_mut(&mut self, tid: Tid) -> Result<&mut MemoryTask> {
        let index = usize::try_from(tid).ok();
        index.and_then(|index| self.tasks.get_mut(index)).ok_or_else(|| unknown(tid))
    }
}

impl View for MemoryStore {
    fn dir(&self) -> &Path {
        Path::new("")
    }

    fn find(&self, task: &str) -> Result<Option<(Tid, TaskState)>> {
        match self.by_id.get(task) {
            None => Ok(None),
            Some(tid) => Ok(Some((*tid, self.state(*tid)?))),
        }
    }

    fn entry(&self, tid: Tid) -> Result<TaskEntry> {
        Ok(self.task(tid)?.entry.clone())
    }

    fn state(&self, tid: Tid) -> Result<TaskState> {
        Ok(self.task(tid)?.state.clone())
    }

    fn tids(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Tid>> {
        let passes = |task: &MemoryTask| match filter {
            TaskFilter::Any => true,
            TaskFilter::Open => task.state.closed_at_us.is_none(),
            TaskFilter::Closed => task.state.closed_at_us.is_some(),
        };
        let newest_first = self.tasks.iter().enumerate().rev();
        let tids = newest_first.filter(|(_, task)| passes(task)).map(|(index, _)| number(index));
        Ok(tids.take(limit).collect())
    }

    fn ids_from(&self, first: &str, limit: usize) -> Result<Vec<String>> {
        Ok(self.by_id.range(Arc::from(first)..).map(|(id, _)| id.to_string()).take(limit).collect())
    }

    fn ids_to(&self, last: &str, limit: usize) -> Result<Vec<String>> {
        let ends = self.by_id.keys().filter(|id| id.ends_with(last));
        Ok(ends.map(ToString::to_string).take(limit).collect())
    }

    fn rows_after(&self, pos: u64, mut page: Page) -> Result<Vec<(Tid, Row)>> {
        let start = usize::try_from(pos).unwrap_or(usize::MAX);
        let mut out = Vec::new();
        for (tid, index) in self.order.get(start..).unwrap_or_default().iter().take(page.rows()) {
            let task = self.task(*tid)?;
            let Some((pos, sealed)) = task.rows.get(*index) else { continue };
            out.push((*tid, sealed.stored_at(*pos, &task.entry.id)));
            if !page.take(sealed.row.bytes()) {
                break;
            }
        }
        Ok(out)
    }

    fn rows_of_kinds_after(&self, pos: u64, kinds: Kinds<'_>, mut page: Page) -> Result<Vec<(Tid, Row)>> {
        let start = usize::try_from(pos).unwrap_or(usize::MAX);
        let mut out = Vec::new();
        if page.rows() == 0 {
            return Ok(out);
        }
        for (tid, index) in self.order.get(start..).unwrap_or_default() {
            let task = self.task(*tid)?;
            let Some((pos, sealed)) = task.rows.get(*index) else { continue };
            if !kinds.contains(&&*sealed.row.kind) {
                continue;
            }
            out.push((*tid, sealed.stored_at(*pos, &task.entry.id)));
            if !page.take(sealed.row.bytes()) {
                break;
            }
        }
        Ok(out)
    }

    fn task_rows(&self, tid: Tid, from_seq: u64, mut page: Page) -> Result<Vec<Row>> {
        let start = usize::try_from(from_seq.saturating_sub(1)).unwrap_or(usize::MAX);
        let task = self.task(tid)?;
        let mut out = Vec::new();
        for (pos, sealed) in task.rows.get(start..).unwrap_or_default().iter().take(page.rows()) {
            out.push(sealed.stored_at(*pos, &task.entry.id));
            if !page.take(sealed.row.bytes()) {
                break;
            }
        }
        Ok(out)
    }

    fn row_at(&self, tid: Tid, seq: u64) -> Result<Option<Mark>> {
        let task = self.task(tid)?;
        let index = usize::try_from(seq).ok().and_then(|seq| task.rows.get(seq.checked_sub(1)?));
        Ok(index.map(|(pos, sealed)| Mark { pos: *pos, chain: sealed.chain }))
    }

    fn next_pos(&self, pos: u64) -> Result<Option<u64>> {
        Ok((pos < self.order.len() as u64).then(|| pos + 1))
    }

    fn last_pos(&self) -> Result<u64> {
        Ok(self.order.len() as u64)
    }

    fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        Ok(self.fragments.get(hash).map(|fragment| fragment.bytes().to_vec()))
    }

    fn command(&self, id: u64) -> Result<Option<CommandEntry>> {
        let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        Ok(index.and_then(|index| self.commands.get(index)).map(|(entry, _)| *entry))
    }

    fn pending(&self, scope: CommandScope, after_id: u64, limit: usize) -> Result<Vec<Command>> {
        let wanted = |entry: &CommandEntry| match scope {
            CommandScope::Task(tid) => entry.tid == tid,
            CommandScope::All => true,
        };
        let start = usize::try_from(after_id).unwrap_or(usize::MAX);
        let rest = self.commands.get(start..).unwrap_or_default().iter();
        let waiting = rest.filter(|(entry, _)| entry.state == CommandState::Pending && wanted(entry));
        Ok(waiting.map(|(_, command)| command.clone()).take(limit).collect())
    }

    fn cursor(&self, name: &str) -> Result<Option<u64>> {
        Ok(self.cursors.get(name).copied())
    }

    fn pruning(&self, tid: Tid) -> Result<Option<u64>> {
        Ok(self.task(tid)?.pruning)
    }

    fn last_pruning(&self) -> Result<u64> {
        Ok(self.tasks.iter().filter_map(|task| task.pruning).max().unwrap_or(0))
    }

    fn prunable(&self, before_us: i64, limit: usize) -> Result<Vec<Tid>> {
        let is_wanted = |task: &MemoryTask| {
            task.pruning.is_none() && task.state.closed_at_us.is_some_and(|closed| closed < before_us)
        };
        let tasks = self.tasks.iter().enumerate().filter(|(_, task)| is_wanted(task));
        Ok(tasks.map(|(index, _)| number(index)).take(limit).collect())
    }

    fn content(&self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)> {
        let rows = self.task(tid)?.rows.iter().filter(|(_, sealed)| loses_body(sealed, kept));
        Ok(rows.fold((0, 0), |(rows, bytes), (_, sealed)| (rows + 1, bytes + sealed.row.body.len() as u64)))
    }

    fn check_entries(&self, _found: &mut dyn FnMut(Damage)) -> Result<EntryCounts> {
        Ok(EntryCounts {
            fragments: self.fragments.len() as u64,
            commands: self.commands.len() as u64,
            cursors: self.cursors.len() as u64,
        })
    }
}

impl Store for MemoryStore {
    fn insert_task(&mut self, id: &str, opening: &TaskOpening, state: &TaskState) -> Result<Tid> {
        let id: Arc<str> = id.into();
        let tid = number(self.tasks.len());
        let entry = TaskEntry {
            id: Arc::clone(&id),
            opened_at_us: opening.opened_at_us,
            logic_version: opening.logic_version,
            title: opening.title.clone(),
        };
        self.tasks.push(MemoryTask { entry, state: state.clone(), rows: Vec::new(), pruning: None });
        self.by_id.insert(id, tid);
        Ok(tid)
    }

    fn save_progress(&mut self, tid: Tid, state: &TaskState) -> Result<()> {
        self.save_state(tid, state)
    }

    fn save_state(&mut self, tid: Tid, state: &TaskState) -> Result<()> {
        self.task_mut(tid)?.state = state.clone();
        Ok(())
    }

    fn insert_rows(&mut self, tid: Tid, rows: &[Arc<SealedRow>]) -> Result<u64> {
        for sealed in rows {
            let pos = self.next_pos();
            let task = self.task_mut(tid)?;
            let index = task.rows.len();
            task.rows.push((pos, Arc::clone(sealed)));
            self.order.push((tid, index));
        }
        Ok(self.next_pos() - 1)
    }

    /// Does nothing: a journal in memory loses no tail.
    fn skip_to(&mut self, _pos: u64) -> Result<()> {
        Ok(())
    }

    fn insert_fragment(&mut self, fragment: &Fragment) -> Result<()> {
        self.fragments.entry(*fragment.hash()).or_insert_with(|| fragment.clone());
        Ok(())
    }

    fn insert_command(&mut self, tid: Tid, command: &NewCommand) -> Result<u64> {
        let id = self.commands.len() as u64 + 1;
        let task = self.task(tid)?.entry.id.to_string();
        let NewCommand { kind, body, at_us } = command.clone();
        let entry = CommandEntry { tid, state: CommandState::Pending };
        self.commands.push((entry, Command { id, task, kind, body, at_us }));
        Ok(id)
    }

    fn mark_command(&mut self, id: u64, taken_seq: u64) -> Result<()> {
        let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        if let Some((entry, _)) = index.and_then(|index| self.commands.get_mut(index)) {
            entry.state = CommandState::from_taken_seq(Some(taken_seq));
        }
        Ok(())
    }

    fn set_cursor(&mut self, name: &str, pos: u64) -> Result<()> {
        self.cursors.insert(name.to_owned(), pos);
        Ok(())
    }

    fn empty_rows(&mut self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)> {
        let counts = self.content(tid, kept)?;
        for (_, sealed) in &mut self.task_mut(tid)?.rows {
            if loses_body(sealed, kept) {
                let mut emptied = SealedRow::clone(sealed);
                emptied.row.body = Vec::new();
                emptied.is_pruned = true;
                *sealed = Arc::new(emptied);
            }
        }
        Ok(counts)
    }

    fn set_pruning(&mut self, tid: Tid, pos: u64) -> Result<()> {
        self.task_mut(tid)?.pruning = Some(pos);
        Ok(())
    }

    fn delete_fragments_but(&mut self, kept: &BTreeSet<[u8; 32]>) -> Result<(u64, u64)> {
        let (count, bytes) = self
            .fragments
            .iter()
            .filter(|(hash, _)| !kept.contains(*hash))
            .fold((0, 0), |(count, bytes), (_, fragment)| (count + 1, bytes + fragment.bytes().len() as u64));
        self.fragments.retain(|hash, _| kept.contains(hash));
        Ok((count, bytes))
    }
}

fn number(index: usize) -> Tid {
    Tid::try_from(index).unwrap_or(Tid::MAX)
}

fn unknown(tid: Tid) -> JournalError {
    JournalError::UnknownTask { task: format!("number {tid}") }
}
