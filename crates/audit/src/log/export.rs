//! The export: a second list of checkpoints at a place of the operator's choice, where whoever can write to the
//! log's directory should not be able to write.
//!
//! It is a copy of the directory's own list, so all that it may be missing is the end of it. Whatever kept it from
//! being written, the next checkpoint brings it all that it is missing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_own_files::named;

use crate::log::error::{LogError, Result};
use crate::log::files;

/// Bytes compared at once.
const PIECE_BYTES: usize = 64 << 10;

/// What became of the export with a checkpoint.
#[derive(Debug, Clone)]
#[must_use = "an export that fails should be told to the operator"]
pub enum Exported {
    /// No export was asked for.
    NotAsked,
    /// It holds every checkpoint.
    UpToDate,
    /// It is missing checkpoints; the next one tries again.
    Failed(ExportError),
}

/// Why checkpoints could not be exported.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExportError {
    /// The operating system refused.
    #[error("export checkpoints to {}", path.display())]
    Io {
        /// The export.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// The export holds something else at this line: it belongs to another log, or this log was replaced.
    #[error("export checkpoints to {}: its line {line} is not that of the log's own checkpoints", path.display())]
    Differs {
        /// The export.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
    },
    /// The export holds checkpoints that the log does not have: the log was put back to an older state.
    #[error("export checkpoints to {}: it holds checkpoints that the log does not have", path.display())]
    Ahead {
        /// The export.
        path: PathBuf,
    },
}

/// The file, and how far it is known to be a copy.
#[derive(Debug)]
pub(crate) struct Export {
    path: PathBuf,
    copied: Option<u64>,
}

impl Export {
    /// Fails with [`LogError::ExportInside`] where the export would lie in the directory that it is to guard.
    pub(crate) fn at(path: &Path, dir: &Path) -> Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A place that is not there yet is no place in the directory, which is.
        let is_inside = match (parent.canonicalize(), dir.canonicalize()) {
            (Ok(parent), Ok(dir)) => parent.starts_with(dir),
            _ => false,
        };
        if is_inside {
            return Err(LogError::ExportInside { path: path.to_path_buf() });
        }
        Ok(Self { path: path.to_path_buf(), copied: None })
    }

    /// Copies what is missing of the list at `own`, which is `length` bytes long.
    pub(crate) fn catch_up(&mut self, own: &Path, length: u64) -> Exported {
        match self.copy(own, length) {
            Ok(()) => {
                self.copied = Some(length);
                Exported::UpToDate
            }
            Err(error) => {
                self.copied = None;
                Exported::Failed(error)
            }
        }
    }

    fn copy(&self, own: &Path, length: u64) -> std::result::Result<(), ExportError> {
        let io = |source| ExportError::Io { path: self.path.clone(), source: Arc::new(source) };
        let mut export = named::open_append(&self.path).map_err(io)?;
        let mut own = files::open(own).map_err(io)?;
        let found = export.metadata().map_err(io)?.len();
        if self.copied != Some(found) {
            self.compare(&mut own, &mut export, found.min(length))?;
        }
        if found > length {
            return Err(ExportError::Ahead { path: self.path.clone() });
        }
        if found == length {
            return Ok(());
        }
        own.seek(SeekFrom::Start(found)).map_err(io)?;
        let mut missing = Vec::new();
        own.take(length - found).read_to_end(&mut missing).map_err(io)?;
        let written = export.write_all(&missing).and_then(|()| export.sync_data());
        written.map_err(|error| {
            // A piece that stays behind is the beginning of what the next try appends.
            if let Err(error) = export.set_len(found) {
                tracing::warn!(%error, "a part of a checkpoint stays in the export");
            }
            io(error)
        })?;
        if found == 0
            && let Err(error) = files::sync_dir_of(&self.path)
        {
            tracing::warn!(%error, "the export may be gone after a power cut");
        }
        Ok(())
    }

    /// Whether the first `length` bytes are the same.
    fn compare(
        &self,
        own: &mut File,
        export: &mut File,
        length: u64,
    ) -> std::result::Result<(), ExportError> {
        let io = |source| ExportError::Io { path: self.path.clone(), source: Arc::new(source) };
        let (mut left, mut line) = (length, 1);
        let (mut ours, mut theirs) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            let (ours, theirs) = (ours.get_mut(..wanted), theirs.get_mut(..wanted));
            let (Some(ours), Some(theirs)) = (ours, theirs) else { break };
            own.read_exact(ours).map_err(io)?;
            export.read_exact(theirs).map_err(io)?;
            let same = ours.iter().zip(theirs.iter()).take_while(|(our, their)| our == their).count();
            line += ours.iter().take(same).filter(|byte| **byte == b'\n').count() as u64;
            if same < wanted {
                return Err(ExportError::Differs { path: self.path.clone(), line });
            }
            left -= wanted as u64;
        }
        Ok(())
    }
}
