//! Reading rows. No row leaves the journal unless its chain, its number and its position fit what came before
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chain::{Break, TaskHead};
use crate::damage::{Damage, DamageKind};
use crate::entry::Tid;
use crate::error::{JournalError, Result};
use crate::loss::Loss;
use crate::prune::Prunings;
use crate::row::Row;
use crate::store::{Kinds, Page, View};

/// Reads a page of rows after `pos`, of all tasks. If a row is damaged, returns the rows before it; the next
/// call fails with its damage.
pub(crate) fn after(view: &dyn View, pos: u64, limit: usize, row_format_known: u16) -> Result<Vec<Row>> {
    let mut heads = Heads::default();
    let mut out: Vec<Row> = Vec::new();
    let mut last_pos = pos;
    for (tid, row) in view.rows_after(pos, Page::of(limit))? {
        match heads.admit(view, tid, row, last_pos, row_format_known) {
            Ok(row) => {
                last_pos = row.pos;
                out.push(row);
            }
            Err(error) if out.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(out)
}

/// Reads a page of the rows of these kinds after `pos`, of all tasks. Each row is checked against the row before it in
/// its task; rows of other kinds are not read. If a row is damaged, returns the rows before it; the next call fails
/// with its damage.
pub(crate) fn of_kinds_after(
    view: &dyn View,
    pos: u64,
    kinds: Kinds<'_>,
    limit: usize,
    row_format_known: u16,
) -> Result<Vec<Row>> {
    let mut out: Vec<Row> = Vec::new();
    for (tid, row) in view.rows_of_kinds_after(pos, kinds, Page::of(limit))? {
        match admit_alone(view, tid, row, row_format_known) {
            Ok(row) => out.push(row),
            Err(error) if out.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(out)
}

/// Reads a page of a task's rows from `from_seq` on; empty only after the task's last row.
pub(crate) fn of_task(
    view: &dyn View,
    task: &str,
    from_seq: u64,
    limit: usize,
    row_format_known: u16,
) -> Result<Vec<Row>> {
    let from_seq = from_seq.max(1);
    let Some((tid, state)) = view.find(task)? else {
        return Err(JournalError::UnknownTask { task: task.to_owned() });
    };
    if from_seq > state.seq || limit == 0 {
        return Ok(Vec::new());
    }
    let damaged =
        |seq: u64, kind| JournalError::damaged(view.dir(), Damage::database(kind).in_task(task).at_seq(seq));
    let task_id: Arc<str> = task.into();
    let (mut head, _) = place_before(view, tid, &task_id, from_seq)?;
    let mut prunings = Prunings::default();
    let mut out: Vec<Row> = Vec::new();
    for mut row in view.task_rows(tid, from_seq, Page::of(limit))? {
        row.task = Arc::clone(&task_id);
        let last = TaskHead::at(Arc::clone(&task_id), state.seq, state.chain);
        let admitted = follow(view, &mut head, &row).and_then(|()| {
            if head.seq() > last.seq() || (head.seq() == last.seq() && head != last) {
                return Err(damaged(row.seq, DamageKind::TaskDisagrees));
            }
            prunings.check(view, tid, &row)?;
            check_format(&row, row_format_known)
        });
        match admitted {
            Ok(()) => out.push(row),
            Err(error) if out.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    if out.is_empty() { Err(damaged(from_seq, DamageKind::RowMissing)) } else { Ok(out) }
}

/// The head of each task before the page's next row, and the prunings found so far.
#[derive(Default)]
struct Heads {
    heads: BTreeMap<Tid, TaskHead>,
    prunings: Prunings,
}

impl Heads {
    fn admit(&mut self, view: &dyn View, tid: Tid, mut row: Row, last_pos: u64, known: u16) -> Result<Row> {
        let mut head = match self.heads.remove(&tid) {
            Some(head) => head,
            None => head_before(view, tid, &row)?,
        };
        row.task = Arc::clone(head.task());
        follow(view, &mut head, &row)?;
        let follows = row.pos == last_pos.saturating_add(1)
            || Loss::recorded_by(&row).is_some_and(|loss| loss.explains(last_pos, row.pos));
        if !follows {
            let missing = Damage::database(DamageKind::RowMissing).at_pos(last_pos.saturating_add(1));
            return Err(JournalError::damaged(view.dir(), missing));
        }
        self.prunings.check(view, tid, &row)?;
        check_format(&row, known)?;
        self.heads.insert(tid, head);
        Ok(row)
    }
}

/// Returns the row if it follows the one before it in its task.
pub(crate) fn admit_alone(view: &dyn View, tid: Tid, mut row: Row, known: u16) -> Result<Row> {
    let mut head = head_before(view, tid, &row)?;
    row.task = Arc::clone(head.task());
    follow(view, &mut head, &row)?;
    Prunings::default().check(view, tid, &row)?;
    // No chain covers the position, and no neighbouring row is read here that would contradict a wrong one.
    if view.row_at(tid, row.seq)?.is_none_or(|found| found.pos != row.pos) {
        let damage = Damage::database(DamageKind::RowMisplaced).at_pos(row.pos).in_task(&row.task);
        return Err(JournalError::damaged(view.dir(), damage.at_seq(row.seq)));
    }
    check_format(&row, known)?;
    Ok(row)
}

/// Returns the head that a row must follow, whose row must come before it.
fn head_before(view: &dyn View, tid: Tid, row: &Row) -> Result<TaskHead> {
    let task = view.entry(tid)?.id;
    let (head, pos) = place_before(view, tid, &task, row.seq)?;
    if pos >= row.pos {
        let damage = Damage::database(DamageKind::RowMisplaced).at_pos(row.pos);
        return Err(JournalError::damaged(view.dir(), damage.in_task(&task).at_seq(row.seq)));
    }
    Ok(head)
}

/// Returns the head that the row with this number must follow, and the position after which it must come.
fn place_before(view: &dyn View, tid: Tid, task: &Arc<str>, seq: u64) -> Result<(TaskHead, u64)> {
    if seq <= 1 {
        return Ok((TaskHead::at(Arc::clone(task), 0, crate::chain::start_of_chain(task)), 0));
    }
    match view.row_at(tid, seq - 1)? {
        Some(row) => Ok((TaskHead::at(Arc::clone(task), seq - 1, row.chain), row.pos)),
        None => {
            let missing = Damage::database(DamageKind::RowMissing).in_task(task).at_seq(seq - 1);
            Err(JournalError::damaged(view.dir(), missing))
        }
    }
}

fn follow(view: &dyn View, head: &mut TaskHead, row: &Row) -> Result<()> {
    let expected = head.seq() + 1;
    head.follow(row).map_err(|why| {
        let damage = match why {
            Break::Seq if row.seq > expected => Damage::database(DamageKind::RowMissing).at_seq(expected),
            Break::Seq => Damage::database(DamageKind::RowMisplaced).at_pos(row.pos).at_seq(row.seq),
            Break::Chain => Damage::database(DamageKind::ChainMismatch).at_pos(row.pos).at_seq(row.seq),
        };
        JournalError::damaged(view.dir(), damage.in_task(&row.task))
    })
}

fn check_format(row: &Row, known: u16) -> Result<()> {
    if row.format <= known {
        return Ok(());
    }
    Err(JournalError::RowFormatTooNew { task: row.task.to_string(), seq: row.seq, found: row.format, known })
}
