//! The `head` file: the last row known to be durable.
//!
//! SQLite takes a damaged frame of its write-ahead log for the end of the log, and opens a journal that has
//! lost its tail without an error. The head file records the last acknowledged row outside the database, so
//! that the loss is detected. It has two slots; each write goes to the older one, so that a torn write leaves
//! the newer. It is not synced: after a power loss an old mark is enough, because the log itself was synced
//! before and is at least as long.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use setpoint_own_files::own::{self, Access};

use crate::chain::Chain;
use crate::error::{JournalError, Result};
use crate::limits::LOCK_WAIT_MS;

const FILE_NAME: &str = "head";
const MAGIC: &[u8; 8] = b"SPhead\x00\x01";
/// One sector per slot; bytes after the mark are zero.
const SLOT_BYTES: usize = 512;
const FILE_BYTES: usize = 2 * SLOT_BYTES;
/// Maximum attempts to lock the file, which another process keeps locked for microseconds. If all of them fail, the mark is
/// left unwritten.
const LOCK_TRIES_MAX: usize = 1_000;

/// How the head file compared with the rows when a journal was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadState {
    /// It named the last row.
    Current,
    /// It named an earlier row: a process ended between a commit and the write of its mark.
    Behind {
        /// Position of the row that it named.
        pos: u64,
    },
    /// The journal had rows, but the file named none.
    Absent,
    /// One or two of its slots were unreadable.
    Damaged {
        /// Number of damaged slots.
        slots: u8,
    },
}

/// Position and chain value of a durable row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) pos: u64,
    pub(crate) chain: Chain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Empty,
    Holds(Mark),
    Damaged,
}

/// The two slots of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots([Slot; 2]);

impl Slots {
    /// Returns the mark with the highest position.
    pub(crate) fn newest(self) -> Option<Mark> {
        self.marks().max_by_key(|mark| mark.pos)
    }

    pub(crate) fn damaged(self) -> u8 {
        self.0.iter().map(|slot| u8::from(*slot == Slot::Damaged)).sum()
    }

    fn marks(self) -> impl Iterator<Item = Mark> {
        self.0.into_iter().filter_map(|slot| match slot {
            Slot::Holds(mark) => Some(mark),
            Slot::Empty | Slot::Damaged => None,
        })
    }

    /// Returns the slot to overwrite: a damaged one first, then an empty one, then the older one.
    fn victim(self) -> usize {
        let worth = |slot: &Slot| match slot {
            Slot::Damaged => (0, 0),
            Slot::Empty => (1, 0),
            Slot::Holds(mark) => (2, mark.pos),
        };
        let [first, second] = &self.0;
        usize::from(worth(second) < worth(first))
    }
}

/// The open head file of a journal directory.
pub(crate) struct HeadFile {
    path: PathBuf,
    file: File,
}

impl HeadFile {
    /// Reads the file of this journal directory without creating it.
    pub(crate) fn look(dir: &Path) -> Result<Slots> {
        let path = dir.join(FILE_NAME);
        match own::check(&path).map_err(|source| JournalError::io(&path, source))? {
            Some(_) => Self::open(dir)?.read(),
            None => Ok(Slots([Slot::Empty; 2])),
        }
    }

    /// Opens the file of this journal directory, or creates an empty one.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let file =
            own::open_or_create(&path, Access::Write).map_err(|source| JournalError::io(&path, source))?;
        let head = Self { path, file };
        let bytes = head.file.metadata().map_err(|source| JournalError::io(&head.path, source))?.len();
        if bytes == 0 {
            head.prepare().map_err(|source| JournalError::io(&head.path, source))?;
        }
        Ok(head)
    }

    /// Reads both slots; waits for a writer to finish its slot. Fails with [`JournalError::Locked`] if it does not: what
    /// is read decides whether the journal has lost rows, and a slot that is being written looks damaged.
    pub(crate) fn read(&mut self) -> Result<Slots> {
        self.read_within(LOCK_WAIT_MS)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "no event says that another process has released a file lock"
    )]
    fn read_within(&mut self, wait_ms: u64) -> Result<Slots> {
        let mut waited_ms = 0;
        while !self.lock() {
            if waited_ms >= wait_ms {
                return Err(JournalError::Locked { path: self.path.clone(), waited_ms });
            }
            std::thread::sleep(Duration::from_millis(1));
            waited_ms += 1;
        }
        let slots = self.read_slots();
        self.unlock();
        slots.map_err(|source| JournalError::io(&self.path, source))
    }

    /// Records a durable row, unless a later one is recorded.
    pub(crate) fn write(&mut self, mark: Mark) -> Result<()> {
        if !self.lock() {
            return Ok(());
        }
        let written = self.write_slot(mark);
        self.unlock();
        written.map_err(|source| JournalError::io(&self.path, source))
    }

    /// Syncs the file, so that it also survives a power loss.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|source| JournalError::io(&self.path, source))
    }

    /// Grows the file instead of writing zeros: another process may already have written its first mark.
    fn prepare(&self) -> std::io::Result<()> {
        self.file.set_len(FILE_BYTES as u64)?;
        self.file.sync_all()
    }

    fn read_slots(&mut self) -> std::io::Result<Slots> {
        let mut bytes = [0u8; FILE_BYTES];
        let mut length = 0;
        self.file.seek(SeekFrom::Start(0))?;
        while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.file.read(rest) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let slot = |start: usize| match bytes.get(start..start + SLOT_BYTES) {
            Some(slot) if start + SLOT_BYTES <= length => decode(slot),
            Some(_) | None => Slot::Damaged,
        };
        Ok(Slots([slot(0), slot(SLOT_BYTES)]))
    }

    fn write_slot(&mut self, mark: Mark) -> std::io::Result<()> {
        let slots = self.read_slots()?;
        if slots.newest().is_some_and(|newest| newest.pos >= mark.pos) {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start((slots.victim() * SLOT_BYTES) as u64))?;
        self.file.write_all(&encode(mark))
    }

    /// Locks the file, so that no process overwrites a later mark with an earlier one. A file system without
    /// locks counts as locked: it has one writer at a time anyway, or the lock could not protect it.
    fn lock(&self) -> bool {
        for _ in 0..LOCK_TRIES_MAX {
            match self.file.try_lock() {
                Ok(()) => return true,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                Err(TryLockError::Error(_)) => return true,
            }
        }
        false
    }

    fn unlock(&self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the lock of the head file stays until it is closed");
        }
    }
}

