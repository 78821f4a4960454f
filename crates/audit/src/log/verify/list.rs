//! Reading a list of checkpoints: each by itself, and each against the one before it.

use std::io::{self, Read};

use super::Verification;
use super::walk::Expected;
use crate::log::chain::Hash;
use crate::log::checkpoint::{Checkpoint, hash_of_line};
use crate::log::damage::{DamageKind, LogFile};
use crate::log::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_MAX};
use crate::log::lines::{Lines, Next};

/// What a checkpoint says of the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) size: u64,
    pub(super) root: Hash,
    pub(super) chain: Hash,
    pub(super) line: u64,
}

/// A list, as far as it can be believed.
#[derive(Debug)]
pub(super) struct List {
    /// The hash of every line, believed or not.
    hashes: Vec<Hash>,
    /// What is believed of the last log that the list tells of, with growing sizes.
    marks: Vec<Mark>,
    /// Logs before that one.
    earlier_logs: u64,
    continued: Hash,
}

impl Default for List {
    fn default() -> Self {
        Self { hashes: Vec::new(), marks: Vec::new(), earlier_logs: 0, continued: Hash::NONE }
    }
}

impl List {
    /// Reads all of it; what is wrong goes into the report. The key of the report is that of the first signed
    /// checkpoint where none was asked for. A torn end is looked at again so many times.
    pub(super) fn read(
        source: impl Read,
        file: LogFile,
        mut looks: u32,
        report: &mut Verification,
    ) -> io::Result<Self> {
        let mut reading = Reading { list: List::default(), file, size: 0, is_key_told: false };
        let mut lines = Lines::of(source, 0, CHECKPOINT_BYTES_MAX);
        loop {
            let number = reading.list.lines() + 1;
            match lines.next()? {
                Next::Torn(_) if looks > 0 => {
                    looks -= 1;
                    std::thread::yield_now();
                }
                Next::End => break,
                Next::Torn(bytes) => {
                    report.find(file, Some(number), DamageKind::Torn { bytes });
                    break;
                }
                _ if number > CHECKPOINTS_MAX as u64 => {
                    report.find(file, Some(number), DamageKind::TooMany { max: CHECKPOINTS_MAX });
                    break;
                }
                Next::TooLong => {
                    reading.list.hashes.push(Hash::NONE);
                    report.find(file, Some(number), DamageKind::Malformed);
                }
                Next::Line(line) => reading.line(line, report),
            }
        }
        Ok(reading.list)
    }

    pub(super) fn lines(&self) -> u64 {
        self.hashes.len() as u64
    }

    pub(super) fn earlier_logs(&self) -> u64 {
        self.earlier_logs
    }

    /// The checkpoint that the log continues.
    pub(super) fn continued(&self) -> Hash {
        self.continued
    }

    /// What the log is to be held against.
    pub(super) fn expected(&self, file: LogFile) -> Vec<Expected> {
        self.marks.iter().map(|mark| Expected { mark: *mark, file }).collect()
    }

    /// Lines at the beginning that are the same in both.
    pub(super) fn common(&self, other: &Self) -> u64 {
        self.hashes.iter().zip(&other.hashes).take_while(|(one, other)| one == other).count() as u64
    }

    /// How many entries of the log the first so many lines cover.
    pub(super) fn size_at(&self, lines: u64) -> u64 {
        self.marks.iter().rev().find(|mark| mark.line <= lines).map_or(0, |mark| mark.size)
    }
}

/// A list under way.
struct Reading {
    list: List,
    file: LogFile,
    /// What the last checkpoint covers.
    size: u64,
    is_key_told: bool,
}

impl Reading {
    fn line(&mut self, line: &[u8], report: &mut Verification) {
        let previous = self.list.hashes.last().copied().unwrap_or(Hash::NONE);
        self.list.hashes.push(hash_of_line(line));
        let number = self.list.lines();
        let mut find = |kind| report.find(self.file, Some(number), kind);
        let Some(checkpoint) = Checkpoint::parse(line) else { return find(DamageKind::Malformed) };
        if !checkpoint.is_signed() {
            return find(DamageKind::Signature);
        }
        if checkpoint.previous != previous {
            find(DamageKind::Previous);
        }
        let begins_anew = number > 1 && checkpoint.size == 1 && self.size >= 1;
        if number == 1 || begins_anew {
            self.list.earlier_logs += u64::from(begins_anew);
            self.list.continued = checkpoint.previous;
            self.list.marks.clear();
        } else if checkpoint.size <= self.size {
            return find(DamageKind::Size { previous: self.size, found: checkpoint.size });
        }
        let Checkpoint { size, root, chain, key, .. } = checkpoint;
        self.size = size;
        match report.key {
            Some(expected) if expected != key => {
                // Once: what follows is likely signed with it, too.
                if !std::mem::replace(&mut self.is_key_told, true) {
                    report.find(self.file, Some(number), DamageKind::Key { expected, found: key });
                }
            }
            _ => {
                report.key = Some(key);
                self.list.marks.push(Mark { size, root, chain, line: number });
            }
        }
    }
}
