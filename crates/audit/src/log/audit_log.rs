//! The log, for the one who writes it.

use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use serde::de::IgnoredAny;

use crate::log::append_file::AppendFile;
use crate::log::chain::Hash;
use crate::log::checkpoint::{Checkpoint, PublicKey, Statement};
use crate::log::error::{LogError, Result};
use crate::log::export::{Export, Exported};
use crate::log::limits::{BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, CHECKPOINT_ENTRIES, ENTRY_BYTES_MAX};
use crate::log::line::Walk;
use crate::log::seals::{Newest, Seals};
use crate::log::state;
use crate::log::tree::Tree;

/// The log, open for appending.
///
/// One writer at a time: who opens a log for appending holds a lock that keeps every other process from it. The log
/// has none of its own; a second writer is noticed ([`LogError::Changed`]), but not prevented. Readers
/// ([`crate::log::Entries`], [`crate::log::verify`]) need no lock.
///
/// Appended entries survive the end of the process, and a power cut only up to the last checkpoint: whoever appends
/// must be able to give the entries after it once more.
#[derive(Debug)]
pub struct AuditLog {
    dir: PathBuf,
    key: SigningKey,
    walk: Walk,
    tree: Tree,
    log: AppendFile,
    seals: Seals,
    export: Option<Export>,
    /// Entries that a checkpoint covers. Not always what the newest one says: that may be of a log put aside.
    sealed: u64,
    /// Lines and hashes of the batch under way; kept for their memory.
    batch: (Vec<u8>, Vec<Hash>),
}

/// What became of a batch.
#[derive(Debug)]
#[must_use = "a checkpoint that failed should be told to the operator"]
pub struct Appended {
    /// Number of the last entry of the log.
    pub seq: u64,
    /// Hash of that entry.
    pub hash: Hash,
    /// Whether a checkpoint was due after the batch, and what became of it.
    pub sealing: Sealing,
}

/// What became of a checkpoint that may have been due.
#[derive(Debug)]
pub enum Sealing {
    /// None was.
    NotDue,
    /// It was made.
    Sealed(Sealed),
    /// It could not be made. The entries are in the log; the next batch tries again.
    Failed(LogError),
}

/// A log that is covered by a checkpoint to its last entry.
#[derive(Debug)]
pub struct Sealed {
    /// The newest checkpoint; `None` for a log without entries.
    pub checkpoint: Option<Checkpoint>,
    /// Whether it was made just now: it was not, where it already covered everything.
    pub is_new: bool,
    /// What became of the export.
    pub exported: Exported,
}

/// What opening found, to go on from.
pub(crate) struct Parts {
    pub(crate) dir: PathBuf,
    pub(crate) key: SigningKey,
    pub(crate) walk: Walk,
    pub(crate) tree: Tree,
    pub(crate) log: AppendFile,
    pub(crate) seals: Seals,
    pub(crate) export: Option<Export>,
    pub(crate) sealed: u64,
}

impl AuditLog {
    pub(crate) fn of(parts: Parts) -> Self {
        let Parts { dir, key, walk, tree, log, seals, export, sealed } = parts;
        Self { dir, key, walk, tree, log, seals, export, sealed, batch: Default::default() }
    }

    /// Appends these entries with one write, all of them or none, and makes a checkpoint where
    /// [`CHECKPOINT_ENTRIES`] have come since the last one. `at_us` is the time that the checkpoint gives, in
    /// microseconds since 1970 (UTC).
    ///
    /// An entry is one JSON value on one line, at most [`ENTRY_BYTES_MAX`] long; at most [`BATCH_ENTRIES_MAX`] and
    /// [`BATCH_BYTES_MAX`] are taken at once. After [`LogError::NoSpace`] the log is as it was before, and the batch
    /// can be appended again.
    pub fn append<E: AsRef<str>>(&mut self, entries: &[E], at_us: i64) -> Result<Appended> {
        check_batch(entries)?;
        let (seq, hash) = (self.walk.seq(), self.walk.hash());
        let (lines, hashes) = &mut self.batch;
        lines.clear();
        hashes.clear();
        hashes.extend(entries.iter().map(|entry| self.walk.write(entry.as_ref(), lines)));
        if let Err(error) = self.log.append(lines) {
            self.walk = Walk::at(seq, hash);
            return Err(error);
        }
        hashes.iter().for_each(|hash| self.tree.push(*hash));
        let sealing = if self.unsealed() < CHECKPOINT_ENTRIES {
            Sealing::NotDue
        } else {
            self.seal(at_us).map_or_else(Sealing::Failed, Sealing::Sealed)
        };
        Ok(Appended { seq: self.walk.seq(), hash: self.walk.hash().unwrap_or(Hash::NONE), sealing })
    }

