//! The place where a file is written: a folder that is held open, the folders to create in it, and a name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::Stat;

use super::folder::Folder;
use super::open;
use crate::approval::resolve::{self, RealPath};
use crate::error::ToolError;
use crate::halt::Halt;
use crate::show;

#[derive(Clone, Debug)]
pub(crate) struct Spot {
    folder: Folder,
    /// Missing folders, outermost first.
    missing: Vec<OsString>,
    name: OsString,
}

impl Spot {
    /// Returns the place that a path leads to, resolved as the kernel does; never the target of a dangling link.
    ///
    /// # Errors
    /// If the path leads into Setpoint's own house, to no file, or nowhere.
    pub(crate) fn at(doing: &'static str, path: &Path, halt: &Halt) -> Result<Self, ToolError> {
        halt.rooms().check(path)?;
        let failed = |source| ToolError::file(doing, path, source);
        let real = resolve::real(path, true).map_err(failed)?;
        if let Some(link) = &real.dangling {
            let target = real.path();
            let reason = format!("it is a link that leads nowhere ({})", show::path_line(&target));
            return Err(ToolError::blocked_by_state(doing, link, reason));
        }
        Spot::open(&real)
            .map_err(failed)?
            .ok_or_else(|| ToolError::blocked_by_state(doing, path, "it is a folder"))
    }

    /// Like [`Spot::at`] for a path without links; nothing in it is followed.
    pub(crate) fn real(path: &Path, held: Option<&Folder>) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut folder = match held.filter(|held| parent.starts_with(held.path())) {
            Some(held) => held.clone(),
            None => Folder::open(Path::new("/"))?,
        };
        let names = parent.strip_prefix(folder.path()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut missing = Vec::new();
        for part in names.to_path_buf().components() {
            let Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            if !missing.is_empty() {
                missing.push(part.to_owned());
                continue;
            }
            match folder.enter(part) {
                Ok(next) => folder = next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(part.to_owned()),
                Err(error) => return Err(error),
            }
        }
        Ok(Spot { folder, missing, name: name.to_owned() })
    }

    fn open(real: &RealPath) -> io::Result<Option<Self>> {
        let (folder, missing, name) = match real.missing.split_last() {
            Some((name, missing)) => (real.there.as_path(), missing.to_vec(), name.clone()),
            None => match (real.there.parent(), real.there.file_name()) {
                (Some(folder), Some(name)) => (folder, Vec::new(), name.to_owned()),
                _ => return Ok(None),
            },
        };
        Ok(Some(Spot { folder: Folder::open(folder)?, missing, name }))
    }

    /// Returns the folder that is held open.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the whole path, without links.
    pub(crate) fn path(&self) -> PathBuf {
        let folder = self.missing.iter().fold(self.folder.path().to_path_buf(), |path, name| path.join(name));
        folder.join(&self.name)
    }

    /// Whether the folder of the file itself is held, not one above it because that one is missing.
    pub(crate) fn has_folder(&self) -> bool {
        self.missing.is_empty()
    }

    /// Returns the metadata of the file, or `None` if there is none.
    pub(crate) fn look(&self) -> io::Result<Option<Stat>> {
        if self.missing.is_empty() { self.folder.look(&self.name) } else { Ok(None) }
    }

    /// Opens the existing regular file, if a tool may read it.
    pub(crate) fn read(&self, halt: &Halt) -> io::Result<File> {
        if !self.missing.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        open::admit(self.folder.read(&self.name)?, &self.path(), halt)
    }

    /// Creates the missing folders and returns them, outermost first.
    pub(crate) fn make_folders(&mut self) -> io::Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        for name in std::mem::take(&mut self.missing) {
            let (folder, is_new) = self.folder.make(&name)?;
            if is_new {
                made.push(folder.path().to_path_buf());
            }
            self.folder = folder;
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn root(folder: &tempfile::TempDir) -> PathBuf {
        std::fs::canonicalize(folder.path()).unwrap()
    }

    #[test]
    fn missing_folders_are_created_and_returned() {
        let folder = tempfile::tempdir().unwrap();
        let root = root(&folder);
        let path = root.join("a/b/c.txt");
        let mut spot = Spot::at("write", &path, &Halt::default()).unwrap();
        assert_eq!((spot.path(), spot.look().unwrap().is_none()), (path.clone(), true));
        assert_eq!(spot.make_folders().unwrap(), [root.join("a"), root.join("a/b")]);
        assert!(spot.make_folders().unwrap().is_empty() && root.join("a/b").is_dir());
        assert_eq!(spot.path(), path);
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_entered() {
        let folder = tempfile::tempdir().unwrap();
        let root = root(&folder);
        std::fs::create_dir(root.join("outside")).unwrap();
        let mut spot = Spot::at("write", &root.join("new/a"), &Halt::default()).unwrap();
        symlink("outside", root.join("new")).unwrap();
        assert!(spot.make_folders().is_err());
        assert!(Spot::real(&root.join("new/a"), None).is_err());
        // On the second call the place is the link's target, and the error names it.
        let spot = Spot::at("write", &root.join("new/a"), &Halt::default()).unwrap();
        assert_eq!(spot.path(), root.join("outside/a"));
    }

    #[test]
    fn a_dangling_link_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = root(&folder);
        symlink("nowhere/at/all", root.join("link")).unwrap();
        let error = Spot::at("write", &root.join("link"), &Halt::default()).unwrap_err().to_string();
        assert!(
            error.contains("link: it is a link that leads nowhere") && error.contains("nowhere/at/all"),
            "{error}"
        );
        assert!(!root.join("nowhere").exists());
    }
}
