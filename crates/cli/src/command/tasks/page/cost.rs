//! What the task cost, by role, criterion, round and model, and the part of it spent on failed attempts.

use maud::{Markup, html};
use setpoint_history::cost::{CostReport, Row};
use setpoint_protocol::text::clip;

use super::parts::{isolated, none};
use super::{limit, parts};
use crate::view::cost::Columns;
use crate::view::words;

pub(super) fn cost(report: &CostReport) -> Markup {
    if report.total.calls == 0 {
        return none("No model was asked.");
    }
    let failed = report.total.failed;
    let text = match failed.calls {
        0 => "Every attempt gave an answer.".to_owned(),
        calls => format!(
            "{} gave no answer: {} tokens in, {} out{}.",
            words::count(calls, "attempt"),
            words::thousands(failed.tokens_in),
            words::thousands(failed.tokens_out),
            failed.cost.map(|cost| format!(", price {cost}")).unwrap_or_default(),
        ),
    };
    let total = Row { name: "total".to_owned(), text: None, spent: report.total };
    let by_role: Vec<Row> = report.by_role.iter().cloned().chain([total]).collect();
    let columns = Columns::of(report);
    html! {
        p { (text) }
        div.costs {
            div {
                (table("role", &by_role, columns))
                (table("round", &report.by_round, columns))
                (table("model", &report.by_model, columns))
            }
            div { (table("criterion", &report.by_criterion, columns.of_shares())) }
        }
    }
}

fn table(name: &'static str, rows: &[Row], columns: Columns) -> Markup {
    let (rows, left_out) = limit::each(rows, limit::COSTS_MAX, |row| line(row, columns));
    html! {
        (parts::table(&format!("Cost by {name}"), &columns.head(name), &rows))
        (limit::left_out_note(left_out, "rows are"))
    }
}

fn line(row: &Row, columns: Columns) -> Markup {
    let name = match (&row.text, row.name.as_str()) {
        (None, "") => html! { "the task as a whole" },
        (None, name) => isolated(&clip(name, limit::GIST_CHARS_MAX)),
        (Some(text), id) => html! { (id) " " (isolated(&clip(text, limit::GIST_CHARS_MAX))) },
    };
    html! {
        tr {
            th scope="row" { (name) }
            @for cell in columns.cells(&row.spent) { td.number { (cell) } }
        }
    }
}
