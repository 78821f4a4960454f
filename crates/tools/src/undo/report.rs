//! What a task has changed in files so far, as a judge sees it: against what was there before the task, whatever calls,
//! attempts and rounds did it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::note::State;
use super::plan::{Undoing, Verb, content_at};
use super::repositories;
use crate::approval::preview;
use crate::show;

/// Maximum changes that are named, and characters of their names; of more, the others are counted.
const NAMED_MAX: usize = 400;
const NAMES_CHARS_MAX: usize = 8_000;
/// Maximum characters of all differences.
const DIFFERENCES_CHARS_MAX: usize = 12_000;
/// Least characters of a difference that say anything; what would get less is only named.
const DIFFERENCE_CHARS_MIN: usize = 40;
/// Characters that indents take before a line of a difference, here and in the list of a judge, and those of the mark of a
/// cut.
const INDENTS_CHARS: usize = 5;
const MARK_CHARS: usize = 20;

/// Why nothing is known of what a path was before.
const OUTSIDE: &str = "it changed outside the sandbox, where nothing is kept";

/// A change, with what is shown of it.
pub(super) struct Change {
    pub(super) verb: Verb,
    pub(super) path: PathBuf,
    note: String,
    difference: Option<String>,
}

impl Change {
    /// Returns the path; that of a folder that was made ends in a slash.
    fn fact(&self) -> String {
        let is_folder =
            self.verb == Verb::Remove && self.path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        format!("{}{}", show::path(&self.path), if is_folder { "/" } else { "" })
    }
}

impl Undoing {
    /// Returns the changes as a text, what is lost first and what is new last, and as facts: their count, and the paths of
    /// each kind. `touched` are paths that calls reported, also of commands that keep nothing; `created` those that were new.
    /// `told` are the own folders of repositories of which Git tells already, in `taken` characters.
    pub(crate) fn report(
        &self,
        cwd: &Path,
        touched: &[PathBuf],
        created: &BTreeSet<PathBuf>,
        told: &BTreeSet<PathBuf>,
        taken: usize,
    ) -> (String, Value) {
        let mut changes = self.all_changes(cwd, touched, created);
        changes.sort_by(|one, other| (order(one.verb), &one.path).cmp(&(order(other.verb), &other.path)));
        changes.retain(|change| !repositories::is_left_out(&change.path, told));
        // A folder that was made or removed shows by what is in it, which follows it here.
        let holds_next: Vec<bool> = changes
            .iter()
            .zip(changes.iter().skip(1))
            .map(|(one, next)| {
                one.verb != Verb::Revert && one.verb == next.verb && next.path.starts_with(&one.path)
            })
            .collect();
        let mut holds = holds_next.into_iter().chain([false]);
        changes.retain(|_| holds.next() != Some(true));
        let mut facts = json!({ "count": changes.len(), "counts": {} });
        for verb in [Verb::Restore, Verb::Rename, Verb::Revert, Verb::Remove] {
            let of = changes.iter().filter(|change| change.verb == verb);
            facts["counts"][word(verb)] = of.clone().count().into();
            facts[word(verb)] = of.map(|change| change.fact()).take(NAMED_MAX).collect();
        }
        for change in changes.iter_mut().take(NAMED_MAX).filter(|change| change.difference.is_none()) {
            let difference = self.compared(&change.path, preview::judged);
            change.difference = difference.map(|text| without_head(change.verb, text));
        }
        (text(&changes, cwd, DIFFERENCES_CHARS_MAX.saturating_sub(taken)), facts)
    }

    /// Returns the changes that are known, in no order.
    pub(super) fn all_changes(
        &self,
        cwd: &Path,
        touched: &[PathBuf],
        created: &BTreeSet<PathBuf>,
    ) -> Vec<Change> {
        let mut changes = self.changes(cwd);
        changes.extend(touched.iter().filter_map(|path| self.unkept_change(path, created)));
        changes
    }

