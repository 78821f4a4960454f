//! Detects what a command changed where the task works, by comparing the folders before and after it.
//!
//! A command that needs consent may change anything, but most change nothing: a test run, a print, a comparison.
//! Evidence from before a command that changed nothing here still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use setpoint_sandbox::changes::ChangeKind;

use crate::approval::resolve;
use crate::caches::is_cache;
use crate::halt::Halt;
use crate::show;

/// Maximum files and folders that are examined; if there are more, changes are not reported.
const ENTRIES_MAX: usize = 20_000;
/// Maximum changed paths in the facts.
const PATHS_MAX: usize = 50;
/// Maximum changed paths in the text.
const SHOWN_MAX: usize = 8;
/// The word for a path that did not exist before.
const MADE: &str = "made";
/// The word for a path that is gone.
const REMOVED: &str = "removed";
/// File systems store times with the resolution of a clock tick, at most 10 ms: two changes within one tick get the
/// same time. The first look must be at least this long before the command.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The state of some folders at one moment.
#[derive(Debug)]
pub(super) struct Traces {
    marks: BTreeMap<PathBuf, Mark>,
}

/// What distinguishes two states of a file. A folder either exists or not: its times change with its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    mode: u32,
    of_file: Option<FileMark>,
    /// Whether it is a cache folder. A new one does not count as a change; a removed one does.
    is_cache: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileMark {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// The changes between two states.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Paths with the word for their change.
    paths: Vec<(&'static str, PathBuf)>,
}

impl Traces {
    /// Records what is below these folders; `None` if not all of it can be seen, such as a link that leads out of them.
    /// A missing folder counts as empty: the command may create it.
    pub(super) fn below(roots: &[PathBuf], halt: &Halt) -> Option<Self> {
        let mut traces = Traces { marks: BTreeMap::new() };
        let real: Vec<PathBuf> = roots.iter().map(|root| resolve::fully(root)).collect();
        let is_missing = |root: &PathBuf| {
            std::fs::symlink_metadata(root).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let mut folders: Vec<PathBuf> = roots.iter().filter(|root| !is_missing(root)).cloned().collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).ok()? {
                let path = entry.ok()?.path();
                let meta = std::fs::symlink_metadata(&path).ok()?;
                if halt.reached() || traces.marks.len() >= ENTRIES_MAX {
                    return None;
                }
                if halt.rooms().is_closed(&meta) || roots.contains(&path) {
                    continue;
                }
                if meta.is_symlink() && leads_out(&path, &real) {
                    return None;
                }
                let is_cache = meta.is_dir() && is_cache(&path);
                if meta.is_dir() && !is_cache {
                    folders.push(path.clone());
                }
                traces.see(path, &meta, is_cache);
            }
        }
        Some(traces)
    }

    fn see(&mut self, path: PathBuf, meta: &Metadata, is_cache: bool) {
        let of_file = (!meta.is_dir()).then(|| FileMark {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        });
        self.marks.insert(path, Mark { mode: meta.mode(), of_file, is_cache });
    }

    /// Returns the changes between this state and `after`.
    pub(super) fn until(&self, after: &Traces) -> Changes {
        let gone = self.marks.keys().filter(|path| !after.marks.contains_key(*path));
        let mut paths: Vec<_> = gone.map(|path| (REMOVED, path.clone())).collect();
        for (path, mark) in &after.marks {
            match self.marks.get(path) {
                Some(before) if before == mark => {}
                Some(_) => paths.push(("changed", path.clone())),
                None if mark.is_cache => {}
                None => paths.push((MADE, path.clone())),
            }
        }
        paths.sort_by(|left, right| left.1.cmp(&right.1));
        Changes { paths }
    }
}

