//! What the task cost, by role, criterion, round and model, and what of it gave no answer.

use setpoint_history::cost::{CostReport, Row};
use setpoint_protocol::text::clip;

use super::{limit, markup::Html};
use crate::view::cost::Columns;
use crate::view::words;

/// The tables.
pub(super) fn put(html: &mut Html, report: &CostReport) {
    if report.total.calls == 0 {
        html.leaf("p", &[("class", "none")], "No model was asked.");
        return;
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
    html.leaf("p", &[], &text);
    let total = Row { name: "total".to_owned(), text: None, spent: report.total };
    let by_role: Vec<Row> = report.by_role.iter().cloned().chain([total]).collect();
    let columns = Columns::of(report);
    html.tag("div", &[("class", "costs")], |html| {
        html.tag("div", &[], |html| {
            table(html, "role", &by_role, columns);
            table(html, "round", &report.by_round, columns);
            table(html, "model", &report.by_model, columns);
        });
        html.tag("div", &[], |html| {
            table(html, "criterion", &report.by_criterion, columns.of_shares());
        });
    });
}

fn table(html: &mut Html, name: &'static str, rows: &[Row], columns: Columns) {
    let mut left_out = 0;
    super::table(html, &format!("Cost by {name}"), &columns.head(name), |html| {
        left_out = limit::each(html, rows, limit::COSTS_MAX, |html, row| line(html, row, columns));
    });
    limit::tell(html, left_out, "rows are");
}

fn line(html: &mut Html, row: &Row, columns: Columns) {
    html.tag("tr", &[], |html| {
        html.tag("th", &[("scope", "row")], |html| match (&row.text, row.name.as_str()) {
            (None, "") => html.text("the task as a whole"),
            (None, name) => html.said(&clip(name, limit::GIST_CHARS_MAX)),
            (Some(text), id) => {
                html.text(id);
                html.text(" ");
                html.said(&clip(text, limit::GIST_CHARS_MAX));
            }
        });
        for cell in columns.cells(&row.spent) {
            html.leaf("td", &[("class", "number")], &cell);
        }
    });
}
