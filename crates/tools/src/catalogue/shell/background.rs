//! `background`: keeps commands running in the sandbox beside the task's calls, such as a server or a long build.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use setpoint_protocol::Any;
use setpoint_protocol::tool::{CallReading, ErrorKind, SandboxTier};
use setpoint_sandbox::Outer;
use tokio::time::Instant;

use super::sandboxed::{Line, Placed, Ran};
use super::{Input as CommandInput, Shell};
use crate::approval::Gate;
use crate::background::{
    BACKGROUND_MAX, BACKGROUND_STARTS_MAX, Folder, KeptProcess, OfTask, Process, Start, Wanted,
};
use crate::catalogue::prelude::*;
use crate::changeset::Room;
use crate::host::Host;
use crate::process::{CapturedOutput, Ending, LastingProgram, ProgramEnd};
use crate::sandbox::Sandbox;
use crate::typed::tool_ids;

/// Seconds after which a process is ended if the call gives no number.
pub const DEADLINE_S_DEFAULT: u64 = 600;
/// Longest such time in seconds; a longer one is reduced to it.
pub const DEADLINE_S_MAX: u64 = 3_600;
/// Longest time in seconds that a call waits for something.
const WAIT_S_MAX: u64 = 60;
/// Seconds that a call waits for what it names, if it gives no number.
const WAIT_S_DEFAULT: u64 = 10;
/// Milliseconds that a start waits for first output, if it names nothing.
const FIRST_MS: u64 = 1_000;
/// Bytes of output that are kept in memory of each process.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of output in an answer.
const SHOWN_BYTES_MAX: usize = 8 * 1024;

pub(crate) struct BackgroundTool {
    shell: Shell,
    /// Of a machine that also has a keeper, which ends what this starts.
    sandbox: Option<Sandbox>,
}

impl BackgroundTool {
    pub(crate) fn new(host: &Host) -> Self {
        let sandbox = host.sandbox().filter(|_| host.keeper().is_some()).cloned();
        BackgroundTool { shell: Shell::new(host), sandbox }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Start,
    Poll,
    Stop,
}

#[derive(Clone, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What to do.
    action: Action,
    /// Of `start`: the command line.
    command: Option<String>,
    /// Of `poll` and `stop`: which process.
    name: Option<String>,
    /// Of `start`: when it is ended, 1 to 3600 seconds, 600 if not given.
    deadline_s: Option<u64>,
    /// A text of its output, or a port, to wait for.
    wait_for: Option<String>,
    /// How long to wait for that, 1 to 60 seconds, 10 if not given.
    wait_s: Option<u64>,
}

impl Typed for BackgroundTool {
    type Input = Input;
    const NAME: &'static str = "background";
    const ABOUT: &'static str = "Keeps a command such as a server running in the sandbox: `start` names it, `poll` tells its \
         state and last output, `stop` ends it and puts what it changed in place. `shell` and `run_code` reach its ports on \
         localhost. It sees files as they were when it started.";
    const GIVES: &'static str = "state, output; /name /running /exit_code /output";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;

    fn is_offered(&self) -> bool {
        self.sandbox.is_some()
    }

    fn target(&self, input: &Input, _: &Place) -> Result<Target, ToolError> {
        let (verb, about) = match input.action {
            Action::Start => ("start", &input.command),
            Action::Poll => ("poll", &input.name),
            Action::Stop => ("stop", &input.name),
        };
        Ok(Target::new(format!("{verb} {}", about.as_deref().unwrap_or_default()))
            .with("deadline_s", input.deadline_s)
            .with("wait_for", input.wait_for.as_ref())
            .with("wait_s", input.wait_s))
    }

