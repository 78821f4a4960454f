//! Reads a list of checkpoints. Checks each one by itself and against the one before it.

use std::io::{self, Read};

use super::Verification;
use crate::log::checkpoint::{Checkpoint, hash_of_line};
use crate::log::damage::{DamageKind, LogFile};
use crate::log::hex::Hash;
use crate::log::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_MAX};
use crate::log::lines::{Lines, Next};

/// A checkpoint's statement about the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) file: LogFile,
    pub(super) line: u64,
    pub(super) size: u64,
    pub(super) chain: Hash,
}

/// A list, as far as it is sound.
#[derive(Debug)]
pub(super) struct List {
    file: LogFile,
    /// The hash of every line, sound or not.
    hashes: Vec<Hash>,
    /// The size that the last checkpoint covers.
    size: u64,
    /// The sound checkpoints of the last log in the list, by growing size.
    pub(super) marks: Vec<Mark>,
    /// Number of earlier logs in the list.
    pub(super) earlier_logs: u64,
    /// The checkpoint that the last log continues.
    pub(super) continued: Hash,
}

impl List {
    /// Reads the whole list and adds what is wrong to the report. If the report has no key, sets it to that of the
    /// first signed checkpoint. Reads a torn end `looks` times again.
    pub(super) fn read(
        source: impl Read,
        file: LogFile,
        looks: u32,
        report: &mut Verification,
    ) -> io::Result<Self> {
        let hashes = Vec::new();
        let mut list =
            Self { file, hashes, size: 0, marks: Vec::new(), earlier_logs: 0, continued: Hash::NONE };
        let mut lines = Lines::of(source, 0, CHECKPOINT_BYTES_MAX).looking(looks);
        loop {
            match lines.next()? {
                Next::End => return Ok(list),
                Next::Torn(bytes) => {
                    report.torn(file, list.lines() + 1, bytes);
                    return Ok(list);
                }
                Next::Line(_) if list.hashes.len() == CHECKPOINTS_MAX => {
                    let what = format!("there are more than {CHECKPOINTS_MAX} lines; the rest was not read");
                    report.find(file, Some(list.lines() + 1), DamageKind::Changed, what);
                    return Ok(list);
                }
                Next::Line(line) => list.line(line, report),
            }
        }
    }

    fn line(&mut self, line: &[u8], report: &mut Verification) {
        let previous = self.hashes.last().copied().unwrap_or(Hash::NONE);
        self.hashes.push(hash_of_line(line));
        let (file, number) = (self.file, self.lines());
        let mut find = |kind, what: String| report.find(file, Some(number), kind, what);
        let Some(checkpoint) = Checkpoint::parse(line) else {
            return find(DamageKind::Changed, "it is not a checkpoint".to_owned());
        };
        if !checkpoint.is_signed() {
            return find(DamageKind::Changed, "its signature does not match it".to_owned());
        }
        let Checkpoint { size, chain, key, previous: named, .. } = checkpoint;
        if named != previous {
            let what =
                "it does not continue the checkpoint before it: one was removed, inserted, moved or changed";
            find(DamageKind::Changed, what.to_owned());
        }
        let begins_anew = number > 1 && size == 1 && self.size >= 1;
        if number == 1 || begins_anew {
            self.earlier_logs += u64::from(begins_anew);
            self.continued = named;
            self.marks.clear();
        } else if size <= self.size {
            let what = format!("it covers {size} entries, and the checkpoint before it {}", self.size);
            return find(DamageKind::Changed, what);
        }
        self.size = size;
        match report.key {
            Some(expected) if expected != key => {
                // Reported once: the following checkpoints are probably signed with the same key.
                let is_found =
                    |one: &crate::log::LogDamage| (one.file, one.kind) == (file, DamageKind::OtherKey);
                if !report.findings.iter().any(is_found) {
                    let what = format!("it is signed with the key {key}, and not with {expected}");
                    report.find(file, Some(number), DamageKind::OtherKey, what);
                }
            }
            _ => {
                report.key = Some(key);
                self.marks.push(Mark { file, line: number, size, chain });
            }
        }
    }

    pub(super) fn lines(&self) -> u64 {
        self.hashes.len() as u64
    }

    /// Returns the number of equal lines at the beginning of both lists.
    pub(super) fn common(&self, other: &Self) -> u64 {
        self.hashes.iter().zip(&other.hashes).take_while(|(one, other)| one == other).count() as u64
    }

    /// Returns the number of log entries that the first `lines` lines cover.
    pub(super) fn size_at(&self, lines: u64) -> u64 {
        self.marks.iter().rev().find(|mark| mark.line <= lines).map_or(0, |mark| mark.size)
    }
}
