//! `shell`: runs a command line. Read-only ones at once, everything else only under a grant.
//!
//! The command runs as it was written, or not at all. It runs with `bash --noprofile --norc -c` where there is bash, because
//! that is how it was read; elsewhere with `sh -c`, and then only when every POSIX shell reads it the same way.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use setpoint_protocol::Any;
use setpoint_protocol::tool::{
    CallReading, CapabilityClass, Effect, ErrorKind, ExecutedFile, SideEffect, ToolAnswer,
};

use super::shell_touches::touches;
use crate::approval::{Gate, Plan, resolve};
use crate::command_line::{self, Reading, Verdict};
use crate::error::ToolError;
use crate::files::hash::{self, Algorithm};
use crate::halt::Halt;
use crate::host::Host;
use crate::place::Place;
use crate::process::env::{self, Programs};
use crate::process::warden::Warden;
use crate::process::{self, Ended, Ending, Job};
use crate::show;
use crate::target::{self, Target};
use crate::tool::ToolCtx;
use crate::typed::{Typed, tool_ids};

/// Seconds that a command has when the call does not say.
pub const TIMEOUT_S_DEFAULT: u64 = 60;
/// Most seconds that a call may ask for; more is taken as this.
pub const TIMEOUT_S_MAX: u64 = 600;
/// Bytes of each stream that stand in the facts.
const FACTS_STREAM_BYTES_MAX: usize = 24 * 1024;
/// Bytes that the lines around the output take at most.
const FRAME_BYTES: usize = 512;
/// Entries below a new folder that are named as created.
const CREATED_BELOW_MAX: usize = 1_000;

pub(crate) struct Shell {
    host: Host,
    shell: PathBuf,
    is_bash: bool,
    warden: Arc<Warden>,
}

impl Shell {
    pub(crate) fn new(host: &Host, warden: &Arc<Warden>) -> Self {
        let (shell, is_bash) = host.shell();
        Shell { host: host.clone(), shell, is_bash, warden: Arc::clone(warden) }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The command line, as for bash. It gets no input and no terminal.
    command: String,
    /// Seconds until it and everything it started is stopped: 1 to 600, 60 if not given.
    timeout_s: Option<u64>,
    /// The folder it runs in; the working directory if not given.
    cwd: Option<String>,
}

#[async_trait]
impl Typed for Shell {
    type Input = Input;
    const NAME: &'static str = "shell";
    const ABOUT: &'static str = "Runs a shell command and gives exit code, output and errors. A command that only reads \
         runs at once; any other needs a person's consent first. Nothing keeps running in the background. Prefer the \
         purpose-made tools for reading, searching and measuring.";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;

    fn example(&self) -> Value {
        json!({ "command": "ls -l | head -n 5", "timeout_s": 10 })
    }

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        self.read_command(input, place).map(|(_, target)| target)
    }

    fn reading(&self, input: &Input, place: &Place) -> Result<CallReading, ToolError> {
        let (reading, target) = self.read_command(input, place)?;
        let mut tools: Vec<_> = reading.tool_ids().iter().filter_map(|id| id.parse().ok()).collect();
        if tools.is_empty() {
            tools = tool_ids(Self::NAME);
        }
        let effect = if reading.verdict.is_read_only() { Effect::ReadOnly } else { Effect::Unsafe };
        let beyond = Some(target::bounded(reading.script));
        Ok(CallReading { tools, target: target.into_text(), beyond, effect, volatile: reading.volatile })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let seconds = match input.timeout_s {
            Some(0) => return Err(ToolError::parameter("timeout_s", "it must be at least 1")),
            Some(seconds) => seconds.min(TIMEOUT_S_MAX),
            None => TIMEOUT_S_DEFAULT,
        };
        if input.command.contains('\0') {
            return Err(ToolError::parameter("command", "it holds a NUL character"));
        }
        let place = ctx.place();
        let cwd = folder(&input, &place)?;
        if !cwd.is_dir() {
            let missing = std::fs::read_dir(&cwd).err();
            let missing = missing.unwrap_or_else(|| std::io::Error::from(std::io::ErrorKind::NotADirectory));
            return Err(ToolError::file("enter", &cwd, missing));
        }
        let (reading, _) = self.read_command(&input, &place)?;
        if reading.needs_bash && !self.is_bash {
            let hint = "; the command needs it: write it for a POSIX shell".to_owned();
            return Err(ToolError::Missing { name: "bash".to_owned(), hint });
        }
        let is_read_only = reading.verdict.is_read_only();
        let prepared = {
            let gate = Gate::new(ctx);
            let (command, cwd) = (input.command.clone(), cwd.clone());
            ctx.blocking(move |halt| prepare(&reading, command, cwd, &gate, halt)).await?
        };
        let job = Job {
            program: self.shell.clone(),
            args: self.arguments(&input.command),
            cwd,
            env: env::for_task(
                self.host.env(),
                &ctx.surroundings,
                if is_read_only { Programs::System } else { Programs::TaskToo },
            ),
            ms_max: seconds * 1_000,
            output_bytes_max: ctx.limits.output_bytes_max.saturating_sub(FRAME_BYTES) / 2,
        };
        let ended = process::run(job, &self.warden, &ctx.cancel)
            .await
            .map_err(|source| ToolError::file("start", &self.shell, source))?;
        if ended.ending == Ending::Cancelled {
            return Err(ToolError::Cancelled);
        }
        let created = ctx.blocking(move |_| Ok(prepared.after())).await?;
        Ok(answer(&ended, seconds, ctx.limits.output_bytes_max, created))
    }
}

