//! Puts changes in place: through folders that are held open, never through a link, and only where everything is still
//! as the command found it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, RenameFlags, Timespec, Timestamps};
use setpoint_protocol::tool::Secret;
use setpoint_sandbox::changes::{ChangeKind, Entry};

use super::{ChangeSet, Kept, is_changed_since};
use crate::approval::Gate;
use crate::caches::TAG;
use crate::error::ToolError;
use crate::files::draft::{Draft, unused_name};
use crate::files::folder::{self, Folder};
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::keys::{self, KnownKeys};
use crate::process::space;
use crate::show;
use crate::undo::{Becomes, Keeping};

/// Maximum bytes of new content in which keys are looked for; of more, what it holds is unknown.
const SEARCHED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The bits of a mode that are taken over: not those that lend rights.
const MODE: u32 = 0o777;

impl ChangeSet {
    /// Puts all changes in place. Returns the paths that were not there before, folders before what is in them.
    ///
    /// # Errors
    /// If somebody else changed one of the files since the command was started: then nothing was put in place. If one
    /// cannot be put in place, the error tells how many were.
    pub(crate) fn apply(&self) -> Result<Vec<PathBuf>, ToolError> {
        for kept in &self.list {
            self.check_unchanged(kept)?;
        }
        let gone = self.list.iter().filter(|kept| kept.change.kind == ChangeKind::Removed);
        let removed: BTreeSet<PathBuf> = gone.map(Kept::path).collect();
        let mut created = Vec::new();
        for (done, kept) in self.list.iter().enumerate() {
            let path = kept.path();
            kept.apply().map_err(|source| {
                let reason = format!("{source}; {done} of its {} changes were made", self.list.len());
                ToolError::blocked_by_state("keep what the command made of", &path, reason)
            })?;
            // What replaces something else is not new.
            if kept.change.kind == ChangeKind::Created && !removed.contains(&path) {
                created.push(path);
            }
        }
        Ok(created)
    }

    /// Keeps what is in the places of the changes, for an undo. Returns whether everything was kept. What a build makes
    /// again, and the task's workspace, are left out.
    ///
    /// # Errors
    /// If it cannot be read, or not be stored.
    pub(crate) fn keep(&self, gate: &Gate) -> Result<bool, ToolError> {
        gate.keep_holding(self.secrets(gate.keys()), |keeping| {
            // What is new in a folder that is marked at the same time is made again, too.
            let marks = self.list.iter().filter(|kept| {
                kept.change.kind == ChangeKind::Created
                    && kept.path().file_name().is_some_and(|name| name == TAG)
            });
            let marked: Vec<PathBuf> = marks.filter_map(|kept| Some(kept.path().parent()?.into())).collect();
            let is_made_with_mark = |kept: &Kept| {
                let path = kept.path();
                kept.change.kind == ChangeKind::Created
                    && path.file_name().is_some_and(|name| name != TAG)
                    && marked.iter().any(|folder| path != *folder && path.starts_with(folder))
            };
            let counted = self.list.iter().filter(|kept| !gate.is_made_again(&kept.path()));
            counted.filter(|kept| !is_made_with_mark(kept)).try_for_each(|kept| kept.note(keeping))
        })
        .map_err(|source| ToolError::file("keep what is in", &self.list_root(), source))
    }

    /// Returns the keys that the new files may hold: a command may have moved or copied a file with keys that it named by a
    /// pattern, and printed nothing of it.
    fn secrets(&self, keys: &KnownKeys) -> BTreeSet<Secret> {
        let is_new = |kept: &&Kept| kept.change.kind == ChangeKind::Created;
        let touched = self.list.iter().filter(|kept| !is_new(kept)).map(|kept| show::path(&kept.change.path));
        let mut secrets = keys::changed(touched);
        if !keys.has_files() {
            return secrets;
        }
        let mut left = SEARCHED_BYTES_MAX;
        for kept in self.list.iter().filter(|kept| kept.bytes() > 0) {
            if kept.bytes() > left {
                secrets.insert(Secret::Unknown);
                break;
            }
            left -= kept.bytes();
            let mut content = Vec::new();
            let file = crate::files::open::regular(&kept.at, &Halt::default());
            if file.and_then(|file| file.take(kept.bytes()).read_to_end(&mut content)).is_ok() {
                secrets.extend(keys.of_files_in_content(&content));
            }
        }
        secrets
    }

