//! `tasks cost`: what a task cost, by role, round, criterion and model, and the part of it spent on failed
//! attempts.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_history::cost::{CostReport, Row};

use crate::command::named;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone, sanitise};
use crate::view::cost::Columns;
use crate::{App, Exit, Io};

/// At most this many columns of a criterion's text are shown.
const TEXT_CHARS_MAX: usize = 60;

/// Show what a task cost by role, round, criterion and model, and what was spent on failed calls
#[derive(Args, Debug)]
pub(super) struct Cost {
    /// Name the task by its id, the start or end of its id, or a file from `tasks export`
    task: String,
}

impl Cost {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        named::opened(&self.task, app, async |organisation, task| {
            let report = CostReport::of(&organisation.records(&task).await?);
            let value = json!({ "task_id": task, "cost": report });
            io.out.show(&app.options, &value, || lines(&report))?;
            Ok(Exit::DONE)
        })
        .await
    }
}

fn lines(report: &CostReport) -> Vec<Line> {
    let columns = Columns::of(report);
    let mut lines = Vec::new();
    section(&mut lines, "role", &report.by_role, columns);
    section(&mut lines, "round", &report.by_round, columns);
    section(&mut lines, "criterion", &report.by_criterion, columns.of_shares());
    section(&mut lines, "model", &report.by_model, columns);
    lines.push(Line::new());
    let total = Row { name: "total".to_owned(), text: None, spent: report.total };
    lines.extend(table(&columns.head(""), &[cells(&total, columns)]));
    lines
}

fn section(lines: &mut Vec<Line>, name: &'static str, rows: &[Row], columns: Columns) {
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, columns)).collect();
    lines.extend(table(&columns.head(name), &rows));
}

fn cells(row: &Row, columns: Columns) -> Vec<Cell> {
    let name = match (&row.text, row.name.as_str()) {
        (None, "") => "the task as a whole".to_owned(),
        (None, name) => sanitise::line(name),
        (Some(text), id) => {
            let text = setpoint_protocol::text::clip(&sanitise::line(text), TEXT_CHARS_MAX);
            format!("{id} {text}")
        }
    };
    let spent = columns.cells(&row.spent).into_iter().map(|cell| (Tone::Plain, cell));
    std::iter::once((Tone::Name, name)).chain(spent).collect()
}
