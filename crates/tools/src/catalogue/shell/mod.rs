//! `shell`: runs a command line. Read-only commands run at once, all others only with a grant.
//!
//! A read-only command runs as it was parsed ([`setpoint_command_line::Plan::rendered`]), after a check of where its
//! paths lead; any other runs as written. Both run with `bash --noprofile --norc -c` if there is bash, otherwise with
//! `sh -c`.

mod answer;
mod background;
mod code;
mod elsewhere;
mod executed;
mod house;
mod look;
mod matching;
mod plain;
mod remove;
mod repository;
mod sandboxed;
mod traces;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use setpoint_command_line::{self as command_line, Reading, Verdict};
use setpoint_protocol::gate::{Cause, Stage};
use setpoint_protocol::tool::{CallReading, CapabilityClass, Effect, ExecutedFile, SideEffect, ToolAnswer};

use self::answer::{CommandEffects, FRAME_BYTES};
pub(crate) use self::background::BackgroundTool;
pub use self::background::{DEADLINE_S_DEFAULT, DEADLINE_S_MAX};
pub use self::code::CODE_BYTES_MAX;
pub(crate) use self::code::RunCode;
use self::elsewhere::Beyond;
use self::executed::executed;
use self::remove::Removal;
use self::repository::RepositoryCheck;
use self::sandboxed::{Line, Waiting};
use super::git::{self, Settings};
use crate::answer::through_links;
use crate::approval::{Gate, Plan, resolve};
use crate::background::{BACKGROUND_MAX, Folder};
use crate::catalogue::prelude::*;
use crate::host::{self, Host};
use crate::process::Job;
use crate::process::env::{self, Programs};
use crate::target::{self, Target};
use crate::typed::{self, Typed, tool_ids};

/// Seconds that a command may take if the call gives no timeout.
pub const TIMEOUT_S_DEFAULT: u64 = 60;
/// Longest timeout in seconds; a longer one is reduced to it.
pub const TIMEOUT_S_MAX: u64 = 600;

pub(crate) struct Shell {
    host: Host,
    shell: PathBuf,
    is_bash: bool,
    waiting: Waiting,
}

impl Shell {
    pub(crate) fn new(host: &Host) -> Self {
        let (shell, is_bash) = host::shell();
        Shell { host: host.clone(), shell, is_bash, waiting: Waiting::default() }
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
    /// Whether to run it outside the sandbox, with the network and the whole machine: a person is asked first.
    outside: Option<bool>,
}

/// The description on a machine with a sandbox.
const ABOUT_IN_SANDBOX: &str = "Runs a shell command in the sandbox and gives exit code, output and errors. It has no \
    network and sees only this folder, the workspace and the system's programs. What it changes here is kept, and can \
    be undone; a person is asked about what other programs obey. Nothing keeps running in the background, and `/tmp` is empty each time. Prefer the \
    purpose-made tools for reading, searching and measuring.";

impl Typed for Shell {
    type Input = Input;
    const NAME: &'static str = "shell";
    const ABOUT: &'static str = "Runs a shell command and gives exit code, output and errors. A command runs at once when \
         it only reads and is literal: known programs such as ls, cat, grep, rg, find, git log, without variables, \
         substitutions, loops or redirections to files. Any other needs a person's consent first. Nothing keeps running \
         in the background. Prefer the purpose-made tools for reading, searching and measuring.";
    const GIVES: &'static str = "exit code, output; /exit_code /stdout /stderr";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;
    const CORE: bool = true;

    fn about(&self) -> Cow<'static, str> {
        if self.host.sandbox().is_some() { ABOUT_IN_SANDBOX.into() } else { Self::ABOUT.into() }
    }

