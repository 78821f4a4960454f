//! `replay`: replays a task without a model, reruns its controller with other settings, or compares two
//! tasks.

mod comparison;
mod render;

use std::io::BufRead as _;

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_history::comparison::Comparison;
use setpoint_protocol::TaskId;
use setpoint_protocol::record::{FragmentHash, Prompts, Record};

use super::{look, named};
use crate::args::values::{count, setting};
use crate::render::record::{Fragments, RecordStyle};
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::{App, Exit, Io, Options, Setting};

/// Replay a task without a model: step by step, under other settings, or beside another task
#[derive(Args, Debug)]
pub struct Replay {
    /// Name the task by its id, the start or end of its id, or a file from `tasks export`
    task: String,
    /// Try another controller setting, such as delta=0.2, and show what it would have decided
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, conflicts_with = "diff")]
    set: Vec<Setting>,
    /// Compare it with OTHER, a task or an exported file, and show where the two differ
    #[arg(long, value_name = "OTHER")]
    diff: Option<String>,
    /// Show records from number N
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["set", "diff"])]
    from: Option<u64>,
    /// Show records up to number N
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["set", "diff"])]
    to: Option<u64>,
    /// Wait for Enter after every step, on a terminal
    #[arg(long = "step", conflicts_with_all = ["set", "diff"])]
    is_stepwise: bool,
    /// Show prompts and answers of the models in full
    #[arg(long = "prompts", conflicts_with_all = ["set", "diff"])]
    has_prompts: bool,
}

impl Replay {
    /// Takes `--set` for the task alone; it does not configure the program.
    pub(super) fn settle(&mut self, options: &mut Options) {
        self.set = std::mem::take(&mut options.set);
    }

    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        if self.diff.is_some() && !self.set.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "`--set` and `--diff` cannot be used together")
                .hint("`--set` tries settings on one task; `--diff` compares two"));
        }
        named::opened(&self.task, app, async |organisation, task| match &self.diff {
            Some(other) => beside(organisation, &task, other, app, io).await,
            None if !self.set.is_empty() => {
                rerun(organisation, &task, &Setting::pairs(&self.set), &app.options, io).await
            }
            None => steps(organisation, &task, &self, &app.options, io).await,
        })
        .await
    }
}

async fn rerun(
    organisation: &dyn Organisation,
    task: &TaskId,
    set: &[(String, String)],
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let rerun = organisation.rerun(task, set).await?;
    let mut value = json!(rerun);
    value["words"] = render::rerun::words_of(&rerun).into();
    io.out.show(options, &value, || render::rerun::lines(&rerun))?;
    Ok(Exit::DONE)
}

async fn beside(
    organisation: &dyn Organisation,
    task: &TaskId,
    other: &str,
    app: &App<'_>,
    io: &mut Io,
) -> Result<Exit, Error> {
    let records = organisation.records(task).await?;
    let (other, read) = named::opened(other, app, async |organisation, task| {
        let records = organisation.records(&task).await?;
        Ok((task, records))
    })
    .await?;
    let compared = Comparison::of((task, &records), (&other, &read));
    io.out.show(&app.options, &compared, || comparison::lines(&compared))?;
    Ok(Exit::DONE)
}

/// Replays first, then shows the steps, so that the summary can say whether they match the recorded ones.
async fn steps(
    organisation: &dyn Organisation,
    task: &TaskId,
    replay: &Replay,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let report = organisation.replay(task).await?;
    let records = organisation.records(task).await?;
    let fragments = fragments(organisation, &records).await?;
    let mut prompts = Prompts::default();
    records.iter().for_each(|record| prompts.take(record));
    let look = look(io, 0);
    let manner = RecordStyle { fragments: &fragments, prompts: &prompts, has_prompts: replay.has_prompts };
    let is_wanted = |record: &Record| {
        replay.from.is_none_or(|from| record.seq >= from) && replay.to.is_none_or(|to| record.seq <= to)
    };
    let waits = replay.is_stepwise && io.can_ask() && !options.is_json;
    let mut state = ViewState::new(task.clone());
    let mut rest = records.as_slice();
    let mut number = 0;
    while let Some((_, tail)) = rest.split_first() {
        number += 1;
        let length = 1 + tail.iter().take_while(|record| !record.is_input()).count();
        let (step, after) = rest.split_at(length.min(rest.len()));
        let is_shown = step.iter().any(is_wanted);
        let mut lines = Vec::new();
        if is_shown && !options.is_json {
            lines.extend(render::step_head(number, step, &look));
        }
        for record in step {
            // The journal returns records in order; a gap in them cannot be filled here.
            let _: crate::state::ApplyOutcome = state.apply(record);
            if !is_wanted(record) {
                continue;
            }
            if options.is_json {
                io.out.json(&render::record_value(number, record, &manner))?;
            } else {
                lines.extend(render::record(&state, record, &manner));
            }
        }
        if !lines.is_empty() {
            lines.push(Line::new());
            io.out.lines(&lines)?;
        }
        rest = after;
        if waits && is_shown && rest.iter().any(is_wanted) && !goes_on(io)? {
            break;
        }
    }
    io.out.show(options, &json!({ "summary": report }), || render::summary(&report))?;
    let is_whole = report.divergence.is_none() && report.fragments_missing == 0;
    Ok(if is_whole { Exit::DONE } else { Exit::INTERNAL })
}

/// Waits for Enter. Returns `false` after `q` or at the end of the input.
fn goes_on(io: &mut Io) -> Result<bool, Error> {
    io.err.lines(&[Line::new().and(Tone::Dim, "Enter shows the next step, q ends")])?;
    let mut line = String::new();
    let read = io.input.read_line(&mut line).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("failed to read the terminal: {error}"))
            .hint("leave `--step` out to see all steps at once")
    })?;
    Ok(read > 0 && !line.trim().eq_ignore_ascii_case("q"))
}

async fn fragments(organisation: &dyn Organisation, records: &[Record]) -> Result<Fragments, Error> {
    let mut hashes: Vec<FragmentHash> = records.iter().flat_map(Record::asked_fragments).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let texts = organisation.fragments(&hashes).await?;
    Ok(hashes.into_iter().zip(texts).collect())
}
