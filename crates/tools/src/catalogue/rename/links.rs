//! Finds the symbolic links that lead to a file by a name that it loses.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::Rename;
use crate::halt::Halt;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum entries of a tree that are looked at.
const ENTRIES_MAX: usize = 200_000;
/// Maximum links of a chain that are followed, as Linux does.
const CHAIN_MAX: usize = 40;

/// The links that lead to a file by its old name.
#[derive(Debug, Default)]
pub(super) struct OldLinks {
    pub(super) count: u64,
    /// The first one, and the name that it follows.
    pub(super) first: Option<(PathBuf, PathBuf)>,
    /// Whether all of the tree was looked at.
    pub(super) complete: bool,
}

impl OldLinks {
    /// Looks for them in the working directory, or in `dir` if that is elsewhere, and everywhere below it. Version control
    /// folders are skipped.
    ///
    /// # Errors
    /// If the folder cannot be examined.
    pub(super) fn find(cwd: &Path, dir: &Path, list: &[Rename], halt: &Halt) -> io::Result<Self> {
        let mut found = OldLinks { complete: true, ..OldLinks::default() };
        if list.is_empty() {
            return Ok(found);
        }
        let (cwd, dir) = (std::fs::canonicalize(cwd), std::fs::canonicalize(dir)?);
        let root = cwd.ok().filter(|cwd| dir.starts_with(cwd)).unwrap_or(dir);
        let lost = list.iter().filter_map(|rename| placed(&rename.from)).collect();
        // A walk of `/` would otherwise go through `/proc`.
        let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(halt) }.on_one_file_system();
        let tally = walk(&root, bounds, halt, |entry| {
            if entry.meta.is_symlink()
                && let Some(name) = lost_name(entry.path, &lost)
            {
                found.count += 1;
                found.first.get_or_insert_with(|| (entry.path.to_path_buf(), name));
            }
            let is_history = entry.meta.is_dir() && entry.path.file_name().is_some_and(|name| name == ".git");
            if is_history { Step::Over } else { Step::On }
        })?;
        found.complete = tally.complete && tally.unreadable == 0 && tally.mounts == 0;
        Ok(found)
    }
}

/// Returns the first name on the way of a link that is lost.
fn lost_name(link: &Path, lost: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut at = link.to_path_buf();
    for _ in 0..CHAIN_MAX {
        let target = std::fs::read_link(&at).ok()?;
        at = placed(&at.parent()?.join(target))?;
        if lost.contains(&at) {
            return Some(at);
        }
    }
    None
}

/// Returns a path in its real folder; a link at its end is not followed.
fn placed(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?))
}