    /// Returns the folder of the first change, for an error.
    fn list_root(&self) -> PathBuf {
        self.list.first().map(|kept| kept.folder.clone()).unwrap_or_default()
    }

    fn removes(&self, path: &Path) -> bool {
        self.list.iter().any(|other| other.change.kind == ChangeKind::Removed && other.path() == path)
    }

    fn removes_above(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|folder| self.removes(folder))
    }

    /// Checks that the disk has space for what has to be copied to put the changes in place.
    ///
    /// # Errors
    /// If it has not. Nothing was put in place.
    pub(crate) fn check_space(&self) -> Result<(), ToolError> {
        let check = |folder: &PathBuf| {
            self.check_space_in(folder)
                .map_err(|source| ToolError::file("put changes in place in", folder, source))
        };
        self.room.folders.iter().try_for_each(check)
    }

    fn check_space_in(&self, folder: &Path) -> io::Result<()> {
        let is_same_disk = fs::metadata(self.room.path())?.dev() == fs::metadata(folder)?.dev();
        // A new file is only renamed on the same disk.
        let is_copied = |kept: &&Kept| {
            kept.folder == folder && !(is_same_disk && kept.change.kind == ChangeKind::Created)
        };
        let bytes = self.list.iter().filter(is_copied).map(Kept::bytes).fold(0, u64::saturating_add);
        let (free, _) = space(folder)?;
        if bytes <= free {
            return Ok(());
        }
        let (bytes, free) = (show::amount(bytes), show::amount(free));
        let reason = format!(
            "they take {bytes}, and {free} is free, so nothing was put in place; free some space and run it again"
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, reason))
    }

    fn check_unchanged(&self, kept: &Kept) -> Result<(), ToolError> {
        let path = kept.path();
        let failed = |source| ToolError::file("look at", &path, source);
        let found = match Spot::real(&path, None).and_then(|spot| spot.look()) {
            // A folder comes in the place of a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory && self.removes_above(&path) => None,
            found => found.map_err(failed)?,
        };
        // Something that is to be replaced by another kind of entry is there, and removed first.
        let is_replaced = || self.removes(&path);
        let is_fresh = match (kept.change.kind, found) {
            (ChangeKind::Created, None) => true,
            (ChangeKind::Created, Some(_)) => is_replaced(),
            (_, None) => false,
            // The times of a folder change with its entries.
            (_, Some(found)) if folder::kind(&found).is_dir() => true,
            (_, Some(found)) => !is_changed_since(&found, self.room.started),
        };
        if is_fresh {
            return Ok(());
        }
        let reason = "somebody else changed it while the command ran, so nothing that the command changed was kept; run it again";
        Err(ToolError::blocked_by_state("keep what the command made of", &path, reason))
    }
}

