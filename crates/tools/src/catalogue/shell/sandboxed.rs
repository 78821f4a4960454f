//! Commands in the sandbox: a probe on a view whose changes are discarded, and a command that is not known to be read-only
//! on a view whose changes count only once the gate has let them through.
//!
//! So a person is asked about what a command did, not about what it might do, and not at all if it changed nothing, or
//! nothing but what the task may change. A command whose text shows that it is about something the sandbox does not
//! have (the network, another place of this machine) asks before it runs, as on a machine without a sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use setpoint_command_line::Reading;
use setpoint_machine::gate::{self, Decision};
use setpoint_protocol::gate::Stage;
use setpoint_protocol::tool::{ApprovalNeed, ExecutedFile, SandboxTier, SideEffect, ToolAnswer};
use setpoint_sandbox::changes::Unkept;
use setpoint_sandbox::is_apart;

use super::answer::{self, CommandEffects, FRAME_BYTES};
use super::elsewhere::{self, Beyond};
use super::traces::Changes;
use super::{Shell, executed, house, roots};
use crate::approval::{Gate, Plan, resolve};
use crate::caches;
use crate::changeset::{ChangeSet, Room};
use crate::error::ToolError;
use crate::place::Place;
use crate::process::env::{self, Environment, Programs};
use crate::process::{self, Ending, Job, ProgramEnd};
use crate::sandbox::{self, Sandbox};
use crate::show;
use crate::tool::{Limits, ToolCtx};
use crate::typed::Typed;

/// Folders of the system that a sandbox shows.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"];
/// Maximum commands whose changes wait for a person's word; the oldest is forgotten, and would run again.
const WAITING_MAX: usize = 16;
/// Maximum paths of a question by name. Of a longer list no rule about paths can allow the whole.
const NAMED_MAX: usize = 500;
/// Maximum created paths that the task may change later without a question; folders come before what is in them.
const CREATED_MAX: usize = 2_000;
/// Maximum special files that are named.
const SPECIAL_MAX: usize = 5;
/// Milliseconds that putting changes in place may take.
const APPLY_MS_MAX: u64 = 600_000;

/// What the answer of a command adds to what the sandbox lacks.
const WAY_OUT: &str = "; with `outside` it can run outside, if a person allows it";

/// What programs print where they miss something that the sandbox does not have.
const LACKS: &[&str] = &[
    "No such file or directory",
    "not found",
    "Permission denied",
    "Operation not permitted",
    "Read-only file system",
    "Network is unreachable",
    "Connection refused",
    "name resolution",
    "resolve host",
    "getaddrinfo",
];

/// Commands that ran, and whose changes wait for a person's word.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(Arc<Mutex<Vec<(ApprovalNeed, Ran)>>>);

impl Waiting {
    fn add(&self, need: ApprovalNeed, ran: Ran) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(other, _)| other.digest != need.digest);
        if list.len() >= WAITING_MAX {
            list.remove(0);
        }
        list.push((need, ran));
    }

    /// Returns the latest run of this command whose changes this approval covers.
    pub(super) fn take(&self, grant: &str, command: &str, named_cwd: &Path) -> Option<Ran> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |ran: &Ran| ran.command == command && ran.cwd == resolve::fully(named_cwd);
        let at = list.iter().rposition(|(need, ran)| need.is_covered_by(grant) && is_meant(ran))?;
        Some(list.remove(at).1)
    }
}

/// A program to run, and the text that a person is shown for it.
#[derive(Debug)]
pub(super) struct Line {
    /// The name of the tool that runs it.
    pub(super) tool: &'static str,
    pub(super) text: String,
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// The files of the task that it executes.
    pub(super) executes: Vec<PathBuf>,
}

/// A program that ran in the sandbox.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) tool: &'static str,
    /// The text that a person is shown for it.
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) ended: ProgramEnd,
    pub(super) changes: ChangeSet,
    pub(super) executed: Vec<ExecutedFile>,
}

/// Changes that were put in place.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// What was not there before.
    created: Vec<PathBuf>,
    /// Whether all that was there before is kept, for an undo.
    is_kept: bool,
}

impl Shell {
    /// Returns whether this machine and this task have a sandbox for commands.
    pub(super) fn has_sandbox(&self, ctx: &ToolCtx) -> bool {
        ctx.surroundings.has_sandbox && self.host.sandbox().is_some()
    }

