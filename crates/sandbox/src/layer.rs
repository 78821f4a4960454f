//! A folder for the changes of one run ([`crate::Access::Keep`]), removed with all that is in it when it is dropped, or
//! else by the next run after the process that made it has ended.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The beginning of its name.
const NAME: &str = "changes-";
/// The file in it that is locked as long as it is in use.
const LOCK: &str = "lock";

/// How often a room is tried again whose folder has vanished meanwhile.
const TRIES_MAX: usize = 10;

/// A folder for changes, in use.
#[derive(Debug)]
pub struct Room {
    path: PathBuf,
    /// Held for its lock.
    _lock: File,
}

impl Room {
    /// Makes a room in the folder `around`, which is made too if it is missing. Rooms there whose process has ended are
    /// removed. The folder must be of a file system that holds an overlay's changes.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(around: &Path) -> io::Result<Self> {
        let mut made = Self::make(around);
        for _ in 0..TRIES_MAX {
            match made {
                // Another process has just removed the folder around its last room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => made = Self::make(around),
                made => return made,
            }
        }
        made
    }

    fn make(around: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        DirBuilder::new().recursive(true).mode(0o700).create(around)?;
        let held = File::open(around)?;
        // Between a room and its lock no other process may look.
        held.lock()?;
        sweep(around);
        let path = loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = around.join(format!("{NAME}{}-{n}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break path,
                // A process of another container may have the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let (here, room) = (around.symlink_metadata()?, path.symlink_metadata()?);
        if here.is_symlink() || here.uid() != room.uid() || here.mode() & 0o022 != 0 {
            drop(fs::remove_dir(&path));
            let why = format!("{} can be changed by other users", around.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let lock = File::create(path.join(LOCK))?;
        lock.lock()?;
        Ok(Room { path, _lock: lock })
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        remove(&self.path);
        // The folder around the rooms is not needed any more either, if this was the last one.
        if let Some(around) = self.path.parent() {
            let _ = fs::remove_dir(around);
        }
    }
}

/// Removes the rooms of processes that have ended.
fn sweep(around: &Path) {
    let Ok(entries) = fs::read_dir(around) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_room = entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME));
        let is_free = || match File::open(entry.path().join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if is_room && is_free() {
            remove(&entry.path());
        }
    }
}

/// Removes a folder, even if a program has taken away the permissions for folders in it. What is left is tried again by
/// the next run.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        permit(path);
        let _ = fs::remove_dir_all(path);
    }
}

fn permit(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        // The kind of the entry itself, so that no link is followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            permit(&entry.path());
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_gone_when_it_is_dropped() {
        let around = tempfile::tempdir().unwrap();
        let room = Room::new(around.path()).unwrap();
        let inner = room.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("c"), "x").unwrap();
        fs::set_permissions(&inner, Permissions::from_mode(0o000)).unwrap();
        drop(room);
        assert!(!around.path().exists());
    }

    #[test]
    fn rooms_that_were_left_are_removed_and_those_in_use_are_not() {
        let around = tempfile::tempdir().unwrap();
        let left = around.path().join("changes-1-0");
        fs::create_dir_all(left.join("a")).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let other = around.path().join("something-else");
        fs::create_dir(&other).unwrap();
        let first = Room::new(around.path()).unwrap();
        let second = Room::new(around.path()).unwrap();
        assert!(!left.exists() && other.exists());
        assert!(first.path().exists() && second.path().exists() && first.path() != second.path());
    }

    #[test]
    fn a_folder_of_others_is_refused() {
        let around = tempfile::tempdir().unwrap();
        fs::set_permissions(around.path(), Permissions::from_mode(0o775)).unwrap();
        assert_eq!(Room::new(around.path()).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let link = tempfile::tempdir().unwrap();
        let own = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(own.path(), link.path().join("link")).unwrap();
        assert!(Room::new(&link.path().join("link")).is_err());
        assert_eq!(
            fs::read_dir(around.path()).unwrap().count() + fs::read_dir(own.path()).unwrap().count(),
            0
        );
    }
}
