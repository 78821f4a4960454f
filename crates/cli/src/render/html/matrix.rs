//! The matrix: criteria × attempts, each cell with a sign and a letter, and below each criterion what was seen.

use jiff::tz::TimeZone;
use setpoint_protocol::message::{FailureClass, JudgedBy, Mode};
use setpoint_protocol::text::{clip, head_and_tail};

use super::{limit, markup::Html};
use crate::state::ViewState;
use crate::state::board::{Cell, Column, Evidence, Row};
use crate::view::{self, words};

/// The matrix.
pub(super) fn put(html: &mut Html, state: &ViewState, zone: &TimeZone) {
    let all: Vec<Column> = state.board.columns().collect();
    let rows: Vec<&Row> = state.board.rows().collect();
    if rows.is_empty() {
        html.leaf("p", &[("class", "none")], "There are no criteria: no plan was dispatched.");
        return;
    }
    let (columns_left_out, columns) = limit::latest(&all, limit::COLUMNS_MAX);
    let mut left_out = 0;
    html.tag("div", &[("class", "wide"), ("id", "matrix")], |html| {
        html.tag("table", &[("class", "matrix")], |html| {
            html.leaf("caption", &[], "Criteria by round.attempt; a criterion opens to what it rests on");
            html.tag("thead", &[], |html| head(html, columns));
            html.tag("tbody", &[], |html| {
                left_out =
                    limit::each(html, rows.iter().enumerate(), limit::CRITERIA_MAX, |html, (n, row)| {
                        criterion(html, state, (n, row), columns, zone);
                    });
            });
        });
    });
    legend(html);
    limit::tell(html, left_out, "criteria are");
    limit::tell(html, columns_left_out, "earlier attempts are");
}

fn head(html: &mut Html, columns: &[Column]) {
    html.tag("tr", &[], |html| {
        html.leaf("th", &[("scope", "col")], "Criterion");
        for column in columns {
            let name = heading(*column);
            html.leaf("th", &[("scope", "col"), ("class", "attempt"), ("data-column", &name)], &name);
        }
    });
}

fn criterion(
    html: &mut Html,
    state: &ViewState,
    (n, row): (usize, &Row),
    columns: &[Column],
    zone: &TimeZone,
) {
    let short = clip(&row.statement, limit::GIST_CHARS_MAX);
    html.tag("tr", &[], |html| {
        html.tag("th", &[("scope", "row")], |html| {
            html.tag("details", &[("id", &format!("criterion-{n}"))], |html| {
                html.tag("summary", &[], |html| {
                    html.leaf("span", &[("class", "name")], &row.label);
                    html.text(" ");
                    html.said(&short);
                    latest(html, state, row);
                });
                if short != row.statement {
                    let whole = clip(&row.statement, limit::FIELD_CHARS_MAX);
                    html.leaf("p", &[("class", "seen"), ("dir", "auto")], &whole);
                }
                html.leaf("p", &[("class", "dim")], how(row));
                let all: Vec<(Column, Cell)> = row.cells().collect();
                let (earlier, cells) = limit::latest(&all, limit::COLUMNS_MAX);
                html.tag("ol", &[("class", "evidence")], |html| {
                    if earlier > 0 {
                        html.leaf("li", &[], &format!("{earlier} earlier attempts are left out here"));
                    }
                    let left_out = limit::each(html, cells, limit::COLUMNS_MAX, |html, (column, cell)| {
                        html.tag("li", &[("id", &anchor(n, *column))], |html| {
                            judgement(html, state, (*column, *cell), row.evidence_in(*column), zone);
                        });
                    });
                    if left_out > 0 {
                        html.leaf("li", &[], &format!("{left_out} more attempts are left out here"));
                    }
                });
            });
        });
        for column in columns {
            html.tag("td", &[("class", "cell")], |html| {
                if let Some(cell) = state.board.cell(row, *column) {
                    let judged = if row.is_of_task() { Column { attempt: 0, ..*column } } else { *column };
                    sign(html, cell, Some(&anchor(n, judged)));
                }
            });
        }
    });
}

