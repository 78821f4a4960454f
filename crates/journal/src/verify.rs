//! Verification of a whole journal, or of one task, against its own chains, numbers and checks.

use std::collections::BTreeMap;

use crate::chain::{Break, TaskHead};
use crate::damage::{Damage, DamageKind};
use crate::entry::{TaskFilter, Tid};
use crate::error::{JournalError, Result};
use crate::head::{Mark, Slots};
use crate::limits::{DAMAGES_MAX, PAGE_ROWS_MAX};
use crate::loss::Loss;
use crate::prune::Prunings;
use crate::reader;
use crate::row::Row;
use crate::store::{Page, View};

/// After this many consecutive unreadable rows, the scan ends.
const UNREADABLE_IN_SERIES_MAX: usize = 256;

/// The counts and the damages of a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Rows that were read.
    pub rows: u64,
    /// Tasks, the stream `system` included.
    pub tasks: u64,
    /// Fragments.
    pub fragments: u64,
    /// Commands, taken ones included.
    pub commands: u64,
    /// Cursors.
    pub cursors: u64,
    /// Position of the last row.
    pub last_pos: u64,
    /// Rows whose bodies were removed by a pruning.
    pub pruned: u64,
    /// Accepted losses, as their rows record them.
    pub losses: Vec<Loss>,
    /// Damages, at most [`DAMAGES_MAX`].
    pub damages: Vec<Damage>,
    /// Whether there are more damages than `damages` holds.
    pub truncated: bool,
}

/// The result of verifying one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskVerification {
    /// Number of its rows.
    pub rows: u64,
    /// Last row of the task.
    pub head: TaskHead,
}

impl Verification {
    /// Returns whether no damage was found. Accepted losses are not damage.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    /// Returns how many positions the losses cover.
    #[must_use]
    pub fn rows_lost(&self) -> u64 {
        self.losses.iter().map(|loss| loss.head_pos.saturating_sub(loss.last_pos)).sum()
    }

    pub(crate) fn add(&mut self, damage: Damage) {
        if self.damages.len() >= DAMAGES_MAX {
            self.truncated = true;
        } else if !self.damages.contains(&damage) {
            self.damages.push(damage);
        }
    }

