//! `tasks list` and `tasks show`: looking at the journal.

use serde_json::Value;
use setpoint_client::{ClientError, Organisation};

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::render::task;
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
    Ok(Exit::DONE)
}

pub(super) async fn show(
    organisation: &dyn Organisation,
    prefix: &str,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let task = organisation.resolve(prefix).await?;
    let records = organisation.records(&task).await?;
    let state = ViewState::of(task, &records);
    if options.is_json {
        io.out.json(&task::value(&state))?;
    } else {
        let look = look(io, state.clock_ms);
        io.out.lines(&task::lines(&state, &look))?;
    }
    Ok(Exit::DONE)
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
