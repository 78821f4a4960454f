//! What undoing would do: the notes of a task backwards, against what is there now.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use setpoint_own_files::own::{self, Access};
use setpoint_protocol::CallId;

use super::keep::{CONTENTS, LOG};
use super::note::{self, Identity, Line, Note, State, entries};
use crate::approval::preview;
use crate::files::folder::Folder;
use crate::files::spot::Spot;

/// Why something is left alone that was in a folder which is not there any more.
pub(super) const FOLDER_GONE: &str = "the folder that it was in is gone";

/// Why a task's changes cannot be undone.
#[derive(Debug, thiserror::Error)]
#[error("read what the task kept in {}", .folder.display())]
pub struct UndoingError {
    /// The folder of the task.
    folder: PathBuf,
    #[source]
    source: io::Error,
}

/// What undoing does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Creates again what was deleted.
    Restore,
    /// Gives what was changed its old content and permissions.
    Revert,
    /// Deletes what was created.
    Remove,
    /// Gives the file its old name.
    Rename,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Restore => "restore",
            Verb::Revert => "revert",
            Verb::Remove => "remove",
            Verb::Rename => "rename",
        })
    }
}

/// One thing to do.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Puts `was` where `now` is; `now` as it was planned with.
    Put { path: PathBuf, was: State, now: State },
    /// Gives a file its old name.
    Back { from: PathBuf, to: PathBuf },
}

/// What undoing the changes of a task would do.
#[derive(Debug)]
pub struct Undoing {
    pub(super) contents: PathBuf,
    pub(super) steps: Vec<Step>,
    /// What is left alone, and why.
    pub(super) left: BTreeMap<PathBuf, String>,
    /// Calls of the task whose changes were not kept, in words.
    unkept: Vec<String>,
    /// Of those that are left: what somebody else changed since.
    changed_since: BTreeSet<PathBuf>,
    /// What is at each path that was looked at, before the first step.
    before: BTreeMap<PathBuf, State>,
    /// What was at each path that is left, before the task.
    first: BTreeMap<PathBuf, State>,
}