impl Kept {
    fn note(&self, keeping: &mut Keeping<'_>) -> io::Result<()> {
        let is = match self.change.entry {
            _ if self.change.kind == ChangeKind::Removed => {
                return keeping.removal(&Spot::real(&self.path(), None)?, &Halt::default());
            }
            Entry::File(_) => match File::open(&self.at) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Becomes::unreadable(),
                file => Becomes::file(&mut file?, self.mode()?)?,
            },
            Entry::Folder => Becomes::folder(self.mode()?),
            Entry::Link => Becomes::link(fs::read_link(&self.at)?),
            Entry::Other => return Ok(()),
        };
        match self.change.kind {
            ChangeKind::Created => keeping.creation(self.path(), is),
            _ => keeping.change(&Spot::real(&self.path(), None)?, is, &Halt::default()),
        }
    }

    fn apply(&self) -> io::Result<()> {
        let spot = Spot::real(&self.path(), None)?;
        let (folder, name) = (spot.folder(), spot.name());
        match (self.change.kind, self.change.entry) {
            (ChangeKind::Removed, Entry::Folder) => remove_folder(folder, name),
            (ChangeKind::Removed, _) => folder.remove(name),
            (ChangeKind::Created, Entry::Folder) => {
                folder.make(name)?;
                self.take_mode(folder, name)
            }
            (ChangeKind::Changed | ChangeKind::Permissions, Entry::Folder) => self.take_mode(folder, name),
            // Other names of the file keep its permissions, as they keep its content.
            (ChangeKind::Permissions, Entry::File(_)) if has_other_names(folder, name)? => {
                self.replace(&spot)
            }
            (ChangeKind::Permissions, _) => folder.set_mode_of(name, self.mode()?),
            (ChangeKind::Created, Entry::File(_)) => self.new_file(&spot),
            (ChangeKind::Changed, Entry::File(_)) => self.replace(&spot),
            (ChangeKind::Created, Entry::Link) => folder.make_link(&fs::read_link(&self.at)?, name),
            (ChangeKind::Changed, Entry::Link) => {
                let hidden = unused_name();
                folder.make_link(&fs::read_link(&self.at)?, hidden.as_ref())?;
                folder.rename(hidden.as_ref(), name)
            }
            (ChangeKind::Created | ChangeKind::Changed, Entry::Other) => Ok(()),
        }
    }

    /// Moves a new file into place, or copies it where the layer is on another disk.
    fn new_file(&self, spot: &Spot) -> io::Result<()> {
        let layer = self.at.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let layer = File::open(layer)?;
        let file = self.at.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        without_attributes(&self.at)?;
        fs::set_permissions(&self.at, fs::Permissions::from_mode(self.mode()?))?;
        let to = spot.folder().descriptor();
        match rustix::fs::renameat_with(&layer, file, to, spot.name(), RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::XDEV | rustix::io::Errno::INVAL) => self.copy(spot)?.put_new(),
            result => Ok(result?),
        }
    }

    /// Puts a copy of the new state in place of the file.
    fn replace(&self, spot: &Spot) -> io::Result<()> {
        let old = spot.look()?.ok_or(io::ErrorKind::NotFound)?;
        let draft = self.copy(spot)?;
        draft.take_owner(&old)?;
        draft.put_over(&old)
    }

    /// Copies the new state with its permissions and its time, since builds compare times.
    fn copy(&self, spot: &Spot) -> io::Result<Draft> {
        let mut draft = Draft::beside(spot)?;
        let mut from = File::open(&self.at)?;
        io::copy(&mut from, draft.file())?;
        let found = from.metadata()?;
        let time = |seconds, nanos| Timespec { tv_sec: seconds, tv_nsec: nanos };
        let times = Timestamps {
            last_access: time(found.atime(), found.atime_nsec()),
            last_modification: time(found.mtime(), found.mtime_nsec()),
        };
        draft.file().set_permissions(fs::Permissions::from_mode(found.mode() & MODE))?;
        rustix::fs::futimens(draft.file(), &times)?;
        Ok(draft)
    }

    fn take_mode(&self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        folder.enter(name)?.set_mode(self.mode()?)
    }

    fn mode(&self) -> io::Result<u32> {
        Ok(self.at.symlink_metadata()?.mode() & MODE)
    }
}

fn has_other_names(folder: &Folder, name: &OsStr) -> io::Result<bool> {
    Ok(folder.look(name)?.is_some_and(|found| found.st_nlink > 1))
}

/// Removes a folder with all that is in it; no link in it is followed.
fn remove_folder(folder: &Folder, name: &OsStr) -> io::Result<()> {
    let inner = folder.enter(name)?;
    for entry in inner.names()? {
        match inner.look(&entry)? {
            Some(found) if folder::kind(&found).is_dir() => remove_folder(&inner, &entry)?,
            Some(_) => inner.remove(&entry)?,
            None => {}
        }
    }
    Ok(rustix::fs::unlinkat(folder.descriptor(), name, AtFlags::REMOVEDIR)?)
}

/// Removes the attributes that a program gave a file. Some of them have a meaning for the file system of a later sandbox.
#[cfg(target_os = "linux")]
fn without_attributes(path: &Path) -> io::Result<()> {
    let mut names = vec![0; 64 * 1024];
    let length = match rustix::fs::llistxattr(path, &mut names) {
        Ok(length) => length,
        Err(rustix::io::Errno::OPNOTSUPP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        if name.starts_with(b"user.") {
            rustix::fs::lremovexattr(path, name)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn without_attributes(_: &Path) -> io::Result<()> {
    Ok(())
}
