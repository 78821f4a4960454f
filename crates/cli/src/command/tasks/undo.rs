//! `tasks undo`: puts back what a task changed, after consent.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use setpoint_app::operator::tasks::{Undoing, Verb};
use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_history::attempts::Attempt;
use setpoint_protocol::TaskId;

use crate::args::values::LISTED_MAX;
use crate::command::confirm::{Word, confirm};
use crate::command::pursue::is_interactive;
use crate::command::reading;
use crate::report;
use crate::text::{Line, Tone, sanitise};
use crate::view::words;
use crate::{App, Exit, Io};

/// Maximum paths that are listed before the question, and maximum that are left alone.
const LINES_MAX: usize = 40;

/// Put files back as they were before a task changed them
#[derive(Args, Debug)]
pub(super) struct Undo {
    /// Name the task by its id, or the start or end of its id
    task: String,
    /// Keep what was changed up to this attempt of a round, such as 1.2
    #[arg(long, value_name = "ROUND.ATTEMPT")]
    to: Option<Attempt>,
    /// Also replace what somebody else changed since; its present content is lost
    #[arg(long = "force")]
    is_forced: bool,
    /// Show what would be put back without doing it
    #[arg(long = "dry-run", conflicts_with = "is_agreed")]
    is_dry_run: bool,
    /// Put back without asking
    #[arg(long = "yes")]
    is_agreed: bool,
}

impl Undo {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let can_ask = is_interactive(&app.options, io);
        reading(app, async |organisation| {
            let task = organisation.resolve(&self.task).await?;
            check_not_running(organisation, &task).await?;
            let mut undoing = organisation.undoing(&task, self.to, self.is_forced).await?;
            let quiet = app.options.is_json;
            if self.is_dry_run || (undoing.is_empty() && undoing.changed_since() == 0) {
                io.out.show(&app.options, &value(&task, &undoing, false), || lines(&undoing))?;
                return Ok(if self.is_dry_run || is_whole(&undoing) { Exit::DONE } else { Exit::GAPS });
            }
            if !(can_ask || self.is_agreed) {
                return Err(Error::new(
                    ErrorKind::Usage,
                    "cannot ask before putting files back: there is no terminal",
                )
                .hint("`--yes` puts them back without asking; `--dry-run` shows what would be put back"));
            }
            if !self.is_agreed {
                if !quiet {
                    io.err.lines(&lines(&undoing))?;
                }
                if undoing.changed_since() > 0 && !self.is_forced {
                    let question = format!(
                        "Somebody else changed {} since. Put the old content back there too? What is there now is lost.",
                        words::count(undoing.changed_since() as u64, "path")
                    );
                    match confirm(&question, io).await? {
                        Word::Yes => undoing = organisation.undoing(&task, self.to, true).await?,
                        Word::No => {}
                        Word::Left => return Ok(Exit::CANCELLED),
                    }
                }
                let question = format!("Put {} back?", words::count(undoing.outcomes().len() as u64, "path"));
                if !undoing.is_empty() {
                    match confirm(&question, io).await? {
                        Word::Yes => {}
                        Word::No => return Ok(nothing(app, io, Exit::DONE)),
                        Word::Left => return Ok(nothing(app, io, Exit::CANCELLED)),
                    }
                }
            }
            let undoing = done(undoing).await?;
            io.out.show(&app.options, &value(&task, &undoing, true), || told(&undoing))?;
            Ok(if is_whole(&undoing) { Exit::DONE } else { Exit::GAPS })
        })
        .await
    }
}

/// Returns whether nothing of what the task changed is left.
fn is_whole(undoing: &Undoing) -> bool {
    undoing.left().is_empty() && undoing.unkept().is_empty()
}

fn nothing(app: &App<'_>, io: &mut Io, exit: Exit) -> Exit {
    report::aside(io, &app.options, "nothing was put back");
    exit
}

/// Puts everything back, on a thread that may block.
async fn done(mut undoing: Undoing) -> Result<Undoing, Error> {
    let work = move || {
        undoing.apply();
        undoing
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::new(ErrorKind::Internal, format!("failed to put files back: {error}")))
}