    fn changes(&self, cwd: &Path) -> Vec<Change> {
        let outcomes = self.outcomes().into_iter().map(|(verb, path, name)| {
            let name = name.map(|name| format!(", which was {}", shown(&name, cwd))).unwrap_or_default();
            let is_lost = matches!(self.was(&path), Some(State::File { .. }))
                && !matches!(self.is(&path), Some(State::File { .. }));
            let verb = if is_lost { Verb::Restore } else { verb };
            Change { verb, note: name + &self.kinds(&path), path, difference: None }
        });
        let left = self.left().iter().filter_map(|(path, why)| self.left_change(path, why));
        outcomes.chain(left).collect()
    }

    /// Returns what became of a path that an undo would leave alone.
    fn left_change(&self, path: &Path, why: &str) -> Option<Change> {
        let (was, is) = (self.was(path), self.is(path));
        let verb = match (was, is) {
            (Some(was), Some(is)) if is.is(was) => return None,
            (Some(State::Nothing), _) => Verb::Remove,
            (_, Some(State::Nothing)) => Verb::Restore,
            _ => Verb::Revert,
        };
        let is_known = was.is_some_and(|was| !matches!(was, State::Lost(_)));
        let unknown = || format!("; what it was is not known: {}", show::line(why));
        let note = if is_known { self.kinds(path) } else { unknown() };
        Some(Change { verb, path: path.to_path_buf(), note, difference: None })
    }

    /// Returns what became of a path that a call reported and of which nothing is kept.
    fn unkept_change(&self, path: &Path, created: &BTreeSet<PathBuf>) -> Option<Change> {
        if self.is(path).is_some() || self.left().contains_key(path) {
            return None;
        }
        let (is_there, is_new) = (path.symlink_metadata().is_ok(), created.contains(path));
        let verb = match (is_there, is_new) {
            (true, true) => Verb::Remove,
            (true, false) => Verb::Revert,
            (false, false) => Verb::Restore,
            // It came and went.
            (false, true) => return None,
        };
        let difference = || match path.metadata().ok()?.len() {
            size if size > preview::PREVIEW_BYTES_MAX as u64 => Some(preview::too_large(0, size)),
            _ => Some(without_head(verb, preview::judged(b"", &content_at(path)?))),
        };
        let (note, difference) = match is_new {
            true => (String::new(), difference()),
            false => (format!("; what it was is not known: {OUTSIDE}"), None),
        };
        Some(Change { verb, path: path.to_path_buf(), note, difference })
    }

    /// Returns what is at a path, and what was, unless it is a plain file, and the permissions if they differ.
    fn kinds(&self, path: &Path) -> String {
        let kind = |state: &State| match state {
            State::Nothing => None,
            State::File { .. } => Some("a file".to_owned()),
            State::Folder { .. } => Some("a folder".to_owned()),
            State::Link(to) => Some(format!("a link to {}", show::path_line(&to.0))),
            State::Lost(why) => Some(show::line(why)),
        };
        let mode = |state: &State| match state {
            State::File { mode, .. } | State::Folder { mode: Some(mode) } => Some(*mode),
            State::Nothing | State::Folder { mode: None } | State::Link(_) | State::Lost(_) => None,
        };
        let (was, is) = (self.was(path), self.is(path));
        let (old, new) = (was.and_then(kind), is.and_then(kind));
        let modes = match (was.and_then(mode), is.and_then(mode)) {
            (Some(old), Some(new)) if old != new => format!(", mode {old:04o} -> {new:04o}"),
            (None, Some(new)) if new & 0o111 != 0 && matches!(is, Some(State::File { .. })) => {
                format!(", mode {new:04o}")
            }
            _ => String::new(),
        };
        match (old, new) {
            (Some(old), Some(new)) if old != new => format!(" ({new} now, {old} before){modes}"),
            (Some(one), _) | (None, Some(one)) if one != "a file" => format!(" ({one}){modes}"),
            _ => modes,
        }
    }
}

fn shown(path: &Path, cwd: &Path) -> String {
    show::path_line(path.strip_prefix(cwd).unwrap_or(path))
}

