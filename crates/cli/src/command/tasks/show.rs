//! `tasks show`: shows one task.

use std::path::{Path, PathBuf};

use clap::Args;
use setpoint_app::{Error, Organisation};
use setpoint_history::cost::CostReport;
use setpoint_protocol::TaskId;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::Record;

use super::page;
use crate::command::look;
use crate::command::named;
use crate::command::whole_file::{NAME_A_PAGE, WholeFile};
use crate::render::task;
use crate::report;
use crate::state::ViewState;
use crate::{App, Exit, Io, Options};

/// Show one task: rounds, criteria, evidence, cost, result
#[derive(Args, Debug)]
pub(super) struct Show {
    /// Name the task by its id, the start or end of its id, or a file from `tasks export`
    task: String,
    /// Write it to FILE as one page for a browser, instead of text to stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Show {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        named::opened(&self.task, app, async |organisation, task| {
            show(organisation, task, self.html.as_deref(), &app.options, io).await
        })
        .await
    }
}

async fn show(
    organisation: &dyn Organisation,
    task: TaskId,
    page: Option<&Path>,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    // A page needs the steps of the task, so a pruned task fails below, as with every other command that
    // needs them.
    if page.is_none()
        && let Some(left) = organisation.left(&task).await?
    {
        let state = ViewState::of_left(task, &left.records);
        let (value, look) = (task::left_value(&state, left.pruned_at), look(io, state.clock_ms));
        io.out.show(options, &value, || task::left_lines(&state, left.pruned_at, &look))?;
        return Ok(Exit::DONE);
    }
    let records = organisation.records(&task).await?;
    let findings = organisation.findings(&task).await?;
    let state = ViewState::of(task, &records);
    if let Some(path) = page {
        write_page(path, &state, &records, &findings, io)?;
    }
    match page {
        _ if options.is_json => io.out.json(&task::value(&state, &findings))?,
        None => {
            let look = look(io, state.clock_ms);
            let lines = if options.is_verbose { task::verbose_lines } else { task::lines };
            io.out.lines(&lines(&state, &findings, &look))?;
        }
        Some(path) => report::aside(io, options, &format!("wrote {}", path.display())),
    }
    Ok(Exit::DONE)
}

fn write_page(
    path: &Path,
    state: &ViewState,
    records: &[Record],
    findings: &[Finding],
    io: &Io,
) -> Result<(), Error> {
    let cost = CostReport::of(records);
    let page = page::page(&page::Report { state, records, cost: &cost, findings, zone: &io.zone });
    let mut file = WholeFile::create(path, NAME_A_PAGE, io.out.keys())?;
    file.text(&page)?;
    file.finish()
}
