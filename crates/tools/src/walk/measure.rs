//! Walks every file below a folder, hidden ones included, by the file system alone.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Tally;
use crate::halt::Halt;

/// An entry of a walk. Links are reported, not followed.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// Relative to the root as it was given.
    pub(crate) path: &'a Path,
    /// 0 for the root.
    pub(crate) depth: usize,
    /// Metadata of the entry itself; of the link target only for the root.
    pub(crate) meta: &'a Metadata,
}

/// What to do after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Continue, into the folder if it is one.
    On,
    /// Continue, but skip this folder.
    Over,
    /// End the walk as incomplete.
    End,
}

/// The bounds of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) entries_max: usize,
    pub(crate) depth_max: usize,
    /// Whether folders on other file systems are skipped. Otherwise measuring `/` would count `/proc`.
    pub(crate) one_file_system: bool,
}

impl Bounds {
    pub(crate) fn new(halt: &Halt) -> Self {
        let limits = &halt.limits;
        Bounds { entries_max: limits.entries_max, depth_max: limits.depth_max, one_file_system: false }
    }

    pub(crate) fn on_one_file_system(self) -> Self {
        Bounds { one_file_system: true, ..self }
    }
}

/// Visits `root` and everything below it: a folder before its content, names in byte order.
///
/// # Errors
/// Only if the root itself cannot be examined; other failures are counted.
pub(crate) fn walk(
    root: &Path,
    bounds: Bounds,
    halt: &Halt,
    mut visit: impl FnMut(Entry<'_>) -> Step,
) -> io::Result<Tally> {
    let root_meta = std::fs::metadata(root)?;
    let device = root_meta.dev();
    let mut tally = Tally::new();
    let mut pending: Vec<(PathBuf, usize)> = vec![(root.to_path_buf(), 0)];
    while let Some((path, depth)) = pending.pop() {
        if halt.reached() || tally.entries >= bounds.entries_max as u64 {
            tally.complete = false;
            break;
        }
        tally.entries += 1;
        let meta = if depth == 0 { Ok(root_meta.clone()) } else { std::fs::symlink_metadata(&path) };
        let Ok(meta) = meta else {
            tally.unreadable += 1;
            continue;
        };
        if bounds.one_file_system && depth > 0 && meta.is_dir() && meta.dev() != device {
            tally.mounts += 1;
            continue;
        }
        if halt.rooms().is_closed(&meta) {
            tally.closed += 1;
            continue;
        }
        tally.links += u64::from(meta.is_symlink());
        match visit(Entry { path: &path, depth, meta: &meta }) {
            Step::On => {}
            Step::Over => continue,
            Step::End => {
                tally.complete = false;
                break;
            }
        }
        if !meta.is_dir() {
            continue;
        }
        if depth >= bounds.depth_max {
            tally.complete = false;
            continue;
        }
        match names(&path, bounds.entries_max) {
            Ok(Names { mut names, unreadable, complete }) => {
                tally.unreadable += unreadable;
                tally.complete &= complete;
                names.sort_unstable_by(|one, other| other.cmp(one));
                pending.extend(names.into_iter().map(|name| (path.join(name), depth + 1)));
            }
            Err(_) => tally.unreadable += 1,
        }
    }
    Ok(tally)
}

struct Names {
    names: Vec<OsString>,
    unreadable: u64,
    complete: bool,
}

fn names(folder: &Path, max: usize) -> io::Result<Names> {
    let mut found = Names { names: Vec::new(), unreadable: 0, complete: true };
    for entry in std::fs::read_dir(folder)? {
        if found.names.len() >= max {
            found.complete = false;
            break;
        }
        match entry {
            Ok(entry) => found.names.push(entry.file_name()),
            Err(_) => found.unreadable += 1,
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> Bounds {
        Bounds::new(&Halt::default())
    }

    fn seen(root: &Path, bounds: Bounds) -> (Vec<String>, Tally) {
        let mut seen = Vec::new();
        let tally = walk(root, bounds, &Halt::default(), |entry| {
            let path = entry.path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            seen.push(format!("{}:{path}", entry.depth));
            Step::On
        });
        (seen, tally.unwrap())
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/.hidden")).unwrap();
        std::fs::write(at("b/.hidden/x"), "x").unwrap();
        std::fs::write(at("a"), "a").unwrap();
        std::fs::write(at("b.txt"), "b").unwrap();
        std::os::unix::fs::symlink("..", at("b/loop")).unwrap();
        folder
    }

    #[test]
    fn everything_is_visited_once_in_order() {
        let folder = tree();
        let (seen, tally) = seen(folder.path(), bounds());
        assert_eq!(seen, ["0:", "1:a", "1:b", "2:b/.hidden", "3:b/.hidden/x", "2:b/loop", "1:b.txt"]);
        assert_eq!(tally, Tally { entries: 7, links: 1, ..Tally::new() });
    }

    #[test]
    fn every_bound_is_reported() {
        let folder = tree();
        let (few, tally) = seen(folder.path(), Bounds { entries_max: 3, ..bounds() });
        assert_eq!((few.len(), tally.complete), (3, false));
        let (flat, tally) = seen(folder.path(), Bounds { depth_max: 1, ..bounds() });
        assert_eq!(flat, ["0:", "1:a", "1:b", "1:b.txt"]);
        assert!(!tally.complete);
    }

    #[test]
    fn a_file_as_root_is_its_only_entry() {
        let folder = tree();
        let (seen, _) = seen(&folder.path().join("a"), bounds());
        assert_eq!(seen, ["0:"]);
        assert!(walk(&folder.path().join("none"), bounds(), &Halt::default(), |_| Step::On).is_err());
    }

    #[test]
    fn other_file_systems_are_counted_and_skipped() {
        if std::fs::metadata("/proc/self").is_err() {
            return;
        }
        let mut deepest = 0;
        let bounds = Bounds { depth_max: 1, ..bounds() }.on_one_file_system();
        let tally = walk(Path::new("/"), bounds, &Halt::default(), |entry| {
            assert_ne!(entry.path, Path::new("/proc"));
            deepest = deepest.max(entry.depth);
            Step::On
        });
        assert!(tally.unwrap().mounts > 0);
        assert_eq!(deepest, 1);
    }
}
