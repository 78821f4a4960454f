//! What `run` and `tasks resume` share: following tasks with interrupts, and printing their results.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_app::approvals::Policy;
use setpoint_app::{Error, ErrorKind, Event, Organisation};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::EndState;
use tokio::sync::mpsc;

use super::leave;
use crate::render::result;
use crate::report;
use crate::session::{FollowOptions, Show, follow};
use crate::state::ViewState;
use crate::text::sanitise;
use crate::view::words;
use crate::{App, Exit, Io, Options};

/// Returns whether a person can be asked while the task runs.
pub(super) fn is_interactive(options: &Options, io: &Io) -> bool {
    io.can_ask() && !options.is_json
}

/// Returns what is shown while the task runs. Not the live view with `--verbose`, because log lines would
/// overwrite it.
pub(super) fn show(options: &Options, io: &Io) -> Show {
    if options.is_quiet {
        Show::Nothing
    } else if io.err.is_terminal && io.can_redraw && !options.is_json && !options.is_verbose {
        Show::Live
    } else {
        Show::Plain { names_roles: options.is_verbose }
    }
}

/// Prints the warnings that a person should see before a task is driven.
pub(super) fn tell_notices(app: &App<'_>, io: &mut Io) {
    for notice in app.host.desk().notices() {
        report::warning(io, &notice);
    }
}

/// Opens the organisation, and prints which MCP servers it does without.
pub(super) async fn opened(app: &App<'_>, io: &mut Io) -> Result<Arc<dyn Organisation>, Error> {
    let organisation = app.host.open().await?;
    for notice in app.host.desk().server_notices() {
        report::warning(io, &notice);
    }
    Ok(organisation)
}

/// Maximum changed paths that are named at the end of a run.
const CHANGED_NAMED: usize = 5;

/// Starts listening for interrupts.
pub(super) fn interrupts(io: &mut Io) -> Result<mpsc::Receiver<()>, Error> {
    (io.interrupts)().map_err(|error| {
        Error::new(ErrorKind::Internal, format!("failed to listen for interrupts: {error}"))
            .hint("check the limits of this process: open files, processes, memory (`ulimit -a`)")
    })
}

/// What a command that drives tasks works with.
pub(super) struct Driver<'d> {
    pub(super) organisation: &'d dyn Organisation,
    pub(super) options: &'d Options,
    /// Whether a person can be asked.
    pub(super) is_interactive: bool,
    policy: Option<&'d Policy>,
    interrupts: &'d mut mpsc::Receiver<()>,
}

/// Runs `work` with the organisation, and releases the tasks even if `work` failed.
pub(super) async fn driving(
    organisation: Arc<dyn Organisation>,
    policy: Option<&Policy>,
    options: &Options,
    io: &mut Io,
    work: impl AsyncFnOnce(&mut Driver<'_>, &mut Io) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let mut interrupts = interrupts(io)?;
    let mut driver = Driver {
        organisation: &*organisation,
        options,
        is_interactive: is_interactive(options, io),
        policy,
        interrupts: &mut interrupts,
    };
    let done = work(&mut driver, io).await;
    leave(&organisation, &mut interrupts, io).await;
    done
}

impl Driver<'_> {
    /// Follows a task to its end; `None` if it was interrupted before.
    pub(super) async fn follow(
        &mut self,
        io: &mut Io,
        state: ViewState,
        events: mpsc::Receiver<Event>,
        show: Show,
        is_stream: bool,
    ) -> Result<Option<ViewState>, Error> {
        let (policy, is_interactive) = (self.policy, self.is_interactive);
        let manner = FollowOptions { policy, is_interactive, show, is_stream };
        follow(io, self.organisation, state, events, self.interrupts, manner).await
    }

    /// Returns the state of a task that has records. Events start now; earlier records are in the journal.
    pub(super) async fn state(&self, task: &TaskId) -> Result<ViewState, Error> {
        Ok(ViewState::of(task.clone(), &self.organisation.records(task).await?))
    }

    /// Prints the result of a task, or how to go on if it was interrupted.
    pub(super) async fn tell(
        &self,
        io: &mut Io,
        task: &TaskId,
        ended: Option<ViewState>,
    ) -> Result<Exit, Error> {
        let Some(state) = ended else { return Ok(left(io, task, self.options)) };
        tell(io, &state, ResultDetail::of(self.options))?;
        self.tell_changes(io, task).await;
        Ok(exit_of(&state))
    }

    /// Reports which files the task changed, as far as that can be undone.
    pub(super) async fn tell_changes(&self, io: &mut Io, task: &TaskId) {
        let Ok(undoing) = self.organisation.undoing(task, None, false).await else { return };
        if !undoing.unkept().is_empty() {
            let commands: Vec<String> =
                undoing.unkept().iter().take(CHANGED_NAMED).map(|one| sanitise::line(one)).collect();
            let text =
                format!("what this changed was not kept, and cannot be undone: {}", commands.join("; "));
            report::aside(io, self.options, &text);
        }
        let changed = undoing.outcomes();
        if changed.is_empty() {
            return;
        }
        let here = std::env::current_dir().unwrap_or_default();
        let name = |path: &Path| sanitise::line(&path.strip_prefix(&here).unwrap_or(path).to_string_lossy());
        let mut names: Vec<String> =
            changed.iter().take(CHANGED_NAMED).map(|(_, path, _)| name(path)).collect();
        if changed.len() > names.len() {
            names.push("…".to_owned());
        }
        let count = words::count(changed.len() as u64, "path");
        let text = format!(
            "changed {count}: {} (`setpoint tasks diff {task}` shows the changes, `setpoint tasks undo {task}` puts the old \
             state back)",
            names.join(", ")
        );
        report::aside(io, self.options, &text);
    }
}