    fn input_schema(&self) -> setpoint_protocol::Any {
        let mut schema = typed::schema::<Input>();
        if self.host.sandbox().is_none()
            && let Some(parameters) = schema.0.get_mut("properties").and_then(Value::as_object_mut)
        {
            parameters.remove("outside");
        }
        schema
    }

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        self.read_command(input, place).map(|(_, target)| target)
    }

    fn reading(&self, input: &Input, place: &Place) -> Result<CallReading, ToolError> {
        let (reading, target) = self.read_command(input, place)?;
        let ids = reading.programs.iter().map(|program| format!("shell/{program}"));
        let mut tools: Vec<_> = ids.filter_map(|id| id.parse().ok()).collect();
        if tools.is_empty() {
            tools = tool_ids(Self::NAME);
        }
        let effect = if reading.verdict.is_read_only() { Effect::ReadOnly } else { Effect::Unsafe };
        let beyond = Some(target::bounded(reading.script));
        Ok(CallReading { tools, target: target.into_text(), beyond, effect, volatile: reading.volatile })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let (command, place) = (input.command.clone(), ctx.place());
        let cwd = folder(&input, &place)?;
        let answer = self.carry_out(input, ctx).await?;
        let follows_links =
            ctx.blocking(move |_| Ok(elsewhere::follows_links(&command, &cwd, &place))).await?;
        Ok(if follows_links { through_links(answer) } else { answer })
    }
}

impl Shell {
    async fn carry_out(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let seconds = seconds(input.timeout_s)?;
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
        if ctx.probe && !reading.verdict.is_read_only() {
            return self.probe(reading, input.command, cwd, seconds, ctx).await;
        }
        let is_about_elsewhere = is_about_elsewhere(&input.command, &cwd, ctx).await?;
        let has_neighbours = self.host.background().beside(ctx.task.as_ref()).is_some();
        let wants_sandbox = !input.outside.unwrap_or_default() && self.has_sandbox(ctx);
        let beyond = wants_sandbox
            .then(|| self.beyond_sandbox(&input.command, &reading, &cwd, has_neighbours, ctx))
            .flatten();
        let can_sandbox = wants_sandbox && beyond.is_none();
        let stage = match self.host.sandbox() {
            Some(_) if !can_sandbox => Stage::Outside,
            _ => Stage::Plain,
        };
        // Held until it has ended: what was looked at is what runs, and what a command that only reads will read.
        let turn = ctx.turns.to_run(ctx).await?;
        let settled = self.settle(&reading, input.command.clone(), cwd.clone(), stage, beyond, ctx).await;
        let mut settled = match settled {
            Err(ToolError::Approval(need)) if can_sandbox => {
                drop(turn);
                return self.in_sandbox(*need, self.line(reading, input.command), cwd, seconds, ctx).await;
            }
            settled => settled?,
        };
        let is_read_only = settled.programs == Programs::System;
        let mut env = env::for_task(self.host.env(), &ctx.surroundings, settled.programs);
        if is_read_only {
            git::without_other_programs(&mut env, &settled.settings);
            // A locale that came with the connection may not be installed here: bash would warn on stderr, where
            // figures are read, and programs would print in another language.
            if let Some(locale) = env.get_mut(OsStr::new("LC_ALL")) {
                *locale = "C.UTF-8".into();
            }
        }
        let job = Job {
            program: self.shell.clone(),
            args: self.arguments(&settled.script),
            cwd: std::mem::take(&mut settled.cwd),
            env,
            ms_max: seconds * 1_000,
            output_bytes_max: ctx.limits.output_bytes_max.saturating_sub(FRAME_BYTES) / 2,
            is_bounded: is_read_only,
            watch: None,
        };
        let worked_in = settled.removal.as_ref().and_then(Removal::folder).unwrap_or(&job.cwd).to_path_buf();
        let observed = (!is_read_only).then_some(worked_in);
        let (ended, changes) = self.run_plain(job, observed.as_deref(), ctx).await?;
        drop(turn);
        let acts_elsewhere = settled.acts_elsewhere;
        let mut after = settled.after();
        after.is_about_elsewhere = is_about_elsewhere;
        if let Some(changes) = changes {
            if changes.is_empty() && !acts_elsewhere {
                after.side_effect = SideEffect::None;
            }
            after.changes = Some(changes);
        }
        Ok(answer::answer(&ended, seconds, ctx.limits.output_bytes_max, &place.surroundings.cwd, after))
    }
}

/// A command that may run, in the form in which it runs. The default is a read-only one.
#[derive(Default)]
struct SettledCommand {
    script: String,
    cwd: PathBuf,
    programs: Programs,
    executed: Vec<ExecutedFile>,
    side_effect: SideEffect,
    removal: Option<Removal>,
    /// Whether it may act outside the task's folders.
    acts_elsewhere: bool,
    /// The settings that Git gets from the person's own configuration, if the command is read-only.
    settings: Settings,
}