    fn reading(&self, input: &Input, place: &Place) -> Result<CallReading, ToolError> {
        let target = self.target(input, place)?.into_text();
        let beyond = Some(String::new());
        // Two polls may find something else each.
        let volatile = input.action == Action::Poll;
        Ok(CallReading { tools: tool_ids(Self::NAME), target, beyond, effect: Self::EFFECT, volatile })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let Some(task) = &ctx.task else {
            return Err(ToolError::parameter("action", "only a task can keep something running"));
        };
        let of_task = self.shell.host.background().of(task);
        let wanted = wanted(&input)?;
        if input.action == Action::Start {
            let process = self.start(&input, &of_task, ctx).await?;
            let answer = waited(&process, wanted.unwrap_or((Wanted::Output, FIRST_MS)), ctx).await;
            process.save().await;
            return Ok(answer);
        }
        let Some(name) = input.name else {
            let reason =
                format!("`poll` and `stop` need the name of a process, as `p1`; {}", known(&of_task));
            return Err(ToolError::parameter("name", reason));
        };
        let folder = self.folder(ctx);
        let Some(process) = of_task.named(&name) else {
            let Some(kept) = folder.and_then(|folder| folder.read(&name)) else {
                return Err(unknown(&name, &of_task));
            };
            return Ok(of_before(&name, kept));
        };
        let answer = match (input.action, wanted) {
            (Action::Stop, _) => return self.stop(&process, ctx).await,
            (_, Some(wanted)) => waited(&process, wanted, ctx).await,
            (_, None) => said(&process, ""),
        };
        process.save().await;
        Ok(answer)
    }
}

impl BackgroundTool {
    fn folder(&self, ctx: &ToolCtx) -> Option<Folder> {
        Some(Folder::of(ctx.kept.as_deref()?, self.shell.host.keys()))
    }

    /// Starts a command. It asks nothing: a command that would have to ask before it runs does not run in the background.
    async fn start(&self, input: &Input, of_task: &OfTask, ctx: &ToolCtx) -> Result<Arc<Process>, ToolError> {
        let command =
            input.command.clone().filter(|command| !command.trim().is_empty() && !command.contains('\0'));
        let command = command.ok_or_else(|| ToolError::parameter("command", "it must be a command line"))?;
        let deadline_s = match input.deadline_s {
            Some(seconds @ 1..=DEADLINE_S_MAX) => seconds,
            Some(_) => {
                return Err(ToolError::parameter("deadline_s", format!("it must be 1 to {DEADLINE_S_MAX}")));
            }
            None => DEADLINE_S_DEFAULT,
        };
        let place = ctx.place();
        let cwd = place.surroundings.cwd.clone();
        let refused = |reason: &str| ToolError::blocked_by_state("run in the background in", &cwd, reason);
        Gate::new(ctx).check_command(&command)?;
        let as_command = CommandInput { command, timeout_s: None, cwd: None, outside: None };
        let (reading, _) = self.shell.read_command(&as_command, &place)?;
        let Some(sandbox) = self.sandbox.as_ref().filter(|_| self.shell.has_sandbox(ctx)) else {
            return Err(refused("only the sandbox runs something in the background, and this task has none"));
        };
        if let Some(beyond) = self.shell.beyond_sandbox(&as_command.command, &reading, &cwd, true, ctx) {
            let why = format!("{}; `shell` can run it if a person allows it", beyond.why());
            return Err(refused(&why));
        }
        let _one_at_a_time = of_task.starting.lock().await;
        let running = of_task.running();
        if running.len() >= BACKGROUND_MAX {
            return Err(refused(&format!("{} run already; stop one first", running.join(", "))));
        }
        let folder = self.folder(ctx);
        let before = folder.iter().flat_map(Folder::names).chain(of_task.names());
        let used = before.filter_map(|name| name.strip_prefix('p')?.parse().ok()).max().unwrap_or(0);
        if used >= BACKGROUND_STARTS_MAX {
            return Err(refused(&format!("this task has started {used} already, which is the most")));
        }
        let name = format!("p{}", used + 1);
        let line = self.shell.line(reading, as_command.command);
        let process = match self.begin(sandbox, &name, &line, deadline_s, of_task.network(), ctx).await? {
            Ok(process) => process,
            // The one whose network it would have joined has ended meanwhile.
            Err(why) => match of_task.network() {
                Some(_) => return Err(not_made(&cwd, &why)),
                None => self
                    .begin(sandbox, &name, &line, deadline_s, None, ctx)
                    .await?
                    .map_err(|why| not_made(&cwd, &why))?,
            },
        };
        let process = Arc::new(process);
        of_task.add(Arc::clone(&process));
        Ok(process)
    }

