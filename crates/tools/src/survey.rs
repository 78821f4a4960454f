//! Surveys where a task works before it is planned: by code, read-only and bounded. Follows no link, runs no program
//! but Git (prevented from running others), and stays out of Setpoint's own house.

mod guides;
mod listing;
mod project;
mod skills;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::record::{GitState, NamedPath, Survey, SurveyAsk};
use setpoint_protocol::tool::{Phase, ToolCall};
use setpoint_protocol::{Any, TaskId};

use crate::approval::resolve;
use crate::error::ToolError;
use crate::halt::Halt;
use crate::registry::{CallPlace, Registry};
use crate::show;
use crate::tool::ToolCtx;
use crate::undo::{After, labels};

/// Maximum milliseconds that Git may take; a survey without it is better than a plan that waits.
const GIT_MS_MAX: u64 = 3_000;
/// Maximum milliseconds that examining files may take.
const FILES_MS_MAX: u64 = 2_000;
/// Maximum changed and untracked files that are named.
const GIT_PATHS_MAX: usize = 20;
/// Maximum commits named, the latest first.
const COMMITS_MAX: usize = 5;
/// Maximum sources of files, and keys, that are named. Two decide all that more would.
const READ_MAX: usize = 16;
/// Maximum paths of the person's that are examined; callers pass fewer.
const NAMED_MAX: usize = 64;

impl Registry {
    /// Surveys the working directory, Git, and the paths that the person names. Leaves out what cannot be examined in
    /// time.
    pub async fn survey(&self, about: SurveyAsk, place: CallPlace) -> Survey {
        let SurveyAsk { mut named, names_only } = about;
        named.truncate(NAMED_MAX);
        let ask = ask("git_report", json!({ "path": "." }));
        let mut ctx = self.context(&ask, place.clone());
        ctx.limits.native_ms_max = FILES_MS_MAX;
        let task = place.keeps_as.as_ref().map(|(task, _)| task.clone());
        let after = written_after(self.kept(), task, &ctx, &named).await;
        if names_only {
            let survey = names(&ctx, named).await.unwrap_or_default();
            return self.without_keys(read(after, survey));
        }
        let git = tokio::time::timeout(Duration::from_millis(GIT_MS_MAX), self.run(&ask, place));
        let (git, files) = tokio::join!(git, files(&ctx, named));
        let git = git.ok().filter(|answer| answer.ok).and_then(|answer| answer.facts);
        let survey = Survey { git: git.map(|facts| state(&facts.0)), ..files.unwrap_or_default() };
        self.without_keys(read(after, survey))
    }
}

/// Returns what earlier tasks had read when they wrote files that are in the working directory or at these paths.
async fn written_after(
    kept: Option<Arc<PathBuf>>,
    task: Option<TaskId>,
    ctx: &ToolCtx,
    named: &[String],
) -> After {
    let Some(kept) = kept else { return After::default() };
    let place = ctx.place();
    let named = named.iter().filter_map(|text| place.path("path", text).ok());
    let places: Vec<PathBuf> = named.chain([place.surroundings.cwd.clone()]).collect();
    let written = ctx.blocking(move |halt| {
        let places: Vec<PathBuf> = places.iter().map(|path| resolve::fully(path)).collect();
        Ok(labels::written_below(&kept, task.as_ref(), &places, halt))
    });
    // What could not be looked at in time may be anything.
    written.await.unwrap_or_else(|_| After::unknown().written())
}

/// Returns the survey with what earlier tasks had read.
fn read(after: After, survey: Survey) -> Survey {
    Survey {
        after: after.sources.into_iter().take(READ_MAX).collect(),
        secrets: after.secrets.into_iter().take(READ_MAX).collect(),
        ..survey
    }
}

fn ask(tool: &str, input: Value) -> ToolAsk {
    let call = ToolCall { tool: tool.to_owned(), input: Any(input) };
    ToolAsk { call, phase: Phase::Before, probe: true, grant: None, caution: false }
}

/// Summarises the facts of `git_report`.
fn state(facts: &Value) -> GitState {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or_default();
    let texts = |name: &str| {
        let list = facts.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(show::line)
    };
    let changed = texts("changed").map(|path| format!(" M {path}"));
    let untracked = texts("untracked").map(|path| format!("?? {path}"));
    // Commit hashes depend on the commit's time, so a recording that contained them could not be replayed in another
    // copy of the repository.
    let commit = |commit: &Value| commit.get("subject").and_then(Value::as_str).map(show::line);
    let last = facts.get("last_commits").and_then(Value::as_array).into_iter().flatten();
    GitState {
        branch: facts.get("branch").and_then(Value::as_str).map(show::line),
        commits: number("commits"),
        changed: number("changed_count"),
        untracked: number("untracked_count"),
        paths: changed.chain(untracked).take(GIT_PATHS_MAX).collect(),
        last: last.filter_map(commit).take(COMMITS_MAX).collect(),
    }
}

/// Surveys everything but Git.
async fn files(ctx: &ToolCtx, named: Vec<String>) -> Result<Survey, ToolError> {
    let root = PathBuf::from(&ctx.surroundings.cwd);
    let home = PathBuf::from(&ctx.surroundings.home);
    let place = ctx.place();
    let paths: Vec<PathBuf> = named.iter().filter_map(|text| place.path("path", text).ok()).collect();
    let Survey { named, .. } = names(ctx, named).await?;
    ctx.blocking(move |halt| {
        halt.rooms().check(&root)?;
        let (entries, left_out) = listing::below(&root, halt);
        let guides = guides::texts(&root, &paths, halt);
        let (skills, skills_left_out) = skills::listed(&root, &home, halt);
        let project = project::files(&root, halt);
        let guided = Survey { guides, skills, skills_left_out, ..Survey::default() };
        Ok(Survey { entries, left_out, project, named, ..guided })
    })
    .await
}

/// Surveys the paths that the person names.
async fn names(ctx: &ToolCtx, named: Vec<String>) -> Result<Survey, ToolError> {
    let place = ctx.place();
    let paths: Vec<(String, Option<PathBuf>)> = named
        .into_iter()
        .map(|text| {
            let path = place.path("path", &text).ok();
            (text, path)
        })
        .collect();
    ctx.blocking(move |halt| {
        let named = paths.iter().map(|(text, path)| named_path(text, path.as_deref(), halt)).collect();
        Ok(Survey { named, ..Survey::default() })
    })
    .await
}

fn named_path(text: &str, path: Option<&std::path::Path>, halt: &Halt) -> NamedPath {
    let meta = path
        .filter(|path| halt.rooms().refuse(path).is_none())
        .and_then(|path| std::fs::symlink_metadata(path).ok())
        .filter(|meta| !halt.rooms().is_closed(meta));
    let led_to = || {
        let meta = std::fs::metadata(path?).ok().filter(|meta| !halt.rooms().is_closed(meta));
        Some(if meta?.is_dir() { "link to a directory" } else { "link to a file" })
    };
    let kind = meta.as_ref().map(|meta| match meta.file_type() {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => led_to().unwrap_or("link that leads nowhere"),
        _ => "other",
    });
    NamedPath {
        path: show::line(text),
        kind: kind.map(str::to_owned),
        bytes: meta.filter(std::fs::Metadata::is_file).map(|meta| meta.len()),
    }
}