    /// Adds a damage to the report; returns any other error.
    fn settle<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(JournalError::Damaged { damage, .. }) => {
                self.add(*damage);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Checks everything. `head` must have been read before the view's snapshot was taken; `None` if there is
/// no such file.
pub(crate) fn all(view: &dyn View, head: Option<Slots>) -> Result<Verification> {
    let mut report = Verification::default();
    let mut found = Vec::new();
    let counts = view.check_entries(&mut |damage| found.push(damage));
    for damage in found {
        report.add(damage);
    }
    if let Some(counts) = report.settle(counts)? {
        report.fragments = counts.fragments;
        report.commands = counts.commands;
        report.cursors = counts.cursors;
    }
    let mut scan = Scan { mark: head.and_then(Slots::newest), ..Scan::default() };
    scan.rows(view, &mut report)?;
    scan.tasks(view, &mut report)?;
    scan.head(head, &mut report);
    Ok(report)
}

/// Reads a task from its first row to its last.
pub(crate) fn task(view: &dyn View, task: &str, row_format_known: u16) -> Result<TaskVerification> {
    let Some((tid, state)) = view.find(task)? else {
        return Err(JournalError::UnknownTask { task: task.to_owned() });
    };
    view.entry(tid)?;
    let mut rows = 0;
    while rows < state.seq {
        let page = reader::of_task(view, task, rows + 1, PAGE_ROWS_MAX, row_format_known)?;
        rows += page.len() as u64;
    }
    if view.row_at(tid, state.seq.saturating_add(1))?.is_some() {
        let damage = Damage::database(DamageKind::TaskDisagrees).in_task(task).at_seq(state.seq + 1);
        return Err(JournalError::damaged(view.dir(), damage));
    }
    Ok(TaskVerification { rows, head: TaskHead::at(task.into(), state.seq, state.chain) })
}

/// One pass over all rows.
#[derive(Default)]
struct Scan {
    /// The head of each task so far; `None` if its entry is damaged.
    heads: BTreeMap<Tid, Option<TaskHead>>,
    last_pos: u64,
    /// The row that the head file names.
    mark: Option<Mark>,
    mark_matches: bool,
    prunings: Prunings,
}

impl Scan {
    fn rows(&mut self, view: &dyn View, report: &mut Verification) -> Result<()> {
        let end = report.settle(view.last_pos())?.unwrap_or(u64::MAX);
        let mut unreadable = 0;
        while self.last_pos < end && unreadable < UNREADABLE_IN_SERIES_MAX {
            match view.rows_after(self.last_pos, Page::of(PAGE_ROWS_MAX)) {
                Ok(page) => {
                    if page.is_empty() {
                        break;
                    }
                    unreadable = 0;
                    for (tid, row) in page {
                        if row.pos <= self.last_pos {
                            report.add(Damage::database(DamageKind::RowMisplaced).at_pos(row.pos));
                            return Ok(());
                        }
                        self.row(view, tid, row, report)?;
                    }
                }
                Err(JournalError::Damaged { damage, .. }) => {
                    unreadable += 1;
                    self.last_pos += 1;
                    let pos = damage.pos.unwrap_or(self.last_pos);
                    report.add(Damage { pos: Some(pos), ..*damage });
                    self.last_pos = self.last_pos.max(pos);
                }
                Err(error) => return Err(error),
            }
        }
        report.last_pos = self.last_pos;
        Ok(())
    }

    fn row(&mut self, view: &dyn View, tid: Tid, mut row: Row, report: &mut Verification) -> Result<()> {
        report.rows += 1;
        if let std::collections::btree_map::Entry::Vacant(vacant) = self.heads.entry(tid) {
            let entry = report.settle(view.entry(tid))?;
            vacant.insert(entry.map(|entry| {
                let start = crate::chain::start_of_chain(&entry.id);
                TaskHead::at(entry.id, 0, start)
            }));
        }
        if let Some(Some(head)) = self.heads.get_mut(&tid) {
            row.task = std::sync::Arc::clone(head.task());
            let place = |kind| Damage::database(kind).at_pos(row.pos).in_task(&row.task).at_seq(row.seq);
            match head.follow(&row) {
                Ok(()) => {}
                Err(Break::Chain) => report.add(place(DamageKind::ChainMismatch)),
                Err(Break::Seq) if row.seq > head.seq() => {
                    let missing = Damage::database(DamageKind::RowMissing).in_task(&row.task);
                    report.add(missing.at_seq(head.seq() + 1));
                }
                Err(Break::Seq) => report.add(place(DamageKind::RowMisplaced)),
            }
            // Continue from this row, so that one damage is not reported again for every row after it.
            *head = TaskHead::at(std::sync::Arc::clone(head.task()), row.seq, row.chain);
        }
        report.pruned += u64::from(row.is_pruned);
        report.settle(self.prunings.check(view, tid, &row))?;
        let loss = Loss::recorded_by(&row);
        if row.pos != self.last_pos + 1 && !loss.is_some_and(|loss| loss.explains(self.last_pos, row.pos)) {
            report.add(Damage::database(DamageKind::RowMissing).at_pos(self.last_pos + 1));
        }
        report.losses.extend(loss);
        if self.mark.is_some_and(|mark| mark.pos == row.pos && mark.chain == row.chain) {
            self.mark_matches = true;
        }
        self.last_pos = row.pos;
        Ok(())
    }

    fn tasks(&mut self, view: &dyn View, report: &mut Verification) -> Result<()> {
        let tids = report.settle(view.tids(TaskFilter::Any, usize::MAX))?.unwrap_or_default();
        for tid in tids {
            report.tasks += 1;
            let head = self.heads.remove(&tid);
            let Some(entry) = report.settle(view.entry(tid))? else { continue };
            // Readers refuse a task whose entry leads to no recorded pruning, so it is damage.
            report.settle(crate::prune::of(view, tid, &entry.id))?;
            let state = view.state(tid).map_err(|error| error.in_task(&entry.id));
            let Some(state) = report.settle(state)? else { continue };
            if let Some((found, _)) = report.settle(view.find(&entry.id))?.flatten()
                && found != tid
            {
                report.add(Damage::database(DamageKind::TaskDisagrees).in_task(&entry.id));
            }
            let rows_say = match head {
                Some(Some(head)) => (head.seq(), *head.chain()),
                Some(None) => continue,
                None => (0, crate::chain::start_of_chain(&entry.id)),
            };
            if rows_say != (state.seq, state.chain) {
                let damage = Damage::database(DamageKind::TaskDisagrees).in_task(&entry.id);
                report.add(damage.at_seq(state.seq));
            }
        }
        for (tid, head) in std::mem::take(&mut self.heads) {
            if let Some(head) = head {
                let kind = DamageKind::EntryMissing { table: "task_state", key: tid.to_string() };
                report.add(Damage::database(kind).in_task(head.task()));
            }
        }
        Ok(())
    }

    fn head(&self, head: Option<Slots>, report: &mut Verification) {
        let Some(slots) = head else { return };
        if slots.damaged() > 0 {
            report.add(Damage::head(None, DamageKind::HeadUnreadable));
        }
        match self.mark {
            None if report.rows > 0 => report.add(Damage::head(None, DamageKind::HeadAbsent)),
            Some(mark) if mark.pos > self.last_pos => {
                let kind = DamageKind::TailLost { last_pos: self.last_pos };
                report.add(Damage::head(Some(mark.pos), kind));
            }
            Some(mark) if !self.mark_matches => {
                report.add(Damage::head(Some(mark.pos), DamageKind::HeadMismatch));
            }
            None | Some(_) => {}
        }
    }
}
