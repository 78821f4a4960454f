//! Damage found by a verification, and its place.

use std::fmt;

/// A file that a verification reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogFile {
    /// The entries.
    Log,
    /// The checkpoints in the log's own directory.
    Checkpoints,
    /// The exported checkpoints.
    Export,
}

/// A difference between a file and what was written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDamage {
    pub file: LogFile,
    /// The damaged line, from 1; `None` if no single line is meant.
    pub line: Option<u64>,
    /// What kind of damage it is.
    pub kind: DamageKind,
    /// What is wrong, for people.
    pub what: String,
}

/// The kind of damage. Each kind requires another action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The last line was never finished: a crash, a full disk, or a cut. The next writer cuts it off.
    Torn,
    /// The line itself was edited, removed, inserted, repeated or moved. Look at that line of the file.
    Changed,
    /// The file is consistent, but differs from what was signed or exported: it was rewritten, or is a fork. Trust
    /// the signed or exported copy.
    Rewritten,
    /// Something that was signed or exported is missing: a file, a tail, or the newest state of everything. Restore
    /// it.
    Gone,
    /// Another key signed than the expected one. Find out whose it is.
    OtherKey,
    /// More entries lack a checkpoint than a writer leaves, or all do. Compare with an export.
    Unsigned,
}

impl fmt::Display for LogFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LogFile::Log => "log",
            LogFile::Checkpoints => "checkpoints",
            LogFile::Export => "export",
        })
    }
}

impl fmt::Display for LogDamage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}, line {line}: {}", self.file, self.what),
            None => write!(out, "{}: {}", self.file, self.what),
        }
    }
}
