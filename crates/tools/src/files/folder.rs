//! A folder that is held open, and operations on its entries by name.
//!
//! Nothing here follows a link or resolves the folder's path again: if something replaces the folder meanwhile, the
//! operations still act on the folder that was opened.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

/// Flags for opening a folder to reach its entries. On Linux this does not need permission to list it.
#[cfg(target_os = "linux")]
const REACH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const REACH: OFlags = OFlags::RDONLY;

#[derive(Clone, Debug)]
pub(crate) struct Folder {
    fd: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at a real path, one name at a time.
    ///
    /// # Errors
    /// The error of the system; `NotADirectory` or `FilesystemLoop` if one of the names is a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let root = fs::open("/", flags(), Mode::empty())?;
        Folder { fd: Arc::new(root), path: PathBuf::from("/") }.below(path)
    }

    /// Opens the folder at a real path that begins with this folder's path.
    pub(crate) fn below(&self, path: &Path) -> io::Result<Self> {
        let names = path.strip_prefix(&self.path).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut folder = self.clone();
        for name in names.components() {
            let Component::Normal(name) = name else { return Err(io::ErrorKind::InvalidInput.into()) };
            folder = folder.enter(name)?;
        }
        Ok(folder)
    }

    /// Opens a subfolder by name.
    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let fd = fs::openat(&self.fd, name, flags(), Mode::empty())?;
        Ok(Folder { fd: Arc::new(fd), path: self.path.join(name) })
    }

    /// Returns the path at which it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a program can be started in it even after it was moved.
    pub(crate) const CAN_BE_ENTERED: bool = cfg!(target_os = "linux");

    /// Returns a path that always leads to this folder, for a program that this process starts while holding it.
    pub(crate) fn as_directory(&self) -> PathBuf {
        open_path(&self.fd).into()
    }

    /// Returns whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let id = |stat: Stat| (stat.st_dev, stat.st_ino);
        let now = Folder::open(&self.path).and_then(|now| Ok(fs::fstat(&now.fd)?));
        matches!((now, fs::fstat(&self.fd)), (Ok(now), Ok(held)) if id(now) == id(held))
    }

    /// Returns the metadata of an entry, or `None` if there is none.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the target of a link.
    pub(crate) fn link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(fs::readlinkat(&self.fd, name, Vec::new())?.into_bytes()))
    }

    /// Opens a file for reading, without blocking.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, name, flags, Mode::empty())?))
    }

    /// Creates a file; fails if the name exists.
    pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o666))?))
    }

    /// Creates a file in the folder that has no name until [`Folder::give_name`] gives it one.
    ///
    /// # Errors
    /// If the system, the file system or a missing `/proc` cannot have this.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_unnamed(&self) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.fd, ".", flags, Mode::from_raw_mode(0o666))?);
        fs::stat(open_path(&file))?;
        Ok(file)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn create_unnamed(&self) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives an unnamed file of this folder a name.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is in use.
    pub(crate) fn give_name(&self, file: &File, name: &OsStr) -> io::Result<()> {
        Ok(fs::linkat(fs::CWD, open_path(file), &self.fd, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Creates the subfolder if it is missing, and opens it. Returns whether it was created.
    pub(crate) fn make(&self, name: &OsStr) -> io::Result<(Self, bool)> {
        let is_new = match fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno.into()),
        };
        Ok((self.enter(name)?, is_new))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Makes a link to `target`; fails if the name exists.
    pub(crate) fn make_link(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(fs::symlinkat(target, &self.fd, name)?)
    }

    /// Returns the names of its entries.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = fs::Dir::new(self.listed()?)?;
        let names = entries.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec())));
        let is_other =
            |name: &io::Result<OsString>| !name.as_ref().is_ok_and(|name| name == "." || name == "..");
        names.filter(is_other).collect()
    }

    /// Sets its permissions.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fs::fchmod(self.listed()?, Mode::from_raw_mode(mode))?)
    }

    /// Sets the permissions of a file in it.
    pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let file = fs::openat(&self.fd, name, REACH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        if !kind(&fs::fstat(&file)?).is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mode = Mode::from_raw_mode(mode);
        if cfg!(target_os = "linux") {
            // Its owner need not be able to read it.
            return Ok(fs::chmod(open_path(&file), mode)?);
        }
        Ok(fs::fchmod(&file, mode)?)
    }

    /// Returns the descriptor that holds it open.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }

    /// Renames a file within the folder, replacing the entry of that name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Exchanges the names of two entries at once, where the file system can.
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        Ok(fs::renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE)?)
    }

    /// Renames a file within the folder to an unused name. Atomic if the file system supports it; otherwise the name is
    /// checked first.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is in use.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.look(to)? {
                Some(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
                None => self.rename(from, to),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    /// Flushes the folder's changes to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.listed()?.sync_all()
    }

    /// Opens the folder so that it can be listed and synced.
    fn listed(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, ".", flags, Mode::empty())?))
    }
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Returns a path to what is open, whatever its name is.
fn open_path(open: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

fn flags() -> OFlags {
    REACH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(root.join("d/sub")).unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        std::fs::write(root.join("d/file"), "x").unwrap();
        symlink("d", root.join("link")).unwrap();
        symlink("file", root.join("d/alias")).unwrap();
        (folder, root)
    }

    #[test]
    fn a_link_is_never_followed() {
        let (_folder, root) = tree();
        assert!(Folder::open(&root.join("d/sub")).is_ok());
        for path in ["link", "link/sub", "d/file", "d/none", "d/alias", "d/../d"] {
            assert!(Folder::open(&root.join(path)).is_err(), "{path}");
        }
        let d = Folder::open(&root.join("d")).unwrap();
        assert!(d.read(OsStr::new("file")).is_ok());
        assert!(d.read(OsStr::new("alias")).is_err());
        assert!(d.make(OsStr::new("alias")).is_err());
        assert!(d.create(OsStr::new("alias")).is_err());
        assert_eq!(d.link(OsStr::new("alias")).unwrap(), "file");
        assert!(d.below(&root).is_err());
    }

    #[test]
    fn operations_act_on_the_folder_that_was_opened() {
        let (_folder, root) = tree();
        let d = Folder::open(&root.join("d")).unwrap();
        assert!(d.is_in_place());
        std::fs::rename(root.join("d"), root.join("moved")).unwrap();
        symlink("other", root.join("d")).unwrap();
        assert!(!d.is_in_place());
        d.create(OsStr::new("new")).unwrap().write_all(b"new").unwrap();
        d.rename_new(OsStr::new("new"), OsStr::new("newer")).unwrap();
        d.remove(OsStr::new("file")).unwrap();
        assert!(d.make(OsStr::new("made")).unwrap().1 && !d.make(OsStr::new("made")).unwrap().1);
        d.sync().unwrap();
        assert_eq!(std::fs::read(root.join("moved/newer")).unwrap(), b"new");
        assert!(root.join("moved/made").is_dir() && !root.join("moved/file").exists());
        assert_eq!(std::fs::read_dir(root.join("other")).unwrap().count(), 0);
    }
}
