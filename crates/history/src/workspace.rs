//! The workspace of a fork: a copy of the original task's current one.
//!
//! A task may change anything in its workspace without asking, and so may the fork in its own, so the two must not
//! share one.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use setpoint_protocol::TaskId;
use setpoint_protocol::record::{ForkedFrom, Surroundings};
use setpoint_protocol::replay::CopiedWorkspace;

/// Maximum entries of a workspace that a fork copies.
const ENTRIES_MAX: u64 = 10_000;
/// Maximum bytes of its files.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// At most this many left-out entries are named.
const LEFT_OUT_NAMED_MAX: usize = 5;
/// The mode of an incomplete copy: no other user may read it.
const PARTIAL_MODE: u32 = 0o700;
/// The part of a mode that is copied: the permissions to read, write and execute.
const COPIED_MODE: u32 = 0o777;

/// Why a workspace cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// It has too many entries.
    #[error("copy {}: it has more than {max} entries", folder.display())]
    TooMany {
        /// Path of the workspace.
        folder: PathBuf,
        /// Maximum number of entries.
        max: u64,
    },
    /// Its files are too large.
    #[error("copy {}: its files have more than {max} bytes", folder.display())]
    TooLarge {
        /// Path of the workspace.
        folder: PathBuf,
        /// Maximum number of bytes.
        max: u64,
    },
    /// Something in it cannot be read, or the copy cannot be written.
    #[error("copy {}", path.display())]
    Io {
        /// Path that failed.
        path: PathBuf,
        /// Cause of the failure.
        #[source]
        source: io::Error,
    },
}

/// A copy from one workspace to another.
#[derive(Debug)]
pub(crate) struct Move {
    from: PathBuf,
    to: PathBuf,
}

impl Move {
    /// Returns the copy if the workspace belongs to the forked task, or was inherited from a task that it was itself
    /// forked from: then it is named by that task's id. Any other folder was given by the person, and stays shared.
    pub(crate) fn of(surroundings: &Surroundings, from: &ForkedFrom, task: &TaskId) -> Option<Self> {
        let workspace = Path::new(&surroundings.workspace);
        let name = workspace.file_name()?;
        let is_own = from.tasks().any(|one| name == one.as_str());
        is_own.then(|| Move { from: workspace.to_owned(), to: workspace.with_file_name(task.as_str()) })
    }

    /// Returns the workspace of the fork.
    pub(crate) fn target(&self) -> String {
        self.to.to_string_lossy().into_owned()
    }

    /// Returns a text of the fork with its workspace replaced by the original's.
    pub(crate) fn in_original(&self, text: &str) -> String {
        text.replace(&self.target(), &self.from.to_string_lossy())
    }

    /// Copies the current content; all of it or nothing.
    pub(crate) fn copy(&self) -> Result<CopiedWorkspace, CopyError> {
        self.copy_within(ENTRIES_MAX, BYTES_MAX)
    }

    fn copy_within(&self, entries_max: u64, bytes_max: u64) -> Result<CopiedWorkspace, CopyError> {
        let found = self.look(entries_max, bytes_max)?;
        let Some(mode) = found.mode else { return Ok(self.copy_report(&found)) };
        let root = Entry { path: PathBuf::new(), kind: Kind::Folder { mode } };
        make_folder(&self.to)?;
        let mut room = bytes_max;
        let copied = found.entries.iter().try_for_each(|entry| self.copy_entry(entry, &mut room, bytes_max));
        // Apply modes bottom-up: nothing can be created below a read-only directory.
        let copied = copied.and_then(|()| {
            found.entries.iter().rev().chain([&root]).try_for_each(|entry| self.finish_folder(entry))
        });
        match copied {
            Ok(()) => Ok(self.copy_report(&found)),
            Err(error) => {
                self.undo();
                Err(error)
            }
        }
    }

    /// Removes the copy.
    pub(crate) fn undo(&self) {
        // An error here is ignored: the error that stopped the fork is more important.
        drop(fs::remove_dir_all(&self.to));
    }

