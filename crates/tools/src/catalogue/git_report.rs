//! `git_report`: a repository in figures, through the git program.
//!
//! A repository is data that somebody may have sent: its configuration can name programs that git runs. So git runs with
//! every setting that does turned off, without locks or network, and of the person's own configuration with what decides
//! which changes Git sees.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{CapabilityClass, Effect, ToolAnswer};

use super::shell::repository;
use crate::answer::{self, Gaps};
use crate::error::ToolError;
use crate::host::Host;
use crate::place::Place;
use crate::process::env::{self, Programs};
use crate::process::{self, Captured, Ending, Job};
use crate::show;
use crate::target::Target;
use crate::tool::ToolCtx;
use crate::typed::Typed;

/// Milliseconds that one run of git may take.
const GIT_MS_MAX: u64 = 30_000;
/// Bytes that git may print in one run; a list that is longer is not read.
const GIT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Authors that are given, those with most commits first.
const AUTHORS_MAX: usize = 100;
/// Settings of a repository that are looked through for programs.
const SETTINGS_MAX: usize = 10_000;

/// Settings that make git run something, turned off.
const SAFE: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "core.editor=false",
    "core.alternateRefsCommand=",
    "core.untrackedCache=false",
    "diff.external=",
    "gpg.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

pub(crate) struct GitReport {
    host: Host,
    git: PathBuf,
}

impl GitReport {
    /// The tool, where there is a git program.
    pub(crate) fn new(host: &Host) -> Option<Self> {
        Some(GitReport { host: host.clone(), git: host.program("git")? })
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A folder in the repository.
    path: String,
}

#[async_trait]
impl Typed for GitReport {
    type Input = Input;
    const NAME: &'static str = "git_report";
    const ABOUT: &'static str = "Describes a Git repository: branch, number of commits, authors, changed and untracked files, \
         and the last commit.";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn example(&self) -> Value {
        json!({ "path": "." })
    }

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(show::path(&place.reading("path", &input.path)?)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let meta = std::fs::metadata(&path).map_err(|source| ToolError::file("look at", &path, source))?;
        if !meta.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(ToolError::file("look at", &path, source));
        }
        let carried = repository::carried(&self.git, &path, &self.host, ctx).await?;
        let carried = carried.into_iter().map(|(name, value)| format!("{name}={value}"));
        let settings = carried.chain(SAFE.iter().map(|setting| (*setting).to_owned())).collect();
        let mut git = Git { tool: self, ctx, path, settings };
        git.turn_off_filters().await?;
        let report = Report::read(&git).await?;
        Ok(report.answer(&git.path))
    }
}

/// Git in one folder.
struct Git<'a> {
    tool: &'a GitReport,
    ctx: &'a ToolCtx,
    path: PathBuf,
    settings: Vec<String>,
}

/// What git printed, and whether it was content.
struct Printed {
    out: Captured,
    said: String,
    is_ok: bool,
}

impl Printed {
    /// The lines or, with `-z`, the entries; `None` when there were too many.
    fn entries(&self, separator: u8) -> Option<Vec<String>> {
        let whole = self.out.whole()?;
        let entries = whole.split(|byte| *byte == separator).filter(|entry| !entry.is_empty());
        Some(entries.map(show::bytes).collect())
    }
}

impl Git<'_> {
    async fn run(&self, args: &[&str]) -> Result<Printed, ToolError> {
        let mut env = env::for_task(self.tool.host.env(), &self.ctx.surroundings, Programs::System);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("LC_ALL", "C"),
        ] {
            env.insert(name.into(), value.into());
        }
        let settings = self.settings.iter().flat_map(|setting| ["-c".to_owned(), setting.clone()]);
        let start = ["--no-pager".to_owned(), "-C".to_owned()].map(OsString::from).into_iter();
        let all = start.chain([self.path.clone().into()]).chain(settings.map(OsString::from));
        let job = Job {
            program: self.tool.git.clone(),
            args: all.chain(args.iter().map(OsString::from)).collect(),
            cwd: PathBuf::from("/"),
            env,
            ms_max: GIT_MS_MAX,
            output_bytes_max: GIT_BYTES_MAX,
            is_bounded: false,
        };
        let ended = process::run(job, &self.tool.host, &self.ctx.cancel)
            .await
            .map_err(|source| ToolError::file("start", &self.tool.git, source))?;
        let is_ok = match ended.ending {
            Ending::Exit(code) => code == 0,
            Ending::Signal(_) => false,
            Ending::TimedOut => return Err(ToolError::TimedOut { ms: GIT_MS_MAX }),
            Ending::Cancelled => return Err(ToolError::Cancelled),
        };
        let said = clip(ended.stderr.text(4_096).trim(), 500);
        Ok(Printed { out: ended.stdout, said, is_ok })
    }

    async fn ask(&self, args: &[&str]) -> Result<Printed, ToolError> {
        let printed = self.run(args).await?;
        if printed.is_ok {
            return Ok(printed);
        }
        if printed.said.contains("not a git repository") {
            return Err(ToolError::unfit(&self.path, "it is no Git repository"));
        }
        Err(ToolError::Program { program: "git".to_owned(), said: printed.said })
    }

    /// The text that git prints, without the line end; `None` where git has none to give.
    async fn text(&self, args: &[&str]) -> Result<Option<String>, ToolError> {
        let printed = self.run(args).await?;
        let text = printed.out.text(8_192);
        Ok(printed.is_ok.then(|| text.trim_end_matches('\n').to_owned()))
    }

    /// Filters are programs that git runs over changed files, under names that the repository chooses.
    async fn turn_off_filters(&mut self) -> Result<(), ToolError> {
        let listed = self.ask(&["config", "--list", "--name-only", "-z"]).await?;
        let too_many = || ToolError::unfit(&self.path, "its configuration is too large");
        let names = listed.entries(0).filter(|names| names.len() <= SETTINGS_MAX).ok_or_else(too_many)?;
        let is_filter = |name: &&String| name.to_ascii_lowercase().starts_with("filter.");
        let filters: BTreeSet<String> = names
            .iter()
            .filter(is_filter)
            .filter_map(|name| name.rsplit_once('.').map(|(filter, _)| filter.to_owned()))
            .collect();
        if filters.iter().any(|filter| filter.contains('=')) {
            return Err(ToolError::unfit(&self.path, "it has a filter whose name cannot be turned off"));
        }
        for filter in filters {
            self.settings.extend(["clean", "smudge", "process"].map(|key| format!("{filter}.{key}=")));
            self.settings.push(format!("{filter}.required=false"));
        }
        Ok(())
    }
}

