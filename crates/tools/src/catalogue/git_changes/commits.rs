//! Commits, each with the files that it changes.

use setpoint_protocol::text::clip;

use super::files::{self, File};
use super::refs::{Reach, Refs, id, short};
use super::{LINE_CHARS_MAX, Look, bounded, one_line};
use crate::error::ToolError;
use crate::show;

/// Maximum commits that are shown, newest first; the others are counted.
const SHOWN_MAX: &str = "-10";
/// The same where it is not known which are new.
const LAST_MAX: &str = "-3";
/// Maximum ids of which it is asked whether they are still there.
const GONE_MAX: usize = 20;
/// Maximum lines of a message after its first.
const MESSAGE_LINES_MAX: usize = 6;

/// What is read of a commit, each part with a NUL after it.
const FORMAT: &str = "--format=%H%x00%P%x00%an <%ae>%x00%B";
const FORMAT_PARTS: usize = 4;
/// How Git lists commits. What was pruned is not there.
const LOG: &[&str] = &[
    "log",
    "-z",
    "--ignore-missing",
    "--no-show-signature",
    "--no-notes",
    "--no-color",
    "--no-patch",
    "--encoding=UTF-8",
];

/// The first commits of a list, and how many there are.
pub(super) struct Commits {
    pub(super) first: Vec<Commit>,
    pub(super) count: u64,
    /// Ids of which nothing is left.
    gone: Vec<String>,
}

pub(super) struct Commit {
    id: String,
    parents: Vec<String>,
    by: String,
    message: String,
    /// How it differs from its first parent, where that was asked.
    pub(super) files: Option<Result<Vec<File>, Unread>>,
}

/// Git could not compare it.
pub(super) struct Unread;

impl Commits {
    /// Returns the commits that are reachable now and were not.
    pub(super) async fn new(look: &Look<'_>, reach: &Reach) -> Result<Self, ToolError> {
        let mut range: Vec<&str> = reach.now.iter().map(String::as_str).collect();
        range.extend(reach.head_now.as_deref());
        range.push("--not");
        range.extend(reach.was.iter().chain(&reach.head_was).map(String::as_str));
        range.extend(reach.unless.iter().map(String::as_str));
        range.push("--glob=refs/*");
        let mut commits = Self::list(look, SHOWN_MAX, &range).await?;
        commits.compare(look).await?;
        Ok(commits)
    }

    /// Returns the commits that were reachable and are not any more.
    pub(super) async fn lost(look: &Look<'_>, reach: &Reach) -> Result<Self, ToolError> {
        let mut range: Vec<&str> = reach.was.iter().chain(&reach.head_was).map(String::as_str).collect();
        range.push("--not");
        range.extend(reach.head_now.as_deref());
        range.push("--glob=refs/*");
        let mut commits = Self::list(look, SHOWN_MAX, &range).await?;
        for id in reach.was.iter().chain(&reach.head_was).take(GONE_MAX) {
            if look.within(look.repository.text(&["cat-file", "-e", id])).await?.is_none() {
                commits.gone.push(short(id));
            }
        }
        commits.count += commits.gone.len() as u64;
        Ok(commits)
    }

    /// Returns the last commits.
    pub(super) async fn last(look: &Look<'_>, now: &Refs) -> Result<Self, ToolError> {
        let head = now.head_id();
        let mut commits = Self::list(look, LAST_MAX, head.as_slice()).await?;
        commits.count = commits.first.len() as u64;
        commits.compare(look).await?;
        Ok(commits)
    }

    async fn list(look: &Look<'_>, most: &str, range: &[&str]) -> Result<Self, ToolError> {
        if range.first().is_none_or(|first| first.starts_with('-')) {
            return Ok(Commits { first: Vec::new(), count: 0, gone: Vec::new() });
        }
        let count = [&["rev-list", "--count", "--ignore-missing"], range, &["--"]].concat();
        let count = look.within(look.repository.text(&count)).await?.and_then(|text| text.parse().ok());
        let log = [LOG, &[most, FORMAT], range, &["--"]].concat();
        let printed = look.within(look.repository.bytes(&log)).await?;
        let parts: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        let first: Vec<Commit> = parts.chunks_exact(FORMAT_PARTS).filter_map(Commit::parse).collect();
        let count = count.unwrap_or(first.len() as u64);
        Ok(Commits { first, count, gone: Vec::new() })
    }

    async fn compare(&mut self, look: &Look<'_>) -> Result<(), ToolError> {
        for commit in &mut self.first {
            let parent = commit.parents.first().map(String::as_str);
            commit.files = Some(match look.within(files::between(look, parent, &commit.id)).await {
                Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
                compared => compared.map_err(|_| Unread),
            });
        }
        Ok(())
    }

    /// Returns a line for each commit, with lines for its files if they were compared. Each has the same room.
    pub(super) fn text(&self, what: &str, chars_max: usize, names_of: impl Fn(&str) -> String) -> String {
        let room = chars_max / self.first.len().max(1);
        let mut text = String::new();
        for commit in &self.first {
            let (head, lines) = commit.lines(what, &names_of(&commit.id));
            text.push_str(&format!("  {head}\n"));
            let left = room.saturating_sub(head.chars().count());
            bounded(lines, left).iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
        for id in &self.gone {
            text.push_str(&format!("  {what} {id}, and no longer in the repository\n"));
        }
        if let Some(more @ 1..) = self.count.checked_sub((self.first.len() + self.gone.len()) as u64) {
            text.push_str(&format!("  {what}: {more} more\n"));
        }
        text
    }
}

impl Commit {
    fn parse(parts: &[&[u8]]) -> Option<Self> {
        let [hash, parents, by, message] = parts else { return None };
        Some(Commit {
            id: id(hash)?,
            parents: parents.split(|byte| *byte == b' ').filter_map(id).collect(),
            by: show::bytes(by),
            message: show::bytes(message),
            files: None,
        })
    }

    fn lines(&self, what: &str, names: &str) -> (String, Vec<String>) {
        let mut message = self.message.trim_end().lines();
        let subject = show::line(message.next().unwrap_or_default());
        let by = one_line(&self.by);
        let merge = if self.parents.len() > 1 { ", a merge, compared with its first parent" } else { "" };
        let head = format!("{what} {}{names} by {by}{merge}: {subject}", short(&self.id));
        let body: Vec<&str> = message.filter(|line| !line.trim().is_empty()).collect();
        let mut lines: Vec<String> =
            body.iter().take(MESSAGE_LINES_MAX).map(|line| one_line(&format!("| {line}"))).collect();
        if let Some(more @ 1..) = body.len().checked_sub(MESSAGE_LINES_MAX) {
            lines.push(format!("| [{more} more lines]"));
        }
        match &self.files {
            Some(Err(Unread)) => lines.push("(its files could not be compared)".to_owned()),
            Some(Ok(files)) if files.is_empty() => lines.push("(it changes no file)".to_owned()),
            Some(Ok(files)) => lines.extend(files.iter().map(File::line)),
            None => {}
        }
        (clip(&head, LINE_CHARS_MAX), lines)
    }
}