impl Undoing {
    /// Plans to undo what these calls of a task changed, whose folder is `folder`. With `is_forced`, states are put back
    /// also where somebody else changed something since.
    ///
    /// # Errors
    /// If what the task kept cannot be read.
    pub fn of(
        folder: &Path,
        is_meant: impl Fn(CallId) -> bool,
        is_forced: bool,
    ) -> Result<Undoing, UndoingError> {
        let failed = |source| UndoingError { folder: folder.to_path_buf(), source };
        let lines = match own::open(&folder.join(LOG), Access::Read) {
            Ok(log) => note::read(log, is_meant).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let undoing = Undoing {
            contents: folder.join(CONTENTS),
            steps: Vec::new(),
            left: BTreeMap::new(),
            unkept: Vec::new(),
            changed_since: BTreeSet::new(),
            before: BTreeMap::new(),
            first: BTreeMap::new(),
        };
        let mut planning = Planning { undoing, now: BTreeMap::new(), is_forced };
        planning.all(&lines);
        let mut undoing = planning.undoing;
        for line in lines {
            if let Note::Change { path, was, .. } = line.note
                && undoing.left.contains_key(&path.0)
            {
                undoing.first.entry(path.0).or_insert(was);
            }
        }
        Ok(undoing)
    }

    /// Names the calls of the task whose changes were not kept, in words.
    #[must_use]
    pub fn beside(self, unkept: Vec<String>) -> Undoing {
        Undoing { unkept, ..self }
    }

    /// Returns the calls of the task whose changes were not kept, in words. Nothing undoes them.
    #[must_use]
    pub fn unkept(&self) -> &[String] {
        &self.unkept
    }

    /// Returns whether there is nothing to put back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns what is left alone, and why, by path.
    #[must_use]
    pub fn left(&self) -> &BTreeMap<PathBuf, String> {
        &self.left
    }

    /// Returns how many paths are left alone because somebody else changed them since.
    #[must_use]
    pub fn changed_since(&self) -> usize {
        self.changed_since.len()
    }

    /// Returns each path with what becomes of it, by path; of a file that gets its old name, with that name.
    #[must_use]
    pub fn outcomes(&self) -> Vec<(Verb, PathBuf, Option<PathBuf>)> {
        let mut last: BTreeMap<&Path, (Verb, Option<PathBuf>)> = BTreeMap::new();
        for step in &self.steps {
            match step {
                Step::Put { path, was, now } => {
                    let first = self.before.get(path).unwrap_or(now);
                    let verb = match (first, was) {
                        (_, State::Nothing) => Verb::Remove,
                        (State::Nothing, _) => Verb::Restore,
                        _ => Verb::Revert,
                    };
                    let name = last.remove(path.as_path()).and_then(|(_, name)| name);
                    // A file that was new, and is gone again in between, needs nothing.
                    if !(*first == State::Nothing && *was == State::Nothing) {
                        last.insert(path, (verb, name));
                    }
                }
                Step::Back { from, to } => drop(last.insert(from, (Verb::Rename, Some(to.clone())))),
            }
        }
        last.into_iter().map(|(path, (verb, name))| (verb, path.to_path_buf(), name)).collect()
    }

    /// Returns how what the task left at a path differs from what was there before it, as a unified diff without a
    /// header; `None` for anything but a file.
    #[must_use]
    pub fn difference(&self, path: &Path) -> Option<String> {
        self.compared(path, preview::diff)
    }

    pub(super) fn compared(&self, path: &Path, compare: fn(&[u8], &[u8]) -> String) -> Option<String> {
        let (was, is) = (self.was(path)?, self.is(path)?);
        let is_file = |state: &State| matches!(state, State::File { .. });
        if !is_file(was) && !is_file(is) {
            return None;
        }
        let sizes = (self.size(was)?, if is_file(is) { path.metadata().ok()?.len() } else { 0 });
        if sizes.0.max(sizes.1) > preview::PREVIEW_BYTES_MAX as u64 {
            let is_same = matches!((was, is), (State::File { hash: one, .. }, State::File { hash: other, .. }) if one == other);
            return Some(if is_same {
                preview::SAME.to_owned()
            } else {
                preview::too_large(sizes.0, sizes.1)
            });
        }
        // Folders and links have nothing that could be compared.
        let old = if is_file(was) { self.content(was)? } else { Vec::new() };
        let new = if is_file(is) { content_at(path)? } else { Vec::new() };
        Some(compare(&old, &new))
    }

    /// Returns what was at a path before the task, if the task changed it there.
    pub(super) fn was(&self, path: &Path) -> Option<&State> {
        let put = self.steps.iter().rev().find_map(|step| match step {
            Step::Put { path: other, was, .. } if other == path => Some(was),
            _ => None,
        });
        self.first.get(path).or(put)
    }

    /// Returns what is at a path that was looked at.
    pub(super) fn is(&self, path: &Path) -> Option<&State> {
        self.before.get(path)
    }

    fn size(&self, state: &State) -> Option<u64> {
        match state {
            State::File { hash, .. } => Some(self.contents.join(hash).metadata().ok()?.len()),
            _ => Some(0),
        }
    }

    pub(super) fn content(&self, state: &State) -> Option<Vec<u8>> {
        match state {
            State::Nothing => Some(Vec::new()),
            State::File { hash, .. } => head(&mut own::open(&self.contents.join(hash), Access::Read).ok()?),
            _ => None,
        }
    }
}

/// Reads the file at a real path, up to one byte more than a preview shows.
pub(super) fn content_at(path: &Path) -> Option<Vec<u8>> {
    head(&mut Spot::real(path, None).ok()?.folder().read(path.file_name()?).ok()?)
}

/// Reads a file, up to one byte more than a preview shows.
fn head(file: &mut std::fs::File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = preview::PREVIEW_BYTES_MAX as u64 + 1;
    io::Read::read_to_end(&mut io::Read::take(file, most), &mut bytes).ok()?;
    Some(bytes)
}

/// What a path holds while the plan is made.
#[derive(Clone, Debug)]
enum Now {
    State(State),
    /// The file that is at this path before the first step.
    FileOf(PathBuf),
}

struct Planning {
    undoing: Undoing,
    /// What the steps so far would leave.
    now: BTreeMap<PathBuf, Now>,
    is_forced: bool,
}

impl Planning {
    fn all(&mut self, lines: &[Line]) {
        // Files that a call renamed all at once go back together.
        let is_move = |line: &Line| matches!(line.note, Note::Move { .. });
        let together = |one: &Line, next: &Line| is_move(one) && is_move(next) && one.call == next.call;
        let settled = self.settled(lines);
        for part in lines.chunk_by(together).rev() {
            if part.iter().all(|line| line.note.paths().all(|path| settled.contains(path))) {
                continue;
            }
            match part.first().map(|line| &line.note) {
                Some(Note::Change { path, was, is }) => self.change(&path.0, was, is),
                Some(Note::Move { .. }) => self.moves(part),
                None => {}
            }
        }
    }

