//! `replay`: a task gone through again without a model, its controller under other settings, two tasks side by side.

use std::io::BufRead as _;

use serde_json::json;
use setpoint_client::comparison::Comparison;
use setpoint_client::{ClientError, ErrorKind, Organisation};
use setpoint_protocol::TaskId;
use setpoint_protocol::record::{FragmentHash, Prompts, Record};

use super::named::{self, Named};
use super::shut_down;
use crate::exit::Exit;
use crate::host::Host;
use crate::invocation::{GlobalOptions, Replay};
use crate::io::Io;
use crate::render::{comparison, replay as render};
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::view::Look;

pub(super) async fn replay(
    replay: &Replay,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    if replay.diff.is_some() && !replay.set.is_empty() {
        return Err(ClientError::new(ErrorKind::Usage, "`--set` and `--diff` cannot be used together")
            .hint("`--set` tries settings on one task; `--diff` compares two"));
    }
    let Named { organisation, task } = named::open(&replay.task, host).await?;
    let done = match &replay.diff {
        Some(other) => beside(&*organisation, &task, other, options, host, io).await,
        None if !replay.set.is_empty() => rerun(&*organisation, &task, replay, options, io).await,
        None => steps(&*organisation, &task, replay, options, io).await,
    };
    shut_down(&organisation).await;
    done
}

async fn rerun(
    organisation: &dyn Organisation,
    task: &TaskId,
    replay: &Replay,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let rerun = organisation.rerun(task, &replay.set).await?;
    if options.is_json {
        let words = render::rerun::words_of(&rerun);
        let mut value = serde_json::to_value(&rerun).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("words".to_owned(), words.into());
        }
        io.out.json(&value)?;
    } else {
        io.out.lines(&render::rerun::lines(&rerun))?;
    }
    Ok(Exit::DONE)
}

async fn beside(
    organisation: &dyn Organisation,
    task: &TaskId,
    other: &str,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let records = organisation.records(task).await?;
    let other = named::open(other, host).await?;
    let read = other.organisation.records(&other.task).await;
    shut_down(&other.organisation).await;
    let compared = Comparison::of((task, &records), (&other.task, &read?));
    if options.is_json {
        io.out.json(&serde_json::to_value(&compared).unwrap_or_default())?;
    } else {
        io.out.lines(&comparison::lines(&compared))?;
    }
    Ok(Exit::DONE)
}

/// First the replay, then its steps: whoever reads them knows at the end whether they are what was done.
async fn steps(
    organisation: &dyn Organisation,
    task: &TaskId,
    replay: &Replay,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let report = organisation.replay(task).await?;
    let records = organisation.records(task).await?;
    let fragments = fragments(organisation, &records).await?;
    let mut prompts = Prompts::default();
    records.iter().for_each(|record| prompts.take(record));
    let look = Look {
        columns: io.out_columns(),
        lines: None,
        clock_ms: 0,
        is_ascii: io.out.is_ascii,
        zone: io.zone.clone(),
    };
    let manner = render::Manner { fragments: &fragments, prompts: &prompts, has_prompts: replay.has_prompts };
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
            // The journal hands records out in order; what it does not hand out cannot be shown.
            let _: crate::state::Applied = state.apply(record);
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
    let exit = if report.divergence.is_some() { Exit::INTERNAL } else { Exit::DONE };
    if options.is_json {
        io.out.json(&json!({ "summary": report }))?;
    } else {
        io.out.lines(&render::summary(&report))?;
    }
    Ok(exit)
}

/// Waits for Enter. Whoever types `q`, or nothing more, has seen enough.
fn goes_on(io: &mut Io) -> Result<bool, ClientError> {
    io.err.lines(&[Line::new().and(Tone::Dim, "Enter shows the next step, q ends")])?;
    let mut line = String::new();
    let read = io.input.read_line(&mut line).map_err(|error| {
        ClientError::new(ErrorKind::Internal, format!("failed to read the terminal: {error}"))
            .hint("leave `--step` out to see all steps at once")
    })?;
    Ok(read > 0 && !line.trim().eq_ignore_ascii_case("q"))
}

async fn fragments(
    organisation: &dyn Organisation,
    records: &[Record],
) -> Result<render::Fragments, ClientError> {
    let mut hashes: Vec<FragmentHash> = records.iter().flat_map(Record::asked_fragments).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let texts = organisation.fragments(&hashes).await?;
    Ok(hashes.into_iter().zip(texts).collect())
}