fn encode(mark: Mark) -> Vec<u8> {
    let mut slot = [MAGIC.as_slice(), &mark.pos.to_le_bytes(), &mark.chain].concat();
    let check = blake3::hash(&slot);
    slot.extend_from_slice(check.as_bytes());
    slot.resize(SLOT_BYTES, 0);
    slot
}

fn decode(slot: &[u8]) -> Slot {
    if slot.iter().all(|byte| *byte == 0) {
        return Slot::Empty;
    }
    let mark = slot.get(8..16).zip(slot.get(16..48)).and_then(|(pos, chain)| {
        Some(Mark { pos: u64::from_le_bytes(pos.try_into().ok()?), chain: chain.try_into().ok()? })
    });
    match mark {
        Some(mark) if encode(mark) == slot => Slot::Holds(mark),
        Some(_) | None => Slot::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn mark(pos: u64) -> Mark {
        Mark { pos, chain: [u8::try_from(pos % 251).unwrap(); 32] }
    }

    #[test]
    fn slots_alternate_and_the_newest_counts() {
        let dir = tempfile::tempdir().unwrap();
        let mut head = HeadFile::open(dir.path()).unwrap();
        assert_eq!(head.read().unwrap().newest(), None);
        for pos in [1, 2, 5, 9] {
            head.write(mark(pos)).unwrap();
            assert_eq!(head.read().unwrap().newest(), Some(mark(pos)));
        }
        assert_eq!(head.read().unwrap().0, [Slot::Holds(mark(5)), Slot::Holds(mark(9))]);
    }

    #[test]
    fn an_earlier_mark_never_replaces_a_later_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut ahead = HeadFile::open(dir.path()).unwrap();
        let mut behind = HeadFile::open(dir.path()).unwrap();
        ahead.write(mark(7)).unwrap();
        behind.write(mark(6)).unwrap();
        assert_eq!(behind.read().unwrap().newest(), Some(mark(7)));
    }

    #[test]
    fn a_lock_that_stays_ends_reading_and_skips_writing() {
        let dir = tempfile::tempdir().unwrap();
        let mut head = HeadFile::open(dir.path()).unwrap();
        head.write(mark(1)).unwrap();
        let other = HeadFile::open(dir.path()).unwrap();
        other.file.lock().unwrap();
        let refused = head.read_within(2);
        assert!(matches!(refused, Err(JournalError::Locked { waited_ms: 2, .. })), "{refused:?}");
        head.write(mark(2)).unwrap();
        other.file.unlock().unwrap();
        assert_eq!(head.read().unwrap().newest(), Some(mark(1)));
    }

    #[test]
    fn every_flipped_bit_of_a_slot_is_detected() {
        let good = encode(mark(77));
        for bit in 0..SLOT_BYTES * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bad), Slot::Damaged, "bit {bit}");
        }
    }

    #[test]
    fn a_damaged_slot_leaves_the_other_and_is_written_next() {
        let dir = tempfile::tempdir().unwrap();
        let mut head = HeadFile::open(dir.path()).unwrap();
        head.write(mark(1)).unwrap();
        head.write(mark(2)).unwrap();
        let path = dir.path().join(FILE_NAME);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[SLOT_BYTES + 20] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let mut head = HeadFile::open(dir.path()).unwrap();
        let slots = head.read().unwrap();
        assert_eq!((slots.newest(), slots.damaged()), (Some(mark(1)), 1));
        head.write(mark(3)).unwrap();
        let slots = head.read().unwrap();
        assert_eq!((slots.newest(), slots.damaged()), (Some(mark(3)), 0));
    }

    #[test]
    fn a_cut_file_has_damaged_slots() {
        let dir = tempfile::tempdir().unwrap();
        HeadFile::open(dir.path()).unwrap().write(mark(3)).unwrap();
        let path = dir.path().join(FILE_NAME);
        for (length, damaged) in [(1, 2), (511, 2), (512, 1), (1_023, 1), (1_024, 0)] {
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(length).unwrap();
            assert_eq!(HeadFile::open(dir.path()).unwrap().read().unwrap().damaged(), damaged, "{length}");
            file.set_len(0).unwrap();
            HeadFile::open(dir.path()).unwrap().write(mark(3)).unwrap();
        }
    }
}
