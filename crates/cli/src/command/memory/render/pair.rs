//! Pairs: in lists, and one in full with how it fades.

use setpoint_memory::view::{CurvePoint, PairLine, PairReport, RecordLine};

use super::plot::Plot;
use super::{Look, field, label, lesson, pair_cells, record, section, table_with_notes, tag, words};
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::view;
use crate::view::words as times;

/// At most this many columns of a plot are drawn; without a terminal, exactly this many.
const PLOT_COLUMNS_MAX: usize = 80;
/// Lines of each curve.
const PLOT_ROWS: usize = 8;

/// Returns a table of pairs, the strongest first.
pub(crate) fn pairs(pairs: &[PairLine], look: &Look) -> Vec<Line> {
    let row = |pair: &PairLine| -> Vec<Cell> {
        let (tone, action) = view::words::action(pair.sums.action);
        let mut cells = vec![
            (Tone::Plain, words::strength(pair.sums.attention)),
            (decision_tone(pair.sums.decision), words::signed(pair.sums.decision)),
            (tone, action.to_owned()),
            (Tone::Plain, times::thousands(pair.records)),
            (Tone::Plain, times::thousands(pair.rules)),
        ];
        cells.extend(pair_cells(&pair.space, &pair.entity));
        cells
    };
    let rows: Vec<Vec<Cell>> = pairs.iter().map(row).collect();
    look.fit(table(&["M_att", "M_dec", "action", "records", "rules", "space", "entity"], &rows))
}

/// Returns everything about one pair.
pub(crate) fn pair(report: &PairReport, look: &Look) -> Vec<Line> {
    let (tone, action) = view::words::action(report.sums.action);
    let count = times::count(report.count, "record");
    let mut lines = vec![
        field("space", &tag(&report.space)),
        field("entity", &tag(&report.entity)),
        field("as of", &times::date_and_time(report.at, &look.zone)),
        field("M_att", &words::strength(report.sums.attention)),
        label("M_dec").and(decision_tone(report.sums.decision), &words::signed(report.sums.decision)),
        label("action")
            .and(tone, action)
            .and(Tone::Plain, &format!(": {}", words::action_meaning(report.sums.action))),
        field("summed", &count),
    ];
    section(&mut lines, "rules in force", look.fit(rules(&report.rules, look)));
    if !report.records.is_empty() {
        let title = match usize::try_from(report.count) {
            Ok(count) if count > report.records.len() => "the newest records",
            _ => "records",
        };
        section(&mut lines, title, look.fit(record::of_pair(&report.records, look)));
    }
    // A curve that is 0 throughout would show nothing.
    if report.curve.iter().any(|point| point.attention != 0.0 || point.decision != 0.0) {
        section(&mut lines, "if nothing comes in", curves(&report.curve, look));
    }
    lines
}

/// Returns the rules and facts of one pair, each with its text below it.
fn rules(rules: &[RecordLine], look: &Look) -> Vec<Line> {
    let row = |rule: &RecordLine| {
        let (tone, kind) = words::kind(words::kind_of(rule.author, rule.megram.sigma));
        let cells = vec![
            (Tone::Name, words::short(&rule.megram.id).to_owned()),
            record::age(rule, look),
            (tone, kind.to_owned()),
        ];
        (cells, vec![lesson(&rule.megram)])
    };
    if rules.is_empty() {
        return Vec::new();
    }
    table_with_notes(&["id", "age", "kind"], rules.iter().map(row).collect())
}

/// Returns plots of both sums over days, each under a line that says when it crosses its threshold.
fn curves(curve: &[CurvePoint], look: &Look) -> Vec<Line> {
    let Some(first) = curve.first() else { return Vec::new() };
    let days = |point: &CurvePoint| words::days_between(first.at, point.at);
    let attention: Vec<(f64, f64)> = curve.iter().map(|point| (days(point), point.attention)).collect();
    let decision: Vec<(f64, f64)> = curve.iter().map(|point| (days(point), point.decision)).collect();
    let (gate, band) = (words::ATTENTION_GATE, words::DECISION_BAND);

    let mut lines = vec![heading("M_att", words::strength(first.attention))];
    if let Some(days) = falls_to(&attention, gate) {
        lines = said(lines, &format!("; below {gate} after about {}", words::span(days)));
    }
    lines.extend(drawn(&attention, &[gate], attention_tone, words::strength, look));
    lines.push(Line::new());
    lines.push(heading("M_dec", words::signed(first.decision)));
    let distance: Vec<(f64, f64)> = decision.iter().map(|(day, value)| (*day, value.abs())).collect();
    if let Some(days) = falls_to(&distance, band) {
        let text = format!("; between -{band} and {band} after about {}", words::span(days));
        lines = said(lines, &text);
    }
    lines.extend(drawn(&decision, &[band, -band], decision_tone, words::signed, look));
    lines
}

fn heading(name: &str, value: String) -> Line {
    Line::new().and(Tone::Strong, name).and(Tone::Plain, &format!("  {value}"))
}

/// Returns the lines with `text` added to the last one.
fn said(mut lines: Vec<Line>, text: &str) -> Vec<Line> {
    if let Some(last) = lines.last_mut() {
        last.push(Tone::Plain, text);
    }
    lines
}

fn drawn(
    points: &[(f64, f64)],
    marks: &[f64],
    tone: fn(f64) -> Tone,
    label: fn(f64) -> String,
    look: &Look,
) -> Vec<Line> {
    let columns = look.columns.unwrap_or(PLOT_COLUMNS_MAX).min(PLOT_COLUMNS_MAX);
    Plot { points, marks, label, tone, columns, rows: PLOT_ROWS, is_ascii: look.is_ascii }.lines()
}

/// Returns after how many days a curve that begins above `bound` first falls to it, interpolated between its
/// points.
fn falls_to(points: &[(f64, f64)], bound: f64) -> Option<f64> {
    let is_above = points.first().is_some_and(|(_, value)| *value > bound);
    let steps = points.windows(2).filter(|_| is_above);
    steps
        .filter_map(|step| match step {
            [(start, from), (end, to)] if *from > bound && *to <= bound => {
                Some(start + (end - start) * (from - bound) / (from - to))
            }
            _ => None,
        })
        .next()
}

fn attention_tone(value: f64) -> Tone {
    if value < words::ATTENTION_GATE { Tone::Dim } else { Tone::Name }
}

fn decision_tone(value: f64) -> Tone {
    if value > words::DECISION_BAND {
        Tone::Good
    } else if value < -words::DECISION_BAND {
        Tone::Bad
    } else {
        Tone::Care
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_to_its_bound_at_most_once() {
        let points = [(0.0, 3.0), (1.0, 1.0), (2.0, 0.0), (3.0, 2.0), (4.0, 0.0)];
        assert_eq!(falls_to(&points, 0.5), Some(1.5));
        assert_eq!(falls_to(&points, 3.0), None);
        assert_eq!(falls_to(&points, -1.0), None);
        assert_eq!(falls_to(&points[..1], 0.5), None);
        assert_eq!(falls_to(&[], 0.5), None);
    }
}
