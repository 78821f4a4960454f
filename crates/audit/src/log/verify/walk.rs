//! One walk along the log: every line against the one before it, and the tree against every checkpoint.

use std::io::{self, Read};

use super::Verification;
use super::list::Mark;
use crate::log::chain::Hash;
use crate::log::damage::{DamageKind, LogFile};
use crate::log::limits::LINE_BYTES_MAX;
use crate::log::line::{LineFault, Walk};
use crate::log::lines::{Lines, Next};
use crate::log::tree::Tree;

/// What the log must be at one size, and which file says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) mark: Mark,
    pub(super) file: LogFile,
}

/// How a log is read that may be written to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    /// How often a torn end is looked at again.
    pub(super) looks: u32,
    /// Bytes that the log had before its checkpoints were read.
    pub(super) length: u64,
}

/// Reads all of it, and says how many entries were there before the checkpoints were read. `expected` is sorted by
/// size.
pub(super) fn walk(
    source: impl Read,
    continued: &Hash,
    expected: &[Expected],
    beside: Beside,
    report: &mut Verification,
) -> io::Result<u64> {
    let mut lines = Lines::of(source, 0, LINE_BYTES_MAX);
    let mut walk = Walk::start(continued);
    let mut compared =
        Compared { tree: Some(Tree::default()), is_clean: true, expected, misfits: Vec::new() };
    let (mut looks, mut before) = (beside.looks, 0);
    loop {
        let read = match lines.next()? {
            Next::Line(line) => walk.read(line),
            Next::TooLong => Err(walk.skip()),
            Next::End => break,
            Next::Torn(_) if looks > 0 => {
                looks -= 1;
                std::thread::yield_now();
                continue;
            }
            Next::Torn(bytes) => {
                report.find(LogFile::Log, Some(report.entries + 1), DamageKind::Torn { bytes });
                break;
            }
        };
        report.entries += 1;
        if let Err(fault) = read {
            report.find(LogFile::Log, Some(report.entries), DamageKind::Line(fault));
            compared.is_clean = false;
        }
        match (read, walk.hash()) {
            (Ok(hash), _) | (Err(LineFault::HashMismatch), Some(hash)) => compared.push(hash, report),
            // Behind such a line the entries are no longer the leaves that they were.
            _ => compared.tree = None,
        }
        if lines.offset() <= beside.length {
            before = report.entries;
        }
    }
    compared.tell(walk.seq(), report);
    Ok(before)
}

struct Compared<'e> {
    /// `None` once leaves are missing.
    tree: Option<Tree>,
    is_clean: bool,
    /// Those that the walk has not come to.
    expected: &'e [Expected],
    /// Those that did not fit.
    misfits: Vec<Expected>,
}

impl Compared<'_> {
    fn push(&mut self, hash: Hash, report: &mut Verification) {
        let Some(tree) = &mut self.tree else { return };
        tree.push(hash);
        while let Some((next, rest)) = self.expected.split_first() {
            if next.mark.size != tree.size() {
                break;
            }
            self.expected = rest;
            if next.mark.chain != hash || next.mark.root != tree.root() {
                self.misfits.push(*next);
            } else if self.is_clean && self.misfits.is_empty() {
                report.sealed = tree.size();
            }
        }
    }

    /// Of each file the first that did not fit and the last that was not reached: what follows from them is not told
    /// once more.
    fn tell(&self, entries: u64, report: &mut Verification) {
        for file in [LogFile::Checkpoints, LogFile::Export] {
            let mut misfits = self.misfits.iter().filter(|one| one.file == file);
            if let Some(Expected { mark, .. }) = misfits.next() {
                let others = misfits.count() as u64;
                report.find(file, Some(mark.line), DamageKind::NotSealed { sealed: mark.size, others });
            }
            let cut = self.expected.iter().rev().find(|one| one.file == file && one.mark.size > entries);
            if let Some(Expected { mark, .. }) = cut {
                report.find(file, Some(mark.line), DamageKind::Cut { sealed: mark.size, entries });
            }
        }
    }
}
