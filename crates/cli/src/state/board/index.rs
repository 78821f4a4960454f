//! Index of the rows. A file can hold very many criteria and verdicts, so no lookup may search all rows.

use std::collections::BTreeMap;

use setpoint_protocol::CriterionId;
use setpoint_protocol::message::Criterion;

use super::row::{Column, Row};

/// Finds a row by a criterion's id, or one with the same statement that can be continued.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By whether the row is one of the whole task, and by each id that its criterion had.
    by_id: BTreeMap<(bool, CriterionId), usize>,
    by_statement: BTreeMap<(bool, String), RowGroup>,
    /// The number of rows of sub-tasks, and of the whole task.
    counts: [usize; 2],
}

/// Rows with the same statement.
#[derive(Clone, Debug, Default)]
struct RowGroup {
    rows: Vec<usize>,
    /// How many of them, counted from the first, have a cell in a column. Cells are never removed, so the
    /// count only grows.
    taken: BTreeMap<Column, usize>,
}

impl Index {
    /// Returns the rows whose criterion had this id, in a sub-task or in the whole task.
    pub(super) fn rows_of(&self, id: &CriterionId) -> impl Iterator<Item = usize> + use<> {
        [false, true].map(|of_task| self.by_id.get(&(of_task, id.clone())).copied()).into_iter().flatten()
    }

    /// Returns the row of a criterion: the one that has its id, else the first with the same statement and no
    /// cell in this column, else a new one.
    pub(super) fn row_for(
        &mut self,
        rows: &mut Vec<Row>,
        criterion: &Criterion,
        column: Column,
        of_task: bool,
    ) -> usize {
        let id = (of_task, criterion.id.clone());
        if let Some(at) = self.by_id.get(&id) {
            return *at;
        }
        let alike = self.by_statement.entry((of_task, criterion.criterion.clone())).or_default();
        let taken = alike.taken.entry(column).or_default();
        let is_taken = |at: &usize| rows.get(*at).is_none_or(|row| row.cell(column).is_some());
        while alike.rows.get(*taken).is_some_and(is_taken) {
            *taken += 1;
        }
        let at = alike.rows.get(*taken).copied().unwrap_or_else(|| {
            let count = &mut self.counts[usize::from(of_task)];
            *count += 1;
            rows.push(Row::new(criterion, *count, of_task));
            alike.rows.push(rows.len() - 1);
            rows.len() - 1
        });
        self.by_id.insert(id, at);
        at
    }
}