    /// Starts a command beside another sandbox; returns the process, or why no sandbox could be made.
    async fn begin(
        &self,
        sandbox: &Sandbox,
        name: &str,
        line: &Line,
        deadline_s: u64,
        beside: Option<Outer>,
        ctx: &ToolCtx,
    ) -> Result<Result<Process, String>, ToolError> {
        let cwd = ctx.place().surroundings.cwd;
        let (cwd, room, executed) = self.shell.room(line, cwd, sandbox, ctx).await?;
        let job = self.shell.job_in_view(line, cwd.clone(), deadline_s, ctx);
        let mut job = sandbox.keeping(job, &room, beside)?;
        job.output_bytes_max = OUTPUT_BYTES_MAX;
        let program = LastingProgram::start(&job, &self.shell.host)
            .map_err(|source| ToolError::file("start", &job.program, source))?;
        let command = line.text.clone();
        let start = Start { name: name.to_owned(), command, cwd, executed, deadline_s, room };
        let process = Process::new(program, start, self.folder(ctx)).await;
        if process.outer.is_none() {
            let ending = process.end().await;
            if let Some(why) = crate::sandbox::why_not_made(&process.output.so_far()) {
                return Ok(Err(why));
            }
            if ending == Ending::Cancelled {
                return Ok(Err("it took too long".to_owned()));
            }
        }
        if ctx.cancel.is_cancelled() {
            process.end().await;
            return Err(ToolError::Cancelled);
        }
        Ok(Ok(process))
    }

    /// Ends a process, and puts what it changed in place if the gate allows that.
    async fn stop(&self, process: &Process, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let was_running = process.ending().is_none();
        let ending = process.end().await;
        let allowed = ctx
            .grant
            .as_ref()
            .and_then(|grant| self.shell.waiting.take(grant, &process.command, &process.cwd));
        let ran = match (allowed, process.take_room()) {
            (Some(ran), _) => ran,
            (None, Some(room)) => ran(process, room, ending, ctx).await?,
            (None, None) => {
                return Ok(said(process, gone(process, ending)));
            }
        };
        let (ran, placed) = self.shell.settle_changes(ran, ctx).await?;
        process.is_placed.store(true, Ordering::Release);
        // The call that ended it may have asked, and this is the one that was allowed.
        let had_ended = !was_running && ending != Ending::Cancelled;
        Ok(stopped(process, ran, placed, had_ended, ctx))
    }
}

/// Returns what a process that has ended changed.
async fn ran(process: &Process, room: Room, ending: Ending, ctx: &ToolCtx) -> Result<Ran, ToolError> {
    let changes = ctx.blocking(move |_| room.read()).await?;
    let ended = ProgramEnd {
        ending,
        stdout: process.output.so_far(),
        stderr: CapturedOutput::default(),
        left_behind: 0,
    };
    let (command, cwd, executed) = (process.command.clone(), process.cwd.clone(), process.executed.clone());
    Ok(Ran { tool: BackgroundTool::NAME, command, cwd, ended, changes, executed })
}

/// Says what became of the changes of a process that has none any more.
fn gone(process: &Process, ending: Ending) -> &'static str {
    match ending {
        Ending::Excess(_) => "Nothing that it changed is kept.",
        _ if process.is_placed.load(Ordering::Acquire) => "What it changed was put in place before.",
        _ => "What it changed is not in place: that was not allowed.",
    }
}

fn stopped(process: &Process, ran: Ran, placed: Placed, had_ended: bool, ctx: &ToolCtx) -> ToolAnswer {
    let special = ran.special();
    let (_, after) = ran.effects(placed);
    let mut answer = said(process, if had_ended { "It had ended before." } else { "" });
    if let Some(changes) = &after.changes {
        if let Some(line) = changes.line(&ctx.place().surroundings.cwd) {
            answer.text.push_str(&format!("\n{line}"));
        }
        if let Some(facts) = &mut answer.facts {
            changes.add_to(&mut facts.0);
        }
    }
    answer.text.push_str(&special);
    ToolAnswer {
        executed_files: after.executed,
        created: after.created,
        side_effect: after.side_effect,
        ..answer
    }
}