impl SettledCommand {
    fn after(self) -> CommandEffects {
        let created = self.removal.map(|removal| removal.created()).unwrap_or_default();
        CommandEffects {
            created,
            executed: self.executed,
            side_effect: self.side_effect,
            ..CommandEffects::default()
        }
    }
}

impl Shell {
    fn read_command(&self, input: &Input, place: &Place) -> Result<(Reading, Target), ToolError> {
        let cwd = folder(input, place)?;
        let surroundings =
            command_line::Surroundings { cwd: cwd.clone(), home: place.surroundings.home.clone() };
        let mut reading = command_line::read(&input.command, &surroundings);
        if !reading.verdict.is_read_only()
            && let Some(own) = command_line::read_form(&input.command, self.host.forms())
        {
            reading = own;
        }
        let target = Target::new(reading.target.clone())
            .with("cwd", (cwd != place.surroundings.cwd).then(|| show::path(&cwd)))
            .with("timeout_s", input.timeout_s.filter(|seconds| *seconds != TIMEOUT_S_DEFAULT))
            .with("outside", input.outside.filter(|outside| *outside));
        Ok((reading, target))
    }

    /// Decides whether the command may run, and in which form.
    ///
    /// # Errors
    /// If it needs consent, or would enter Setpoint's own house.
    async fn settle(
        &self,
        reading: &Reading,
        command: String,
        cwd: PathBuf,
        stage: Stage,
        beyond: Option<Beyond>,
        ctx: &ToolCtx,
    ) -> Result<SettledCommand, ToolError> {
        let gate = Gate::new(ctx);
        gate.check_command(&command)?;
        let place = house::Surroundings::new(&cwd, ctx);
        let reason = match &reading.verdict {
            Verdict::ReadOnly(plan) => match self.look(plan, &cwd, ctx).await? {
                Err(reason) => reason,
                Ok((script, settings)) => {
                    return Ok(SettledCommand { script, cwd, settings, ..SettledCommand::default() });
                }
            },
            Verdict::RemovesOrMakes(found) => {
                let found = found.clone();
                let settle = move |_: &Halt| {
                    place.check(&command)?;
                    Removal::settle(&found, command, &cwd, stage, &gate)
                };
                return ctx.blocking(settle).await;
            }
            Verdict::Asks(reason) => reason.to_string(),
        };
        let reason = match beyond {
            Some(beyond) => format!("{reason}; {}", beyond.why()),
            None => reason,
        };
        let reason = match self.ended_background(&command, ctx) {
            Some(names) => format!("{names} ended, so `localhost` is this machine itself: {reason}"),
            None => reason,
        };
        let (executes, programs) = (reading.executes.clone(), reading.programs.clone());
        let (roots, ground) = (roots(&cwd, ctx), ctx.place());
        ctx.blocking(move |halt| {
            place.check(&command)?;
            let executed = executed(&executes, &cwd, halt);
            let real = resolve::fully(&cwd);
            let cause = Some(Cause::Command(reason));
            let plan = Plan { cwd: real, executed, cause, stage, ..gate.plan("shell", command, []) };
            gate.check(&plan)?;
            let acts_elsewhere = elsewhere::acts(&plan.command, &programs, &roots, &cwd, &ground);
            Ok(SettledCommand {
                script: plan.command,
                cwd,
                programs: Programs::TaskToo,
                executed: plan.executed,
                side_effect: SideEffect::Irreversible,
                acts_elsewhere,
                ..SettledCommand::default()
            })
        })
        .await
    }

    /// Returns what the task kept running in the background, for a command that was meant for it: it names this machine, and
    /// nothing runs any more.
    fn ended_background(&self, command: &str, ctx: &ToolCtx) -> Option<String> {
        let background = self.host.background();
        if !elsewhere::is_about_loopback(command) || background.beside(ctx.task.as_ref()).is_some() {
            return None;
        }
        let mut names = background.of(ctx.task.as_ref()?).names();
        // Of the time before a restart.
        if let Some(kept) = &ctx.kept {
            names.extend(Folder::of(kept, self.host.keys()).names());
        }
        names.sort();
        names.dedup();
        match names.len() {
            0 => None,
            1..=BACKGROUND_MAX => Some(names.join(", ")),
            _ => Some("all that ran in the background".to_owned()),
        }
    }

