//! Records: in lists, and one in full.

use setpoint_memory::view::{RecordLine, RecordReport, Standing};
use setpoint_protocol::ToolId;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::ApproachName;

use super::{INDENT, Look, field, label, lesson, pair_cells, section, table_with_notes, tag, words};
use crate::text::table::Cell;
use crate::text::{Line, Tone};
use crate::view::words as times;

/// Returns a table of records of any pairs, each with its lesson below it.
pub(crate) fn records(records: &[RecordLine], look: &Look) -> Vec<Line> {
    let rows = records.iter().map(|record| (row(record, look), vec![lesson(&record.megram)])).collect();
    look.fit(table_with_notes(&["id", "age", "level", "left", "standing", "space", "entity"], rows))
}

/// Returns a table of one pair's records, with the values that give their part of its sums.
pub(super) fn of_pair(records: &[RecordLine], look: &Look) -> Vec<Line> {
    let head = ["id", "age", "level", "state", "f", "sigma", "k", "half-life", "left", "standing", "fades"];
    let rows = records
        .iter()
        .map(|record| {
            let megram = &record.megram;
            let cells = vec![
                (Tone::Name, words::short(&megram.id).to_owned()),
                age(record, look),
                level(record),
                (Tone::Plain, megram.state.map_or("-", |state| state.name()).to_owned()),
                (Tone::Plain, words::strength(megram.f)),
                (sign(megram.sigma), words::signed(megram.sigma)),
                (Tone::Plain, words::rate(megram.k)),
                (Tone::Plain, record.half_life_days.map_or_else(|| "-".to_owned(), words::span)),
                (Tone::Plain, words::strength(record.attention)),
                standing(&record.standing),
                (Tone::Dim, fades(record, look)),
            ];
            (cells, vec![lesson(megram)])
        })
        .collect();
    table_with_notes(&head, rows)
}

/// Returns one line per record that was changed: `word`, the end of the id, the lesson.
pub(crate) fn change_lines(word: &str, tone: Tone, records: &[RecordLine], look: &Look) -> Vec<Line> {
    let line = |record: &RecordLine| {
        Line::new()
            .and(tone, word)
            .and(Tone::Plain, "  ")
            .and(Tone::Name, words::short(&record.megram.id))
            .and(Tone::Plain, "  ")
            .then(lesson(&record.megram))
    };
    look.fit(records.iter().map(line).collect())
}

/// Returns one record in full, nothing cut.
pub(crate) fn report(report: &RecordReport, look: &Look) -> Vec<Line> {
    let record = &report.record;
    let megram = &record.megram;
    let mut lines = vec![
        label("id").and(Tone::Name, megram.id.as_str()),
        field("space", &tag(&megram.space)),
        field("entity", &tag(&megram.entity)),
        field("as of", &times::date_and_time(look.at, &look.zone)),
        layer(record),
        stands(&record.standing),
    ];
    lines.extend(block("lesson", &megram.content.lesson));
    lines.push(field("category", words::category(megram.content.category)));
    if let Some(state) = megram.state {
        lines.push(field("state", state.name()));
    }
    lines.push(field("strength", &strength(record)));
    let (left, part) = (words::strength(record.attention), words::signed(record.decision));
    lines.push(field("left", &format!("{left} of attention, {part} of decision")));
    lines.push(field("fades", &fades(record, look)));
    let days = words::days_between(megram.created_at, look.at);
    let written = times::date_and_time(megram.created_at, &look.zone);
    lines.push(field("written", &format!("{written}, {} before, {}", words::span(days), by(record.author))));
    if let Some(task) = &record.task {
        lines.push(field("task", task.as_str()).and(Tone::Dim, &format!("  (setpoint tasks show {task})")));
    }
    if let Some(at) = record.recalled_at {
        lines.push(field("recalled", &times::date_and_time(at, &look.zone)));
    }
    lines.extend(about(record));
    if !report.sources.is_empty() {
        section(&mut lines, "sources", records(&report.sources, look));
    }
    lines
}

fn row(record: &RecordLine, look: &Look) -> Vec<Cell> {
    let mut cells = vec![
        (Tone::Name, words::short(&record.megram.id).to_owned()),
        age(record, look),
        level(record),
        (Tone::Plain, words::strength(record.attention)),
        standing(&record.standing),
    ];
    cells.extend(pair_cells(&record.megram.space, &record.megram.entity));
    cells
}