    /// Returns what keeps a command from running in the sandbox, if something does. There it can use the loopback interface,
    /// with what the task keeps running, if it `has_neighbours`.
    pub(super) fn beyond_sandbox(
        &self,
        command: &str,
        reading: &Reading,
        cwd: &Path,
        has_neighbours: bool,
        ctx: &ToolCtx,
    ) -> Option<Beyond> {
        let (in_sight, place) = (in_sight(cwd, ctx), ctx.place());
        if has_neighbours && elsewhere::is_about_loopback(command) {
            let programs: Vec<String> =
                reading.programs.iter().filter(|program| !elsewhere::is_client(program)).cloned().collect();
            let command = command.replace("://", " ");
            return elsewhere::beyond_sandbox(&command, &programs, &in_sight, cwd, &place);
        }
        elsewhere::beyond_sandbox(command, &reading.programs, &in_sight, cwd, &place)
    }

    /// Runs a program in the sandbox, and puts what it changed in place if the gate allows that. `need` is the question
    /// that it would take to run it outside.
    pub(super) async fn in_sandbox(
        &self,
        need: ApprovalNeed,
        line: Line,
        cwd: PathBuf,
        seconds: u64,
        ctx: &ToolCtx,
    ) -> Result<ToolAnswer, ToolError> {
        if let Some(ran) = ctx.grant.as_ref().and_then(|grant| self.waiting.take(grant, &line.text, &cwd)) {
            let (ran, placed) = self.settle_changes(ran, ctx).await?;
            return Ok(ran.answer(placed, seconds, ctx));
        }
        let Some(sandbox) = self.host.sandbox().cloned() else {
            return Err(ToolError::Approval(need.into()));
        };
        let (cwd, room, executed) = self.room(&line, cwd, &sandbox, ctx).await?;
        let job = self.job_in_view(&line, cwd.clone(), seconds, ctx);
        let mut beside = self.host.background().beside(ctx.task.as_ref());
        let ended = loop {
            let job = match sandbox.keeping(job.clone(), &room, beside) {
                Ok(job) => job,
                Err(error) => return Err(outside(need, &error.to_string())),
            };
            match self.run_staged(job, ctx).await? {
                Ok(ended) => break ended,
                // The process whose network it would have joined has ended just now.
                Err(_) if beside.is_some_and(|other| is_apart(&other).is_err()) => beside = None,
                Err(why) => return Err(outside(need, &why)),
            }
        };
        let changes = match ended.ending {
            Ending::Excess(_) => room.discard(),
            _ => ctx.blocking(move |_| room.read()).await?,
        };
        let ran = Ran { tool: line.tool, command: line.text, cwd, ended, changes, executed };
        let (ran, placed) = self.settle_changes(ran, ctx).await?;
        Ok(ran.answer(placed, seconds, ctx))
    }

    /// Returns the folder that it starts in, with links resolved, a room for what it changes there and in the workspace,
    /// and the files that it executes.
    pub(super) async fn room(
        &self,
        line: &Line,
        cwd: PathBuf,
        sandbox: &Sandbox,
        ctx: &ToolCtx,
    ) -> Result<(PathBuf, Room, Vec<ExecutedFile>), ToolError> {
        let house = house::Surroundings::new(&cwd, ctx);
        let (place, layers, bounds) = (ctx.place(), sandbox.layers.clone(), sandbox.bounds);
        let (text, executes) = (line.text.clone(), line.executes.clone());
        ctx.blocking(move |halt| {
            house.check(&text)?;
            let (root, cwd) = (resolve::fully(&place.surroundings.cwd), resolve::fully(&cwd));
            let folder = if cwd.starts_with(&root) { root } else { cwd.clone() };
            let space = Some(workspace(&place)?).filter(|space| *space != folder);
            let folders = [folder].into_iter().chain(space).collect();
            let room = Room::new(&layers, folders, bounds)
                .map_err(|source| ToolError::file("make a folder for changes in", &layers, source))?;
            let executed = executed(&executes, &cwd, halt);
            Ok((cwd, room, executed))
        })
        .await
    }

    /// Returns the job of a program whose changes may count.
    pub(super) fn job_in_view(&self, line: &Line, cwd: PathBuf, seconds: u64, ctx: &ToolCtx) -> Job {
        let mut env = env::for_task(self.host.env(), &ctx.surroundings, Programs::TaskToo);
        // Git refreshes its index when it only looks, which would be a change.
        env.insert("GIT_OPTIONAL_LOCKS".into(), "0".into());
        job(line.program.clone(), line.args.clone(), cwd, env, seconds, ctx)
    }

    /// Puts the changes in place, or keeps them until a person has allowed them.
    pub(super) async fn settle_changes(&self, ran: Ran, ctx: &ToolCtx) -> Result<(Ran, Placed), ToolError> {
        let gate = Gate::new(ctx);
        let patient =
            ToolCtx { limits: Limits { native_ms_max: APPLY_MS_MAX, ..ctx.limits.clone() }, ..ctx.clone() };
        let _turn = ctx.turns.to_change(ctx).await?;
        let (ran, settled) = patient
            .blocking(move |_| {
                let settled =
                    if ran.changes.is_empty() { Ok(Ok(Placed::default())) } else { ran.put_in_place(&gate) };
                Ok((ran, settled))
            })
            .await?;
        match settled? {
            Ok(placed) => Ok((ran, placed)),
            Err(need) => {
                self.waiting.add(need.clone(), ran);
                Err(ToolError::Approval(need.into()))
            }
        }
    }