impl Changes {
    /// Returns the changes that a command made in the sandbox, once they are in place.
    pub(super) fn of(paths: Vec<(ChangeKind, PathBuf)>) -> Self {
        let mut caches = BTreeMap::new();
        let mut is_in_cache = |path: &Path| {
            path.ancestors()
                .skip(1)
                .any(|folder| *caches.entry(folder.to_path_buf()).or_insert_with(|| is_cache(folder)))
        };
        let of = |wanted| paths.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, path)| path.clone());
        let removed: BTreeSet<PathBuf> = of(ChangeKind::Removed).collect();
        // What became something else was removed and created.
        let replaced: BTreeSet<PathBuf> =
            of(ChangeKind::Created).filter(|path| removed.contains(path)).collect();
        let counted = paths.into_iter().filter_map(|(kind, path)| {
            let is_replaced = replaced.contains(&path);
            if is_replaced && kind == ChangeKind::Removed {
                return None;
            }
            let is_new_cache = kind == ChangeKind::Created && is_cache(&path);
            let word = match kind {
                ChangeKind::Created if !is_replaced => MADE,
                ChangeKind::Created => "changed",
                ChangeKind::Changed | ChangeKind::Permissions => "changed",
                ChangeKind::Removed => REMOVED,
            };
            (!is_new_cache && !is_in_cache(&path)).then_some((word, path))
        });
        Changes { paths: counted.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Adds to the facts how many paths changed, which and which of them are new.
    pub(super) fn add_to(&self, facts: &mut Value) {
        let made = self.paths.iter().filter(|(what, _)| *what == MADE).take(PATHS_MAX);
        let made: Vec<String> = made.map(|(_, path)| show::path(path)).collect();
        let paths: Vec<String> =
            self.most_telling().take(PATHS_MAX).map(|(_, path)| show::path(path)).collect();
        facts["changed"] = json!({ "count": self.paths.len(), "paths": paths, "made": made });
    }

    /// Returns a line for the text; `None` if nothing changed.
    pub(super) fn line(&self, cwd: &Path) -> Option<String> {
        let of = |(what, path): &(&str, PathBuf)| {
            format!("{what} {}", show::path_line(path.strip_prefix(cwd).unwrap_or(path)))
        };
        let mut shown: Vec<String> = self.most_telling().take(SHOWN_MAX).map(of).collect();
        let more = self.paths.len().saturating_sub(SHOWN_MAX);
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        (!shown.is_empty()).then(|| format!("[files: {}]", shown.join(", ")))
    }

    /// Returns the changes in order; where only some are listed, those by which something is lost come first, and what is
    /// new last.
    fn most_telling(&self) -> impl Iterator<Item = &(&'static str, PathBuf)> {
        let mut paths: Vec<_> = self.paths.iter().collect();
        if paths.len() > SHOWN_MAX {
            paths.sort_by_key(|(what, _)| (*what != REMOVED, *what == MADE));
        }
        paths.into_iter()
    }
}

/// Returns whether writing through the link may change something outside these folders. Links to programs elsewhere do not
/// count, because programs are run, not written: virtual environments are full of such links.
fn leads_out(link: &Path, roots: &[PathBuf]) -> bool {
    let Ok(real) = std::fs::canonicalize(link) else { return true };
    let is_program = || std::fs::metadata(&real).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0);
    !roots.iter().any(|root| real.starts_with(root)) && !is_program()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn look(root: &Path) -> Traces {
        Traces::below(&[root.to_path_buf()], &Halt::default()).unwrap()
    }

    #[test]
    fn created_changed_and_removed_paths_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["kept", "changed", "moved", "gone"] {
            fs::write(at(name), name).unwrap();
        }
        fs::create_dir(at("sub")).unwrap();
        let before = look(folder.path());
        assert!(before.until(&look(folder.path())).is_empty());
        fs::read(at("kept")).unwrap();
        fs::write(at("changed"), "longer than it was").unwrap();
        // Same size, but another file.
        fs::write(at("new"), "moved").unwrap();
        fs::rename(at("new"), at("moved")).unwrap();
        fs::remove_file(at("gone")).unwrap();
        fs::write(at("sub/made"), "").unwrap();
        let changes = before.until(&look(folder.path()));
        let mut facts = json!({});
        changes.add_to(&mut facts);
        assert_eq!(
            changes.line(folder.path()).unwrap(),
            "[files: changed changed, removed gone, changed moved, made sub/made]"
        );
        assert_eq!(
            (facts["changed"]["count"].as_u64(), &facts["changed"]["made"]),
            (Some(4), &json!([at("sub/made")]))
        );
    }

    #[test]
    fn new_caches_are_ignored_and_removed_ones_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let before = look(folder.path());
        fs::create_dir_all(at("__pycache__")).unwrap();
        assert!(before.until(&look(folder.path())).is_empty());
        fs::create_dir_all(at("target")).unwrap();
        fs::write(at("target/CACHEDIR.TAG"), "").unwrap();
        let before = look(folder.path());
        fs::write(at("__pycache__/a.pyc"), "x").unwrap();
        fs::write(at("target/out"), "x").unwrap();
        assert!(before.until(&look(folder.path())).is_empty());
        fs::remove_dir_all(at("target")).unwrap();
        assert_eq!(
            before.until(&look(folder.path())).line(folder.path()).unwrap(),
            "[files: removed target]"
        );
    }

    #[test]
    fn a_partial_look_reports_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let halt = Halt::default();
        assert!(Traces::below(&[folder.path().join("none")], &halt).is_some());
        let link = folder.path().join("link");
        let below = || Traces::below(&[folder.path().to_path_buf()], &halt);
        for (target, is_seen) in [
            (Path::new("/etc"), false),
            (Path::new("none"), false),
            (Path::new("/bin/sh"), true),
            (folder.path(), true),
        ] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert_eq!(below().is_some(), is_seen, "{}", target.display());
            fs::remove_file(&link).unwrap();
        }
        for n in 0..=ENTRIES_MAX {
            fs::write(folder.path().join(n.to_string()), "").unwrap();
        }
        assert!(Traces::below(&[folder.path().to_path_buf()], &halt).is_none());
    }
}
