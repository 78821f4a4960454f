//! What the task may change without consent: its workspace, what it created, and what a build makes again.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::Stat;

use super::{Touch, resolve};
use crate::caches;
use crate::files::folder;
use crate::halt::Halt;
use crate::tool::ToolCtx;
use crate::undo::Keeper;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum entries below a folder that are examined before the folder counts as foreign.
const RECURSIVE_ENTRIES_MAX: usize = 10_000;

#[derive(Clone, Debug)]
pub(super) struct OwnFolders {
    cwd: PathBuf,
    workspace: PathBuf,
    /// There is no workspace, or it contains the home folder or the whole disk. That is a mistake in the configuration,
    /// so nothing in it counts as the task's own.
    is_workspace_too_wide: bool,
    created: BTreeSet<PathBuf>,
    /// When a command of this task last put its changes in place.
    settled: Option<(i64, i64)>,
    /// What others had written where the task changed something, once that is asked for.
    noted: OnceLock<BTreeSet<PathBuf>>,
    keeper: Option<Keeper>,
}

impl OwnFolders {
    pub(super) fn new(ctx: &ToolCtx) -> Self {
        let place = ctx.place();
        let workspace = resolve::fully(place.workspace());
        let home = resolve::fully(&place.surroundings.home);
        let cwd = resolve::fully(&place.surroundings.cwd);
        let is_workspace_too_wide = ctx.surroundings.workspace.is_empty()
            || workspace.parent().is_none()
            || home.starts_with(&workspace);
        let settled = ctx.keeper.as_ref().and_then(Keeper::settled);
        let (created, keeper) = (ctx.created.clone(), ctx.keeper.clone());
        OwnFolders { cwd, workspace, is_workspace_too_wide, created, settled, noted: OnceLock::new(), keeper }
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.is_in_workspace(path) || self.created.contains(path)
    }

    /// Returns the existing path that a touch would change and the task does not own, if any.
    pub(super) fn foreign(&self, touch: &Touch, found: &Stat) -> Option<PathBuf> {
        let is_in_workspace = self.is_in_workspace(&touch.path);
        if self.is_in_cache(&touch.path) {
            return None;
        }
        if !is_in_workspace && !self.created.contains(&touch.path) {
            return Some(touch.path.clone());
        }
        if touch.is_recursive && !is_in_workspace && folder::kind(found).is_dir() {
            return self.foreign_below(&touch.path);
        }
        None
    }

    /// Returns whether a path is in a folder of the working directory that is marked as a cache, such as the output of a
    /// build. A mark in a folder that was there before needs consent ([`super::ground`]). In a folder that the task marked
    /// itself, what somebody else changed since the task's last command is not covered by the mark.
    pub(super) fn is_in_cache(&self, path: &Path) -> bool {
        if path.file_name().is_none_or(|name| name == caches::TAG) {
            return false;
        }
        let inner = path.ancestors().skip(1);
        let inner = inner.take_while(|folder| *folder != self.cwd && folder.starts_with(&self.cwd));
        let mut marked = inner.filter(|folder| caches::is_tagged(folder)).peekable();
        marked.peek().is_some()
            && (marked.any(|folder| !self.created.contains(&folder.join(caches::TAG)))
                || self.is_unchanged_since(path))
    }

    /// Returns whether what is at a path, and all below it, was there already when the task's last command put its
    /// changes in place. A time of change cannot be set by a program.
    fn is_unchanged_since(&self, path: &Path) -> bool {
        let noted = self.noted.get_or_init(|| self.keeper.as_ref().map(Keeper::noted).unwrap_or_default());
        // Further changes of what others wrote are noted too: an undo goes back step by step.
        if noted.iter().any(|other| other.starts_with(path)) {
            return false;
        }
        let Ok(found) = path.symlink_metadata() else { return true };
        let Some(settled) = self.settled else { return false };
        let is_older = |meta: &Metadata| (meta.ctime(), meta.ctime_nsec()) <= settled;
        if !is_older(&found) || !found.is_dir() {
            return is_older(&found);
        }
        let all =
            walk(
                path,
                bounds(),
                &Halt::default(),
                |entry| {
                    if is_older(entry.meta) { Step::On } else { Step::End }
                },
            );
        all.is_ok_and(|tally| tally.complete && tally.unreadable == 0)
    }

    pub(super) fn is_in_workspace(&self, path: &Path) -> bool {
        !self.is_workspace_too_wide && path.starts_with(&self.workspace) && path != self.workspace
    }

    /// Returns the first entry below a folder of the task that the task did not create. Too many entries count as one.
    fn foreign_below(&self, folder: &Path) -> Option<PathBuf> {
        let mut foreign = None;
        let tally = walk(folder, bounds(), &Halt::default(), |entry| {
            if self.created.contains(entry.path) {
                return Step::On;
            }
            foreign = Some(entry.path.to_path_buf());
            Step::End
        });
        match tally {
            Ok(tally) if tally.complete && tally.unreadable == 0 => foreign,
            _ => Some(foreign.unwrap_or_else(|| folder.to_path_buf())),
        }
    }
}

fn bounds() -> Bounds {
    Bounds { entries_max: RECURSIVE_ENTRIES_MAX, ..Bounds::new(&Halt::default()) }
}
