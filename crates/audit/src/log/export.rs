//! The export: a second list of checkpoints, at a place that a writer to the log's directory should not be able to
//! write to.
//!
//! It is a copy of the directory's own list, so it can only lack the end of it. After a failed write, the next
//! checkpoint adds everything that is missing.

use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use setpoint_own_files::named;
use setpoint_own_files::own::{self, Access};

use crate::log::error::{LogError, Result};
use crate::log::files;

/// The file, and the length up to which it is known to be a copy.
#[derive(Debug)]
pub(crate) struct Export {
    path: PathBuf,
    copied: Option<u64>,
}

impl Export {
    /// Creates an export at `path`. Refuses a path inside the log's own directory.
    pub(crate) fn at(path: &Path, dir: &Path) -> Result<Self> {
        let export = Self { path: path.to_path_buf(), copied: None };
        // A place that does not exist yet is not inside the directory, which does.
        match (files::dir_of(path).canonicalize(), dir.canonicalize()) {
            (Ok(parent), Ok(dir)) if parent.starts_with(&dir) => {
                Err(export.differs("it is in the directory of the log itself"))
            }
            _ => Ok(export),
        }
    }

    /// Copies what is missing from the list at `own`, which is `length` bytes long.
    pub(crate) fn catch_up(&mut self, own: &Path, length: u64) -> Result<()> {
        let copied = self.copied.take();
        let io = |source| LogError::of("export checkpoints to", &self.path, source);
        let mut export = named::open_append(&self.path).map_err(io)?;
        let mut own = own::open(own, Access::Read).map_err(io)?;
        let found = export.metadata().map_err(io)?.len();
        if copied != Some(found) {
            self.compare((&own).take(length), &export)?;
        }
        if found > length {
            return Err(self.differs("it holds checkpoints that the log does not have"));
        }
        if found < length {
            own.seek(SeekFrom::Start(found)).map_err(io)?;
            let mut missing = Vec::new();
            own.take(length - found).read_to_end(&mut missing).map_err(io)?;
            export.write_all(&missing).and_then(|()| export.sync_data()).map_err(|error| {
                // After a failed write, the piece that was written is the beginning of what the next try appends.
                drop(export.set_len(found));
                io(error)
            })?;
        }
        if found == 0
            && let Err(error) = files::sync_dir_of(&self.path)
        {
            tracing::warn!(%error, "the export may be gone after a power cut");
        }
        self.copied = Some(length);
        Ok(())
    }

    /// Compares both up to the end of the shorter one.
    fn compare(&self, own: impl Read, export: impl Read) -> Result<()> {
        let mut line = 1;
        for (ours, theirs) in BufReader::new(own).bytes().zip(BufReader::new(export).bytes()) {
            let io = |source| LogError::of("export checkpoints to", &self.path, source);
            let (ours, theirs) = (ours.map_err(io)?, theirs.map_err(io)?);
            if ours != theirs {
                let why = format!("its line {line} is not that of the log's own checkpoints");
                return Err(self.differs(why));
            }
            line += u64::from(ours == b'\n');
        }
        Ok(())
    }

    fn differs(&self, why: impl Into<String>) -> LogError {
        LogError::Export { path: self.path.clone(), why: why.into() }
    }
}