/// Returns what a call waits for, and for how many milliseconds.
fn wanted(input: &Input) -> Result<Option<(Wanted, u64)>, ToolError> {
    let seconds = match input.wait_s {
        Some(seconds @ 1..=WAIT_S_MAX) => seconds,
        Some(_) => return Err(ToolError::parameter("wait_s", format!("it must be 1 to {WAIT_S_MAX}"))),
        None => WAIT_S_DEFAULT,
    };
    let Some(text) = &input.wait_for else { return Ok(None) };
    let wanted = match text.parse() {
        Ok(port) => Wanted::Port(port),
        Err(_) if text.is_empty() => {
            return Err(ToolError::parameter("wait_for", "it must be a text or a port"));
        }
        Err(_) => Wanted::Text(text.clone()),
    };
    Ok(Some((wanted, seconds * 1_000)))
}

/// Waits for something, and says whether it came.
async fn waited(process: &Process, (wanted, ms_max): (Wanted, u64), ctx: &ToolCtx) -> ToolAnswer {
    let has_come = process.wait(&wanted, ms_max, &ctx.cancel).await;
    let what = match wanted {
        Wanted::Output => return said(process, ""),
        Wanted::Text(text) => format!("`{}` in its output", show::line(&text)),
        Wanted::Port(port) => format!("something that listens on port {port}"),
    };
    if has_come {
        return said(process, &format!("There is {what}."));
    }
    let yet = if process.ending().is_some() { "" } else { " yet" };
    let answer = said(process, &format!("There is no {what}{yet}."));
    ToolAnswer { ok: false, error_kind: Some(ErrorKind::Timeout), ..answer }
}

/// Tells the state of a process and its last output.
fn said(process: &Process, more: &str) -> ToolAnswer {
    let ending = process.ending();
    let name = &process.name;
    let state = match ending {
        None => {
            let left = process.deadline_s.saturating_sub((Instant::now() - process.started).as_secs());
            format!("{name} is running, for at most {left} more seconds")
        }
        Some(Ending::Cancelled) => format!("{name} was stopped"),
        Some(ending) => format!("{name} has ended: {ending}"),
    };
    let output = process.output.so_far();
    let exit_code = match ending {
        Some(Ending::Exit(code)) => Some(code),
        _ => None,
    };
    let more = if more.is_empty() { String::new() } else { format!(". {more}") };
    answer(
        name,
        &format!("{state}{more}"),
        &process.command,
        &output.text(SHOWN_BYTES_MAX),
        ending.is_none(),
        exit_code,
    )
}

/// Tells what is known of a process of the time before a restart.
fn of_before(name: &str, kept: KeptProcess) -> ToolAnswer {
    let state = match kept.ending {
        Some(ending) => format!("{name} had ended before the task was interrupted: {ending}"),
        None => format!("{name} ended when the task was interrupted"),
    };
    let state = format!("{state}. What it changed and was not put in place is discarded");
    answer(name, &state, &kept.command, &kept.output, false, None)
}

fn answer(
    name: &str,
    state: &str,
    command: &str,
    output: &str,
    is_running: bool,
    exit_code: Option<i32>,
) -> ToolAnswer {
    let command = show::line(command);
    let printed = if output.is_empty() { "(it printed nothing)" } else { output };
    let facts = json!({ "name": name, "running": is_running, "exit_code": exit_code, "output": output });
    ToolAnswer {
        ok: true,
        text: format!("{state}\ncommand: {command}\n{printed}"),
        facts: Some(Any(facts)),
        side_effect: SideEffect::None,
        tier: Some(SandboxTier::Full),
        ..ToolAnswer::default()
    }
}

fn unknown(name: &str, of_task: &OfTask) -> ToolError {
    let reason = format!("this task keeps no `{}` running: {}", show::line(name), known(of_task));
    ToolError::parameter("name", reason)
}

fn known(of_task: &OfTask) -> String {
    let names = of_task.names();
    if names.is_empty() { "it has started none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

fn not_made(cwd: &std::path::Path, why: &str) -> ToolError {
    ToolError::blocked_by_state("run in the background in", cwd, format!("no sandbox could be made: {why}"))
}