impl Shell {
    fn read_command(&self, input: &Input, place: &Place) -> Result<(Reading, Target), ToolError> {
        let cwd = folder(input, place)?;
        let mut surroundings = place.surroundings.clone();
        surroundings.vars = place.known_variables();
        surroundings.cwd.clone_from(&cwd);
        let reading = command_line::read(&input.command, &surroundings);
        let target = Target::new(reading.target.clone())
            .with("cwd", (cwd != place.surroundings.cwd).then(|| show::path(&cwd)))
            .with("timeout_s", input.timeout_s.filter(|seconds| *seconds != TIMEOUT_S_DEFAULT));
        Ok((reading, target))
    }

    fn arguments(&self, command: &str) -> Vec<OsString> {
        let flags: &[&str] =
            if self.is_bash { &["--noprofile", "--norc", "-c", "--"] } else { &["-c", "--"] };
        flags.iter().copied().chain([command]).map(OsString::from).collect()
    }
}

fn folder(input: &Input, place: &Place) -> Result<PathBuf, ToolError> {
    match &input.cwd {
        Some(text) => place.reading("cwd", text),
        None => Ok(place.surroundings.cwd.clone()),
    }
}

/// What was looked at before the command, to say afterwards what it did.
struct Prepared {
    executed: Vec<ExecutedFile>,
    /// Paths that it writes and that were not there, or what above them was not there.
    absent: Vec<PathBuf>,
    side_effect: SideEffect,
}

/// What a command did.
struct After {
    created: Vec<String>,
    executed: Vec<ExecutedFile>,
    side_effect: SideEffect,
}

fn prepare(
    reading: &Reading,
    command: String,
    cwd: PathBuf,
    gate: &Gate,
    halt: &Halt,
) -> Result<Prepared, ToolError> {
    let executed = executed(&reading.executes, halt);
    let touched = touches(&reading.verdict);
    let always = match &reading.verdict {
        Verdict::ReadOnly => None,
        Verdict::Writes { .. } => Some("it is not read-only".to_owned()),
        Verdict::Opaque { reason } => Some(format!("it is not provably read-only: {reason}")),
    };
    let written = touched.iter().filter(|touch| !touch.is_delete);
    let absent: Vec<PathBuf> = written.filter_map(|touch| topmost_absent(&touch.path)).collect();
    let side_effect = match &reading.verdict {
        Verdict::ReadOnly => SideEffect::None,
        Verdict::Writes { .. } if absent.len() == touched.len() => SideEffect::Reversible,
        Verdict::Writes { .. } | Verdict::Opaque { .. } => SideEffect::Irreversible,
    };
    if always.is_some() {
        let cwd = resolve::fully(&cwd);
        let plan = Plan { tool: "shell", command, cwd, touches: touched, executed: executed.clone(), always };
        gate.check(&plan)?;
    }
    Ok(Prepared { executed, absent, side_effect })
}

impl Prepared {
    fn after(self) -> After {
        let mut created = BTreeSet::new();
        for path in &self.absent {
            if std::fs::symlink_metadata(path).is_ok() {
                add_created(path, &mut created);
            }
        }
        let created = created.iter().map(|path| show::path(path)).collect();
        After { created, executed: self.executed, side_effect: self.side_effect }
    }
}