struct Report {
    branch: Option<String>,
    commits: u64,
    authors: Vec<(String, u64)>,
    changed: Vec<String>,
    untracked: Vec<String>,
    /// Touched files that pass through a filter: whether they have changed cannot be told.
    unsure: Vec<String>,
    has_submodules: bool,
    last: Option<Commit>,
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
    async fn read(git: &Git<'_>) -> Result<Self, ToolError> {
        git.ask(&["rev-parse", "--git-dir"]).await?;
        let house = &git.ctx.house;
        let top = git.text(&["rev-parse", "--show-toplevel"]).await?.map(PathBuf::from);
        let own = git.text(&["rev-parse", "--absolute-git-dir"]).await?.map(PathBuf::from);
        // A repository's settings may name any folder as its files.
        for folder in top.iter().chain(&own) {
            house.rooms().check(folder)?;
        }
        let status = git
            .ask(&[
                "status",
                "--porcelain=v1",
                "-z",
                "--untracked-files=all",
                // A look at what is uncommitted in a submodule would run with that one's configuration.
                "--ignore-submodules=dirty",
                "--no-renames",
            ])
            .await?;
        let branch = git.text(&["symbolic-ref", "--short", "--quiet", "HEAD"]).await?;
        let commits = git.text(&["rev-list", "--count", "HEAD", "--"]).await?;
        let commits = commits.and_then(|count| count.parse().ok()).unwrap_or(0);
        let mut report = Report {
            branch,
            commits,
            authors: Vec::new(),
            changed: Vec::new(),
            untracked: Vec::new(),
            unsure: Vec::new(),
            has_submodules: false,
            last: None,
            complete: true,
            gaps: Gaps { complete: true, ..Gaps::default() },
        };
        if commits > 0 {
            report.read_commits(git).await?;
        }
        match status.entries(0) {
            Some(entries) => {
                report.has_submodules = top.as_ref().is_some_and(|top| top.join(".gitmodules").exists());
                let top = top.filter(|top| house.is_below(top));
                let rooms = house.rooms();
                let is_closed =
                    |path: &str| top.as_ref().is_some_and(|top| rooms.refuse(&top.join(path)).is_some());
                report.add_status(&entries, is_closed);
                report.set_filtered_aside(git).await?;
            }
            None => report.complete = false,
        }
        Ok(report)
    }

    async fn read_commits(&mut self, git: &Git<'_>) -> Result<(), ToolError> {
        let authors = git.ask(&["shortlog", "--summary", "--numbered", "HEAD", "--"]).await?;
        let lines = authors.entries(b'\n').unwrap_or_default();
        self.complete &= lines.len() <= AUTHORS_MAX;
        let author = |line: &String| {
            let (count, name) = line.trim_start().split_once('\t')?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        self.authors = lines.iter().filter_map(author).take(AUTHORS_MAX).collect();
        let last = git
            .text(&["log", "-1", "--no-show-signature", "--format=%H%x00%an%x00%cI%x00%s", "HEAD", "--"])
            .await?;
        self.last = last.and_then(|line| {
            let mut parts = line.split('\0').map(str::to_owned);
            Some(Commit {
                hash: parts.next()?,
                author: parts.next()?,
                time: parts.next()?,
                subject: parts.next()?,
            })
        });
        Ok(())
    }

    /// Filters are not run, and without its filter a file that was touched looks changed.
    async fn set_filtered_aside(&mut self, git: &Git<'_>) -> Result<(), ToolError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let filtered = git.ask(repository::FILTERED).await?.entries(0).unwrap_or_default();
        let filtered: BTreeSet<String> = filtered.into_iter().collect();
        let all = std::mem::take(&mut self.changed);
        (self.unsure, self.changed) = all.into_iter().partition(|path| filtered.contains(path));
        self.complete &= self.unsure.is_empty();
        Ok(())
    }

    fn add_status(&mut self, entries: &[String], is_closed: impl Fn(&str) -> bool) {
        for entry in entries {
            // Two letters of state, a blank, the path.
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
        if let Some(last) = &self.last {
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
        let facts = json!({
            "branch": self.branch,
            "commits": self.commits,
            "authors": self.authors.iter().map(|(name, commits)| json!({ "name": name, "commits": commits })).collect::<Vec<_>>(),
            "changed": self.changed,
            "changed_count": self.changed.len(),
            "untracked": self.untracked,
            "untracked_count": self.untracked.len(),
            "last_commit": self.last.as_ref().map(|last| {
                json!({ "hash": last.hash, "author": last.author, "time": last.time, "subject": last.subject })
            }),
            "unsure": self.unsure,
            "submodules_looked_into": !self.has_submodules,
            "complete": self.complete,
        });
        answer::walked(text, facts, self.gaps)
    }
}
