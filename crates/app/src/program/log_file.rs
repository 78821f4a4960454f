//! The log file of the process.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use setpoint_own_files::own::{self, Access};
use setpoint_scrub::Scrub;

/// A log file, created at its first entry. A log that cannot be written loses nothing: a task's steps are in its
/// journal.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: OnceLock<Option<Mutex<File>>>,
    keys: Scrub,
}

impl LogFile {
    /// Creates the log of this path, without these keys; no file is created yet.
    #[must_use]
    pub fn new(path: PathBuf, keys: Scrub) -> Self {
        LogFile { path, file: OnceLock::new(), keys }
    }

    /// Returns a writer for one event.
    #[must_use]
    pub fn writer(self: Arc<Self>) -> LogWriter {
        LogWriter(self)
    }
}

/// See [`LogFile::writer`].
#[derive(Debug)]
pub struct LogWriter(Arc<LogFile>);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let open = || {
            let file = own::open_or_create(&self.0.path, Access::Append);
            file.ok().map(Mutex::new)
        };
        if let Some(file) = self.0.file.get_or_init(open) {
            // The subscriber writes each event as a whole.
            let clean = self.0.keys.part(bytes, 0..bytes.len());
            file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&clean)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
