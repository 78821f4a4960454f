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

/// The new content of a file, put in place by a `commit`; dropped without one, it is gone.
///
/// It has no name in its folder until it is whole, so that a process that is killed leaves no part of it there. Where
/// the file system cannot do that, it has a hidden name from the beginning.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    folder: Folder,
    /// Its present name, while it has one that is not yet the final one.
    hidden: Option<OsString>,
    name: OsString,
}

impl Draft {
    /// Starts a draft of the file at `spot`, in the same folder, which must exist.
    pub(crate) fn beside(spot: &Spot) -> io::Result<Self> {
        Draft::new(spot, spot.folder().create_unnamed())
    }

    fn new(spot: &Spot, unnamed: io::Result<File>) -> io::Result<Self> {
        let (folder, name) = (spot.folder().clone(), spot.name().to_owned());
        if let Ok(file) = unnamed {
            return Ok(Draft { file, folder, hidden: None, name });
        }
        // Whatever the reason, a named file tells whether the folder can be written to.
        let hidden = OsString::from(unused_name());
        let file = folder.create(&hidden)?;
        Ok(Draft { file, folder, hidden: Some(hidden), name })
    }

    /// Returns the file to write the content to.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the draft in place, where nothing may exist, and flushes it to the disk.
    ///
    /// # Errors
    /// As for [`Draft::put_new`].
    pub(crate) fn commit_new(self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.folder.clone();
        self.put_new()?;
        folder.sync()
    }

    /// Puts the draft in place, where nothing may exist.
    ///
    /// # Errors
    /// `AlreadyExists` if something appeared there meanwhile; it is left untouched.
    pub(crate) fn put_new(mut self) -> io::Result<()> {
        match &self.hidden {
            None => self.folder.give_name(&self.file, &self.name),
            Some(hidden) => {
                self.folder.rename_new(hidden, &self.name)?;
                self.hidden = None;
                Ok(())
            }
        }
    }

    /// Puts the draft in place of the file `old`, with its mode and, if permitted, its owner, and flushes it to the disk.
    ///
    /// # Errors
    /// As for [`Draft::put_over`].
    pub(crate) fn commit_over(self, old: &Stat) -> io::Result<()> {
        self.take_owner(old)?;
        fchmod(&self.file, Mode::from_raw_mode(old.st_mode))?;
        self.file.sync_all()?;
        let folder = self.folder.clone();
        self.put_over(old)?;
        folder.sync()
    }

    /// Gives the draft the owner of the file that it replaces. Only the superuser may give a file away; for other users
    /// it becomes their own, as with editors.
    pub(crate) fn take_owner(&self, old: &Stat) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.st_uid, old.st_gid) {
            drop(std::os::unix::fs::fchown(&self.file, Some(old.st_uid), Some(old.st_gid)));
        }
        Ok(())
    }

    /// Puts the draft in place of the file `old`. Other names of the old file keep the old content.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if somebody else changed or replaced the file since `old` was looked at;
    /// it stays as it is.
    pub(crate) fn put_over(mut self, old: &Stat) -> io::Result<()> {
        let changed = || io::Error::new(io::ErrorKind::ResourceBusy, CHANGED_MEANWHILE);
        if self.folder.look(&self.name)?.is_none_or(|now| !is_same(&now, old)) {
            return Err(changed());
        }
        // An exchange needs a name, so it has one from here on only: a process that is killed now leaves a whole file.
        if self.hidden.is_none() {
            let hidden = OsString::from(unused_name());
            self.folder.give_name(&self.file, &hidden)?;
            self.hidden = Some(hidden);
        }
        let Some(hidden) = self.hidden.take() else { return Err(io::ErrorKind::NotFound.into()) };
        match self.folder.exchange(&hidden, &self.name) {
            Ok(()) => {
                // What is replaced is in hand now, so that nothing can be written to it unseen. If it cannot be put
                // back, it stays under the hidden name.
                if self.folder.look(&hidden)?.is_none_or(|now| !is_same(&now, old)) {
                    self.folder.exchange(&hidden, &self.name)?;
                    self.hidden = Some(hidden);
                    return Err(changed());
                }
                self.folder.remove(&hidden)
            }
            // Not every file system can exchange names.
            Err(_) => self.folder.rename(&hidden, &self.name).inspect_err(|_| self.hidden = Some(hidden)),
        }
    }
}

/// Returns whether a file is the one that was looked at, with the content of then.
fn is_same(now: &Stat, old: &Stat) -> bool {
    let of = |stat: &Stat| (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    of(now) == of(old)
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            drop(self.folder.remove(hidden));
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

    /// A draft of this content, without and with a name of its own.
    fn drafts(spot: &Spot, content: &str) -> [Draft; 2] {
        let unnamed = Draft::beside(spot).unwrap();
        let named = Draft::new(spot, spot.folder().create_unnamed()).unwrap();
        [unnamed, named].map(|mut draft| {
            draft.file().write_all(content.as_bytes()).unwrap();
            draft
        })
    }

    #[test]
    fn a_draft_is_all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        drop(drafts(&spot(&target), "half"));
        assert_eq!(names(folder.path()), Vec::<String>::new());

        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        std::fs::write(folder.path().join("usual"), "x").unwrap();
        for draft in drafts(&spot(&target), "whole") {
            assert!(!target.exists());
            draft.commit_new().unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"whole");
            assert_eq!(mode(&target), mode(&folder.path().join("usual")));
            std::fs::remove_file(&target).unwrap();
        }
        assert_eq!(names(folder.path()), ["usual"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_of_a_draft_has_a_name_before_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::beside(&spot(&folder.path().join("a"))).unwrap();
        draft.file().write_all(b"half").unwrap();
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn a_new_file_never_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        for draft in drafts(&spot(&target), "new") {
            std::fs::write(&target, "somebody's").unwrap();
            assert_eq!(draft.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
        }
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_somebody_else_changed_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        std::fs::write(&target, "old").unwrap();
        let spot = spot(&target);
        let old = spot.look().unwrap().unwrap();
        for draft in drafts(&spot, "new") {
            std::fs::write(&target, "somebody's").unwrap();
            assert_eq!(draft.commit_over(&old).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
            assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
        }
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_replacement_keeps_the_mode_and_spares_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run.sh");
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o750)).unwrap();
        std::fs::hard_link(&target, folder.path().join("other")).unwrap();
        for draft in drafts(&spot(&target), "new") {
            draft.commit_over(&spot(&target).look().unwrap().unwrap()).unwrap();
            assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o750);
            assert_eq!(std::fs::read(&target).unwrap(), b"new");
            assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), b"old");
        }
        assert_eq!(names(folder.path()), ["other", "run.sh"]);
    }
}
