//! The log for its writer.

use ed25519_dalek::SigningKey;
use serde::de::IgnoredAny;

use crate::log::append_file::AppendFile;
use crate::log::checkpoint::{Checkpoint, public_half};
use crate::log::error::{LogError, Result};
use crate::log::export::Export;
use crate::log::hex::{Hash, PublicKey};
use crate::log::limits::{BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, CHECKPOINT_ENTRIES, ENTRY_BYTES_MAX};
use crate::log::line::Walk;
use crate::log::seals::Seals;

/// The log, open for appending.
///
/// One writer at a time: the caller holds a lock against other processes. The log has no lock; it notices a second
/// writer ([`LogError::Changed`]) but does not prevent one. Readers ([`crate::log::Entries`],
/// [`crate::log::verify`]) need no lock.
///
/// Appended entries survive the end of the process, but a power cut only up to the last checkpoint: the caller must
/// be able to append the entries after it again.
#[derive(Debug)]
pub struct AuditLog {
    pub(crate) key: SigningKey,
    pub(crate) walk: Walk,
    pub(crate) log: AppendFile,
    pub(crate) seals: Seals,
    pub(crate) export: Option<Export>,
    /// Number of entries that a checkpoint covers. The newest checkpoint may count those of a log that was put
    /// aside.
    pub(crate) sealed: u64,
    /// The lines of the current batch; kept to reuse the memory.
    pub(crate) batch: Vec<u8>,
}

/// The result of appending a batch.
#[derive(Debug)]
#[must_use = "a checkpoint that failed should be reported to the operator"]
pub struct AppendResult {
    /// Number of the last entry of the log.
    pub seq: u64,
    /// The result of the checkpoint, if one was due after the batch. If it failed, the entries are in the log all
    /// the same, and the next batch tries again.
    pub sealing: Option<Result<SealedLog>>,
}

/// The state of a log whose last entry is covered by a checkpoint.
#[derive(Debug)]
pub struct SealedLog {
    /// Whether a checkpoint was made now; false if the newest one already covered everything.
    pub is_new: bool,
    /// Whether the export holds every checkpoint, if there is an export. If it failed, the next checkpoint tries
    /// again.
    pub exported: Result<()>,
}

impl AuditLog {
    /// Appends all entries with one write, or none, and makes a checkpoint if [`CHECKPOINT_ENTRIES`] have come
    /// since the last one. `at_us` is the checkpoint's time, in microseconds since 1970 (UTC).
    ///
    /// An entry is one JSON value on one line, at most [`ENTRY_BYTES_MAX`] long; a batch has at most
    /// [`BATCH_ENTRIES_MAX`] entries and [`BATCH_BYTES_MAX`] bytes. After [`LogError::NoSpace`] the log is as
    /// before, and the batch can be appended again.
    pub fn append<E: AsRef<str>>(&mut self, entries: &[E], at_us: i64) -> Result<AppendResult> {
        check_batch(entries)?;
        let (seq, hash) = (self.walk.seq, self.walk.hash);
        self.batch.clear();
        entries.iter().for_each(|entry| self.walk.write(entry.as_ref(), &mut self.batch));
        if let Err(error) = self.log.append(&self.batch) {
            (self.walk.seq, self.walk.hash) = (seq, hash);
            return Err(error);
        }
        let is_due = self.unsealed() >= CHECKPOINT_ENTRIES;
        Ok(AppendResult { seq: self.walk.seq, sealing: is_due.then(|| self.seal(at_us)) })
    }

    /// Makes a checkpoint over the whole log, unless the newest one already covers it, and adds what the export
    /// lacks. Syncs the log to the disk before it signs.
    pub fn seal(&mut self, at_us: i64) -> Result<SealedLog> {
        let is_new = self.unsealed() > 0;
        if is_new {
            self.log.sync()?;
            let (size, head, previous) = (self.size(), self.hash(), self.seals.hash());
            self.seals.append(Checkpoint::sign(size, head, at_us, previous, &self.key))?;
            self.sealed = size;
        }
        let Seals { file: AppendFile { path, length, .. }, .. } = &self.seals;
        let exported = self.export.as_mut().map_or(Ok(()), |export| export.catch_up(path, *length));
        Ok(SealedLog { is_new, exported })
    }

    /// Returns the number of entries, which is the number of the last one.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.walk.seq
    }

    /// Returns the hash of the last entry; for an empty log, the hash that the first entry will be chained to.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.walk.hash.unwrap_or(Hash::NONE)
    }

    /// Returns the number of entries that no checkpoint covers yet.
    #[must_use]
    pub fn unsealed(&self) -> u64 {
        self.size().saturating_sub(self.sealed)
    }

    /// Returns the newest checkpoint; `None` for a log without entries.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.seals.newest.as_ref()
    }

    /// Returns the public half of the signing key. Noted elsewhere, it shows whether the log was signed with
    /// another key.
    #[must_use]
    pub fn key(&self) -> PublicKey {
        public_half(&self.key)
    }
}

fn check_batch<E: AsRef<str>>(entries: &[E]) -> Result<()> {
    let refused = |why| Err(LogError::Refused { why });
    let bytes = entries.iter().map(|entry| entry.as_ref().len()).fold(0, usize::saturating_add);
    for (what, found, max) in
        [("entries", entries.len(), BATCH_ENTRIES_MAX), ("bytes", bytes, BATCH_BYTES_MAX)]
    {
        if found > max {
            return refused(format!("a batch of {found} {what}: at most {max} are taken at once"));
        }
    }
    for (index, entry) in entries.iter().map(AsRef::as_ref).enumerate() {
        let why = if entry.len() > ENTRY_BYTES_MAX {
            "it is too long"
        } else if memchr::memchr(b'\n', entry.as_bytes()).is_some() {
            "it has more than one line"
        } else if serde_json::from_str::<IgnoredAny>(entry).is_err() {
            "it is not one JSON value"
        } else {
            continue;
        };
        return refused(format!("entry {index} of the batch: {why}"));
    }
    Ok(())
}