    /// Runs a program of a probe on a view of the working directory. Whatever it changes there is discarded.
    pub(super) async fn probe(
        &self,
        reading: Reading,
        command: String,
        cwd: PathBuf,
        seconds: u64,
        ctx: &ToolCtx,
    ) -> Result<ToolAnswer, ToolError> {
        let refused = |reason: String| ToolError::NoProbe { tool: Self::NAME.to_owned(), reason };
        let Some(sandbox) = self.host.sandbox() else {
            return Err(refused("there is no sandbox on this machine any more".to_owned()));
        };
        // What is not in sight would seem to be gone.
        if let Some(beyond) = elsewhere::place_beyond_sandbox(&command, &roots(&cwd, ctx), &cwd, &ctx.place())
        {
            return Err(refused(beyond.why()));
        }
        let house = house::Surroundings::new(&cwd, ctx);
        let (named, executes) = (ctx.place().surroundings.cwd, reading.executes);
        let (script, folder, cwd, executed) = ctx
            .blocking(move |halt| {
                house.check(&command)?;
                let (root, cwd) = (resolve::fully(&named), resolve::fully(&cwd));
                // A probe may look at another place, as the only one in sight.
                let folder = if cwd.starts_with(&root) { root } else { cwd.clone() };
                let executed = executed(&executes, &cwd, halt);
                Ok((command, folder, cwd, executed))
            })
            .await?;
        let env = env::for_task(self.host.env(), &ctx.surroundings, Programs::TaskToo);
        let job = job(self.shell.clone(), self.arguments(&script), cwd, env, seconds, ctx);
        let job = sandbox.discarding(job, &folder)?;
        let ended = self.run_staged(job, ctx).await?;
        let ended = ended.map_err(|why| refused(format!("the sandbox could not be made: {why}")))?;
        let after = CommandEffects { executed, tier: SandboxTier::Full, ..CommandEffects::default() };
        Ok(answer::answer(&ended, seconds, ctx.limits.output_bytes_max, &folder, after))
    }

    /// Runs a job in the sandbox. Returns how it ended, or why the sandbox could not be made.
    async fn run_staged(&self, job: Job, ctx: &ToolCtx) -> Result<Result<ProgramEnd, String>, ToolError> {
        let stage = job.program.clone();
        let ended = process::run(job, &self.host, &ctx.cancel)
            .await
            .map_err(|source| ToolError::file("start", &stage, source))?;
        if ended.ending == Ending::Cancelled {
            return Err(ToolError::Cancelled);
        }
        Ok(match sandbox::not_made(&ended) {
            Some(why) => Err(why),
            None => Ok(ended),
        })
    }
}

/// Returns the folders that a command in the sandbox sees, but for those of compilers.
fn in_sight(cwd: &Path, ctx: &ToolCtx) -> Vec<PathBuf> {
    let mut in_sight = roots(cwd, ctx);
    in_sight.extend(SYSTEM.iter().map(PathBuf::from));
    in_sight
}

fn job(
    program: PathBuf,
    args: Vec<OsString>,
    cwd: PathBuf,
    env: Environment,
    seconds: u64,
    ctx: &ToolCtx,
) -> Job {
    let output_bytes_max = ctx.limits.output_bytes_max.saturating_sub(FRAME_BYTES) / 2;
    Job { program, args, cwd, env, ms_max: seconds * 1_000, output_bytes_max, is_bounded: false, watch: None }
}

/// Returns the task's workspace, created if it is missing: what a command writes there must last.
fn workspace(place: &Place) -> Result<PathBuf, ToolError> {
    let space = resolve::fully(place.workspace());
    std::fs::create_dir_all(&space)
        .map_err(|source| ToolError::file("make the workspace", &space, source))?;
    Ok(space)
}

/// Returns the question whether a command may run outside, because the sandbox cannot be made.
fn outside(need: ApprovalNeed, why: &str) -> ToolError {
    let Some(mut facts) = need.facts.clone() else { return ToolError::Approval(need.into()) };
    facts.stage = Stage::Unmade(why.to_owned());
    ToolError::Approval(Box::new(match gate::decide(&facts) {
        Decision::Ask(asking) => {
            ApprovalNeed { rule: Some(asking.rule), reason: asking.reason, facts: Some(facts), ..need }
        }
        Decision::LetThrough | Decision::Refuse { .. } | Decision::Deny { .. } => need,
    }))
}

