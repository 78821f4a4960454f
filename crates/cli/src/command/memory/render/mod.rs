//! Memory for a person: pairs and how they fade, records, rules. Pure.

mod pair;
mod plot;
mod record;
mod rule;
mod words;

use jiff::tz::TimeZone;
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::Megram;

pub(crate) use self::pair::{pair, pairs};
pub(crate) use self::record::{change_lines, records, report};
pub(crate) use self::rule::rules;
pub(crate) use self::words::short;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone, columns, sanitise};

/// At most this many columns of a lesson are shown in a list.
const LESSON_COLUMNS_MAX: usize = 300;
/// At most this many columns of a space are shown in a list; entities come last and are not cut.
const SPACE_COLUMNS_MAX: usize = 80;
/// The indent of what belongs to a record in a list: below its second column.
const INDENT: &str = "          ";

/// How memory is shown.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Columns of the terminal; `None` without one, and then no line is cut.
    pub(crate) columns: Option<usize>,
    /// Whether only ASCII can be shown.
    pub(crate) is_ascii: bool,
    /// The time zone of the reader.
    pub(crate) zone: TimeZone,
    /// The moment for which ages and strengths are computed.
    pub(crate) at: Timestamp,
}

impl Look {
    /// Clips each line to the terminal's width.
    fn fit(&self, lines: Vec<Line>) -> Vec<Line> {
        match self.columns {
            Some(columns) => lines.into_iter().map(|line| line.clip(columns)).collect(),
            None => lines,
        }
    }
}

/// Returns a table in which each row can have lines below it.
fn table_with_notes(head: &[&str], rows: Vec<(Vec<Cell>, Vec<Line>)>) -> Vec<Line> {
    let (cells, notes): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let mut laid_out = table(head, &cells).into_iter();
    let mut lines: Vec<Line> = laid_out.next().into_iter().collect();
    for (line, notes) in laid_out.zip(notes) {
        lines.push(line);
        lines.extend(notes.into_iter().map(|note| Line::plain(INDENT).then(note)));
    }
    lines
}

/// Returns a record's lesson, on one line.
fn lesson(megram: &Megram) -> Line {
    Line::plain(&columns::clip(&sanitise::line(&megram.content.lesson), LESSON_COLUMNS_MAX))
}

/// Returns a space or an entity. Each may hold any character, so a line break is shown as an escape.
fn tag(text: &str) -> String {
    sanitise::exact(text)
}

/// Returns the space and the entity of a pair, as the last cells of a row.
fn pair_cells(space: &str, entity: &str) -> [Cell; 2] {
    [(Tone::Name, columns::clip(&tag(space), SPACE_COLUMNS_MAX)), (Tone::Plain, tag(entity))]
}

/// Returns a labelled line.
fn field(name: &str, text: &str) -> Line {
    label(name).and(Tone::Plain, text)
}

fn label(name: &str) -> Line {
    Line::new().and(Tone::Dim, &format!("{name:<10}"))
}

fn section(lines: &mut Vec<Line>, title: &str, section: Vec<Line>) {
    if !section.is_empty() {
        lines.push(Line::new());
        lines.push(Line::new().and(Tone::Strong, title));
        lines.extend(section);
    }
}
