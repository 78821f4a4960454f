//! Criteria × attempts: how each criterion was judged in every attempt and round.
//!
//! Each plan gives its criteria new ids. A row is a criterion as a person reads it: the same statement in a
//! later round continues the same row.

mod index;
mod row;

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::message::{
    CorrectionSignal, Criterion, DispatchManifest, OutcomeStatus, ReplanRequest, SubTaskOutcome, Verdict,
};
use setpoint_protocol::{CriterionId, Instance, SubTaskId, Timestamp};

use self::index::Index;
pub use self::row::{Cell, Column, Evidence, Row};

/// At most this many attempts per round have a column of their own; real rounds have fewer. Further ones
/// share the last column, so that the attempts in a file cannot make the board grow without limit.
const ATTEMPTS_MAX: u32 = 100;

/// All criteria of a task.
#[derive(Clone, Debug, Default)]
pub struct Board {
    rows: Vec<Row>,
    index: Index,
    columns: BTreeSet<Column>,
    subtasks: BTreeMap<SubTaskId, Work>,
    round: u32,
    /// Sub-tasks of this round that have not matched.
    unmatched: BTreeSet<SubTaskId>,
    /// Rows of the whole task that wait for these sub-tasks.
    waiting: BTreeSet<usize>,
    /// Rows that may have a running cell.
    running: BTreeSet<usize>,
}

/// A sub-task of a round.
#[derive(Clone, Debug)]
struct Work {
    round: u32,
    attempt: u32,
    instance: Option<Instance>,
    /// Indexes of its rows.
    rows: BTreeSet<usize>,
}

