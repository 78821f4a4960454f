//! `tasks list`: lists tasks, newest first.

use clap::Args;
use serde_json::Value;
use setpoint_app::Error;

use crate::args::values::listed;
use crate::command::look;
use crate::command::reading;
use crate::render::task;
use crate::report;
use crate::text::table::table;
use crate::{App, Exit, Io};

/// Tasks that are listed by default.
pub const TASKS_LISTED: usize = 20;

/// List tasks, newest first
#[derive(Args, Debug, Default)]
pub(super) struct List {
    /// List only tasks that have not ended
    #[arg(long = "open")]
    is_open_only: bool,
    /// List at most N [default: 20]
    #[arg(long, value_name = "N", value_parser = listed)]
    limit: Option<usize>,
}

impl List {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let limit = self.limit.unwrap_or(TASKS_LISTED);
        reading(app, async |organisation| {
            let tasks = organisation.tasks(self.is_open_only, limit).await?;
            if let Some(warning) = organisation.warning().await? {
                report::warning(io, &warning);
            }
            if app.options.is_json {
                io.out.json(&Value::Array(tasks.iter().map(task::list_value).collect()))?;
                return Ok(Exit::DONE);
            }
            if tasks.is_empty() {
                report::note(
                    io,
                    if self.is_open_only { "no task is open" } else { "there are no tasks yet" },
                );
                return Ok(Exit::DONE);
            }
            let look = look(io, 0);
            let rows: Vec<_> = tasks.iter().map(|line| task::row(line, &look)).collect();
            let lines = table(&task::LIST_HEAD, &rows);
            let lines: Vec<_> = match io.out.is_terminal {
                true => lines.into_iter().map(|line| line.clip(look.columns)).collect(),
                false => lines,
            };
            io.out.lines(&lines)?;
            if tasks.len() == limit {
                let text =
                    format!("the newest {limit} are listed; `setpoint tasks list --limit N` lists more");
                report::note(io, &text);
            }
            Ok(Exit::DONE)
        })
        .await
    }
}
