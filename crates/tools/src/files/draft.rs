//! Writing whole files: all of the new content or nothing, and the old content kept.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{hash, open};
use crate::halt::Halt;

/// Folder of the workspace that keeps what was overwritten.
pub(crate) const BACKUP_FOLDER: &str = ".setpoint-backup";
/// Largest file that is kept before it is overwritten; a larger one is overwritten for good, and the answer says so.
pub(crate) const BACKUP_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A file under another name beside its place, put there whole by a `commit`. Dropped without one, it leaves no trace.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    hidden: PathBuf,
    target: PathBuf,
    is_committed: bool,
}

impl Draft {
    /// Starts a draft of the file at `target`, in the same folder.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let folder = target.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let hidden = folder.join(unused_name());
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(&hidden)?;
        Ok(Draft { file, hidden, target: target.to_path_buf(), is_committed: false })
    }

    /// Where the content goes.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the draft in place, where nothing may be.
    ///
    /// # Errors
    /// `AlreadyExists` when something appeared there meanwhile; what is there stays.
    pub(crate) fn commit_new(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        rename_new(&self.hidden, &self.target)?;
        self.is_committed = true;
        sync_folder(&self.target)
    }

    /// Puts the draft in the place of the file `old`, with its mode and, where that is allowed, its owner.
    pub(crate) fn commit_over(mut self, old: &Metadata) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only the superuser may give a file away; everybody else keeps their own copy, as editors do.
            drop(std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid())));
        }
        self.file.set_permissions(old.permissions())?;
        self.file.sync_all()?;
        std::fs::rename(&self.hidden, &self.target)?;
        self.is_committed = true;
        sync_folder(&self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_committed {
            drop(std::fs::remove_file(&self.hidden));
        }
    }
}

/// Renames a file to a name that nothing may have. One step where the file system can; elsewhere the name is looked at
/// first.
///
/// # Errors
/// `AlreadyExists` when something has the name.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            if std::fs::symlink_metadata(to).is_ok() {
                return Err(io::Error::from(io::ErrorKind::AlreadyExists));
            }
            std::fs::rename(from, to)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Makes the folders above `path` that are missing; which ones, the outermost first.
pub(crate) fn make_folders_above(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    let mut at = path.parent();
    while let Some(folder) = at
        && std::fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        missing.push(folder.to_path_buf());
        at = folder.parent();
    }
    missing.reverse();
    for folder in &missing {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(missing)
}

/// Keeps a copy of the file at `path` in the workspace, under a name made of its content's hash and its own, so that the
/// same content is kept once. `None` when it is larger than [`BACKUP_BYTES_MAX`].
pub(crate) fn back_up(path: &Path, workspace: &Path, halt: &Halt) -> io::Result<Option<PathBuf>> {
    let mut old = open::regular(path)?;
    if old.metadata()?.len() > BACKUP_BYTES_MAX {
        return Ok(None);
    }
    let folder = workspace.join(BACKUP_FOLDER);
    std::fs::create_dir_all(&folder)?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))?;
    let mut draft = Draft::beside(&folder.join("draft"))?;
    let hashed = {
        let mut copy = draft.file();
        let mut failed = None;
        let hashed = hash::stream(&mut old, hash::Algorithm::Blake3, halt, |block| {
            if failed.is_none() {
                failed = io::Write::write_all(&mut copy, block).err();
            }
        })?;
        match failed {
            Some(error) => return Err(error),
            None => hashed,
        }
    };
    let mut name = OsString::from(hashed.hex.chars().take(16).collect::<String>());
    name.push("-");
    name.push(path.file_name().unwrap_or_default());
    let kept = folder.join(clipped(name));
    draft.target.clone_from(&kept);
    match draft.commit_new() {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(Some(kept)),
    }
}

/// A name for a temporary file that nothing has: random bits of the process and a counter.
pub(crate) fn unused_name() -> String {
    static STATE: std::sync::LazyLock<u64> =
        std::sync::LazyLock::new(|| RandomState::new().hash_one("draft"));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".setpoint-{:016x}-{n}.tmp", *STATE)
}

/// Whether a name is one of [`unused_name`].
pub(crate) fn is_unused_name(name: &str) -> bool {
    name.starts_with(".setpoint-") && name.ends_with(".tmp")
}

/// At most 255 bytes, as file names have it; a longer one loses its end.
fn clipped(name: OsString) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    if name.as_bytes().len() <= 255 {
        return name;
    }
    OsString::from_vec(name.into_vec().into_iter().take(255).collect())
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_is_all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let mut draft = Draft::beside(&target).unwrap();
        draft.file().write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(draft);
        assert_eq!(names(folder.path()), Vec::<String>::new());

        let mut draft = Draft::beside(&target).unwrap();
        draft.file().write_all(b"whole").unwrap();
        draft.commit_new().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_new_file_takes_nobodys_place() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let draft = Draft::beside(&target).unwrap();
        std::fs::write(&target, "somebody's").unwrap();
        assert_eq!(draft.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn the_mode_survives() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run.sh");
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o750)).unwrap();
        let old = std::fs::metadata(&target).unwrap();
        let mut draft = Draft::beside(&target).unwrap();
        draft.file().write_all(b"new").unwrap();
        draft.commit_over(&old).unwrap();
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o750);
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn the_old_content_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a name with spaces");
        std::fs::write(&path, "old").unwrap();
        let space = folder.path().join("space");
        let one = back_up(&path, &space, &Halt::default()).unwrap().unwrap();
        let other = back_up(&path, &space, &Halt::default()).unwrap().unwrap();
        assert_eq!(one, other);
        assert_eq!(std::fs::read(&one).unwrap(), b"old");
        assert_eq!(names(&space.join(BACKUP_FOLDER)).len(), 1);
        std::fs::write(&path, "newer").unwrap();
        back_up(&path, &space, &Halt::default()).unwrap().unwrap();
        assert_eq!(names(&space.join(BACKUP_FOLDER)).len(), 2);
    }

    #[test]
    fn missing_folders_are_made_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let made = make_folders_above(&folder.path().join("a/b/c.txt")).unwrap();
        assert_eq!(made, [folder.path().join("a"), folder.path().join("a/b")]);
        assert!(make_folders_above(&folder.path().join("a/b/c.txt")).unwrap().is_empty());
    }
}
