//! `tasks show`: shows one task.

use std::path::{Path, PathBuf};

use clap::Args;
use setpoint_app::{Error, Organisation};
use setpoint_history::cost::CostReport;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::Record;

use super::{look, page};
use crate::app::App;
use crate::command::named::{self, LocatedTask};
use crate::command::shut_down;
use crate::command::whole_file::{NAME_A_PAGE, WholeFile};
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::render::task;
use crate::report;
use crate::state::ViewState;

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
        let LocatedTask { organisation, task } = named::open(&self.task, app).await?;
        let shown = show(&*organisation, task.as_str(), self.html.as_deref(), &app.options, io).await;
        shut_down(&organisation).await;
        shown
    }
}

async fn show(
    organisation: &dyn Organisation,
    part: &str,
    page: Option<&Path>,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let task = organisation.resolve(part).await?;
    // A page needs the steps of the task, so a pruned task fails below, as with every other command that
    // needs them.
    if page.is_none()
        && let Some(left) = organisation.left(&task).await?
    {
        let state = ViewState::of_left(task, &left.records);
        match options.is_json {
            true => io.out.json(&task::left_value(&state, left.pruned_at))?,
            false => io.out.lines(&task::left_lines(&state, left.pruned_at, &look(io, state.clock_ms)))?,
        }
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
        Some(path) if !options.is_quiet => report::note(io, &format!("wrote {}", path.display())),
        Some(_) => {}
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
    let mut file = WholeFile::create(path, NAME_A_PAGE)?;
    file.text(&page)?;
    file.finish()
}