/// Reports that the task was interrupted before it ended, and how to go on.
pub(super) fn left(io: &mut Io, task: &TaskId, options: &Options) -> Exit {
    let stopped = stopped(io, task);
    if options.is_json {
        // Leaving must not fail because stdout is closed.
        drop(io.out.json(&stopped));
    }
    Exit::CANCELLED
}

/// Reports the interrupt on stderr, and returns it as a JSON value for other programs.
pub(super) fn stopped(io: &mut Io, task: &TaskId) -> Value {
    let message = "stopped before the task ended";
    let hints = [
        format!("`setpoint tasks resume {task}` continues it"),
        format!("`setpoint tasks cancel {task}` ends it"),
    ];
    report::note(io, message);
    for hint in &hints {
        report::note(io, &format!("hint: {hint}"));
    }
    json!({ "task_id": task, "error": { "kind": "interrupted", "message": message, "hints": hints } })
}

/// Returns the exit code of an ended task.
pub(super) fn exit_of(state: &ViewState) -> Exit {
    // Small talk has no criteria, so it has no result that could miss one.
    state.result.as_ref().map_or(Exit::DONE, Exit::of_result)
}

/// How much of a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultDetail {
    /// The answer, why it can be trusted, and what is missing.
    Whole,
    /// The answer on stdout, and what is missing on stderr.
    Answer,
    /// As `Answer`, but unformatted: text as it is, everything else as JSON.
    Output,
    /// One JSON value.
    Json,
}

impl ResultDetail {
    pub(super) const fn of(options: &Options) -> Self {
        match (options.is_json, options.is_quiet) {
            (true, _) => ResultDetail::Json,
            (false, true) => ResultDetail::Answer,
            (false, false) => ResultDetail::Whole,
        }
    }
}

/// Prints the result on stdout. If that is only the answer, what is missing goes to stderr.
pub(super) fn tell(io: &mut Io, state: &ViewState, what: ResultDetail) -> Result<(), Error> {
    let told = match (what, &state.result) {
        (ResultDetail::Json, _) => io.out.json(&result::on_the_wire(state)),
        (ResultDetail::Whole, _) | (_, None) => io.out.lines(&result::brief(state)),
        (ResultDetail::Answer | ResultDetail::Output, Some(end)) if end.directive == EndState::Abandon => {
            io.err.lines(&result::brief(state))
        }
        (ResultDetail::Answer, Some(end)) => io.out.lines(&result::answer_lines(end)),
        (ResultDetail::Output, Some(end)) => match end.output.as_str() {
            Some(text) => io.out.data(&format!("{text}\n")),
            None => io.out.json(&end.output),
        },
    };
    let beside = match (what, &state.result) {
        (ResultDetail::Answer | ResultDetail::Output, Some(end)) if end.directive == EndState::Success => {
            io.err.lines(&result::about(state, end, true))
        }
        _ => Ok(()),
    };
    told.and(beside).map_err(|error| kept(error, &state.task))
}

/// Adds the hint that the result is stored, although it could not be printed.
pub(super) fn kept(error: Error, task: &TaskId) -> Error {
    error.hint(format!("the result is stored: `setpoint tasks show {task}` shows it"))
}
