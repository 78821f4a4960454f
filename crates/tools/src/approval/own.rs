//! What the task may change without consent: its workspace, what it created, and what a build makes again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::{Touch, resolve};
use crate::caches;
use crate::files::folder;
use crate::halt::Halt;
use crate::tool::ToolCtx;
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
        OwnFolders { cwd, workspace, is_workspace_too_wide, created: ctx.created.clone() }
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
    /// build. A mark in a folder that was there before needs consent ([`super::ground`]).
    pub(super) fn is_in_cache(&self, path: &Path) -> bool {
        let folders = path
            .ancestors()
            .skip(1)
            .take_while(|folder| *folder != self.cwd && folder.starts_with(&self.cwd));
        path.file_name().is_some_and(|name| name != caches::TAG) && folders.into_iter().any(caches::is_tagged)
    }

    pub(super) fn is_in_workspace(&self, path: &Path) -> bool {
        !self.is_workspace_too_wide && path.starts_with(&self.workspace) && path != self.workspace
    }

    /// Returns the first entry below a folder of the task that the task did not create. Too many entries count as one.
    fn foreign_below(&self, folder: &Path) -> Option<PathBuf> {
        let bounds = Bounds { entries_max: RECURSIVE_ENTRIES_MAX, ..Bounds::new(&Halt::default()) };
        let mut foreign = None;
        let tally = walk(folder, bounds, &Halt::default(), |entry| {
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
