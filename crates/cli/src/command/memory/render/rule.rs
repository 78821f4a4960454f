//! Rules and facts in force, with the records that still support them.

use setpoint_memory::view::RuleLine;
use setpoint_protocol::TaskId;

use super::{Look, lesson, pair_cells, record, table_with_notes, words};
use crate::text::table::Cell;
use crate::text::{Line, Tone};
use crate::view::words as times;

/// At most this many tasks are named below a rule; `--json` has them all.
const TASKS_NAMED_MAX: usize = 3;

/// Returns a table of rules, each with its text and the tasks that it comes from below it.
pub(crate) fn rules(rules: &[RuleLine], look: &Look) -> Vec<Line> {
    let head = ["id", "age", "kind", "left", "sources", "tasks", "space", "entity"];
    let rows = rules.iter().map(|rule| (row(rule, look), notes(rule))).collect();
    look.fit(table_with_notes(&head, rows))
}

fn row(rule: &RuleLine, look: &Look) -> Vec<Cell> {
    let megram = &rule.record.megram;
    let (tone, kind) = words::kind(rule.kind);
    let mut cells = vec![
        (Tone::Name, words::short(&megram.id).to_owned()),
        record::age(&rule.record, look),
        (tone, kind.to_owned()),
        left(rule),
        (Tone::Plain, times::thousands(rule.sources)),
        (Tone::Plain, times::thousands(rule.tasks.len() as u64)),
    ];
    cells.extend(pair_cells(&megram.space, &megram.entity));
    cells
}

/// Returns what is left of a rule's strength. A fact has none, because nothing counts against it.
fn left(rule: &RuleLine) -> Cell {
    match rule.kind {
        None => (Tone::Dim, String::new()),
        Some(_) if rule.left < 0.0 => (Tone::Bad, words::signed(rule.left)),
        Some(_) => (Tone::Good, words::signed(rule.left)),
    }
}

fn notes(rule: &RuleLine) -> Vec<Line> {
    let mut notes = vec![lesson(&rule.record.megram)];
    if rule.kind.is_some() && rule.left < 0.0 {
        notes.push(Line::new().and(Tone::Bad, "the evidence has turned: the Dreamer's next pass demotes it"));
    }
    if !rule.tasks.is_empty() {
        let named: Vec<&str> = rule.tasks.iter().take(TASKS_NAMED_MAX).map(TaskId::as_str).collect();
        let more = match rule.tasks.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(Line::new().and(Tone::Dim, &format!("learnt in {}{more}", named.join(", "))));
    }
    notes
}
