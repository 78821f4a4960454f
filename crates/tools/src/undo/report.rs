//! What a task has changed in files so far, as a judge sees it: against what was there before the task, whatever calls,
//! attempts and rounds did it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use setpoint_protocol::text::head_and_tail;

use super::note::State;
use super::plan::{Undoing, Verb, content_at};
use crate::approval::preview;
use crate::show;

/// Maximum changes that are named; of more, the others are counted.
const NAMED_MAX: usize = 200;
/// Maximum files whose contents are compared.
const COMPARED_MAX: usize = 400;
/// Maximum characters of all differences.
const DIFFERENCES_CHARS_MAX: usize = 14_000;
/// Least characters of a difference that say anything; what would get less is only named.
const DIFFERENCE_CHARS_MIN: usize = 40;

/// Why nothing is known of what a path was before.
const OUTSIDE: &str = "it changed outside the sandbox, where nothing is kept";

/// A change, with what is shown of it.
struct Change {
    verb: Verb,
    path: PathBuf,
    note: String,
    difference: Option<String>,
}

impl Undoing {
    /// Returns the changes as a text, what is lost first and what is new last, and as facts: their count, and the paths of
    /// each kind. `touched` are paths that calls reported, also of commands that keep nothing; `created` those that were new.
    pub(crate) fn report(
        &self,
        cwd: &Path,
        touched: &[PathBuf],
        created: &BTreeSet<PathBuf>,
    ) -> (String, Value) {
        let mut changes = self.changes(cwd);
        changes.extend(touched.iter().filter_map(|path| self.unkept_change(path, created)));
        changes.sort_by(|one, other| (order(one.verb), &one.path).cmp(&(order(other.verb), &other.path)));
        // A folder that was made or removed shows by what is in it, which follows it here.
        let holds_next: Vec<bool> = changes
            .iter()
            .zip(changes.iter().skip(1))
            .map(|(one, next)| one.verb == next.verb && next.path.starts_with(&one.path))
            .collect();
        let mut holds = holds_next.into_iter().chain([false]);
        changes.retain(|_| holds.next() != Some(true));
        let mut facts = json!({ "count": changes.len() });
        for verb in [Verb::Restore, Verb::Rename, Verb::Revert, Verb::Remove] {
            let of = changes.iter().filter(|change| change.verb == verb);
            facts[word(verb)] = of.map(|change| show::path(&change.path)).take(NAMED_MAX).collect();
        }
        (text(&changes, cwd), facts)
    }

    fn changes(&self, cwd: &Path) -> Vec<Change> {
        let outcomes = self.outcomes().into_iter().enumerate().map(|(n, (verb, path, name))| {
            let name = name.map(|name| format!(", which was {}", shown(&name, cwd))).unwrap_or_default();
            let difference = if n < COMPARED_MAX { self.compared(&path, preview::judged) } else { None };
            let difference = difference.map(|text| without_head(verb, text));
            Change { verb, note: name + &self.modes(&path), path, difference }
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
        let (note, difference) = match is_known {
            true => (self.modes(path), self.compared(path, preview::judged)),
            false => (format!("; what it was is not known: {}", show::line(why)), None),
        };
        let difference = difference.map(|text| without_head(verb, text));
        Some(Change { verb, path: path.to_path_buf(), note, difference })
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
        let difference = || Some(without_head(verb, preview::judged(b"", &content_at(path)?)));
        let (note, difference) = match is_new {
            true => (String::new(), difference()),
            false => (format!("; what it was is not known: {OUTSIDE}"), None),
        };
        Some(Change { verb, path: path.to_path_buf(), note, difference })
    }

    /// Returns the permissions before the task and now, if a file has others.
    fn modes(&self, path: &Path) -> String {
        match (self.was(path), self.is(path)) {
            (Some(State::File { mode: old, .. }), Some(State::File { mode: new, .. })) if old != new => {
                format!(", mode {old:04o} -> {new:04o}")
            }
            (_, Some(State::File { mode, .. })) if mode & 0o111 != 0 => format!(", mode {mode:04o}"),
            (Some(State::Folder { .. }), _) | (_, Some(State::Folder { .. })) => " (a folder)".to_owned(),
            (_, Some(State::Link(to))) => format!(" (a link to {})", show::path_line(&to.0)),
            (Some(State::Link(to)), _) => format!(" (it was a link to {})", show::path_line(&to.0)),
            _ => String::new(),
        }
    }
}

fn shown(path: &Path, cwd: &Path) -> String {
    show::path_line(path.strip_prefix(cwd).unwrap_or(path))
}

fn text(changes: &[Change], cwd: &Path) -> String {
    let most = share(changes);
    let mut text = String::new();
    for Change { verb, path, note, difference } in changes.iter().take(NAMED_MAX) {
        text.push_str(&format!("{} {}{note}\n", word(*verb), shown(path, cwd)));
        if let Some(difference) = difference.as_deref().filter(|text| !text.is_empty()) {
            let part = match most {
                Some(most) => head_and_tail(difference, most),
                None => "[how is not shown]".to_owned(),
            };
            part.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    let rest = changes.get(NAMED_MAX..).unwrap_or_default();
    if !rest.is_empty() {
        let of = |verb: Verb| rest.iter().filter(|change| change.verb == verb).count();
        let verbs = [Verb::Restore, Verb::Rename, Verb::Revert, Verb::Remove];
        let counts = verbs.into_iter().filter(|verb| of(*verb) > 0);
        let counts: Vec<String> = counts.map(|verb| format!("{} {}", of(verb), word(verb))).collect();
        text.push_str(&format!("[not named: {}]\n", counts.join(", ")));
    }
    text
}

/// Returns how many characters each difference may have: the small ones are shown whole, and the others share what is left.
/// `None` if there are too many to show any.
fn share(changes: &[Change]) -> Option<usize> {
    let differences = changes.iter().take(NAMED_MAX).filter_map(|change| change.difference.as_ref());
    let mut lengths: Vec<usize> = differences.map(|text| text.chars().count()).collect();
    lengths.sort_unstable();
    let mut left = DIFFERENCES_CHARS_MAX;
    for (n, length) in lengths.iter().enumerate() {
        let each = left / (lengths.len() - n);
        if *length > each {
            return (each >= DIFFERENCE_CHARS_MIN).then_some(each);
        }
        left -= length;
    }
    Some(DIFFERENCES_CHARS_MAX)
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
