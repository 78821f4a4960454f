//! `tasks cost`: what a task cost, by role, round, criterion and model.

use serde_json::json;
use setpoint_client::cost::{CostReport, Row, Spent};
use setpoint_client::{ClientError, Organisation};

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
    let mut lines = Vec::new();
    let is_priced = report.total.cost.is_some();
    section(&mut lines, "role", &report.by_role, is_priced, true);
    section(&mut lines, "round", &report.by_round, is_priced, true);
    section(&mut lines, "criterion", &report.by_criterion, is_priced, false);
    section(&mut lines, "model", &report.by_model, is_priced, true);
    lines.push(Line::new());
    let total = Row { name: "total".to_owned(), text: None, spent: report.total };
    lines.extend(table(&head("", is_priced, true), &[cells(&total, is_priced, true)]));
    io.out.lines(&lines)?;
    Ok(Exit::DONE)
}

fn section(lines: &mut Vec<Line>, name: &'static str, rows: &[Row], is_priced: bool, has_calls: bool) {
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, is_priced, has_calls)).collect();
    lines.extend(table(&head(name, is_priced, has_calls), &rows));
}

fn head(name: &'static str, is_priced: bool, has_calls: bool) -> Vec<&'static str> {
    let mut head = vec![name];
    if has_calls {
        head.push("calls");
    }
    head.extend(["tokens in", "cached", "tokens out"]);
    if is_priced {
        head.extend(["price", "unpriced"]);
    }
    head
}

fn cells(row: &Row, is_priced: bool, has_calls: bool) -> Vec<Cell> {
    let Spent { calls, tokens_in, tokens_out, tokens_cached, cost, tokens_unpriced } = row.spent;
    let name = match (&row.text, row.name.as_str()) {
        (None, "") => "the task as a whole".to_owned(),
        (None, name) => sanitise::line(name),
        (Some(text), id) => {
            let text = setpoint_protocol::text::clip(&sanitise::line(text), TEXT_CHARS_MAX);
            format!("{id} {text}")
        }
    };
    let number = |number: u64| (Tone::Plain, words::thousands(number));
    let mut cells = vec![(Tone::Name, name)];
    if has_calls {
        cells.push(number(calls));
    }
    cells.extend([number(tokens_in), number(tokens_cached), number(tokens_out)]);
    if is_priced {
        cells.push((Tone::Plain, cost.unwrap_or_default().to_string()));
        cells.push(number(tokens_unpriced));
    }
    cells
}