    /// Makes a checkpoint over the whole log, unless the newest one already covers it, and brings the export what it
    /// is missing. The log is on the disk before anything is signed.
    pub fn seal(&mut self, at_us: i64) -> Result<Sealed> {
        let is_new = self.unsealed() > 0;
        if is_new {
            self.log.sync()?;
            let statement = Statement {
                size: self.tree.size(),
                root: self.tree.root(),
                chain: self.walk.hash().unwrap_or(Hash::NONE),
                at_us,
                previous: self.seals.newest().map_or(Hash::NONE, |newest| newest.hash),
            };
            self.seals.append(Checkpoint::sign(statement, &self.key))?;
            self.sealed = self.tree.size();
            if let Err(error) = state::write(&self.dir, &self.tree, self.log.length()) {
                tracing::warn!(%error, "the audit log is read as a whole when it is opened next");
            }
        }
        let exported = match &mut self.export {
            None => Exported::NotAsked,
            Some(export) => export.catch_up(self.seals.path(), self.seals.length()),
        };
        Ok(Sealed { checkpoint: self.checkpoint().cloned(), is_new, exported })
    }

    /// Entries of the log: the number of the last one.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.tree.size()
    }

    /// Hash of the last entry; of an empty log, what the first one will be chained to.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.walk.hash().unwrap_or(Hash::NONE)
    }

    /// Entries that no checkpoint covers yet.
    #[must_use]
    pub fn unsealed(&self) -> u64 {
        self.size().saturating_sub(self.sealed)
    }

    /// The newest checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.seals.newest().map(|Newest { checkpoint, .. }| checkpoint)
    }

    /// The public half of the signing key: who notes it elsewhere can tell whether the log was signed with another.
    #[must_use]
    pub fn key(&self) -> PublicKey {
        PublicKey::of(&self.key)
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// For tests: the same log on a disk that fails.
#[cfg(test)]
impl AuditLog {
    pub(crate) fn replace_log(&mut self, replace: impl FnOnce(&AppendFile) -> AppendFile) {
        self.log = replace(&self.log);
    }

    pub(crate) fn replace_checkpoints(&mut self, replace: impl FnOnce(&AppendFile) -> AppendFile) {
        self.seals.replace_file(replace);
    }
}

fn check_batch<E: AsRef<str>>(entries: &[E]) -> Result<()> {
    if entries.len() > BATCH_ENTRIES_MAX {
        return Err(LogError::Limit { what: "entries", found: entries.len(), max: BATCH_ENTRIES_MAX });
    }
    let bytes = entries.iter().map(|entry| entry.as_ref().len()).fold(0, usize::saturating_add);
    if bytes > BATCH_BYTES_MAX {
        return Err(LogError::Limit { what: "bytes", found: bytes, max: BATCH_BYTES_MAX });
    }
    let bad = entries.iter().map(|entry| why_not(entry.as_ref())).enumerate();
    match bad.into_iter().find_map(|(index, why)| Some((index, why?))) {
        Some((index, why)) => Err(LogError::BadEntry { index, why }),
        None => Ok(()),
    }
}

/// What is wrong with an entry.
fn why_not(entry: &str) -> Option<&'static str> {
    if entry.len() > ENTRY_BYTES_MAX {
        Some("it is too long")
    } else if memchr::memchr(b'\n', entry.as_bytes()).is_some() {
        Some("it has more than one line")
    } else if serde_json::from_str::<IgnoredAny>(entry).is_err() {
        Some("it is not one JSON value")
    } else {
        None
    }
}