async fn check_not_running(organisation: &dyn Organisation, task: &TaskId) -> Result<(), Error> {
    let open = organisation.tasks(true, LISTED_MAX).await?;
    match open.into_iter().find(|line| line.task == *task).and_then(|line| line.driven_by) {
        None => Ok(()),
        Some(process) => {
            Err(Error::new(ErrorKind::Usage, format!("{process} is working on the task {task}"))
                .hint(format!("end it first: `setpoint tasks cancel {task}`")))
        }
    }
}

/// Returns what an undo would do, by path.
fn lines(undoing: &Undoing) -> Vec<Line> {
    let outcomes = undoing.outcomes();
    if outcomes.is_empty() && undoing.left().is_empty() && undoing.unkept().is_empty() {
        return vec![Line::plain(
            "nothing to undo: the task changed no file outside its workspace, or all is as before",
        )];
    }
    let mut lines: Vec<Line> = outcomes.iter().take(LINES_MAX).map(outcome).collect();
    lines.extend(more(outcomes.len()));
    lines.extend(left(undoing));
    lines.extend(unkept(undoing));
    lines
}

/// Returns a line for each call whose changes nothing undoes.
pub(super) fn unkept(undoing: &Undoing) -> Vec<Line> {
    let line = |words: &String| {
        let text = format!(" what this changed was not kept: {}", sanitise::line(words));
        Line::new().and(Tone::Care, "left    ").and(Tone::Plain, &text)
    };
    let mut lines: Vec<Line> = undoing.unkept().iter().take(LINES_MAX).map(line).collect();
    lines.extend(more(undoing.unkept().len()));
    lines
}

fn outcome((verb, path, name): &(Verb, std::path::PathBuf, Option<std::path::PathBuf>)) -> Line {
    let name = name.as_deref().and_then(Path::file_name).map(|name| sanitise::line(&name.to_string_lossy()));
    let name = name.map(|name| format!(" to {name}")).unwrap_or_default();
    let path = sanitise::line(&path.to_string_lossy());
    Line::new()
        .and(Tone::Strong, &format!("{:<8}", verb.to_string()))
        .and(Tone::Plain, &format!(" {path}{name}"))
}

fn left(undoing: &Undoing) -> Vec<Line> {
    let line = |(path, why): (&std::path::PathBuf, &String)| {
        let text = format!(" {}: {}", sanitise::line(&path.to_string_lossy()), sanitise::line(why));
        Line::new().and(Tone::Care, "left    ").and(Tone::Plain, &text)
    };
    let mut lines: Vec<Line> = undoing.left().iter().take(LINES_MAX).map(line).collect();
    lines.extend(more(undoing.left().len()));
    lines
}

fn more(count: usize) -> Option<Line> {
    let more = count.saturating_sub(LINES_MAX);
    (more > 0).then(|| Line::plain(&format!("… and {more} more")))
}

/// Returns what was done.
fn told(undoing: &Undoing) -> Vec<Line> {
    let failed = |path: &Path| undoing.left().contains_key(path);
    let count = undoing.outcomes().iter().filter(|(_, path, _)| !failed(path)).count();
    let mut lines = vec![Line::plain(&format!("put {} back", words::count(count as u64, "path")))];
    lines.extend(left(undoing));
    lines.extend(unkept(undoing));
    lines
}

fn value(task: &TaskId, undoing: &Undoing, is_done: bool) -> Value {
    let outcomes = undoing.outcomes().into_iter();
    let outcomes: Vec<Value> = outcomes
        .map(|(verb, path, name)| {
            let name = name.map(|name| name.to_string_lossy().into_owned());
            json!({ "path": path.to_string_lossy(), "change": verb.to_string(), "to": name })
        })
        .collect();
    let left: Vec<Value> = undoing
        .left()
        .iter()
        .map(|(path, why)| json!({ "path": path.to_string_lossy(), "reason": why }))
        .collect();
    json!({ "task_id": task, "is_done": is_done, "paths": outcomes, "left": left, "not_kept": undoing.unkept() })
}
