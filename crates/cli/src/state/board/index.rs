//! Where the rows are. A file that is looked at may hold very many criteria and verdicts, so no row is ever sought by
//! looking at all of them.

use std::collections::BTreeMap;

use setpoint_protocol::CriterionId;
use setpoint_protocol::message::Criterion;

use super::row::{Column, Row};

/// Finds a row by a criterion's id, or one that a criterion of the same words can go on in.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By whether it is one of the task as a whole, and the ids that the criterion went by.
    by_id: BTreeMap<(bool, CriterionId), usize>,
    by_statement: BTreeMap<(bool, String), Alike>,
    /// Rows of sub-tasks, and of the task as a whole.
    counts: [usize; 2],
}

/// Rows of one statement.
#[derive(Clone, Debug, Default)]
struct Alike {
    rows: Vec<usize>,
    /// How many of them, from the first on, are known to have a cell in a column. No cell is ever taken away.
    taken: BTreeMap<Column, usize>,
}

impl Index {
    /// The rows that went by this id: of a sub-task, of the task.
    pub(super) fn rows_of(&self, id: &CriterionId) -> impl Iterator<Item = usize> + use<> {
        [false, true].map(|of_task| self.by_id.get(&(of_task, id.clone())).copied()).into_iter().flatten()
    }

    /// The row of a criterion: the one that went by its id, else the first of the same statement without a cell in this
    /// column, else a new one.
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
