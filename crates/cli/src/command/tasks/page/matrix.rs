//! The matrix of criteria × attempts, each cell with a sign and a letter, and below each criterion what was
//! seen.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use setpoint_protocol::message::{FailureClass, JudgedBy, Mode};
use setpoint_protocol::text::{clip, head_and_tail};

use super::limit;
use super::parts::{isolated, none};
use crate::state::ViewState;
use crate::state::board::{Cell, Column, Evidence, Row};
use crate::view::{self, words};

pub(super) fn matrix(state: &ViewState, zone: &TimeZone) -> Markup {
    let all: Vec<Column> = state.board.columns().collect();
    let rows: Vec<&Row> = state.board.rows().collect();
    if rows.is_empty() {
        return none("There are no criteria: no plan was dispatched.");
    }
    let (columns_left_out, columns) = limit::latest(&all, limit::COLUMNS_MAX);
    let (criteria, left_out) = limit::each(rows.iter().enumerate(), limit::CRITERIA_MAX, |(n, row)| {
        criterion(state, (n, row), columns, zone)
    });
    html! {
        div.wide #matrix {
            table.matrix {
                caption { "Criteria by round.attempt; open a criterion to see its evidence" }
                thead {
                    tr {
                        th scope="col" { "Criterion" }
                        @for name in columns.iter().map(|column| heading(*column)) {
                            th.attempt scope="col" data-column=(name) { (name) }
                        }
                    }
                }
                tbody { (criteria) }
            }
        }
        ul.legend {
            @for cell in LEGEND { li { (sign(cell, None)) " " (words::cell(cell)) } }
        }
        (limit::left_out_note(left_out, "criteria are"))
        (limit::left_out_note(columns_left_out, "earlier attempts are"))
    }
}

fn criterion(state: &ViewState, (n, row): (usize, &Row), columns: &[Column], zone: &TimeZone) -> Markup {
    let short = clip(&row.statement, limit::GIST_CHARS_MAX);
    let all: Vec<(Column, Cell)> = row.cells().collect();
    let (earlier, cells) = limit::latest(&all, limit::COLUMNS_MAX);
    let (judgements, left_out) = limit::each(cells, limit::COLUMNS_MAX, |(column, cell)| {
        let judged = judgement(state, (*column, *cell), row.evidence_in(*column), zone);
        html! { li id=(anchor(n, *column)) { (judged) } }
    });
    // A criterion of the whole task is judged once per round.
    let judged_in = |column: Column| if row.is_of_task() { Column { attempt: 0, ..column } } else { column };
    html! {
        tr {
            th scope="row" {
                details id={ "criterion-" (n) } {
                    summary { span.name { (row.label) } " " (isolated(&short)) (latest(state, row)) }
                    @if short != row.statement {
                        p.seen dir="auto" { (clip(&row.statement, limit::FIELD_CHARS_MAX)) }
                    }
                    p.dim { (how(row)) }
                    ol.evidence {
                        @if earlier > 0 { li { (earlier) " earlier attempts are left out here" } }
                        (judgements)
                        @if left_out > 0 { li { (left_out) " more attempts are left out here" } }
                    }
                }
            }
            @for column in columns {
                td.cell {
                    @if let Some(cell) = state.board.cell(row, *column) {
                        (sign(cell, Some(&anchor(n, judged_in(*column)))))
                    }
                }
            }
        }
    }
}

/// Returns the evidence of the latest judgement, in a line below the statement: the last cited call, and what
/// was seen.
fn latest(state: &ViewState, row: &Row) -> Markup {
    let Some(evidence) = &row.evidence else { return Markup::default() };
    let call = evidence.calls.iter().rev().find_map(|id| state.calls.get(*id));
    let call = call.map(|call| match call.outcome() {
        Some(outcome) => format!("{} ({outcome})", clip(&call.words(), limit::GIST_CHARS_MAX)),
        None => clip(&call.words(), limit::GIST_CHARS_MAX),
    });
    let seen = Some(clip(&evidence.text, limit::GIST_CHARS_MAX)).filter(|seen| !seen.is_empty());
    let parts: Vec<String> = call.into_iter().chain(seen).collect();
    html! {
        @if !parts.is_empty() { " " span.latest dir="auto" { (parts.join(" → ")) } }
    }
}

