//! What a task changed in repositories, as Git tells it: commits, branches and tags, and how the files differ from the last
//! commit. For the judge of the work, who cannot read Git's own files.
//!
//! Everything in a repository may come from anyone: Git runs no other program there, what it prints is escaped and cut, and
//! what it gives as an id is one before it is an argument.

mod commits;
mod files;
mod refs;
mod status;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use setpoint_protocol::text::clip;
use tokio::time::{Instant, timeout_at};

use self::commits::Commits;
use self::refs::Refs;
use super::git::Limits;
use super::git_repository::Repository;
use crate::error::ToolError;
use crate::host::Host;
use crate::process::env::SystemProgram;
use crate::show;
use crate::tool::ToolCtx;
use crate::undo::OwnFolder;

/// Milliseconds for all questions to Git; what was not answered by then is said.
const MS_MAX: u64 = 20_000;
const TIMED_OUT: ToolError = ToolError::TimedOut { ms: MS_MAX };
const LIMITS: Limits = Limits { ms_max: MS_MAX, bytes_max: 16 * 1024 * 1024 };
/// Maximum repositories of which Git tells; the others are counted.
const REPOSITORIES_MAX: usize = 3;
/// Characters of all that Git tells, which the repositories share, and the parts of each: in hundredths.
pub(super) const CHARS_MAX: usize = 6_000;
const LOST_PART: usize = 15;
const NEW_PART: usize = 55;
const REFS_PART: usize = 10;
const STATUS_PART: usize = 20;
/// Maximum characters of one line.
const LINE_CHARS_MAX: usize = 240;
/// Size from which Git counts no lines: it would hold both contents in memory.
const LARGE: &str = "16m";
/// Maximum paths of committed files in the facts.
const COMMITTED_MAX: usize = 400;

/// What Git tells of the task's changes.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) text: String,
    /// The own folders of the repositories of which it tells.
    pub(super) folders: BTreeSet<PathBuf>,
    /// How many commits are new, and how many are not reachable any more.
    pub(super) new: u64,
    pub(super) lost: u64,
    /// Files of the new commits.
    pub(super) committed: BTreeSet<String>,
}

/// Asks Git about these repositories. What it cannot answer is said in the text.
///
/// # Errors
/// If the call was cancelled.
pub(super) async fn told(owns: &[OwnFolder], host: &Host, ctx: &ToolCtx) -> Result<Told, ToolError> {
    let mut told = Told::default();
    let until = Instant::now() + Duration::from_millis(MS_MAX);
    let chars_max = CHARS_MAX / owns.len().clamp(1, REPOSITORIES_MAX);
    for own in owns.iter().take(REPOSITORIES_MAX) {
        let mut one = Told::default();
        match tell(own, &mut one, until, chars_max, host, ctx).await {
            Ok(()) => {
                told.folders.insert(own.path.clone());
                told.text.push_str(&one.text);
                (told.new, told.lost) = (told.new + one.new, told.lost + one.lost);
                told.committed.extend(one.committed);
            }
            Err(error) => {
                let folder = shown(&own.path, ctx);
                told.text.push_str(&format!(
                    "[what became of the commits in {folder} is not told: {}]\n",
                    why(error)?
                ));
            }
        }
    }
    if let Some(more @ 1..) = owns.len().checked_sub(REPOSITORIES_MAX) {
        let more = show::count(more as u64, "more repository", "more repositories");
        told.text.push_str(&format!("[the commits in {more} are not told]\n"));
    }
    Ok(told)
}

async fn tell(
    own: &OwnFolder,
    told: &mut Told,
    until: Instant,
    chars_max: usize,
    host: &Host,
    ctx: &ToolCtx,
) -> Result<(), ToolError> {
    let program = host.unasked_program("git", ctx)?;
    let look = Look::at(own, until, &program, host, ctx).await?;
    let now = look.within(Refs::now(&look)).await?;
    let was = refs::was(&look, &now);
    told.text.push_str(&format!("in {}: {}\n", shown(&own.path, ctx), now.head_line(was.as_ref())));
    let part = |hundredths: usize| chars_max * hundredths / 100;
    match &was {
        Some(was) => {
            let reach = refs::Reach::between(was, &now);
            let lost = Commits::lost(&look, &reach).await;
            told.lost = lost.as_ref().map_or(0, |lost| lost.count);
            told.add("no longer reachable", lost, part(LOST_PART), now_names(&now))?;
            let new = Commits::new(&look, &reach).await;
            if let Ok(new) = &new {
                told.new = new.count;
                let files =
                    new.first.iter().filter_map(|commit| commit.files.as_ref()?.as_ref().ok()).flatten();
                let paths = files.map(|file| show::path(&look.folder.join(&file.path)));
                told.committed = paths.take(COMMITTED_MAX).collect();
            }
            told.add("new commit", new, part(NEW_PART), now_names(&now))?;
            told.push(refs::lines(was, &now), part(REFS_PART));
        }
        None => {
            told.text.push_str(
                "  which commits are new is not known, because not all that was there before is; the last ones:\n",
            );
            let last = Commits::last(&look, &now).await;
            told.add("commit", last, part(NEW_PART), now_names(&now))?;
        }
    }
    if own.has_lost_objects {
        let whole = look.within(look.repository.ask(&["rev-list", "--objects", "--quiet", "--all"])).await;
        if let Err(error) = whole {
            told.text.push_str(&format!(
                "  objects were removed, and the history is not whole: {}\n",
                why(error)?
            ));
        }
    }
    match look.within(status::lines(&look)).await {
        Ok(lines) => told.push(lines, part(STATUS_PART)),
        Err(error) => {
            told.text.push_str(&format!("  how the files differ from HEAD is not told: {}\n", why(error)?));
        }
    }
    Ok(())
}

