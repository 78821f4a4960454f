//! `tasks list` and `tasks show`: looking at the journal.

use std::path::Path;

use serde_json::Value;
use setpoint_client::cost::CostReport;
use setpoint_client::{ClientError, Organisation};
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::Record;

use super::whole_file::{NAME_A_PAGE, WholeFile};
use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::render::{html, task};
use crate::report;
use crate::state::ViewState;
use crate::text::table::table;
use crate::view::Look;

pub(super) async fn list(
    organisation: &dyn Organisation,
    is_open_only: bool,
    limit: usize,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let tasks = organisation.tasks(is_open_only, limit).await?;
    if let Some(warning) = organisation.warning().await? {
        report::warning(io, &warning);
    }
    if options.is_json {
        io.out.json(&Value::Array(tasks.iter().map(task::list_value).collect()))?;
        return Ok(Exit::DONE);
    }
    if tasks.is_empty() {
        report::note(io, if is_open_only { "no task is open" } else { "there are no tasks yet" });
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
        report::note(
            io,
            &format!("the newest {limit} are listed; `setpoint tasks list --limit N` lists more"),
        );
    }
    Ok(Exit::DONE)
}

pub(super) async fn show(
    organisation: &dyn Organisation,
    part: &str,
    page: Option<&Path>,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let task = organisation.resolve(part).await?;
    // A page shows the steps, so it fails below as all does that needs them.
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
) -> Result<(), ClientError> {
    let cost = CostReport::of(records);
    let page = html::page(&html::Report { state, records, cost: &cost, findings, zone: &io.zone });
    let mut file = WholeFile::create(path, NAME_A_PAGE)?;
    file.text(&page)?;
    file.finish()
}

fn look(io: &Io, clock_ms: u64) -> Look {
    Look {
        columns: io.out_columns(),
        lines: None,
        clock_ms,
        is_ascii: io.out.is_ascii,
        zone: io.zone.clone(),
    }
}
