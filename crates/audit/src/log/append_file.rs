//! A file that only grows by whole pieces: a piece that could not be written in full is taken back.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::log::error::{LogError, Result};

/// The file operations, so that tests can use a disk that fails.
pub(crate) trait Medium: Send + std::fmt::Debug {
    fn length(&self) -> io::Result<u64>;
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn cut(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn length(&self) -> io::Result<u64> {
        self.metadata().map(|found| found.len())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The file and its length.
#[derive(Debug)]
pub(crate) struct AppendFile {
    pub(crate) path: PathBuf,
    medium: Box<dyn Medium>,
    pub(crate) length: u64,
    poison: Option<Arc<LogError>>,
}

impl AppendFile {
    /// Continues after `length`. Call [`AppendFile::cut_off`] first if the file may be longer.
    pub(crate) fn at(path: &Path, medium: impl Medium + 'static, length: u64) -> Self {
        Self { path: path.to_path_buf(), medium: Box::new(medium), length, poison: None }
    }

    /// Cuts off what follows the end: a piece that was never finished.
    pub(crate) fn cut_off(&mut self) -> Result<()> {
        let found = self.medium.length().map_err(|error| LogError::io(&self.path, error))?;
        if found > self.length {
            self.medium.cut(self.length).map_err(|error| LogError::io(&self.path, error))?;
            let (path, bytes) = (self.path.display(), found - self.length);
            tracing::warn!(%path, bytes, "the last line was never finished, and was cut off");
        }
        Ok(())
    }

    /// Appends all bytes with one call, or none.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        let found = self.medium.length().map_err(|error| LogError::io(&self.path, error))?;
        if found != self.length {
            return Err(LogError::Changed { path: self.path.clone(), expected: self.length, found });
        }
        let Err(error) = self.medium.append(bytes) else {
            self.length += bytes.len() as u64;
            return Ok(());
        };
        let error = LogError::io(&self.path, error);
        if self.medium.cut(self.length).is_err() {
            self.poison = Some(Arc::new(error.clone()));
        }
        Err(error)
    }

    /// Syncs the file to the disk. After a failure nothing more is appended: the system reports it once and drops
    /// what it could not write, so a later success would prove nothing.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.check()?;
        self.medium.sync().map_err(|error| {
            let error = LogError::io(&self.path, error);
            self.poison = Some(Arc::new(error.clone()));
            error
        })
    }

    fn check(&self) -> Result<()> {
        match &self.poison {
            Some(cause) => Err(LogError::Poisoned { cause: Arc::clone(cause) }),
            None => Ok(()),
        }
    }
}