/// The path itself or the outermost folder above it that is not there either; `None` when the path is there.
fn topmost_absent(path: &Path) -> Option<PathBuf> {
    let is_absent = |path: &&Path| std::fs::symlink_metadata(path).is_err();
    path.ancestors().take_while(is_absent).last().map(Path::to_path_buf)
}

/// A new file, or a new folder with what is in it.
fn add_created(path: &Path, created: &mut BTreeSet<PathBuf>) {
    use crate::walk::measure::{Bounds, Step, walk};
    let bounds = Bounds { entries_max: CREATED_BELOW_MAX, ..Bounds::new(&crate::tool::Limits::default()) };
    created.insert(path.to_path_buf());
    // A new link is the link and nothing behind it.
    if path.is_symlink() {
        return;
    }
    drop(walk(path, bounds, &Halt::default(), |entry| {
        created.insert(entry.path.to_path_buf());
        Step::On
    }));
}

fn executed(files: &[PathBuf], halt: &Halt) -> Vec<ExecutedFile> {
    let hashed = files.iter().filter_map(|path| {
        let hashed = hash::file(path, Algorithm::Blake3, halt).ok()?;
        Some(ExecutedFile { path: show::path(path), hash: hashed.hex })
    });
    hashed.collect()
}

fn answer(ended: &Ended, seconds: u64, output_bytes_max: usize, after: After) -> ToolAnswer {
    let stream_bytes_max = output_bytes_max.saturating_sub(FRAME_BYTES) / 2;
    let (exit_code, error_kind) = outcome(ended.ending);
    let mut text = headline(ended.ending, seconds);
    if ended.stdout.is_empty() && ended.stderr.is_empty() {
        text.push_str("\n(it printed nothing)");
    }
    if !ended.stdout.is_empty() {
        text.push('\n');
        text.push_str(&ended.stdout.text(stream_bytes_max));
    }
    if !ended.stderr.is_empty() {
        text.push_str(if text.ends_with('\n') { "[errors]\n" } else { "\n[errors]\n" });
        text.push_str(&ended.stderr.text(stream_bytes_max));
    }
    if ended.left_behind > 0 {
        let processes = show::count(ended.left_behind as u64, "process", "processes");
        text.push_str(&format!("\n[{processes} that it left running in the background was stopped]"));
    }
    let facts = json!({
        "exit_code": exit_code,
        "stdout": ended.stdout.text(FACTS_STREAM_BYTES_MAX),
        "stderr": ended.stderr.text(FACTS_STREAM_BYTES_MAX),
        "timed_out": ended.ending == Ending::TimedOut,
        "complete": ended.stdout.total <= FACTS_STREAM_BYTES_MAX as u64
            && ended.stderr.total <= FACTS_STREAM_BYTES_MAX as u64,
    });
    ToolAnswer {
        ok: error_kind.is_none(),
        error_kind,
        exit_code,
        text,
        facts: Some(Any(facts)),
        executed_files: after.executed,
        created: after.created,
        side_effect: after.side_effect,
        ..ToolAnswer::default()
    }
}

fn outcome(ending: Ending) -> (Option<i32>, Option<ErrorKind>) {
    match ending {
        Ending::Exit(0) => (Some(0), None),
        Ending::Exit(126) => (Some(126), Some(ErrorKind::Permission)),
        Ending::Exit(127) => (Some(127), Some(ErrorKind::MissingTool)),
        Ending::Exit(code) => (Some(code), Some(ErrorKind::Exit)),
        Ending::Signal(_) => (None, Some(ErrorKind::Signal)),
        Ending::TimedOut => (None, Some(ErrorKind::Timeout)),
        Ending::Cancelled => (None, Some(ErrorKind::Interrupted)),
    }
}

/// The first line. Success has no digit in it, so that the first number of the text is the first number of the output.
fn headline(ending: Ending, seconds: u64) -> String {
    match ending {
        Ending::Exit(0) => "exit code zero".to_owned(),
        Ending::Exit(126) => "exit code 126: the program may not be run".to_owned(),
        Ending::Exit(127) => "exit code 127: there is no such program".to_owned(),
        Ending::Exit(code @ 129..=159) => {
            format!("exit code {code}: a part of it was ended by signal {}", code - 128)
        }
        Ending::Exit(code) => format!("exit code {code}"),
        Ending::Signal(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut => {
            format!("TIMED OUT after {seconds} s: it and everything it started was stopped. Output so far:")
        }
        Ending::Cancelled => "cancelled".to_owned(),
    }
}
