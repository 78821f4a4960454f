//! The controller alone: reads `ReplanRequest`, `OutcomeSummary`, `TaskFault` and `CancelRequest` as JSON lines, and
//! writes R7's directives, results and memory writes as JSON lines.
//!
//! It is the same machine as in a task, without the organisation around it: it asks nothing, runs nothing and reads no
//! clock. Time is each message's `elapsed_ms`, so the output depends on the input and the settings alone. Without a
//! tool catalogue the blocked sets are those of the decision table; no tool is removed from them.
//!
//! Reading order: [`run`], `line` (the forms of a line), `complete` (the parts that a line may omit), `task` (one
//! machine).

mod complete;
mod line;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};

use serde::Serialize;
use setpoint_control::GainsError;
use setpoint_protocol::Any;
use setpoint_protocol::limits::BODY_BYTES_MAX;
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_roles::factory::LOGIC_VERSION;

use self::line::Line;
use self::task::Task;

/// Longest line in bytes; a longer one is answered with an error line, and the next line is read as usual.
pub const LINE_BYTES_MAX: usize = BODY_BYTES_MAX;
/// Maximum tasks without a result at a time; a line that would open one more is answered with an error line.
pub const TASKS_MAX: usize = 65_536;

/// The counts of a run. The caller decides whether error lines are a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Lines read, empty ones included.
    pub lines: u64,
    /// `PlanDirective`s written.
    pub directives: u64,
    /// `FinalResult`s written.
    pub results: u64,
    /// Exported records of other kinds, which the controller does not use.
    pub skipped: u64,
    /// Error lines written.
    pub errors: u64,
    /// Tasks without a result.
    pub open: u64,
}

/// Why a run stopped. A line that cannot be used does not stop it: it is answered with an error line.
#[derive(Debug, thiserror::Error)]
pub enum GgsError {
    /// The settings are not allowed.
    #[error("use the controller's settings")]
    Settings(#[from] GainsError),
    /// The input failed.
    #[error("read line {line}")]
    Read {
        /// Number of the line, from 1.
        line: u64,
        #[source]
        source: io::Error,
    },
    /// The output failed.
    #[error("write the answer to line {line}")]
    Write {
        /// Number of the line, from 1.
        line: u64,
        #[source]
        source: io::Error,
    },
}

/// Reads messages line by line and writes the controller's answer to each before it reads the next.
///
/// A line is `{"kind": …, "task_id": …, "payload": {…}}`, the same with the payload's fields beside `kind`, an
/// envelope, or its CloudEvents form. `task_id` defaults to `task`. (A `TaskFault` has a field `kind` of its own, which
/// requires the form with `payload`; otherwise it is a plain fault.) Output lines have the same form with `kind`,
/// `task_id` and `payload`; a line that cannot be used is answered with `{"error": …, "line": n, "hint": …}`. A task is
/// forgotten at its end; the same id then starts a new one.
///
/// # Errors
/// If settings are not allowed, or the input or output fails.
pub fn run(
    input: impl BufRead,
    output: impl Write,
    settings: ControllerSettings,
) -> Result<Summary, GgsError> {
    let opened = opened(settings);
    task::validate(&opened)?;
    let mut bench = Bench { opened, tasks: BTreeMap::new(), summary: Summary::default(), output };
    let mut input = input;
    loop {
        let line = bench.summary.lines + 1;
        let Some(text) = read_line(&mut input).map_err(|source| GgsError::Read { line, source })? else {
            break;
        };
        bench.summary.lines = line;
        bench.take(text).map_err(|source| GgsError::Write { line, source })?;
    }
    bench.summary.open = u64::try_from(bench.tasks.len()).unwrap_or(u64::MAX);
    Ok(bench.summary)
}

/// Why a line cannot be used.
#[derive(Debug)]
struct Refusal {
    /// Completes "failed to use the line".
    error: String,
    /// What to do about it.
    hint: String,
    task_id: Option<String>,
}

/// One line of output.
#[derive(Debug, Serialize)]
struct OutputLine<'a> {
    kind: &'static str,
    task_id: &'a str,
    payload: Any,
}

/// One error line.
#[derive(Debug, Serialize)]
struct ErrorLine {
    error: String,
    line: u64,
    hint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
}

/// The controlled tasks, and the output.
struct Bench<W> {
    opened: Opened,
    tasks: BTreeMap<String, Task>,
    summary: Summary,
    output: W,
}

impl<W: Write> Bench<W> {
    fn take(&mut self, text: Result<Vec<u8>, Refusal>) -> io::Result<()> {
        let line = match text.and_then(|text| line::read(&text)) {
            Ok(line) => line,
            Err(refusal) => return self.refuse(refusal),
        };
        match line {
            Line::Empty => Ok(()),
            Line::Other => {
                self.summary.skipped += 1;
                Ok(())
            }
            Line::Message(message) => match self.handle(&message) {
                Ok(said) => said.into_iter().try_for_each(|one| self.write(&message.task_id, one)),
                Err(refusal) => self.refuse(Refusal { task_id: Some(message.task_id), ..refusal }),
            },
        }?;
        self.output.flush()
    }

    fn handle(&mut self, message: &line::Message) -> Result<Vec<(&'static str, Any)>, Refusal> {
        let name = &message.task_id;
        let mut task = match self.tasks.remove(name) {
            Some(task) => task,
            None if self.tasks.len() < TASKS_MAX => Task::new(name, self.summary.lines),
            None => {
                return Err(Refusal {
                    error: format!("{TASKS_MAX} tasks have no end yet"),
                    hint: "cancel some with a CancelRequest".to_owned(),
                    task_id: None,
                });
            }
        };
        // A line that cannot be used must not open a task.
        let is_known = !task.is_fresh();
        let said = task.take(message, self.summary.lines, &self.opened);
        let goes_on = !task.has_ended() && (is_known || said.is_ok());
        if goes_on {
            self.tasks.insert(name.clone(), task);
        }
        said
    }

    fn write(&mut self, task_id: &str, (kind, payload): (&'static str, Any)) -> io::Result<()> {
        match kind {
            "PlanDirective" => self.summary.directives += 1,
            "FinalResult" => self.summary.results += 1,
            _ => {}
        }
        self.write_line(&OutputLine { kind, task_id, payload })
    }

    fn refuse(&mut self, refusal: Refusal) -> io::Result<()> {
        self.summary.errors += 1;
        let Refusal { error, hint, task_id } = refusal;
        self.write_line(&ErrorLine {
            error: format!("failed to use the line: {error}"),
            line: self.summary.lines,
            hint,
            task_id,
        })?;
        self.output.flush()
    }

    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.output.write_all(&bytes)
    }
}

/// Returns the context that R7 sees: the settings and nothing else.
fn opened(controller: ControllerSettings) -> Opened {
    Opened {
        logic_version: LOGIC_VERSION,
        controller,
        budgets: Budgets::default(),
        interactive: false,
        preview_plan: false,
        direct_answers: false,
        surroundings: Surroundings::default().into(),
        tools: Vec::new(),
        models: Models::default(),
        thinking: Vec::new(),
        history: Vec::new(),
        forked_from: None,
    }
}

/// Reads a line without its end; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
    let mut line = Vec::new();
    input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    let is_end = line.is_empty();
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(Refusal {
            error: format!("the line is longer than {LINE_BYTES_MAX} bytes"),
            hint: "write one message per line".to_owned(),
            task_id: None,
        })));
    }
    Ok(if is_end { None } else { Some(Ok(line)) })
}
