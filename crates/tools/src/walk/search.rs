//! Walks the files below a folder that people search for.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::{DirEntry, WalkBuilder};
use serde_json::Value;

use super::Tally;
use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// Folders of copies, downloads and histories, which people do not edit.
const SKIPPED: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".cache",
    ".tox",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
    ".Trash",
    "Caches",
    "__pycache__",
    "node_modules",
];

/// The file that marks a folder as a cache whose content can be regenerated (bford.info/cachedir).
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// Maximum entries that are visited for what a search leaves out.
const LEFT_OUT_ENTRIES_MAX: u64 = 200_000;
/// Maximum items of it that are reported.
const LEFT_OUT_TOLD_MAX: usize = 100;

/// Files with rules that exclude others.
const RULES: &[&str] = &[".gitignore", ".ignore", ".git/info/exclude"];

/// The bounds of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) entries_max: usize,
    pub(crate) depth_max: usize,
    /// Whether hidden, ignored and cached files are included.
    pub(crate) hidden: bool,
    /// Whether `.ignore` files are disregarded, so that Git can confirm what is skipped.
    pub(crate) only_git: bool,
}

impl Bounds {
    pub(crate) fn new(halt: &Halt, hidden: bool) -> Self {
        let limits = &halt.limits;
        Bounds { entries_max: limits.entries_max, depth_max: limits.depth_max, hidden, only_git: false }
    }

    pub(crate) fn by_git_only(self) -> Self {
        Bounds { only_git: true, ..self }
    }
}