    /// Returns the paths that are as they were before the first of these notes, so that nothing is to do there whatever
    /// happened in between: they were put back already. Paths between which files were renamed count together.
    fn settled<'l>(&mut self, lines: &'l [Line]) -> BTreeSet<&'l Path> {
        let mut groups: BTreeMap<&Path, usize> = BTreeMap::new();
        let mut is_as_before: Vec<bool> = Vec::new();
        let mut last: BTreeMap<&Path, &State> = BTreeMap::new();
        for line in lines {
            for path in line.note.paths() {
                if groups.contains_key(path) {
                    continue;
                }
                let is_so = match &line.note {
                    Note::Change { was, .. } => self.before(path).is(was),
                    Note::Move { to, .. } => (self.before(path) == State::Nothing) == (path == to.0),
                };
                groups.insert(path, is_as_before.len());
                is_as_before.push(is_so);
            }
            if let Note::Change { path, was, is } = &line.note
                && let Some(left) = last.insert(&path.0, is)
                && !was.is(left)
                && let Some(group) = groups.get(&*path.0)
            {
                // Somebody else changed it in between, and may want that back.
                is_as_before.iter_mut().skip(*group).take(1).for_each(|group| *group = false);
            }
            if let Note::Move { from, to, .. } = &line.note {
                let (one, other) = (groups.get(&*from.0).copied(), groups.get(&*to.0).copied());
                if let (Some(one), Some(other)) = (one, other) {
                    let is_so = [one, other].iter().all(|group| is_as_before.get(*group) == Some(&true));
                    is_as_before.iter_mut().skip(one).take(1).for_each(|both| *both = is_so);
                    groups.values_mut().filter(|group| **group == other).for_each(|group| *group = one);
                }
            }
        }
        let is_settled = |group: usize| is_as_before.get(group) == Some(&true);
        let (settled, open): (BTreeMap<_, _>, BTreeMap<_, _>) =
            groups.into_iter().partition(|(_, group)| is_settled(*group));
        // What comes back takes the folders with it that the task made and removed.
        let above: BTreeSet<&Path> = open.keys().flat_map(|path| path.ancestors().skip(1)).collect();
        settled.into_keys().filter(|path| !above.contains(path)).collect()
    }

    /// Returns what is at a path after the steps so far.
    fn state(&mut self, path: &Path) -> State {
        match self.now.get(path).cloned() {
            Some(Now::State(state)) => state,
            Some(Now::FileOf(place)) => self.before(&place),
            None => self.before(path),
        }
    }

    /// Returns what is at a path before the first step.
    fn before(&mut self, path: &Path) -> State {
        let look = || State::at_path(path);
        self.undoing.before.entry(path.to_path_buf()).or_insert_with(look).clone()
    }

    fn leave(&mut self, path: &Path, why: &str) {
        self.undoing.left.entry(path.to_path_buf()).or_insert_with(|| why.to_owned());
    }

    fn leave_changed(&mut self, path: &Path) {
        self.leave(path, "it was changed since by somebody else");
        self.undoing.changed_since.insert(path.to_path_buf());
    }

    fn change(&mut self, path: &Path, was: &State, is: &State) {
        if self.undoing.left.contains_key(path) {
            return;
        }
        let now = self.state(path);
        if now.is(was) {
            self.now.insert(path.to_path_buf(), Now::State(was.clone()));
            return;
        }
        if let State::Lost(why) = was {
            return self.leave(path, why);
        }
        let is_meant = now.is(is) || self.is_forced && can_replace(&now, was);
        if !is_meant {
            return self.leave_changed(path);
        }
        if *was != State::Nothing
            && path.parent().is_some_and(|parent| !matches!(self.state(parent), State::Folder { .. }))
        {
            return self.leave(path, FOLDER_GONE);
        }
        if matches!(now, State::Folder { .. }) && *was == State::Nothing && self.has_entries(path) {
            return self.leave(path, "the folder holds other files");
        }
        self.undoing.steps.push(Step::Put { path: path.to_path_buf(), was: was.clone(), now });
        self.now.insert(path.to_path_buf(), Now::State(was.clone()));
    }

    /// Returns whether a folder would still hold something after the steps so far.
    fn has_entries(&mut self, path: &Path) -> bool {
        let names = Folder::open(path).and_then(|folder| entries(&folder)).unwrap_or_default();
        names.iter().any(|name| self.state(&path.join(name)) != State::Nothing)
    }

    fn moves(&mut self, part: &[Line]) {
        let moves = part.iter().filter_map(|line| match &line.note {
            Note::Move { from, to, file } => Some((from.0.as_path(), to.0.as_path(), *file)),
            Note::Change { .. } => None,
        });
        let all: Vec<_> = moves.collect();
        let leaving: BTreeSet<&Path> = all.iter().map(|(_, to, _)| *to).collect();
        let mut back = Vec::new();
        for (from, to, file) in all {
            if self.undoing.left.contains_key(to) {
                continue;
            }
            let is_there = match self.now.get(to) {
                // A later change of the file was undone.
                Some(Now::State(state)) => *state != State::Nothing,
                Some(Now::FileOf(_)) => true,
                None => identity(to) == Some(file),
            };
            let is_free = leaving.contains(from) || self.state(from) == State::Nothing;
            match (is_there, is_free) {
                (true, true) => back.push((from, to)),
                // It has its old name already.
                (false, false) if identity(from) == Some(file) => {}
                _ => self.leave_changed(to),
            }
        }
        let places: Vec<Now> = back.iter().map(|(_, to)| self.place_of(to)).collect();
        for (_, to) in &back {
            self.now.insert(to.to_path_buf(), Now::State(State::Nothing));
        }
        for ((from, to), place) in back.into_iter().zip(places) {
            self.now.insert(from.to_path_buf(), place);
            let (from, to) = (to.to_path_buf(), from.to_path_buf());
            self.undoing.steps.push(Step::Back { from, to });
        }
    }

    fn place_of(&self, path: &Path) -> Now {
        self.now.get(path).cloned().unwrap_or_else(|| Now::FileOf(path.to_path_buf()))
    }
}

/// Returns whether a forced undo may put `was` in the place of what somebody else made: never in the place of a folder,
/// which holds more than was looked at.
fn can_replace(now: &State, was: &State) -> bool {
    let is_plain = |state: &State| matches!(state, State::File { .. } | State::Link(_) | State::Nothing);
    is_plain(now) && is_plain(was)
}

fn identity(path: &Path) -> Option<Identity> {
    let found = Spot::real(path, None).ok()?.look().ok()??;
    Some(Identity::of(&found))
}
