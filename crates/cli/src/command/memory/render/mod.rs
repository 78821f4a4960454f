//! What memory has, for a person: pairs with how they fade, records, rules. Pure.

mod pair;
mod plot;
mod record;
mod rule;
mod words;

use jiff::tz::TimeZone;
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::Megram;

pub(crate) use self::pair::{pair, pairs};
pub(crate) use self::record::{records, report, told};
pub(crate) use self::rule::rules;
pub(crate) use self::words::short;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone, columns, sanitise};

/// Columns of a lesson in a list.
const LESSON_COLUMNS_MAX: usize = 300;
/// Columns of a space in a list; entities stand last and are whole.
const SPACE_COLUMNS_MAX: usize = 80;
/// Where what belongs to a record in a list begins: below its second column.
const INDENT: &str = "          ";

/// How memory is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Columns of the terminal; `None` where there is none, and no line is cut.
    pub(crate) columns: Option<usize>,
    /// Whether only ASCII can be shown.
    pub(crate) is_ascii: bool,
    /// Where clock times are shown for.
    pub(crate) zone: TimeZone,
    /// The moment that everything is as of.
    pub(crate) at: Timestamp,
}

impl Look {
    /// No line wider than the terminal.
    fn fit(&self, lines: Vec<Line>) -> Vec<Line> {
        match self.columns {
            Some(columns) => lines.into_iter().map(|line| line.clip(columns)).collect(),
            None => lines,
        }
    }
}

/// A table in which lines may stand below a row.
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

/// What a record says, on one line.
fn lesson(megram: &Megram) -> Line {
    Line::plain(&columns::clip(&sanitise::line(&megram.content.lesson), LESSON_COLUMNS_MAX))
}

/// A space or an entity, which may hold any character: a line break in it is part of it and shown as such.
fn tag(text: &str) -> String {
    sanitise::exact(text)
}

/// A pair's two halves as the last cells of a row.
fn pair_cells(space: &str, entity: &str) -> [Cell; 2] {
    [(Tone::Name, columns::clip(&tag(space), SPACE_COLUMNS_MAX)), (Tone::Plain, tag(entity))]
}

/// A name, and what is to be said of it.
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