impl Ran {
    /// Puts the changes in place and returns what is new, or returns the question that they need.
    fn put_in_place(&self, gate: &Gate) -> Result<Result<Placed, ApprovalNeed>, ToolError> {
        let plan = Plan {
            cwd: self.cwd.clone(),
            touches: self.changes.touches(),
            executed: self.executed.clone(),
            cause: self.changes.always(gate),
            stage: Stage::Ran,
            has_scope: true,
            is_kept: true,
            ..gate.plan(self.tool, self.command.clone(), [])
        };
        let need = match gate.check(&plan) {
            Ok(()) => None,
            // The content is read only if somebody has to look at it.
            Err(ToolError::Approval(_)) => {
                let plan = Plan { content: Some(self.changes.digest()?), ..plan };
                match gate.check(&plan) {
                    Ok(()) => None,
                    Err(ToolError::Approval(need)) => Some(*need),
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(match need {
            None => {
                self.changes.check_space()?;
                let is_kept = self.changes.keep(gate)?;
                let created = self.changes.apply()?;
                if !self.changes.is_empty() {
                    gate.settle();
                }
                Ok(Placed { created, is_kept })
            }
            Some(need) => Err(self.question(need, gate)),
        })
    }

    fn question(&self, need: ApprovalNeed, gate: &Gate) -> ApprovalNeed {
        let preview = Some(self.changes.preview(gate));
        let is_named = need.writes.len() + need.deletes.len() <= NAMED_MAX;
        let (writes, deletes) = if is_named { (need.writes, need.deletes) } else { Default::default() };
        ApprovalNeed { preview, writes, deletes, ..need }
    }

    fn answer(self, placed: Placed, seconds: u64, ctx: &ToolCtx) -> ToolAnswer {
        let (tool, special) = (self.tool, self.special());
        let (ended, after) = self.effects(placed);
        let cwd = ctx.place().surroundings.cwd;
        let mut answer = answer::answer(&ended, seconds, ctx.limits.output_bytes_max, &cwd, after);
        answer.text.push_str(&special);
        if matches!(ended.ending, Ending::Excess(_)) && tool == Shell::NAME {
            answer.text.push_str("\n[the sandbox has these limits");
            answer.text.push_str(WAY_OUT);
            answer.text.push(']');
        } else if !answer.ok && LACKS.iter().any(|sign| answer.text.contains(sign)) {
            let way_out = if tool == Shell::NAME { WAY_OUT } else { "" };
            answer.text.push_str(&format!(
                "\n[it ran in the sandbox: without network, with an empty home folder, seeing only this folder and the \
                 programs of the system{way_out}]",
            ));
        }
        answer
    }

    /// Returns how it ended, and what it changed.
    pub(super) fn effects(self, placed: Placed) -> (ProgramEnd, CommandEffects) {
        let changes = Changes::of(self.changes.paths());
        let side_effect = match (self.changes.is_empty(), self.changes.overwrites()) {
            (true, _) => SideEffect::None,
            (false, true) if !placed.is_kept => SideEffect::Irreversible,
            (false, _) => SideEffect::Reversible,
        };
        // That the task marked a folder as a cache must be known, however much it created.
        let is_mark = |path: &&PathBuf| path.file_name().is_some_and(|name| name == caches::TAG);
        let (marks, others): (Vec<_>, Vec<_>) = placed.created.iter().partition(is_mark);
        let created = marks.into_iter().chain(others).take(CREATED_MAX);
        let after = CommandEffects {
            created: created.map(|path| show::path(path)).collect(),
            executed: self.executed,
            side_effect,
            tier: SandboxTier::Full,
            changes: Some(changes),
            is_about_elsewhere: false,
        };
        (self.ended, after)
    }

    /// Names what it made or changed that is not put in place.
    pub(super) fn special(&self) -> String {
        let line = |why: &str, paths: &[&Path]| {
            let named: Vec<_> = paths.iter().take(SPECIAL_MAX).map(|path| show::path_line(path)).collect();
            let more = match paths.len().saturating_sub(SPECIAL_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            if paths.is_empty() { String::new() } else { format!("\n[{why}: {}{more}]", named.join(", ")) }
        };
        let special = self.changes.special();
        let special: Vec<&Path> = special.iter().map(PathBuf::as_path).collect();
        [
            line("not kept, since only files, folders and links are", &special),
            line(
                "the new time was not kept, since the content is the same",
                &self.changes.unkept(Unkept::Time),
            ),
            line(
                "put in place as a file of its own, not as another name of one",
                &self.changes.unkept(Unkept::Name),
            ),
        ]
        .concat()
    }
}
