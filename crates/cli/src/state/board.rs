//! Criteria × attempts: how each criterion was judged, attempt by attempt, round by round.
//!
//! Plans change and criteria get new ids with them. A row is a criterion as a person reads it: the same statement
//! in a later round goes on in the same row.

mod row;

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::message::{
    CorrectionSignal, Criterion, DispatchManifest, OutcomeStatus, ReplanRequest, SubTaskOutcome, Verdict,
};
use setpoint_protocol::{CriterionId, Instance, SubTaskId, Timestamp};

pub use self::row::{Cell, Column, Evidence, Row};

/// All criteria of a task.
#[derive(Clone, Debug, Default)]
pub struct Board {
    rows: Vec<Row>,
    columns: BTreeSet<Column>,
    subtasks: BTreeMap<SubTaskId, Work>,
    round: u32,
}

/// A sub-task of a round.
#[derive(Clone, Debug)]
struct Work {
    round: u32,
    attempt: u32,
    instance: Option<Instance>,
    is_matched: bool,
    /// Indexes of its rows.
    rows: Vec<usize>,
}

impl Board {
    /// The rows: sub-tasks' criteria first, then the task's own.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let own = self.rows.iter().filter(|row| row.is_of_task());
        self.rows.iter().filter(|row| !row.is_of_task()).chain(own)
    }

    /// The columns, in order.
    pub fn columns(&self) -> impl DoubleEndedIterator<Item = Column> + '_ {
        self.columns.iter().copied()
    }

    /// The cell of a row in a column. A criterion of the task is judged once a round, in the round's last column.
    #[must_use]
    pub fn cell(&self, row: &Row, column: Column) -> Option<Cell> {
        if !row.is_of_task() {
            return row.cell(column);
        }
        let last = self.columns.iter().rfind(|other| other.round == column.round)?;
        if *last == column { row.cell(Column { round: column.round, attempt: 0 }) } else { None }
    }

    /// The row of this criterion.
    #[must_use]
    pub fn row(&self, id: &CriterionId) -> Option<&Row> {
        self.rows.iter().find(|row| row.has(id))
    }

    /// The round that was dispatched last; 0 before the first.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Sub-tasks of the round that was dispatched last.
    #[must_use]
    pub fn subtasks(&self) -> usize {
        self.subtasks.values().filter(|work| work.round == self.round).count()
    }

    pub(super) fn open_round(&mut self, manifest: &DispatchManifest) {
        self.round = manifest.round;
        let first = Column { round: manifest.round, attempt: 1 };
        self.columns.insert(first);
        for entry in &manifest.subtasks {
            let rows = self.rows_of(&entry.success_criteria, first, false);
            let work = Work { round: manifest.round, attempt: 1, instance: None, is_matched: false, rows };
            self.subtasks.insert(entry.subtask_id.clone(), work);
            if let Some(carried) = &entry.carried {
                self.carry(carried, manifest.dispatched_at);
            }
        }
        let column = Column { round: manifest.round, attempt: 0 };
        self.rows_of(&manifest.task_criteria, column, true);
    }

    pub(super) fn start(&mut self, id: &SubTaskId, instance: Option<Instance>) {
        let Some(work) = self.subtasks.get_mut(id) else { return };
        work.instance = instance;
        let (rows, column) = (work.rows.clone(), Column { round: work.round, attempt: work.attempt });
        for row in self.rows_at(&rows) {
            row.set(column, Cell::Running);
            row.runs_in(instance);
        }
    }

    pub(super) fn correct(&mut self, signal: &CorrectionSignal, at: Timestamp) {
        let Some(work) = self.subtasks.get_mut(&signal.subtask_id) else { return };
        let judged = Column { round: work.round, attempt: signal.attempt_number };
        work.attempt = signal.attempt_number.saturating_add(1);
        let next = Column { round: work.round, attempt: work.attempt };
        let rows = work.rows.clone();
        self.columns.insert(next);
        for row in self.rows_at(&rows) {
            let has_failed = signal.failed_criteria.iter().any(|id| row.has(id));
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
                row.see(judged, evidence);
            } else if has_failed {
                row.note(judged, evidence);
            }
            row.set(next, Cell::Running);
        }
    }

    pub(super) fn judge(&mut self, outcome: &SubTaskOutcome, at: Timestamp) {
        let Some(work) = self.subtasks.get_mut(&outcome.subtask_id) else { return };
        work.is_matched = outcome.status == OutcomeStatus::Matched;
        let last = Column { round: work.round, attempt: work.attempt };
        let (round, rows) = (work.round, work.rows.clone());
        for gap in outcome.gap_trajectory.iter().filter(|gap| gap.attempt < last.attempt) {
            let column = Column { round, attempt: gap.attempt };
            for failed in &gap.failed_criteria {
                for row in self.rows_at(&rows).filter(|row| row.has(&failed.criterion_id)) {
                    row.set(column, Cell::Failed(failed.failure_class));
                }
            }
        }
        self.judge_rows(&rows, &outcome.criteria_verdicts, last, at);
        // What ran and was not judged has failed; what never ran was not judged.
        let why = outcome.failure_reason.as_deref().unwrap_or_default();
        for row in self.rows_at(&rows) {
            match row.cell(last) {
                Some(Cell::Running) => row.set(last, Cell::Failed(None)),
                Some(Cell::NotYet) => {}
                _ => continue,
            }
            row.see(last, Evidence::words(at, why));
        }
        self.start_fan_in();
    }

    /// A sub-task that matched in an earlier round and is kept: what it rests on is as old as it was.
    fn carry(&mut self, outcome: &SubTaskOutcome, at: Timestamp) {
        let known: Vec<_> = self.rows.iter().map(|row| row.evidence.clone()).collect();
        self.judge(outcome, at);
        for (row, known) in self.rows.iter_mut().zip(known) {
            row.evidence = known.or(row.evidence.take());
        }
    }

    pub(super) fn judge_task(&mut self, verdicts: &[Verdict], at: Timestamp) {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let column = Column { round: self.round, attempt: 0 };
        self.judge_rows(&rows, verdicts, column, at);
    }

    pub(super) fn fall_short(&mut self, request: &ReplanRequest, at: Timestamp) {
        for outcome in &request.outcomes {
            // Outcomes that came one by one are known; skipped sub-tasks are only reported here.
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

    /// Nothing runs any more: what was not judged is not judged, for this reason.
    pub(super) fn stop(&mut self, at: Timestamp, why: &str) {
        for row in &mut self.rows {
            if let Some(column) = row.stop().filter(|_| !why.is_empty()) {
                row.see(column, Evidence::words(at, why));
            }
        }
    }

    fn judge_rows(&mut self, rows: &[usize], verdicts: &[Verdict], column: Column, at: Timestamp) {
        for verdict in verdicts {
            for row in self.rows_at(rows).filter(|row| row.has(&verdict.criterion_id)) {
                row.set(column, Cell::of(verdict));
                row.see(column, Evidence::of(verdict, at));
            }
        }
    }

    /// Once every sub-task has matched, it is the whole that is judged.
    fn start_fan_in(&mut self) {
        let round = self.round;
        let mut mine = self.subtasks.values().filter(|work| work.round == round);
        if mine.all(|work| work.is_matched) {
            let column = Column { round, attempt: 0 };
            for row in self.rows.iter_mut().filter(|row| row.cell(column) == Some(Cell::NotYet)) {
                row.set(column, Cell::Running);
            }
        }
    }

    /// The rows of these criteria, each with an empty cell in `column`.
    fn rows_of(&mut self, criteria: &[Criterion], column: Column, of_task: bool) -> Vec<usize> {
        let mut indexes = Vec::new();
        for criterion in criteria {
            let index = self.row_for(criterion, column, of_task);
            if let Some(row) = self.rows.get_mut(index) {
                row.take_on(criterion);
                row.set(column, Cell::NotYet);
            }
            indexes.push(index);
        }
        indexes
    }

    fn row_for(&mut self, criterion: &Criterion, column: Column, of_task: bool) -> usize {
        let fits = |row: &Row| row.is_of_task() == of_task;
        let by_id = self.rows.iter().position(|row| fits(row) && row.has(&criterion.id));
        let free =
            |row: &Row| fits(row) && row.statement == criterion.criterion && row.cell(column).is_none();
        by_id.or_else(|| self.rows.iter().position(free)).unwrap_or_else(|| {
            let number = self.rows.iter().filter(|row| fits(row)).count() + 1;
            self.rows.push(Row::new(criterion, number, of_task));
            self.rows.len() - 1
        })
    }

    fn rows_at(&mut self, indexes: &[usize]) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut().enumerate().filter(|(n, _)| indexes.contains(n)).map(|(_, row)| row)
    }
}