    /// Returns everything to copy, each folder before its content, within the limits.
    fn look(&self, entries_max: u64, bytes_max: u64) -> Result<WorkspaceContent, CopyError> {
        let mut found = WorkspaceContent::default();
        let root = match fs::symlink_metadata(&self.from) {
            Ok(root) => root,
            // Nothing was ever put into it.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            Err(source) => return Err(broken(&self.from, source)),
        };
        if !root.is_dir() {
            return Err(broken(&self.from, ErrorKind::NotADirectory.into()));
        }
        found.mode = Some(root.permissions().mode());
        let (mut folders, mut bytes, mut count) = (vec![PathBuf::new()], 0_u64, 0_u64);
        while let Some(folder) = folders.pop() {
            for name in names_in(&self.from.join(&folder))? {
                count += 1;
                if count > entries_max {
                    return Err(CopyError::TooMany { folder: self.from.clone(), max: entries_max });
                }
                let path = folder.join(name);
                let whole = self.from.join(&path);
                let meta = match fs::symlink_metadata(&whole) {
                    Ok(meta) => meta,
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(source) => return Err(broken(&whole, source)),
                };
                let mode = meta.permissions().mode();
                if meta.is_dir() {
                    folders.push(path.clone());
                    found.entries.push(Entry { path, kind: Kind::Folder { mode } });
                } else if meta.is_file() {
                    bytes = bytes.saturating_add(meta.len());
                    found.entries.push(Entry { path, kind: Kind::File { mode } });
                } else if let Some(target) = link_inside(&path, &whole) {
                    found.entries.push(Entry { path, kind: Kind::Link { target } });
                } else {
                    found.left_out.push(path);
                }
                if bytes > bytes_max {
                    return Err(self.too_large(bytes_max));
                }
            }
        }
        Ok(found)
    }

    fn copy_entry(&self, entry: &Entry, room: &mut u64, bytes_max: u64) -> Result<(), CopyError> {
        let (from, to) = (self.from.join(&entry.path), self.to.join(&entry.path));
        match &entry.kind {
            Kind::Folder { .. } => make_folder(&to),
            Kind::Link { target } => {
                std::os::unix::fs::symlink(target, &to).map_err(|source| broken(&to, source))
            }
            Kind::File { mode } => {
                let source = match open(&from) {
                    Ok(file) => file,
                    // It was removed since the listing.
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                    Err(source) => return Err(broken(&from, source)),
                };
                // It may have grown since the listing.
                let copied = copy_file(source.take(room.saturating_add(1)), &to, *mode)
                    .map_err(|source| broken(&to, source))?;
                *room = room.checked_sub(copied).ok_or_else(|| self.too_large(bytes_max))?;
                Ok(())
            }
        }
    }

    fn finish_folder(&self, entry: &Entry) -> Result<(), CopyError> {
        let Kind::Folder { mode } = entry.kind else { return Ok(()) };
        let path = self.to.join(&entry.path);
        fs::set_permissions(&path, Permissions::from_mode(mode & COPIED_MODE))
            .map_err(|source| broken(&path, source))
    }

    fn too_large(&self, max: u64) -> CopyError {
        CopyError::TooLarge { folder: self.from.clone(), max }
    }

    fn copy_report(&self, found: &WorkspaceContent) -> CopiedWorkspace {
        let named = found.left_out.iter().take(LEFT_OUT_NAMED_MAX);
        CopiedWorkspace {
            workspace: self.target(),
            entries: found.entries.len() as u64,
            left_out: found.left_out.len() as u64,
            left_out_named: named.map(|path| path.to_string_lossy().into_owned()).collect(),
        }
    }
}

/// Returns where a file created before the fork is in the fork's copy of a workspace. Any other file that the
/// original created still belongs to that task, and the fork asks before changing it.
#[must_use]
pub fn created_in_copy(
    path: &str,
    surroundings: &Surroundings,
    from: &ForkedFrom,
    task: &TaskId,
) -> Option<String> {
    let workspace = Path::new(&surroundings.workspace);
    // `None` for a fork made before forks had their own workspace, or in a folder that was given.
    workspace.file_name().filter(|name| *name == task.as_str())?;
    let below = |one: &TaskId| Path::new(path).strip_prefix(workspace.with_file_name(one.as_str())).ok();
    let below = from.tasks().find_map(below)?;
    Some(workspace.join(below).to_string_lossy().into_owned())
}