/// Visits everything below `root`, but not `root` itself if it is a folder: a folder before its content, names in byte
/// order.
///
/// Without `hidden` it skips hidden names, what the rules of a Git repository exclude, version control folders and
/// caches. A hidden name is skipped even if a rule spares it from exclusion. The person's own Git configuration is
/// disregarded, because the result must not depend on it. If `root` itself is excluded, Git's rules do not apply below
/// it: the call named it on purpose.
pub(crate) fn walk(
    root: &Path,
    bounds: Bounds,
    halt: &Halt,
    mut visit: impl FnMut(&DirEntry) -> ControlFlow<()>,
) -> Tally {
    let mut tally = Tally::new();
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(!bounds.hidden)
        .git_global(false)
        .ignore(!bounds.hidden && !bounds.only_git)
        .follow_links(false)
        .max_depth(Some(bounds.depth_max))
        .sort_by_file_name(|one, other| one.cmp(other));
    let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let is_strange = !bounds.hidden && real.ancestors().any(|above| has_strange_rules(above, bounds, halt));
    tally.unreadable += u64::from(is_strange);
    if is_strange {
        builder.ignore(false);
    }
    if is_strange || (!bounds.hidden && is_excluded(&real)) {
        builder.git_ignore(false).git_exclude(false).parents(false);
    }
    let (halt_too, closed, strange) =
        (halt.clone(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (count, strange_too) = (Arc::clone(&closed), Arc::clone(&strange));
    builder.filter_entry(move |entry| {
        if entry.depth() == 0 {
            return true;
        }
        if !bounds.hidden && is_skipped(entry) {
            return false;
        }
        if !bounds.hidden && is_folder(entry) && has_strange_rules(entry.path(), bounds, &halt_too) {
            strange_too.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let is_closed = is_closed(entry, &halt_too);
        count.fetch_add(u64::from(is_closed), Ordering::Relaxed);
        !is_closed
    });
    // The entries of the folders, and those of them that were visited: the rest was skipped.
    let (mut inside, mut seen): (u64, u64) = (0, 0);
    for next in builder.build() {
        if halt.reached() || tally.entries >= bounds.entries_max as u64 {
            tally.complete = false;
            break;
        }
        tally.entries += 1;
        let entry = match next {
            Ok(entry) => entry,
            Err(_) => {
                tally.unreadable += 1;
                continue;
            }
        };
        // The root may be a link, and is then its target.
        let is_folder = is_folder(&entry) || (entry.depth() == 0 && entry.path().is_dir());
        if is_folder && entry.depth() >= bounds.depth_max {
            tally.complete = false;
        }
        if is_folder && !bounds.hidden && entry.depth() < bounds.depth_max {
            inside += std::fs::read_dir(entry.path()).map_or(0, |names| names.flatten().count() as u64);
        }
        if entry.depth() == 0 && is_folder {
            continue;
        }
        seen += u64::from(entry.depth() > 0);
        let is_link = entry.depth() > 0 && entry.file_type().is_some_and(|kind| kind.is_symlink());
        tally.links += u64::from(is_link);
        if visit(&entry).is_break() {
            tally.complete = false;
            break;
        }
    }
    tally.closed = closed.load(Ordering::Relaxed);
    let strange = strange.load(Ordering::Relaxed);
    tally.skipped = inside.saturating_sub(seen + tally.closed + strange + tally.unreadable);
    tally.unreadable += strange;
    tally
}

/// What a search leaves out and would otherwise have found.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// What it would have shown, up to a number of items.
    texts: Vec<String>,
    is_cut: bool,
}

impl LeftOut {
    /// Visits what [`walk`] left out below `root`: hidden names and what rules exclude, but no copies, downloads and
    /// histories. `find` returns what the search would have shown of an entry.
    pub(crate) fn look(
        root: &Path,
        seen: &BTreeSet<PathBuf>,
        halt: &Halt,
        mut find: impl FnMut(&DirEntry) -> Vec<String>,
    ) -> Self {
        let mut left_out = LeftOut::default();
        let halt_too = halt.clone();
        let mut builder = WalkBuilder::new(root);
        builder.standard_filters(false).follow_links(false).max_depth(Some(halt.limits.depth_max));
        builder.filter_entry(move |entry| {
            let is_copy = is_folder(entry) && is_regenerated(entry);
            entry.depth() == 0 || !(is_copy || is_closed(entry, &halt_too))
        });
        let mut visited = 0;
        for entry in builder.build().flatten().filter(|entry| entry.depth() > 0) {
            visited += 1;
            if halt.reached() || visited > LEFT_OUT_ENTRIES_MAX || left_out.texts.len() >= LEFT_OUT_TOLD_MAX {
                left_out.is_cut = true;
                break;
            }
            if !seen.contains(entry.path()) {
                left_out.texts.extend(find(&entry));
            }
        }
        left_out.texts.sort_unstable();
        left_out.texts.truncate(LEFT_OUT_TOLD_MAX);
        left_out
    }

    /// Adds it to a tool's facts, if there is anything, and returns the line that says so.
    pub(crate) fn tell(self, facts: &mut Value) -> String {
        if self.is_cut {
            facts["left_out_complete"] = false.into();
        }
        if self.texts.is_empty() {
            return String::new();
        }
        let count = show::count(self.texts.len() as u64, "match", "matches");
        facts["left_out"] = self.texts.into();
        format!("\n({count} among the hidden and ignored files left out)")
    }
}

/// Returns whether the rules of its repository exclude this folder or one above it.
fn is_excluded(folder: &Path) -> bool {
    let is_top = |above: &&Path| above.join(".git").exists();
    let is_seen = |below: &Path| {
        let (Some(above), Some(name)) = (below.parent(), below.file_name().map(ToOwned::to_owned)) else {
            return true;
        };
        let mut builder = WalkBuilder::new(above);
        builder.hidden(false).ignore(false).git_global(false).max_depth(Some(1));
        builder.filter_entry(move |entry| entry.depth() == 0 || entry.file_name() == name);
        builder.build().flatten().any(|entry| entry.depth() == 1)
    };
    folder.ancestors().any(|above| is_top(&above))
        && folder.ancestors().take_while(|above| !is_top(above)).any(|below| !is_seen(below))
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Returns whether a file of rules in this folder must not be read: a pipe, or a link to a closed file. Opening a pipe would
/// block for ever; reading a closed file would reveal its content through what is skipped.
fn has_strange_rules(folder: &Path, bounds: Bounds, halt: &Halt) -> bool {
    // If the system denies access, the search cannot read it either.
    let is_strange = |name: &&str| {
        let opened = open::regular(&folder.join(name), halt);
        opened.is_err_and(|error| error.raw_os_error().is_none() && error.kind() != ErrorKind::IsADirectory)
    };
    RULES.iter().filter(|name| !bounds.only_git || **name != ".ignore").any(is_strange)
}

/// Returns whether a folder is one of Setpoint's own. Files are checked when they are opened.
fn is_closed(entry: &DirEntry, halt: &Halt) -> bool {
    !halt.rooms().is_empty()
        && is_folder(entry)
        && entry.metadata().is_ok_and(|meta| halt.rooms().is_closed(&meta))
}

fn is_skipped(entry: &DirEntry) -> bool {
    if entry.file_name().as_encoded_bytes().starts_with(b".") {
        return true;
    }
    is_folder(entry) && is_regenerated(entry)
}

/// Returns whether a folder is one of copies, downloads and histories.
fn is_regenerated(folder: &DirEntry) -> bool {
    SKIPPED.iter().any(|name| folder.file_name() == *name) || folder.path().join(CACHE_MARK).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Limits;

    fn seen(root: &Path, hidden: bool, limits: &Limits) -> (Vec<String>, Tally) {
        let mut seen = Vec::new();
        let Limits { entries_max, depth_max, .. } = *limits;
        let bounds = Bounds { entries_max, depth_max, ..Bounds::new(&Halt::default(), hidden) };
        let tally = walk(root, bounds, &Halt::default(), |entry| {
            seen.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            ControlFlow::Continue(())
        });
        (seen, tally)
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".git", "node_modules/dep", "built", ".config", "src"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for name in
            [".git/config", "node_modules/dep/a.js", "built/out", ".config/x", "src/a.rs", "src/b.log"]
        {
            std::fs::write(at(name), "x").unwrap();
        }
        std::fs::write(at("built/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55").unwrap();
        std::fs::write(at(".gitignore"), "*.log\n").unwrap();
        folder
    }

    #[test]
    fn hidden_ignored_and_cached_files_are_skipped() {
        let folder = tree();
        let (found, tally) = seen(folder.path(), false, &Limits::default());
        assert_eq!(found, ["src", "src/a.rs"]);
        assert!(tally.complete);
    }

    #[test]
    fn a_root_link_is_followed() {
        let folder = tree();
        let beside = tempfile::tempdir().unwrap();
        let link = beside.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let (found, tally) = seen(&link, false, &Limits::default());
        assert_eq!(found, ["src", "src/a.rs"]);
        assert_eq!(tally.skipped, seen(folder.path(), false, &Limits::default()).1.skipped);
        assert!(tally.skipped > 0, "{tally:?}");
    }

    #[test]
    fn a_pipe_named_like_a_rules_file_is_not_opened() {
        let folder = tree();
        for name in ["src/.gitignore", "pipe/.ignore"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        let (found, tally) = seen(folder.path(), false, &Limits::default());
        assert!(found.is_empty() && tally.unreadable == 2, "{found:?} {tally:?}");
        // If the rules of the search's own folder, or of one above, cannot be read, rules skip nothing.
        let (found, tally) = seen(&folder.path().join("src"), false, &Limits::default());
        assert_eq!((found, tally.unreadable), (vec!["a.rs".to_owned(), "b.log".to_owned()], 1));
    }

    #[test]
    fn hidden_includes_everything() {
        let folder = tree();
        let (found, _) = seen(folder.path(), true, &Limits::default());
        for name in [".git/config", "node_modules/dep/a.js", "built/out", ".config/x", "src/b.log"] {
            assert!(found.iter().any(|path| path == name), "{name} is missing in {found:?}");
        }
    }

    #[test]
    fn every_bound_is_reported() {
        let folder = tree();
        let few = Limits { entries_max: 4, ..Limits::default() };
        assert!(!seen(folder.path(), true, &few).1.complete);
        let flat = Limits { depth_max: 1, ..Limits::default() };
        let (found, tally) = seen(folder.path(), false, &flat);
        assert_eq!(found, ["src"]);
        assert!(!tally.complete);
    }
}
