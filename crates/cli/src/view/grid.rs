//! Criteria × attempts, with the latest evidence.

use super::{Look, NARROW_MAX, label, words};
use crate::state::ViewState;
use crate::state::board::{Cell, Column, Row};
use crate::state::calls::Call;
use crate::text::columns::{clip, fit, width};
use crate::text::{Line, Tone, sanitise};

/// From this many columns on, evidence is shown beside the cells.
const EVIDENCE_MIN: usize = 70;
/// Columns of a criterion's statement beside evidence: fewest and most.
const STATEMENT: (usize, usize) = (16, 40);

/// Returns the box. If it has more than `lines_max` lines, failed and running criteria are kept first.
pub(super) fn lines(state: &ViewState, look: &Look, columns: usize, lines_max: usize) -> Vec<Line> {
    let rows: Vec<&Row> = state.board.rows().collect();
    if rows.is_empty() || lines_max < 2 {
        return Vec::new();
    }
    let layout = Layout::of(state, &rows, columns);
    let mut lines = vec![layout.head()];
    let (kept, left_out) = choose(&rows, lines_max - 1);
    for row in &kept {
        lines.push(layout.row(state, look, row));
    }
    if left_out > 0 {
        lines.push(label(&format!("│ … {left_out} more")));
    }
    if let Some(last) = lines.last_mut() {
        *last = closed(last);
    }
    lines
}

/// Returns the rows that fit, in order, and how many do not.
fn choose<'r>(rows: &[&'r Row], room: usize) -> (Vec<&'r Row>, usize) {
    if rows.len() <= room {
        return (rows.to_vec(), 0);
    }
    let room = room.saturating_sub(1);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|n| (rows.get(*n).map(|row| urgency(row)), *n));
    order.truncate(room);
    order.sort_unstable();
    let kept: Vec<&Row> = order.into_iter().filter_map(|n| rows.get(n).copied()).collect();
    let left_out = rows.len() - kept.len();
    (kept, left_out)
}

/// Returns the priority of a row; the lowest number is shown first.
fn urgency(row: &Row) -> u8 {
    match row.latest() {
        Some(Cell::Failed(_) | Cell::NotShown(_) | Cell::Cannot) => 0,
        Some(Cell::Running) => 1,
        Some(Cell::NotYet) | None => 2,
        Some(Cell::Vacuous) => 3,
        Some(Cell::Verified) => 4,
    }
}

/// Returns the last line of the box, with its corner.
fn closed(line: &Line) -> Line {
    let text = line.to_text();
    if !text.starts_with('│') {
        return line.clone();
    }
    line.clone().with_first('└')
}

struct Layout {
    shown: Vec<Column>,
    is_cut: bool,
    label: usize,
    statement: usize,
    cell: usize,
    evidence: usize,
}

impl Layout {
    fn of(state: &ViewState, rows: &[&Row], columns: usize) -> Layout {
        let all: Vec<Column> = state.board.columns().collect();
        let cell = all.iter().map(|column| heading(*column).len()).max().unwrap_or(3).max(2) + 1;
        let share = if columns < NARROW_MAX { columns / 2 } else { columns * 2 / 5 };
        let most = (share / cell).max(1);
        let shown: Vec<Column> = all.iter().skip(all.len().saturating_sub(most)).copied().collect();
        let label = rows.iter().map(|row| row.label.len()).max().unwrap_or(2);
        let fixed = 2 + label + 1 + 2 + cell * shown.len();
        let room = columns.saturating_sub(fixed);
        let (statement, evidence) = if columns >= EVIDENCE_MIN {
            let longest = rows.iter().map(|row| width(&sanitise::line(&row.statement))).max().unwrap_or(0);
            let statement = (room * 2 / 5).clamp(STATEMENT.0, STATEMENT.1).min(longest.max("criteria".len()));
            (statement, room.saturating_sub(statement))
        } else {
            (room, 0)
        };
        Layout { is_cut: shown.len() < all.len(), shown, label, statement, cell, evidence }
    }

    fn head(&self) -> Line {
        let mut head = label("┌ criteria");
        let start = 2 + self.label + 1 + self.statement + 2;
        head = head.clip(start);
        if self.is_cut {
            head.pad(start.saturating_sub(2));
            head.push(Tone::Dim, "… ");
        }
        head.pad(start);
        for column in &self.shown {
            head.push(Tone::Dim, &fit(&heading(*column), self.cell));
        }
        if self.evidence > 0 {
            head.push(Tone::Dim, "evidence");
        }
        head
    }

    fn row(&self, state: &ViewState, look: &Look, row: &Row) -> Line {
        let mut line = label("│ ").and(Tone::Name, &fit(&row.label, self.label)).and(Tone::Plain, " ");
        line.push(Tone::Plain, &fit(&sanitise::line(&row.statement), self.statement));
        line.push(Tone::Plain, "  ");
        for column in &self.shown {
            let (tone, text) = state.board.cell(row, *column).map_or((Tone::Plain, ""), super::cell);
            line.push(tone, text);
            line.push(Tone::Plain, &" ".repeat(self.cell.saturating_sub(width(text))));
        }
        if self.evidence > 0 {
            evidence(state, look, row, self.evidence, &mut line);
        }
        line
    }
}

fn heading(column: Column) -> String {
    format!("{}.{}", column.round, column.attempt)
}

/// Adds the evidence of the row's latest cell and its time, in at most `columns` columns.
fn evidence(state: &ViewState, look: &Look, row: &Row, columns: usize, line: &mut Line) {
    if row.latest() == Some(Cell::Running) {
        let Some((call, open)) = row.instance.and_then(|instance| state.asks.tool_of(instance)) else {
            return;
        };
        let seconds = format!(" {} s", look.clock_ms.saturating_sub(open.since_ms) / 1_000);
        let words = state.calls.get(call).map_or_else(String::new, Call::words);
        let words = sanitise::line(&format!("running: {words}"));
        line.push(Tone::Plain, &clip(&words, columns.saturating_sub(width(&seconds))));
        line.push(Tone::Plain, &seconds);
        return;
    }
    let Some(evidence) = &row.evidence else { return };
    let time = format!("  {}", words::time_of_day(evidence.at, &look.zone));
    let room = columns.saturating_sub(width(&time));
    line.push(Tone::Plain, &words::evidence_within(evidence, &state.calls, room));
    line.push(Tone::Dim, &time);
}