/// The content of a workspace.
#[derive(Default)]
struct WorkspaceContent {
    /// Mode of the workspace itself, if it exists.
    mode: Option<u32>,
    entries: Vec<Entry>,
    left_out: Vec<PathBuf>,
}

/// An entry of a workspace, by its relative path.
struct Entry {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    Folder { mode: u32 },
    File { mode: u32 },
    Link { target: PathBuf },
}

fn names_in(folder: &Path) -> Result<Vec<std::ffi::OsString>, CopyError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(source) => return Err(broken(folder, source)),
    };
    let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
    let mut names = names.map_err(|source| broken(folder, source))?;
    names.sort();
    Ok(names)
}

/// Returns the target of a link that stays inside the workspace, whatever other links it contains: it goes up first,
/// at most as far as its folder is deep, and then down.
fn link_inside(path: &Path, whole: &Path) -> Option<PathBuf> {
    let target = fs::read_link(whole).ok()?;
    let mut depth = path.components().count().checked_sub(1)?;
    let mut goes_down = false;
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => goes_down = true,
            Component::ParentDir if !goes_down => depth = depth.checked_sub(1)?,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target)
}

/// Opens a file seen in the listing; whatever has replaced it is not followed and does not block.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

fn copy_file(mut source: impl io::Read, to: &Path, mode: u32) -> io::Result<u64> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let copied = io::copy(&mut source, &mut file)?;
    file.set_permissions(Permissions::from_mode(mode & COPIED_MODE))?;
    Ok(copied)
}

fn make_folder(path: &Path) -> Result<(), CopyError> {
    DirBuilder::new().mode(PARTIAL_MODE).create(path).map_err(|source| broken(path, source))
}

