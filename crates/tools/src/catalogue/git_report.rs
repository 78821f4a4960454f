//! `git_report`: reports figures about a repository, through the Git program, which runs no other program.

use std::path::{Path, PathBuf};

use super::git::Limits;
use super::git_repository::{Repository, entries};
use crate::catalogue::prelude::*;
use crate::host::Host;

/// Limits of one run of Git; a longer list is not read.
const LIMITS: Limits = Limits { ms_max: 30_000, bytes_max: 16 * 1024 * 1024 };
/// Authors that are returned, most commits first.
const AUTHORS_MAX: usize = 100;
/// Maximum changed and untracked files that are listed.
const LISTED_MAX: usize = 1_000;
/// Number of latest commits to return, as an argument of Git.
const LAST: &str = "-5";

/// Unfinished operations of Git, by the file that each keeps in the repository's own folder. A rebase may also leave
/// the mark of a cherry-pick.
const UNFINISHED: &[(&str, &str)] = &[
    ("rebase-merge/head-name", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply/rebasing", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

pub(crate) struct GitReport {
    host: Host,
}

impl GitReport {
    /// Returns the tool if there is a `git` program.
    pub(crate) fn new(host: &Host) -> Option<Self> {
        host.has_program("git").then(|| GitReport { host: host.clone() })
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A folder in the repository.
    path: String,
}

impl Typed for GitReport {
    type Input = Input;
    const NAME: &'static str = "git_report";
    const ABOUT: &'static str = "Describes a Git repository: branch, number of commits, authors, changed and untracked files, \
         an unfinished merge or rebase, and the last commit.";
    const GIVES: &'static str = "/branch /commits /changed /untracked /last_commit/subject";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(show::path(&place.path("path", &input.path)?)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let meta = std::fs::metadata(&path).map_err(|source| ToolError::file("look at", &path, source))?;
        if !meta.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(ToolError::file("look at", &path, source));
        }
        let program = self.host.unasked_program("git", ctx)?;
        let repository = Repository::open(&program, path, &self.host, ctx, LIMITS).await?;
        let report = Report::read(&repository).await?;
        Ok(report.answer(repository.folder()))
    }
}

#[derive(Default)]
struct Report {
    /// The named folder relative to the top; empty for the top itself.
    below_top: String,
    /// The repository's top if a folder below it was named: every figure covers the whole repository.
    whole_of: Option<PathBuf>,
    branch: Option<String>,
    /// The unfinished operation, by its command.
    unfinished: Option<&'static str>,
    commits: u64,
    /// Commits of other branches and of tags that are not among these.
    commits_elsewhere: u64,
    authors: Vec<(String, u64)>,
    changed: Vec<String>,
    untracked: Vec<String>,
    /// Touched files that pass through a filter: whether they changed is unknown.
    unsure: Vec<String>,
    has_submodules: bool,
    /// Whether older commits are missing (a shallow clone).
    is_shallow: bool,
    /// Files that Git was told to treat as unchanged.
    hidden_changes: u64,
    /// Whether Git was told to ignore changes of file modes.
    are_modes_ignored: bool,
    /// Newest first.
    last: Vec<Commit>,
    complete: bool,
    gaps: Gaps,
}

struct Commit {
    hash: String,
    author: String,
    time: String,
    subject: String,
}

impl Report {
    async fn read(git: &Repository<'_>) -> Result<Self, ToolError> {
        git.ask(&["rev-parse", "--git-dir"]).await?;
        let house = &git.ctx.house;
        let top = git.text(&["rev-parse", "--show-toplevel"]).await?.map(PathBuf::from);
        let own = git.text(&["rev-parse", "--absolute-git-dir"]).await?.map(PathBuf::from);
        // A repository's settings may name any folder as its working tree.
        for folder in top.iter().chain(&own) {
            house.rooms().check(folder)?;
        }
        let below_top = git.text(&["rev-parse", "--show-prefix"]).await?;
        let below_top = below_top.unwrap_or_default().trim_end_matches('/').to_owned();
        let status = git
            .ask(&[
                "status",
                "--porcelain=v1",
                "-z",
                "--untracked-files=all",
                // Examining a submodule's uncommitted changes would use the submodule's configuration.
                "--ignore-submodules=dirty",
                "--no-renames",
            ])
            .await?;
        let branch = git.text(&["symbolic-ref", "--short", "--quiet", "HEAD"]).await?;
        let commits = git.text(&["rev-list", "--count", "HEAD", "--"]).await?;
        let commits = commits.and_then(|count| count.parse().ok()).unwrap_or(0);
        let mut elsewhere = vec!["rev-list", "--count", "--branches", "--remotes", "--tags"];
        // Without a commit, `HEAD` names nothing.
        if commits > 0 {
            elsewhere.extend(["--not", "HEAD"]);
        }
        elsewhere.push("--");
        let elsewhere = git.text(&elsewhere).await?.and_then(|count| count.parse().ok()).unwrap_or(0);
        let is_there = |file: &str| own.as_ref().is_some_and(|own| own.join(file).exists());
        let mut report = Report {
            unfinished: UNFINISHED.iter().find(|(file, _)| is_there(file)).map(|(_, command)| *command),
            whole_of: top.clone().filter(|_| !below_top.is_empty()),
            below_top,
            branch,
            commits,
            commits_elsewhere: elsewhere,
            complete: true,
            gaps: Gaps { complete: true, ..Gaps::default() },
            ..Report::default()
        };
        if commits > 0 {
            report.read_commits(git).await?;
        }
        let shallow = git.text(&["rev-parse", "--is-shallow-repository"]).await?;
        report.is_shallow = shallow.as_deref() == Some("true");
        // Lower case or S: assume-unchanged, skip-worktree.
        let marked = entries(&git.ask(&["ls-files", "-v", "-z", "--", ":(top)"]).await?, 0);
        let is_hidden = |entry: &&String| entry.starts_with(|c: char| c.is_ascii_lowercase() || c == 'S');
        let hidden = marked.iter().flatten().filter(is_hidden).count();
        report.hidden_changes = u64::try_from(hidden).unwrap_or(u64::MAX);
        let file_mode = git.text(&["config", "--type=bool", "core.fileMode"]).await?;
        report.are_modes_ignored = file_mode.as_deref() == Some("false");
        match entries(&status, 0) {
            Some(all) => {
                report.has_submodules = git.has_nested().await?;
                let top = top.filter(|top| house.is_below(top));
                let rooms = house.rooms();
                let is_closed =
                    |path: &str| top.as_ref().is_some_and(|top| rooms.refuse(&top.join(path)).is_some());
                report.add_status(&all, is_closed);
                report.set_filtered_aside(git).await?;
            }
            None => report.complete = false,
        }
        Ok(report)
    }

    async fn read_commits(&mut self, git: &Repository<'_>) -> Result<(), ToolError> {
        let authors = git.ask(&["shortlog", "--summary", "--numbered", "HEAD", "--"]).await?;
        let lines = entries(&authors, b'\n').unwrap_or_default();
        self.complete &= lines.len() <= AUTHORS_MAX;
        let author = |line: &String| {
            let (count, name) = line.trim_start().split_once('\t')?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        self.authors = lines.iter().filter_map(author).take(AUTHORS_MAX).collect();
        let last = git
            .text(&["log", LAST, "--no-show-signature", "--format=%H%x00%an%x00%cI%x00%s", "HEAD", "--"])
            .await?;
        let commit = |line: &str| {
            let mut parts = line.split('\0').map(str::to_owned);
            Some(Commit {
                hash: parts.next()?,
                author: parts.next()?,
                time: parts.next()?,
                subject: parts.next()?,
            })
        };
        self.last = last.unwrap_or_default().lines().filter_map(commit).collect();
        Ok(())
    }

    /// Moves touched files with a filter to `unsure`: filters are not run, and without its filter such a file looks
    /// changed.
    async fn set_filtered_aside(&mut self, git: &Repository<'_>) -> Result<(), ToolError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let filtered = git.filtered().await?;
        let all = std::mem::take(&mut self.changed);
        (self.unsure, self.changed) = all.into_iter().partition(|path| filtered.contains(path));
        self.complete &= self.unsure.is_empty();
        Ok(())
    }

    fn add_status(&mut self, entries: &[String], is_closed: impl Fn(&str) -> bool) {
        for entry in entries {
            // Each entry is two letters of state, a space and the path.
            let Some((state, path)) = entry.split_at_checked(3) else { continue };
            if is_closed(path) {
                self.gaps.closed += 1;
            } else if state.starts_with("??") {
                self.untracked.push(path.to_owned());
            } else {
                self.changed.push(path.to_owned());
            }
        }
        self.changed.sort_unstable();
        self.untracked.sort_unstable();
    }

    fn answer(&self, path: &Path) -> ToolAnswer {
        let branch = self.branch.as_deref().unwrap_or("no branch (detached)");
        let mut text = format!(
            "{}: {}, {}, {} changed, {} untracked",
            show::path_line(path),
            show::line(branch),
            show::count(self.commits, "commit", "commits"),
            self.changed.len(),
            self.untracked.len()
        );
        if self.commits_elsewhere > 0 {
            let commits = show::count(self.commits_elsewhere, "commit", "commits");
            text.push_str(&format!("\nnot counted, on other branches or tags alone: {commits}"));
        }
        if let Some(command) = self.unfinished {
            text.push_str(&format!("\nunfinished: {command}"));
        }
        if let Some(top) = &self.whole_of {
            text.push_str(&format!("\n(all of it about the whole repository at {})", show::path_line(top)));
        }
        if let Some(last) = self.last.first() {
            let hash: String = last.hash.chars().take(12).collect();
            let subject = show::line(&last.subject);
            text.push_str(&format!("\nlast: {hash} {} {}: {subject}", last.time, show::line(&last.author)));
        }
        text.push_str(&answer::listing(
            self.authors.iter().map(|(name, commits)| format!("  {commits} by {}", show::line(name))),
            20,
        ));
        let marked = |mark: &'static str, list: &[String]| -> Vec<String> {
            list.iter().map(|path| format!("  {mark} {}", show::line(path))).collect()
        };
        let unsure = marked("passes through a filter that is not run, and may have changed:", &self.unsure);
        let files = [marked("changed", &self.changed), unsure, marked("untracked", &self.untracked)].concat();
        text.push_str(&answer::listing(files.into_iter(), 100));
        if self.has_submodules {
            text.push_str("\n(what is not committed in submodules was not looked at)");
        }
        let first = |list: &[String]| list.get(..LISTED_MAX).unwrap_or(list).to_vec();
        let commit = |one: &Commit| json!({ "hash": one.hash, "author": one.author, "time": one.time, "subject": one.subject });
        let facts = json!({
            "below_top": self.below_top,
            "whole_of": self.whole_of.as_deref().map(show::path),
            "branch": self.branch,
            "unfinished": self.unfinished,
            "detached": self.branch.is_none(),
            "commits": self.commits,
            "commits_elsewhere": self.commits_elsewhere,
            "authors": self.authors.iter().map(|(name, commits)| json!({ "name": name, "commits": commits })).collect::<Vec<_>>(),
            "changed": first(&self.changed),
            "changed_count": self.changed.len(),
            "untracked": first(&self.untracked),
            "untracked_count": self.untracked.len(),
            "last_commit": self.last.first().map(commit),
            "last_commits": self.last.iter().map(commit).collect::<Vec<_>>(),
            "unsure": first(&self.unsure),
            "submodules_looked_into": !self.has_submodules,
            "submodules_unseen": self.has_submodules,
            "shallow": self.is_shallow,
            "hidden_changes": self.hidden_changes,
            "modes_ignored": self.are_modes_ignored,
            "complete": self.complete,
        });
        answer::walked(text, facts, self.gaps)
    }
}