    /// Checks what a command with a read-only text would read now. Returns the script to run and Git's settings, or why
    /// it needs consent.
    async fn look(
        &self,
        plan: &command_line::Plan,
        cwd: &Path,
        ctx: &ToolCtx,
    ) -> Result<Result<(String, Settings), String>, ToolError> {
        let at = plan.directory().map_or_else(|| cwd.to_path_buf(), |directory| cwd.join(directory));
        let programs = self.find_programs(plan.programs(), ctx);
        let (reads, searches) = (plan.reads().to_vec(), plan.searches().to_vec());
        let (started, ground) = (cwd.to_path_buf(), look::Ground::new(ctx));
        let looked = ctx
            .blocking(move |halt| {
                halt.rooms().check(&started)?;
                let own = look::programs(&programs, &ground);
                let reason = own.or(look::reads(&reads, &at, halt)?).map(|reason| reason.to_string());
                Ok((reason, look::left_out(&searches, &at, halt)))
            })
            .await?;
        let looked = match looked {
            (Some(reason), _) => return Ok(Err(reason)),
            (None, left_out) => plan.rendered_without(&left_out),
        };
        Ok(match repository::look(plan, cwd, &self.host, ctx).await? {
            RepositoryCheck::Asks(reason) => Err(reason),
            RepositoryCheck::Quiet(settings) => Ok((looked, settings)),
        })
    }

    /// Returns the paths of a read-only command's programs.
    fn find_programs(&self, names: &[String], ctx: &ToolCtx) -> Vec<PathBuf> {
        let env = env::for_task(self.host.env(), &ctx.surroundings, Programs::System);
        names.iter().filter_map(|name| env::find_program(name, &env)).collect()
    }

    /// Returns the command line as what runs in the sandbox.
    fn line(&self, reading: Reading, text: String) -> Line {
        let args = self.arguments(&text);
        Line { tool: Self::NAME, text, program: self.shell.clone(), args, executes: reading.executes }
    }

    fn arguments(&self, command: &str) -> Vec<OsString> {
        let flags: &[&str] =
            if self.is_bash { &["--noprofile", "--norc", "-c", "--"] } else { &["-c", "--"] };
        flags.iter().copied().chain([command]).map(OsString::from).collect()
    }
}

/// Returns how many seconds a command may take.
pub(super) fn seconds(timeout_s: Option<u64>) -> Result<u64, ToolError> {
    match timeout_s {
        Some(seconds @ 1..=TIMEOUT_S_MAX) => Ok(seconds),
        Some(_) => Err(ToolError::parameter("timeout_s", format!("it must be 1 to {TIMEOUT_S_MAX}"))),
        None => Ok(TIMEOUT_S_DEFAULT),
    }
}

fn folder(input: &Input, place: &Place) -> Result<PathBuf, ToolError> {
    match &input.cwd {
        Some(text) => place.path("cwd", text),
        None => Ok(place.surroundings.cwd.clone()),
    }
}

/// Returns the folders that a command is expected to work in: its own, the working directory and the workspace.
fn roots(cwd: &Path, ctx: &ToolCtx) -> Vec<PathBuf> {
    let place = ctx.place();
    let mut roots = vec![place.surroundings.cwd.clone(), place.workspace().to_path_buf()];
    // The path is expressed below the folder that contains it, so that each entry is reported under one path.
    let real = resolve::fully(cwd);
    let within = |root: &PathBuf| real.strip_prefix(resolve::fully(root)).ok().map(|below| root.join(below));
    roots.push(roots.iter().find_map(within).unwrap_or_else(|| cwd.to_path_buf()));
    roots.dedup();
    roots
}

/// Returns whether the command runs in, or names, a place outside the task's folders.
async fn is_about_elsewhere(command: &str, cwd: &Path, ctx: &ToolCtx) -> Result<bool, ToolError> {
    let (place, command, cwd) = (ctx.place(), command.to_owned(), cwd.to_path_buf());
    ctx.blocking(move |_| {
        let roots = [place.surroundings.cwd.clone(), place.workspace().to_path_buf()];
        let real = resolve::fully(&cwd);
        let is_here = roots.iter().any(|root| real.starts_with(resolve::fully(root)));
        Ok(!is_here || elsewhere::is_about(&command, &roots, &cwd, &place))
    })
    .await
}

/// Returns whether a path is one of the folders or below one.
fn is_below_one(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}
