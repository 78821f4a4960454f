//! `tasks cost`: what a task cost, by role, round, criterion and model, and what of it gave no answer.

use serde_json::json;
use setpoint_client::cost::{CostReport, Row, Spent};
use setpoint_client::{ClientError, Organisation};
use setpoint_protocol::money::Money;

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone, sanitise};
use crate::view::words;

/// Columns of a criterion's text.
const TEXT_CHARS_MAX: usize = 60;

pub(super) async fn cost(
    organisation: &dyn Organisation,
    prefix: &str,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let task = organisation.resolve(prefix).await?;
    let report = CostReport::of(&organisation.records(&task).await?);
    if options.is_json {
        io.out.json(&json!({ "task_id": task, "cost": report }))?;
        return Ok(Exit::DONE);
    }
    io.out.lines(&lines(&report))?;
    Ok(Exit::DONE)
}

fn lines(report: &CostReport) -> Vec<Line> {
    let shown = Shown {
        has_calls: true,
        is_priced: report.total.cost.is_some(),
        has_failed: !report.total.failed.is_none(),
    };
    let mut lines = Vec::new();
    shown.section(&mut lines, "role", &report.by_role);
    shown.section(&mut lines, "round", &report.by_round);
    Shown { has_calls: false, ..shown }.section(&mut lines, "criterion", &report.by_criterion);
    shown.section(&mut lines, "model", &report.by_model);
    lines.push(Line::new());
    let total = Row { name: "total".to_owned(), text: None, spent: report.total };
    lines.extend(table(&shown.head(""), &[shown.cells(&total)]));
    lines
}

/// Which columns a table has.
#[derive(Clone, Copy)]
struct Shown {
    has_calls: bool,
    is_priced: bool,
    /// What of a row went into attempts that gave no answer.
    has_failed: bool,
}

impl Shown {
    fn section(self, lines: &mut Vec<Line>, name: &'static str, rows: &[Row]) {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        let rows: Vec<Vec<Cell>> = rows.iter().map(|row| self.cells(row)).collect();
        lines.extend(table(&self.head(name), &rows));
    }

    fn head(self, name: &'static str) -> Vec<&'static str> {
        let mut head = vec![name];
        if self.has_calls {
            head.push("calls");
        }
        head.extend(["tokens in", "cached", "tokens out"]);
        if self.is_priced {
            head.extend(["price", "unpriced"]);
        }
        if self.has_failed && self.has_calls {
            head.push("failed calls");
        }
        if self.has_failed {
            head.extend(["failed in", "failed out"]);
        }
        if self.has_failed && self.is_priced {
            head.push("failed price");
        }
        head
    }

    fn cells(self, row: &Row) -> Vec<Cell> {
        let Spent { calls, tokens_in, tokens_out, tokens_cached, cost, tokens_unpriced, failed } = row.spent;
        let name = match (&row.text, row.name.as_str()) {
            (None, "") => "the task as a whole".to_owned(),
            (None, name) => sanitise::line(name),
            (Some(text), id) => {
                let text = setpoint_protocol::text::clip(&sanitise::line(text), TEXT_CHARS_MAX);
                format!("{id} {text}")
            }
        };
        let number = |number: u64| (Tone::Plain, words::thousands(number));
        let price = |cost: Option<Money>| (Tone::Plain, cost.unwrap_or_default().to_string());
        let mut cells = vec![(Tone::Name, name)];
        if self.has_calls {
            cells.push(number(calls));
        }
        cells.extend([number(tokens_in), number(tokens_cached), number(tokens_out)]);
        if self.is_priced {
            cells.extend([price(cost), number(tokens_unpriced)]);
        }
        if self.has_failed && self.has_calls {
            cells.push(number(failed.calls));
        }
        if self.has_failed {
            cells.extend([number(failed.tokens_in), number(failed.tokens_out)]);
        }
        if self.has_failed && self.is_priced {
            cells.push(price(failed.cost));
        }
        cells
    }
}
