//! The list of checkpoints in the log's own directory.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;

use crate::log::append_file::AppendFile;
use crate::log::chain::Hash;
use crate::log::checkpoint::{Checkpoint, PublicKey, hash_of_line};
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::limits::CHECKPOINT_BYTES_MAX;
use crate::log::lines::{Lines, Next, last_line};

/// The checkpoints, which only ever grow: a log that was put aside leaves its own behind, and the next one goes on.
#[derive(Debug)]
pub(crate) struct Seals {
    file: AppendFile,
    newest: Option<Newest>,
}

/// The last checkpoint, and the hash of its line.
#[derive(Debug, Clone)]
pub(crate) struct Newest {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) hash: Hash,
}

/// What a list holds, before anything of it is changed.
#[derive(Debug)]
pub(crate) struct FoundSeals {
    path: PathBuf,
    file: File,
    length: u64,
    /// Bytes behind the last whole line.
    pub(crate) torn: u64,
    pub(crate) newest: Option<Newest>,
}

impl FoundSeals {
    /// Reads the last line of the list in this directory and checks its signature.
    pub(crate) fn look(dir: &Path) -> Result<Self> {
        let path = dir.join(files::CHECKPOINTS);
        let io = |error| LogError::io(&path, error);
        let mut file = files::open_append(&path).map_err(io)?;
        let end = file.metadata().map_err(io)?.len();
        let damaged = || LogError::CheckpointDamaged { path: path.clone(), line: None };
        let found = last_line(&mut file, end).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => damaged(),
            _ => io(error),
        })?;
        let (begin, length) = found.unwrap_or((0, 0));
        let newest = if length == 0 {
            None
        } else if length - begin > CHECKPOINT_BYTES_MAX as u64 + 1 {
            return Err(damaged());
        } else {
            std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(begin)).map_err(io)?;
            let mut lines = Lines::of(&file, begin, CHECKPOINT_BYTES_MAX);
            let Next::Line(line) = lines.next().map_err(io)? else { return Err(damaged()) };
            let checkpoint = Checkpoint::parse(line).filter(Checkpoint::is_signed).ok_or_else(damaged)?;
            Some(Newest { checkpoint, hash: hash_of_line(line) })
        };
        Ok(Self { path, file, length, torn: end - length, newest })
    }

    /// Whether the newest checkpoint is this key's.
    pub(crate) fn check_key(&self, key: &SigningKey, path: &Path) -> Result<()> {
        let found = PublicKey::of(key);
        match &self.newest {
            Some(Newest { checkpoint, .. }) if checkpoint.key != found => {
                Err(LogError::KeyChanged { path: path.to_path_buf(), found, signed: checkpoint.key })
            }
            _ => Ok(()),
        }
    }

    /// The checkpoint that the newest log of the list continues, by its hash: reads all of it.
    pub(crate) fn continued(&self) -> Result<Hash> {
        let io = |error| LogError::io(&self.path, error);
        let mut lines = Lines::of(files::open(&self.path).map_err(io)?, 0, CHECKPOINT_BYTES_MAX);
        let (mut size, mut continued, mut previous, mut number) = (0, Hash::NONE, Hash::NONE, 0);
        loop {
            number += 1;
            let damaged = || LogError::CheckpointDamaged { path: self.path.clone(), line: Some(number) };
            let line = match lines.next().map_err(io)? {
                Next::Line(line) => line,
                Next::TooLong => return Err(damaged()),
                Next::Torn(_) | Next::End => return Ok(continued),
            };
            let checkpoint =
                Checkpoint::parse(line).filter(|one| one.previous == previous).ok_or_else(damaged)?;
            if checkpoint.size <= size {
                continued = previous;
            }
            (size, previous) = (checkpoint.size, hash_of_line(line));
        }
    }

    /// Cuts off what is torn and goes on from there.
    pub(crate) fn open(self) -> Result<Seals> {
        let file = AppendFile::at(self.path, self.file, self.length)?;
        Ok(Seals { file, newest: self.newest })
    }
}

impl Seals {
    pub(crate) fn newest(&self) -> Option<&Newest> {
        self.newest.as_ref()
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    /// Appends a checkpoint; it survives a power cut when this returns.
    pub(crate) fn append(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let mut line = checkpoint.line();
        let hash = hash_of_line(line.as_bytes());
        line.push('\n');
        self.file.append(line.as_bytes())?;
        self.newest = Some(Newest { checkpoint, hash });
        self.file.sync()
    }
}

#[cfg(test)]
impl Seals {
    pub(crate) fn replace_file(&mut self, replace: impl FnOnce(&AppendFile) -> AppendFile) {
        self.file = replace(&self.file);
    }
}
