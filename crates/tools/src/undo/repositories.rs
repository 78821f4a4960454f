//! Repositories of Git that a task changed: what was in their own folders before it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::note::State;
use super::plan::{Undoing, Verb, content_at};
use super::report::Change;
use crate::approval::preview::PREVIEW_BYTES_MAX;

/// Files of Git's ordinary bookkeeping: what they mean shows in the commits, branches, tags and the status.
const BOOKKEEPING: &[&str] = &[
    "AUTO_MERGE",
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "HEAD",
    "ORIG_HEAD",
    "TAG_EDITMSG",
    "description",
    "index",
    "packed-refs",
];
/// Folders whose content is of that kind.
const BOOKKEEPING_FOLDERS: &[&str] = &["branches", "hooks", "info", "logs", "objects", "refs"];
/// How the names of own folders end.
const OWN: &[u8] = b".git";

/// A repository's own folder (`.git`, or a bare repository) in which the task changed something.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    pub(crate) path: PathBuf,
    /// What was in its changed files that say which commits are reachable, by their paths in it; `None` where there was nothing.
    was: BTreeMap<PathBuf, Option<String>>,
    /// Whether all of that was kept.
    pub(crate) is_kept: bool,
    /// Whether objects were removed or changed.
    pub(crate) has_lost_objects: bool,
}

impl OwnFolder {
    /// Returns what was in a file before the task, if the task changed it.
    pub(crate) fn was(&self, inside: &Path) -> Option<Option<&str>> {
        self.was.get(inside).map(Option::as_deref)
    }

    /// Returns the changed paths that say which commits are reachable.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Path> {
        self.was.keys().map(PathBuf::as_path)
    }
}

impl Undoing {
    /// Returns the own folders of repositories that are there and in which something changed.
    pub(crate) fn own_folders(
        &self,
        cwd: &Path,
        touched: &[PathBuf],
        created: &BTreeSet<PathBuf>,
    ) -> Vec<OwnFolder> {
        let mut all: BTreeMap<PathBuf, OwnFolder> = BTreeMap::new();
        for change in self.all_changes(cwd, touched, created) {
            if let Some((own, inside)) = split(&change.path) {
                let new = || OwnFolder {
                    path: own.to_path_buf(),
                    was: BTreeMap::new(),
                    is_kept: true,
                    has_lost_objects: false,
                };
                self.add(all.entry(own.to_path_buf()).or_insert_with(new), &change, inside);
            }
        }
        all.into_values().collect()
    }

    fn add(&self, own: &mut OwnFolder, change: &Change, inside: &Path) {
        own.has_lost_objects |= inside.starts_with("objects") && change.verb != Verb::Remove;
        let is_of_refs =
            inside.starts_with("refs") || ["HEAD", "packed-refs"].iter().any(|name| inside == *name);
        match self.was(&change.path) {
            Some(State::Nothing | State::Folder { .. }) if is_of_refs => {
                own.was.insert(inside.to_path_buf(), None);
            }
            Some(state @ State::File { .. }) if is_of_refs => match self.content(state).and_then(as_text) {
                Some(text) => drop(own.was.insert(inside.to_path_buf(), Some(text))),
                None => own.is_kept = false,
            },
            Some(State::Link(_) | State::Lost(_)) if is_of_refs => own.is_kept = false,
            Some(_) => {}
            // A command outside the sandbox, of whose changes not all need to be listed.
            None => own.is_kept = false,
        }
    }
}

/// Returns the text of a file that is there now; `None` if there is none that is read.
pub(crate) fn kept_text(path: &Path) -> Option<String> {
    content_at(path).and_then(as_text)
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    (bytes.len() <= PREVIEW_BYTES_MAX).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Returns the repository's own folder in which a path is, and the path in it.
fn split(path: &Path) -> Option<(&Path, &Path)> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    let own = above.into_iter().find(|folder| is_own_folder(folder))?;
    Some((own, path.strip_prefix(own).ok()?))
}

fn is_own_folder(folder: &Path) -> bool {
    let name = folder.file_name().map(OsStr::as_bytes).unwrap_or_default();
    let is_bare = || ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists());
    name.ends_with(OWN) && folder.is_dir() && (name == OWN || is_bare())
}

/// Returns whether a change at a path says nothing to a reader. `told` are the own folders of which Git tells.
pub(super) fn is_left_out(path: &Path, told: &BTreeSet<PathBuf>) -> bool {
    match split(path) {
        Some((own, inside)) if told.contains(own) => is_bookkeeping(inside),
        _ => is_object(path),
    }
}

fn is_object(path: &Path) -> bool {
    let mut parts = path.iter();
    parts.any(|part| part == ".git")
        && parts.next().is_some_and(|part| part == "objects")
        && !is_alternates(path)
}

/// Returns whether a file names other places where objects are.
fn is_alternates(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_bytes().ends_with(b"alternates"))
}

fn is_bookkeeping(inside: &Path) -> bool {
    let mut parts = inside.iter().filter_map(OsStr::to_str);
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    // A lock keeps Git from working.
    let is_lock = inside.extension().is_some_and(|extension| extension == "lock");
    match second {
        None => BOOKKEEPING.contains(&first) || BOOKKEEPING_FOLDERS.contains(&first),
        Some(_) if is_lock || is_alternates(inside) => false,
        // Git runs no hook with this ending.
        Some(name) if first == "hooks" => name.ends_with(".sample") && third.is_none(),
        Some(_) => ["logs", "objects", "refs"].contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_something_or_is_unknown_is_no_bookkeeping() {
        for inside in
            ["HEAD", "index", "refs/heads/a/b", "logs/HEAD", "objects/ab/cd", "hooks/pre-push.sample", "info"]
        {
            assert!(is_bookkeeping(Path::new(inside)), "{inside}");
        }
        for inside in [
            "",
            "config",
            "config.worktree",
            "hooks/pre-push",
            "hooks/x/y.sample",
            "info/exclude",
            "modules/x/HEAD",
            "worktrees/x/HEAD",
            "objects/info/alternates",
            "refs/heads/a.lock",
            "index.lock",
            "index/x",
            "shallow",
            "MERGE_HEAD",
            "branches/x",
            "evil",
        ] {
            assert!(!is_bookkeeping(Path::new(inside)), "{inside}");
        }
        for (path, is) in
            [(".git/objects/ab", true), ("objects/ab", false), (".git/objects/info/alternates", false)]
        {
            assert_eq!(is_object(Path::new(path)), is, "{path}");
        }
    }
}