/// Returns the record's age at the moment that is shown.
pub(super) fn age(record: &RecordLine, look: &Look) -> Cell {
    (Tone::Dim, words::span(words::days_between(record.megram.created_at, look.at)))
}

fn level(record: &RecordLine) -> Cell {
    let (was, is) = (words::level(record.megram.level), words::level(record.level_now));
    (Tone::Plain, if was == is { is.to_owned() } else { format!("{is} (was {was})") })
}

fn standing(standing: &Standing) -> Cell {
    let (tone, word) = match standing {
        Standing::Summed => (Tone::Plain, "counts".to_owned()),
        Standing::Faded => (Tone::Dim, "faded".to_owned()),
        Standing::Source { rule } => (Tone::Dim, format!("source of {}", words::short(rule))),
        Standing::InForce => (Tone::Good, "in force".to_owned()),
        Standing::Superseded { by } => (Tone::Dim, format!("replaced by {}", words::short(by))),
        Standing::Demoted => (Tone::Care, "demoted".to_owned()),
        Standing::Proposed => (Tone::Care, "proposed".to_owned()),
    };
    (tone, word)
}

fn stands(standing: &Standing) -> Line {
    let (tone, word) = self::standing(standing);
    let meaning = match standing {
        Standing::Summed => "counted in the sums of its pair",
        Standing::Faded => "the Dreamer's next pass deletes it",
        Standing::Source { .. } => "the rule replaces it in the sums",
        Standing::InForce => "it does not fade",
        Standing::Superseded { .. } => "no longer used",
        Standing::Demoted => "the evidence turned against it, so it fades",
        Standing::Proposed => "not used until `setpoint memory approve` approves it",
    };
    label("standing").and(tone, &word).and(Tone::Plain, &format!(": {meaning}"))
}

fn layer(record: &RecordLine) -> Line {
    let (_, word) = level(record);
    field("level", &format!("{word}: {}", words::level_meaning(record.level_now)))
}

fn strength(record: &RecordLine) -> String {
    let megram = &record.megram;
    let half_life = match record.half_life_days {
        Some(days) => format!("it loses half of its strength in {}", words::span(days)),
        None => "it does not fade".to_owned(),
    };
    let (f, sigma, k) = (words::strength(megram.f), words::signed(megram.sigma), words::rate(megram.k));
    format!("f {f}, sigma {sigma}, k {k} a day: {half_life}")
}

/// Returns when the record will have faded.
fn fades(record: &RecordLine, look: &Look) -> String {
    record.fades_at.map_or_else(|| "never".to_owned(), |at| times::date_and_time(at, &look.zone))
}

const fn by(author: Author) -> &'static str {
    match author {
        Author::Task => "by a task",
        Author::Operator => "by the operator",
        Author::Dreamer => "by the Dreamer",
        Author::Import => "by an import",
    }
}

fn sign(sigma: f64) -> Tone {
    if sigma > 0.0 {
        Tone::Good
    } else if sigma < 0.0 {
        Tone::Bad
    } else {
        Tone::Plain
    }
}

/// Returns what the lesson is about, as far as it says.
fn about(record: &RecordLine) -> Vec<Line> {
    let content = &record.megram.content;
    let join = |texts: &mut dyn Iterator<Item = &str>| texts.map(tag).collect::<Vec<_>>().join(", ");
    let lists = [
        ("tags", join(&mut content.tags.iter().map(String::as_str))),
        ("tools", join(&mut content.tools.iter().map(ToolId::as_str))),
        ("targets", join(&mut content.targets.iter().map(String::as_str))),
        ("approach", content.approaches.iter().map(approach).collect::<Vec<_>>().join(", ")),
        ("plan", tag(content.plan_fingerprint.as_deref().unwrap_or_default())),
        ("failed", join(&mut content.failed_criteria.iter().map(String::as_str))),
    ];
    lists.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| field(name, text)).collect()
}

fn approach(name: &ApproachName) -> String {
    let variant = name.variant.as_deref().map(|variant| format!(" ({variant})")).unwrap_or_default();
    tag(&format!("{}/{}{variant}", name.playbook, name.approach))
}

/// Returns a field of several lines.
fn block(name: &str, text: &str) -> Vec<Line> {
    let mut rest = Line::block(Tone::Strong, text).into_iter();
    let mut lines = vec![rest.next().map_or_else(|| label(name), |line| label(name).then(line))];
    lines.extend(rest.map(|line| Line::plain(INDENT).then(line)));
    lines
}
