//! The live view: a task's state as lines. Pure: the same state and look give the same lines.
//!
//! Reading order: this file (the layout), [`header`](self) and grid, then the wording in [`words`].

pub(crate) mod cost;
mod grid;
mod header;
mod history;
pub mod recall;
pub mod words;

use jiff::tz::TimeZone;

use crate::state::ViewState;
use crate::state::board::Cell;
use crate::text::{Line, Tone};

/// Below this many columns, nothing is laid out side by side.
pub const NARROW_MAX: usize = 60;
/// The view is laid out for at least this many columns; a narrower terminal shows clipped lines.
pub const COLUMNS_MIN: usize = 20;

/// The size and style of the view.
#[derive(Clone, Debug)]
pub struct Look {
    /// Columns of the terminal.
    pub columns: usize,
    /// Lines at most; `None` for all.
    pub lines: Option<usize>,
    /// The task's clock now, in milliseconds.
    pub clock_ms: u64,
    /// Whether only ASCII can be shown.
    pub is_ascii: bool,
    /// The time zone of the reader.
    pub zone: TimeZone,
}

/// Returns the view, within the columns and lines of `look`.
#[must_use]
pub fn view(state: &ViewState, look: &Look) -> Vec<Line> {
    let columns = look.columns.max(COLUMNS_MIN);
    let head = header::lines(state, look, columns);
    let mut rounds = history::lines(state, columns);
    let end = state.result.as_ref().map(words::end);
    let fixed = head.len() + usize::from(end.is_some());
    let mut room = look.lines.map_or(usize::MAX, |lines| lines.saturating_sub(fixed));
    // Keep the newest rounds, and at least a few lines for the grid.
    let rounds_max = if room == usize::MAX { room } else { (room / 2).max(1) };
    let older = rounds.len().saturating_sub(rounds_max);
    rounds.drain(..older);
    room = room.saturating_sub(rounds.len());
    let grid = grid::lines(state, look, columns, room);

    let mut lines = head;
    lines.extend(grid);
    lines.extend(rounds);
    lines.extend(end);
    if let Some(most) = look.lines {
        lines.truncate(most);
    }
    lines
        .into_iter()
        .map(|line| line.clip(look.columns))
        .map(|line| if look.is_ascii { line.into_ascii() } else { line })
        .collect()
}

/// Returns all criteria with all their attempts, as the live view shows them.
#[must_use]
pub fn criteria(state: &ViewState, look: &Look) -> Vec<Line> {
    grid::lines(state, look, look.columns.max(COLUMNS_MIN), usize::MAX)
}

/// Returns one line per finished round.
#[must_use]
pub fn rounds(state: &ViewState, look: &Look) -> Vec<Line> {
    history::lines(state, look.columns.max(COLUMNS_MIN))
}

/// Returns the tone and the sign of a cell.
#[must_use]
pub fn cell(cell: Cell) -> (Tone, &'static str) {
    match cell {
        Cell::NotYet => (Tone::Dim, "·"),
        Cell::Running => (Tone::Care, "◐"),
        Cell::Verified => (Tone::Good, "✔"),
        Cell::Vacuous => (Tone::Care, "="),
        Cell::Failed(class) => (Tone::Bad, words::failed(class)),
        Cell::NotShown(class) => (Tone::Bad, words::not_shown(class)),
        Cell::Cannot => (Tone::Care, words::CANNOT),
    }
}

fn label(text: &str) -> Line {
    Line::new().and(Tone::Dim, text)
}
