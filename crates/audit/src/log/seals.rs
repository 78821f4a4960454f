//! The list of checkpoints in the log's own directory.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use setpoint_own_files::own::{self, Access};

use crate::log::append_file::AppendFile;
use crate::log::checkpoint::Checkpoint;
use crate::log::damage::{DamageKind, LogDamage, LogFile};
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::hex::Hash;
use crate::log::limits::CHECKPOINT_BYTES_MAX;
use crate::log::lines::last_line;

/// The checkpoints. The list only grows: it keeps those of a log that was put aside, and the next log continues
/// them.
#[derive(Debug)]
pub(crate) struct Seals {
    pub(crate) file: AppendFile,
    pub(crate) newest: Option<Checkpoint>,
}

impl Seals {
    /// Reads the last line of the list in this directory and checks its signature. Changes nothing.
    pub(crate) fn look(dir: &Path) -> Result<Self> {
        let path = dir.join(files::CHECKPOINTS);
        let io = |error| LogError::io(&path, error);
        let mut file = own::open_or_create(&path, Access::Append).map_err(io)?;
        let end = file.metadata().map_err(io)?.len();
        let (begin, length) = last_line(&mut file, end).map_err(io)?.unwrap_or_default();
        file.seek(SeekFrom::Start(begin)).map_err(io)?;
        let mut line = Vec::new();
        let read = (&file).take((length - begin).min(CHECKPOINT_BYTES_MAX as u64 + 2)).read_to_end(&mut line);
        read.map_err(io)?;
        line.pop();
        let newest = Checkpoint::parse(&line).filter(Checkpoint::is_signed);
        if newest.is_none() && length > 0 {
            let what = "its last line is not a signed checkpoint".to_owned();
            let damage =
                LogDamage { file: LogFile::Checkpoints, line: None, kind: DamageKind::Changed, what };
            return Err(LogError::Damaged { path, damage });
        }
        Ok(Self { file: AppendFile::at(&path, file, length), newest })
    }

    /// Returns the number of entries that the newest checkpoint covers.
    pub(crate) fn size(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| newest.size)
    }

    /// Returns the hash that the next checkpoint, or the next log, names as its predecessor.
    pub(crate) fn hash(&self) -> Hash {
        self.newest.as_ref().map_or(Hash::NONE, Checkpoint::hash)
    }

    /// Appends a checkpoint, and syncs it to the disk.
    pub(crate) fn append(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.file.append(format!("{}\n", checkpoint.line()).as_bytes())?;
        self.newest = Some(checkpoint);
        self.file.sync()
    }
}
