//! Writes files atomically: all of the new content or nothing.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, Stat, fchmod};

use super::folder::Folder;
use super::spot::Spot;

/// Why a file was not replaced.
const CHANGED_MEANWHILE: &str = "somebody else changed it just now, and it was left as it is; read it again";

/// A temporary file beside its destination, put in place by a `commit`. Dropping it without a commit removes it.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    folder: Folder,
    hidden: OsString,
    name: OsString,
    is_committed: bool,
}

impl Draft {
    /// Starts a draft of the file at `spot`, in the same folder, which must exist.
    pub(crate) fn beside(spot: &Spot) -> io::Result<Self> {
        let (folder, name) = (spot.folder().clone(), spot.name().to_owned());
        let hidden = OsString::from(unused_name());
        let file = folder.create(&hidden)?;
        Ok(Draft { file, folder, hidden, name, is_committed: false })
    }

    /// Returns the file to write the content to.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the draft in place, where nothing may exist.
    ///
    /// # Errors
    /// `AlreadyExists` if something appeared there meanwhile; it is left untouched.
    pub(crate) fn commit_new(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.folder.rename_new(&self.hidden, &self.name)?;
        self.is_committed = true;
        self.folder.sync()
    }

    /// Puts the draft in place of the file `old`, with its mode and, if permitted, its owner. Other names of the old
    /// file keep the old content.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if somebody else changed or replaced the file since `old` was looked at;
    /// it stays as it is.
    pub(crate) fn commit_over(mut self, old: &Stat) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.st_uid, old.st_gid) {
            // Only the superuser may change a file's owner; for other users the file becomes their own, as with
            // editors.
            drop(std::os::unix::fs::fchown(&self.file, Some(old.st_uid), Some(old.st_gid)));
        }
        fchmod(&self.file, Mode::from_raw_mode(old.st_mode))?;
        self.file.sync_all()?;
        let changed = || io::Error::new(io::ErrorKind::ResourceBusy, CHANGED_MEANWHILE);
        if self.folder.look(&self.name)?.is_none_or(|now| !is_same(&now, old)) {
            return Err(changed());
        }
        match self.folder.exchange(&self.hidden, &self.name) {
            Ok(()) => {
                // What is replaced is in hand now, so that nothing can be written to it unseen.
                if self.folder.look(&self.hidden)?.is_none_or(|now| !is_same(&now, old)) {
                    self.folder.exchange(&self.hidden, &self.name)?;
                    return Err(changed());
                }
                self.folder.remove(&self.hidden)?;
            }
            // Not every file system can exchange names.
            Err(_) => self.folder.rename(&self.hidden, &self.name)?,
        }
        self.is_committed = true;
        self.folder.sync()
    }
}

/// Returns whether a file is the one that was looked at, with the content of then.
fn is_same(now: &Stat, old: &Stat) -> bool {
    let of = |stat: &Stat| (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    of(now) == of(old)
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_committed {
            drop(self.folder.remove(&self.hidden));
        }
    }
}

/// Returns an unused name for a temporary file: random bits of the process and a counter.
pub(crate) fn unused_name() -> String {
    static STATE: std::sync::LazyLock<u64> =
        std::sync::LazyLock::new(|| RandomState::new().hash_one("draft"));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".setpoint-{:016x}-{n}.tmp", *STATE)
}

/// Returns whether a name was made by [`unused_name`].
pub(crate) fn is_unused_name(name: &str) -> bool {
    name.starts_with(".setpoint-") && name.ends_with(".tmp")
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;
    use crate::halt::Halt;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn spot(path: &Path) -> Spot {
        Spot::at("write", path, &Halt::default()).unwrap()
    }

    #[test]
    fn a_draft_is_all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let mut draft = Draft::beside(&spot(&target)).unwrap();
        draft.file().write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(draft);
        assert_eq!(names(folder.path()), Vec::<String>::new());

        let mut draft = Draft::beside(&spot(&target)).unwrap();
        draft.file().write_all(b"whole").unwrap();
        draft.commit_new().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_new_file_never_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let draft = Draft::beside(&spot(&target)).unwrap();
        std::fs::write(&target, "somebody's").unwrap();
        assert_eq!(draft.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_somebody_else_changed_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        std::fs::write(&target, "old").unwrap();
        let spot = spot(&target);
        let old = spot.look().unwrap().unwrap();
        let mut draft = Draft::beside(&spot).unwrap();
        draft.file().write_all(b"new").unwrap();
        std::fs::write(&target, "somebody's").unwrap();
        assert_eq!(draft.commit_over(&old).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        assert_eq!(
            (std::fs::read(&target).unwrap(), names(folder.path())),
            (b"somebody's".to_vec(), vec!["a".to_owned()])
        );
    }

    #[test]
    fn a_replacement_keeps_the_mode_and_spares_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run.sh");
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o750)).unwrap();
        std::fs::hard_link(&target, folder.path().join("other")).unwrap();
        let spot = spot(&target);
        let old = spot.look().unwrap().unwrap();
        let mut draft = Draft::beside(&spot).unwrap();
        draft.file().write_all(b"new").unwrap();
        draft.commit_over(&old).unwrap();
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o750);
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), b"old");
    }
}