impl Board {
    /// Returns the rows: sub-tasks' criteria first, then the task's own.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let own = self.rows.iter().filter(|row| row.is_of_task());
        self.rows.iter().filter(|row| !row.is_of_task()).chain(own)
    }

    /// Returns the columns, in order.
    pub fn columns(&self) -> impl DoubleEndedIterator<Item = Column> + '_ {
        self.columns.iter().copied()
    }

    /// Returns the cell of a row in a column. A criterion of the task is judged once per round, so its cell
    /// is in the round's last column.
    #[must_use]
    pub fn cell(&self, row: &Row, column: Column) -> Option<Cell> {
        if !row.is_of_task() {
            return row.cell(column);
        }
        let of_attempt = |attempt: u32| Column { attempt, ..column };
        let last = self.columns.range(of_attempt(0)..=of_attempt(u32::MAX)).next_back()?;
        if *last == column { row.cell(Column { round: column.round, attempt: 0 }) } else { None }
    }

    /// Returns the row of this criterion.
    #[must_use]
    pub fn row(&self, id: &CriterionId) -> Option<&Row> {
        self.index.rows_of(id).min().and_then(|at| self.rows.get(at))
    }

    /// Returns the round that was dispatched last; 0 before the first.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns the number of sub-tasks in the round that was dispatched last.
    #[must_use]
    pub fn subtasks(&self) -> usize {
        self.subtasks.values().filter(|work| work.round == self.round).count()
    }

    pub(super) fn open_round(&mut self, manifest: &DispatchManifest) {
        self.round = manifest.round;
        self.unmatched.clear();
        self.waiting.clear();
        let first = Column { round: manifest.round, attempt: 1 };
        self.columns.insert(first);
        for entry in &manifest.subtasks {
            let rows = self.rows_of(&entry.success_criteria, first, false);
            let work = Work { round: manifest.round, attempt: 1, instance: None, rows };
            self.subtasks.insert(entry.subtask_id.clone(), work);
            self.unmatched.insert(entry.subtask_id.clone());
            if let Some(carried) = &entry.carried {
                self.carry(carried, manifest.dispatched_at);
            }
        }
        let column = Column { round: manifest.round, attempt: 0 };
        self.waiting = self.rows_of(&manifest.task_criteria, column, true);
    }

    pub(super) fn start(&mut self, id: &SubTaskId, instance: Option<Instance>) {
        let Some(work) = self.subtasks.get_mut(id) else { return };
        work.instance = instance;
        let (rows, column) = (work.rows.clone(), Column { round: work.round, attempt: work.attempt });
        for at in rows {
            let Some(row) = self.rows.get_mut(at) else { continue };
            row.set(column, Cell::Running);
            row.runs_in(instance);
            self.running.insert(at);
        }
    }

    pub(super) fn correct(&mut self, signal: &CorrectionSignal, at: Timestamp) {
        let Some(work) = self.subtasks.get_mut(&signal.subtask_id) else { return };
        let attempt = signal.attempt_number.min(ATTEMPTS_MAX);
        let judged = Column { round: work.round, attempt };
        work.attempt = attempt.saturating_add(1);
        let next = Column { round: work.round, attempt: work.attempt };
        let rows = work.rows.clone();
        self.columns.insert(next);
        let failed: BTreeSet<usize> =
            signal.failed_criteria.iter().flat_map(|id| self.index.rows_of(id)).collect();
        for at_row in rows {
            let Some(row) = self.rows.get_mut(at_row) else { continue };
            let has_failed = failed.contains(&at_row);
            let is_named = has_failed && row.statement == signal.failed_criterion;
            row.set(
                judged,
                match (has_failed, is_named) {
                    (false, _) => Cell::Verified,
                    (true, true) => Cell::Failed(signal.failure_class),
                    (true, false) => Cell::Failed(None),
                },
            );
            let evidence = Evidence::words(at, &signal.what_was_wrong);
            if is_named {
                row.record_evidence(judged, evidence);
            } else if has_failed {
                row.note(judged, evidence);
            }
            row.set(next, Cell::Running);
            self.running.insert(at_row);
        }
    }

    pub(super) fn judge(&mut self, outcome: &SubTaskOutcome, at: Timestamp) {
        let Some(work) = self.subtasks.get_mut(&outcome.subtask_id) else { return };
        if work.round == self.round {
            match outcome.status == OutcomeStatus::Matched {
                true => drop(self.unmatched.remove(&outcome.subtask_id)),
                false => drop(self.unmatched.insert(outcome.subtask_id.clone())),
            }
        }
        let last = Column { round: work.round, attempt: work.attempt };
        let (round, rows) = (work.round, work.rows.clone());
        for gap in outcome.gap_trajectory.iter().filter(|gap| gap.attempt < last.attempt) {
            let column = Column { round, attempt: gap.attempt };
            for failed in &gap.failed_criteria {
                for at in self.index.rows_of(&failed.criterion_id).filter(|at| rows.contains(at)) {
                    if let Some(row) = self.rows.get_mut(at) {
                        row.set(column, Cell::Failed(failed.failure_class));
                    }
                }
            }
        }
        self.judge_rows(Some(&rows), &outcome.criteria_verdicts, last, at);
        // What ran without a verdict has failed; what never ran stays unjudged.
        let why = outcome.failure_reason.as_deref().unwrap_or_default();
        for row in rows {
            let Some(row) = self.rows.get_mut(row) else { continue };
            match row.cell(last) {
                Some(Cell::Running) => row.set(last, Cell::Failed(None)),
                Some(Cell::NotYet) => {}
                _ => continue,
            }
            row.record_evidence(last, Evidence::words(at, why));
        }
        self.start_fan_in();
    }

    /// Judges a sub-task that matched in an earlier round and is kept, with the evidence and the time of that
    /// round.
    fn carry(&mut self, outcome: &SubTaskOutcome, at: Timestamp) {
        let Some(work) = self.subtasks.get(&outcome.subtask_id) else { return };
        let column = Column { round: work.round, attempt: work.attempt };
        let evidence_at = |row: &usize| Some((*row, self.rows.get(*row)?.evidence.clone()?));
        let known: Vec<(usize, Evidence)> = work.rows.iter().filter_map(evidence_at).collect();
        self.judge(outcome, at);
        for (row, known) in known {
            if let Some(row) = self.rows.get_mut(row) {
                row.keep(column, known);
            }
        }
    }

    pub(super) fn judge_task(&mut self, verdicts: &[Verdict], at: Timestamp) {
        let column = Column { round: self.round, attempt: 0 };
        self.judge_rows(None, verdicts, column, at);
    }

    pub(super) fn fall_short(&mut self, request: &ReplanRequest, at: Timestamp) {
        for outcome in &request.outcomes {
            // Outcomes that came one by one are known; skipped sub-tasks are reported only here.
            let is_new = self.subtasks.get(&outcome.subtask_id).is_some_and(|work| work.instance.is_none());
            if is_new && outcome.status == OutcomeStatus::Failed {
                self.judge(outcome, at);
            }
        }
        match &request.task_criteria_verdicts {
            Some(verdicts) => self.judge_task(verdicts, at),
            None => self.stop(at, ""),
        }
    }

    /// Resets every running cell, and records `why` as its evidence.
    pub(super) fn stop(&mut self, at: Timestamp, why: &str) {
        for row in std::mem::take(&mut self.running) {
            let Some(row) = self.rows.get_mut(row) else { continue };
            if let Some(column) = row.stop().filter(|_| !why.is_empty()) {
                row.record_evidence(column, Evidence::words(at, why));
            }
        }
    }

    /// Judges the rows that the verdicts name, if they are among `rows`.
    fn judge_rows(
        &mut self,
        rows: Option<&BTreeSet<usize>>,
        verdicts: &[Verdict],
        column: Column,
        at: Timestamp,
    ) {
        for verdict in verdicts {
            let named = self.index.rows_of(&verdict.criterion_id);
            for row in named.filter(|row| rows.is_none_or(|rows| rows.contains(row))) {
                let Some(row) = self.rows.get_mut(row) else { continue };
                row.set(column, Cell::of(verdict));
                row.record_evidence(column, Evidence::of(verdict, at));
            }
        }
    }

    /// Marks the rows of the whole task as running once every sub-task has matched.
    fn start_fan_in(&mut self) {
        if !self.unmatched.is_empty() {
            return;
        }
        let column = Column { round: self.round, attempt: 0 };
        for at in std::mem::take(&mut self.waiting) {
            let Some(row) = self.rows.get_mut(at) else { continue };
            if row.cell(column) == Some(Cell::NotYet) {
                row.set(column, Cell::Running);
                self.running.insert(at);
            }
        }
    }

    /// Returns the rows of these criteria, each with an empty cell in `column`.
    fn rows_of(&mut self, criteria: &[Criterion], column: Column, of_task: bool) -> BTreeSet<usize> {
        let mut indexes = BTreeSet::new();
        for criterion in criteria {
            let index = self.index.row_for(&mut self.rows, criterion, column, of_task);
            if let Some(row) = self.rows.get_mut(index) {
                row.add_criterion(criterion);
                row.set(column, Cell::NotYet);
            }
            indexes.insert(index);
        }
        indexes
    }
}