fn text(changes: &[Change], cwd: &Path, chars_max: usize) -> String {
    let heads = changes
        .iter()
        .map(|Change { verb, path, note, .. }| format!("{} {}{note}\n", word(*verb), shown(path, cwd)));
    let mut left = NAMES_CHARS_MAX;
    let heads: Vec<String> = heads
        .take(NAMED_MAX)
        .take_while(|head| {
            let fits = left.checked_sub(head.chars().count());
            left = fits.unwrap_or_default();
            fits.is_some()
        })
        .collect();
    let (named, rest) = changes.split_at(heads.len());
    let mut differences: Vec<String> =
        named.iter().map(|change| change.difference.clone().unwrap_or_default()).collect();
    // Of many, what stays the same around a change takes the room of the changes.
    if differences.iter().map(|one| length(one)).sum::<usize>() > chars_max {
        differences.iter_mut().for_each(|one| *one = changes_alone(one));
    }
    let most = share(&differences, chars_max);
    let mut text = String::new();
    for (head, difference) in heads.iter().zip(&differences) {
        text.push_str(head);
        let part = match most {
            Some(most) => cut(difference, most),
            None if difference.is_empty() => String::new(),
            None => "[how is not shown]".to_owned(),
        };
        part.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    if !rest.is_empty() {
        let of = |verb: Verb| rest.iter().filter(|change| change.verb == verb).count();
        let verbs = [Verb::Restore, Verb::Rename, Verb::Revert, Verb::Remove];
        let counts = verbs.into_iter().filter(|verb| of(*verb) > 0);
        let counts: Vec<String> = counts.map(|verb| format!("{} {}", of(verb), word(verb))).collect();
        text.push_str(&format!("[not named: {}]\n", counts.join(", ")));
    }
    text
}

/// Returns the characters of a text with the indents of its lines.
fn length(text: &str) -> usize {
    text.lines().map(|line| line.chars().count() + INDENTS_CHARS).sum()
}

/// Returns the first and the last lines of a difference, and how many are between them.
fn cut(difference: &str, most: usize) -> String {
    if length(difference) <= most {
        return difference.to_owned();
    }
    let lines: Vec<&str> = difference.lines().collect();
    let mut left = most.saturating_sub(MARK_CHARS);
    let mut fits = |line: &&&str, part: usize| {
        let fits = left.checked_sub(line.chars().count() + INDENTS_CHARS).filter(|rest| *rest >= part);
        left = fits.unwrap_or(left);
        fits.is_some()
    };
    let head = lines.iter().take_while(|line| fits(line, most / 3)).count();
    let tail = lines.iter().skip(head).rev().take_while(|line| fits(line, 0)).count();
    let between = lines.len() - head - tail;
    let mut shown: Vec<String> = lines.iter().take(head).map(|line| (*line).to_owned()).collect();
    shown.push(format!("[… {between} lines …]"));
    shown.extend(lines.iter().skip(head + between).map(|line| (*line).to_owned()));
    shown.join("\n")
}

/// Returns a difference without the lines around the changes.
fn changes_alone(difference: &str) -> String {
    let is_change = |line: &&str| !line.starts_with(' ') && !line.starts_with("@@");
    difference.lines().filter(is_change).collect::<Vec<_>>().join("\n")
}

/// Returns how many characters each difference may have: the small ones are shown whole, and the others share what is left.
/// `None` if there are too many to show any.
fn share(differences: &[String], chars_max: usize) -> Option<usize> {
    let mut lengths: Vec<usize> = differences.iter().map(|text| length(text)).collect();
    lengths.sort_unstable();
    let mut left = chars_max;
    for (n, length) in lengths.iter().enumerate() {
        let each = left / (lengths.len() - n);
        if *length > each {
            return (each >= DIFFERENCE_CHARS_MIN).then_some(each);
        }
        left -= length;
    }
    Some(chars_max)
}

/// Returns a difference without the line that says which lines it is about, where all of the file is new or gone.
fn without_head(verb: Verb, text: String) -> String {
    let is_whole = matches!(verb, Verb::Restore | Verb::Remove);
    match text.split_once('\n') {
        Some((head, lines)) if is_whole && head.starts_with("@@ ") => lines.to_owned(),
        _ => text,
    }
}

const fn order(verb: Verb) -> u8 {
    match verb {
        Verb::Restore => 0,
        Verb::Rename => 1,
        Verb::Revert => 2,
        Verb::Remove => 3,
    }
}

/// Returns the word for what was done, of which undoing is the opposite.
const fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Restore => "removed",
        Verb::Rename => "renamed",
        Verb::Revert => "changed",
        Verb::Remove => "made",
    }
}