/// What the latest judgement rests on, in a line below the statement: the last cited call, and what was seen.
fn latest(html: &mut Html, state: &ViewState, row: &Row) {
    let Some(evidence) = &row.evidence else { return };
    let call = evidence.calls.iter().rev().find_map(|id| state.calls.get(*id));
    let call = call.map(|call| match call.outcome() {
        Some(outcome) => format!("{} ({outcome})", clip(&call.words(), limit::GIST_CHARS_MAX)),
        None => clip(&call.words(), limit::GIST_CHARS_MAX),
    });
    let seen = Some(clip(&evidence.text, limit::GIST_CHARS_MAX)).filter(|seen| !seen.is_empty());
    let parts: Vec<String> = call.into_iter().chain(seen).collect();
    if !parts.is_empty() {
        html.text(" ");
        html.leaf("span", &[("class", "latest"), ("dir", "auto")], &parts.join(" → "));
    }
}

fn how(row: &Row) -> &'static str {
    match (row.mode, row.is_checked) {
        (_, true) => "Code judges it by a check.",
        (Mode::Verifiable, false) => "A model judges it, from evidence alone.",
        (Mode::Plausible, false) => "A model judges it, by its judgement.",
    }
}

fn judgement(
    html: &mut Html,
    state: &ViewState,
    (column, cell): (Column, Cell),
    evidence: Option<&Evidence>,
    zone: &TimeZone,
) {
    html.leaf("span", &[("class", "when")], &heading(column));
    html.text(" ");
    sign(html, cell, None);
    html.text(&format!(" {}", words::cell(cell)));
    let Some(evidence) = evidence else { return };
    if evidence.self_made {
        html.text(&format!(", {}", words::SELF_MADE));
    }
    match evidence.judged_by {
        Some(JudgedBy::Check) => html.text(", judged by a check"),
        Some(JudgedBy::Model) => html.text(", judged by a model"),
        None => {}
    }
    html.leaf("span", &[("class", "dim")], &format!(" at {}", words::time_of_day(evidence.at, zone)));
    if !evidence.text.is_empty() {
        html.leaf("p", &[("class", "seen"), ("dir", "auto")], &evidence.text);
    }
    let left_out = limit::each(html, &evidence.calls, limit::CITES_MAX, |html, id| {
        html.tag("div", &[("class", "cited")], |html| match state.calls.get(*id) {
            Some(call) => {
                html.leaf("span", &[("class", "name")], &id.to_string());
                html.text(" ");
                html.leaf("code", &[("dir", "auto")], &call.words());
                let outcome = call.outcome().map(|outcome| format!(" → {outcome}")).unwrap_or_default();
                html.text(&format!("{outcome}, {}", words::duration(call.duration_ms)));
                if !call.output.is_empty() {
                    let output = head_and_tail(&call.output, limit::CITED_CHARS_MAX);
                    html.leaf("pre", &[("dir", "auto")], &output);
                }
            }
            None => html.text(&format!("{id}, which the records do not hold")),
        });
    });
    if evidence.cites_output {
        html.leaf("p", &[("class", "dim")], "It rests on the output itself.");
    }
    limit::tell(html, left_out, "cited calls are");
}

/// A cell's sign, as a way to its evidence where there is one.
fn sign(html: &mut Html, cell: Cell, to: Option<&str>) {
    let (_, text) = view::cell(cell);
    match to {
        Some(to) => {
            let (to, name) = (format!("#{to}"), words::cell(cell));
            let attributes = [("class", class(cell)), ("href", &*to), ("title", name), ("aria-label", name)];
            html.leaf("a", &attributes, text);
        }
        None => html.leaf("span", &[("class", class(cell)), ("aria-hidden", "true")], text),
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

fn legend(html: &mut Html) {
    let cells = [
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
    html.tag("ul", &[("class", "legend")], |html| {
        for cell in cells {
            html.tag("li", &[], |html| {
                sign(html, cell, None);
                html.text(" ");
                html.text(words::cell(cell));
            });
        }
    });
}