fn now_names(now: &Refs) -> impl Fn(&str) -> String {
    |id| now.names_of(id)
}

impl Told {
    fn add(
        &mut self,
        what: &str,
        commits: Result<Commits, ToolError>,
        chars_max: usize,
        names_of: impl Fn(&str) -> String,
    ) -> Result<(), ToolError> {
        match commits {
            Ok(commits) => self.text.push_str(&commits.text(what, chars_max, names_of)),
            Err(error) => self.text.push_str(&format!("  {what}: not told: {}\n", why(error)?)),
        }
        Ok(())
    }

    fn push(&mut self, lines: Vec<String>, chars_max: usize) {
        bounded(lines, chars_max).iter().for_each(|line| self.text.push_str(&format!("  {line}\n")));
    }
}

/// One repository, whose questions end at a time.
struct Look<'a> {
    own: &'a OwnFolder,
    repository: Repository<'a>,
    /// Where its files are, or the own folder of a bare one.
    folder: PathBuf,
    until: Instant,
}

impl<'a> Look<'a> {
    async fn at(
        own: &'a OwnFolder,
        until: Instant,
        program: &'a SystemProgram,
        host: &'a Host,
        ctx: &'a ToolCtx,
    ) -> Result<Self, ToolError> {
        let is_bare = own.path.file_name().is_none_or(|name| name != ".git");
        let folder = own.path.parent().filter(|_| !is_bare).unwrap_or(&own.path).to_path_buf();
        let opened = timeout_at(until, Repository::open(program, folder.clone(), host, ctx, LIMITS)).await;
        let repository = opened.unwrap_or(Err(TIMED_OUT))?;
        // Its own summary of the history may say something else than the commits.
        let repository = repository.with("core.commitGraph", "false");
        let repository = repository.with("core.bigFileThreshold", LARGE);
        let look = Look { own, repository, folder, until };
        // Git goes upwards from what is none, and a repository may name any folder as the one with its branches.
        for question in ["--absolute-git-dir", "--git-common-dir"] {
            let answer =
                look.within(look.repository.text(&["rev-parse", question])).await?.unwrap_or_default();
            if std::fs::canonicalize(look.folder.join(answer)).ok().as_deref() != Some(own.path.as_path()) {
                return Err(ToolError::unfit(&own.path, "Git does not take it for a repository of its own"));
            }
        }
        Ok(look)
    }

    async fn within<T>(&self, question: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        timeout_at(self.until, question).await.unwrap_or(Err(TIMED_OUT))
    }
}

/// Returns why Git gave no answer.
///
/// # Errors
/// If the call was cancelled.
fn why(error: ToolError) -> Result<String, ToolError> {
    match error {
        ToolError::Cancelled => Err(error),
        error => Ok(one_line(&error.into_answer().text)),
    }
}

fn shown(path: &Path, ctx: &ToolCtx) -> String {
    clip(&show::path_line(path.strip_prefix(&ctx.surroundings.cwd).unwrap_or(path)), LINE_CHARS_MAX)
}

fn one_line(text: &str) -> String {
    clip(&show::line(text), LINE_CHARS_MAX)
}

/// Returns the lines that fit, and how many more there are.
fn bounded(mut lines: Vec<String>, chars_max: usize) -> Vec<String> {
    let mut left = chars_max;
    let fits = |line: &&String| {
        let rest = left.checked_sub(line.chars().count() + 1);
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let shown = lines.iter().take_while(fits).count();
    let more = lines.len() - shown;
    lines.truncate(shown);
    if more > 0 {
        lines.push(format!("[{more} more]"));
    }
    lines
}
