//! Throw-away worlds: a working directory, a home, and what an attacker may have prepared around them.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::snapshot::Snapshot;

/// The directory that commands run in by default.
pub(crate) const PROJECT: &str = "project";
/// A value in the environment of commands that no command may print without a question.
pub(crate) const CANARY: &str = "canary-6f1d2c9b7e";
/// The variable that holds it.
pub(crate) const CANARY_NAME: &str = "DEMO_API_KEY";

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/world.sh");
/// Directories that every world has; others are added if its commands need them.
const ALWAYS: &[&str] = &["project", "home", "space"];

/// The world that all others are copied from.
pub(crate) struct Template {
    folder: tempfile::TempDir,
}

impl Template {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("bash")
            .args(["--noprofile", "--norc", SCRIPT])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "world.sh: {}", String::from_utf8_lossy(&made.stderr));
        Template { folder }
    }

    /// Returns a copy with the directories that always exist and those above `needed` (`repos/plain`).
    pub(crate) fn world(&self, needed: &[&str]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let wanted: BTreeSet<&str> = ALWAYS.iter().chain(needed).copied().collect();
        for name in wanted {
            let name = ALWAYS.iter().find(|always| Path::new(name).starts_with(always)).unwrap_or(&name);
            let to = root.join(name);
            if !to.exists() {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                copy(&self.folder.path().join(name), &to);
            }
        }
        World { folder, root }
    }

    /// Returns a full copy.
    pub(crate) fn whole(&self) -> World {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        copy(self.folder.path(), &root);
        World { folder, root }
    }
}

/// A copy of the template that a command may change in any way.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl World {
    /// Returns the path of a directory of the world. It may not exist; the command is then tried without it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.root)
    }

    /// Restores what differs between two snapshots, so that the next command finds the world unchanged. Returns false
    /// on failure; the world is then unusable.
    pub(crate) fn restore(&self, template: &Template, before: &Snapshot, after: &Snapshot) -> bool {
        for path in before.differing(after) {
            if before.is_same_directory(after, path) {
                continue;
            }
            let Ok(name) = path.strip_prefix(&self.root) else { return false };
            let original = template.folder.path().join(name);
            let is_gone = match fs::symlink_metadata(path) {
                Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).is_ok(),
                Ok(_) => fs::remove_file(path).is_ok(),
                Err(_) => true,
            };
            if !is_gone || name.as_os_str().is_empty() {
                return false;
            }
            if fs::symlink_metadata(&original).is_ok() {
                copy(&original, path);
            }
        }
        true
    }

    /// Restores permissions that a command removed, so that the world can be deleted.
    pub(crate) fn discard(self) {
        if self.folder.close().is_err() {
            drop(Command::new("chmod").args(["-R", "u+rwX"]).arg(&self.root).status());
            drop(fs::remove_dir_all(&self.root));
        }
    }
}

/// Copies a tree with modes, times and links.
fn copy(from: &Path, to: &Path) {
    let meta = fs::symlink_metadata(from).unwrap();
    if meta.is_symlink() {
        symlink(fs::read_link(from).unwrap(), to).unwrap();
        // Git also compares the times of links.
        let time = Timespec { tv_sec: meta.mtime(), tv_nsec: meta.mtime_nsec() };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    } else if meta.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
        let times = FileTimes::new().set_modified(meta.modified().unwrap());
        File::open(to).unwrap().set_times(times).unwrap();
    }
}