fn how(row: &Row) -> &'static str {
    match (row.mode, row.is_checked) {
        (_, true) => "Code judges it by a check.",
        (Mode::Verifiable, false) => "A model judges it, from evidence alone.",
        (Mode::Plausible, false) => "A model judges it, by its own opinion.",
    }
}

fn judgement(
    state: &ViewState,
    (column, cell): (Column, Cell),
    evidence: Option<&Evidence>,
    zone: &TimeZone,
) -> Markup {
    html! {
        span.when { (heading(column)) } " " (sign(cell, None)) " " (words::cell(cell))
        @if let Some(evidence) = evidence { (seen(state, evidence, zone)) }
    }
}

fn seen(state: &ViewState, evidence: &Evidence, zone: &TimeZone) -> Markup {
    let by = match evidence.judged_by {
        Some(JudgedBy::Check) => ", judged by a check",
        Some(JudgedBy::Model) => ", judged by a model",
        None => "",
    };
    let (cited, left_out) = limit::each(&evidence.calls, limit::CITES_MAX, |id| {
        let Some(call) = state.calls.get(*id) else {
            return html! { div.cited { (id) ", which the records do not hold" } };
        };
        let outcome = call.outcome().map(|outcome| format!(" → {outcome}")).unwrap_or_default();
        html! {
            div.cited {
                span.name { (id) } " " code dir="auto" { (call.words()) }
                (outcome) ", " (words::duration(call.duration_ms))
                @if !call.output.is_empty() {
                    pre dir="auto" { (head_and_tail(&call.output, limit::CITED_CHARS_MAX)) }
                }
            }
        }
    });
    html! {
        @if evidence.self_made { ", " (words::SELF_MADE) }
        (by)
        span.dim { " at " (words::time_of_day(evidence.at, zone)) }
        @if !evidence.text.is_empty() { p.seen dir="auto" { (evidence.text) } }
        (cited)
        @if evidence.cites_output { p.dim { "The evidence is the output itself." } }
        (limit::left_out_note(left_out, "cited calls are"))
    }
}

/// Returns a cell's sign, as a link to its evidence if there is any.
fn sign(cell: Cell, to: Option<&str>) -> Markup {
    let ((_, text), name) = (view::cell(cell), words::cell(cell));
    let class = class(cell);
    html! {
        @match to {
            Some(to) => a class=(class) href={ "#" (to) } title=(name) aria-label=(name) { (text) },
            None => span class=(class) aria-hidden="true" { (text) },
        }
    }
}

const fn class(cell: Cell) -> &'static str {
    match cell {
        Cell::NotYet => "sign not-yet",
        Cell::Running => "sign running",
        Cell::Verified => "sign verified",
        Cell::Vacuous => "sign vacuous",
        Cell::Failed(_) | Cell::NotShown(_) | Cell::Cannot => "sign failed",
    }
}

fn heading(column: Column) -> String {
    match column.attempt {
        0 => format!("round {}", column.round),
        attempt => format!("{}.{attempt}", column.round),
    }
}

fn anchor(n: usize, column: Column) -> String {
    format!("seen-{n}-{}-{}", column.round, column.attempt)
}

const LEGEND: [Cell; 9] = [
    Cell::Verified,
    Cell::Failed(Some(FailureClass::Logical)),
    Cell::Failed(Some(FailureClass::Environmental)),
    Cell::Failed(None),
    Cell::NotShown(None),
    Cell::Cannot,
    Cell::Vacuous,
    Cell::Running,
    Cell::NotYet,
];