fn broken(path: &Path, source: io::Error) -> CopyError {
    CopyError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn task(n: u64) -> TaskId {
        TaskId::mint("count", n)
    }

    fn surroundings(workspace: &Path) -> Surroundings {
        Surroundings { workspace: workspace.to_str().unwrap().to_owned(), ..Surroundings::default() }
    }

    fn from(n: u64) -> ForkedFrom {
        ForkedFrom { task: task(n), seq: 9, models: None, earlier: vec![] }
    }

    /// Returns the workspaces of task 1 and of its fork 2, and the copy between them.
    fn world() -> (tempfile::TempDir, Move) {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(task(1).as_str());
        let moved = Move::of(&surroundings(&own), &from(1), &task(2)).unwrap();
        assert_eq!((moved.from.clone(), moved.to.clone()), (own, folder.path().join(task(2).as_str())));
        (folder, moved)
    }

    fn put(moved: &Move, path: &str, text: &str, mode: u32) {
        let path = moved.from.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn files_and_folders_are_copied_unchanged() {
        let (_folder, moved) = world();
        put(&moved, "report.md", "one", 0o640);
        put(&moved, "a/b/run.sh", "two", 0o4755);
        fs::create_dir(moved.from.join("empty")).unwrap();
        fs::set_permissions(moved.from.join("a/b"), Permissions::from_mode(0o500)).unwrap();
        let copied = moved.copy().unwrap();
        assert_eq!((copied.entries, copied.left_out, &copied.workspace), (5, 0, &moved.target()));
        assert_eq!(fs::read_to_string(moved.to.join("a/b/run.sh")).unwrap(), "two");
        assert_eq!((mode(&moved.to.join("report.md")), mode(&moved.to.join("a/b"))), (0o640, 0o500));
        assert_eq!(mode(&moved.to.join("a/b/run.sh")), 0o755, "whose rights it runs with is not copied");
        assert!(moved.to.join("empty").is_dir());
        fs::write(moved.to.join("report.md"), "other").unwrap();
        assert_eq!(fs::read_to_string(moved.from.join("report.md")).unwrap(), "one");
        for folder in [&moved.from, &moved.to] {
            fs::set_permissions(folder.join("a/b"), Permissions::from_mode(0o700)).unwrap();
        }
    }

    #[test]
    fn a_link_is_copied_where_it_stays_inside() {
        let (folder, moved) = world();
        put(&moved, "a/b/file", "x", 0o600);
        fs::write(folder.path().join("outside"), "x").unwrap();
        let own = moved.from.join("a/b/file");
        let inside =
            [("one", "a/b/file"), ("a/two", "./b/../b"), ("a/three", "../a/b"), ("a/b/four", "../..")];
        let outside = [("five", "../outside"), ("six", own.to_str().unwrap()), ("a/seven", "../../outside")];
        for (path, target) in inside.into_iter().chain(outside) {
            symlink(target, moved.from.join(path)).unwrap();
        }
        assert!(
            std::process::Command::new("mkfifo").arg(moved.from.join("pipe")).status().unwrap().success()
        );
        let copied = moved.copy().unwrap();
        for (path, target) in inside {
            let is_plain = path != "a/two";
            let found = fs::read_link(moved.to.join(path)).ok();
            assert_eq!(found, is_plain.then(|| PathBuf::from(target)), "{path}");
        }
        assert_eq!(copied.left_out, 5);
        assert_eq!(copied.left_out_named, ["five", "pipe", "six", "a/seven", "a/two"]);
        assert!(fs::symlink_metadata(moved.to.join("six")).is_err());
    }

    #[test]
    fn an_oversized_workspace_is_not_copied_even_partly() {
        let (_folder, moved) = world();
        put(&moved, "a/one", "12345", 0o600);
        put(&moved, "a/two", "67890", 0o600);
        let refused = |entries, bytes| moved.copy_within(entries, bytes).unwrap_err();
        assert!(matches!(refused(2, 10), CopyError::TooMany { max: 2, .. }));
        assert!(matches!(refused(3, 9), CopyError::TooLarge { max: 9, .. }));
        assert!(!moved.to.exists());
        // A file that has grown since the listing.
        make_folder(&moved.to).unwrap();
        make_folder(&moved.to.join("a")).unwrap();
        let grown = Entry { path: "a/one".into(), kind: Kind::File { mode: 0o600 } };
        assert!(matches!(moved.copy_entry(&grown, &mut 4, 4), Err(CopyError::TooLarge { max: 4, .. })));
        moved.undo();
        assert!(!moved.to.exists());
        assert_eq!(moved.copy_within(3, 10).unwrap().entries, 3);
        // An existing folder is never filled.
        fs::remove_file(moved.to.join("a/one")).unwrap();
        assert!(matches!(moved.copy(), Err(CopyError::Io { .. })));
        assert!(moved.to.join("a/two").exists() && !moved.to.join("a/one").exists());
    }

    #[test]
    fn a_missing_workspace_copies_nothing_and_a_link_is_refused() {
        let (folder, moved) = world();
        assert_eq!(moved.copy().unwrap().entries, 0);
        assert!(!moved.to.exists());
        symlink(folder.path(), &moved.from).unwrap();
        assert!(matches!(moved.copy(), Err(CopyError::Io { .. })));
        assert!(!moved.to.exists());
    }

    #[test]
    fn only_a_tasks_own_workspace_is_replaced() {
        let of = |workspace: &str, from: &ForkedFrom| {
            Move::of(&surroundings(Path::new(workspace)), from, &task(3)).map(|moved| moved.target())
        };
        let own = |n| format!("/data/workspaces/{}", task(n));
        assert_eq!(of("/home/ada/project", &from(1)), None);
        assert_eq!(of("", &from(1)), None);
        assert_eq!(of(&own(2), &from(1)), None);
        assert_eq!(of(&own(1), &from(1)), Some(own(3)));
        // It was inherited when forks had no workspace of their own.
        let earlier = setpoint_protocol::record::EarlierFork { task: task(1), seq: 5, models: None };
        let nested = ForkedFrom { earlier: vec![earlier], ..from(2) };
        assert_eq!((of(&own(1), &nested), of(&own(2), &nested)), (Some(own(3)), Some(own(3))));
        let created = |path: &str, workspace: &str| {
            created_in_copy(path, &surroundings(Path::new(workspace)), &nested, &task(3))
        };
        for old in [1, 2] {
            let path = format!("{}/a/report.md", own(old));
            assert_eq!(created(&path, &own(3)), Some(format!("{}/a/report.md", own(3))));
            assert_eq!(created(&path, &own(1)), None, "the workspace is not the fork's");
            assert_eq!(created(&path, "/home/ada"), None);
        }
        assert_eq!(created("/home/ada/project/report.md", &own(3)), None);
        assert_eq!(created(&format!("{}x/report.md", own(1)), &own(3)), None);
    }
}
