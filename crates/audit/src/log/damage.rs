//! What a verification finds, and where.

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

/// One thing that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDamage {
    /// The file that does not hold what it should.
    pub file: LogFile,
    /// The line in it, counted from 1; `None` if no line is meant.
    pub line: Option<u64>,
    /// What it means for whoever has to act.
    pub kind: DamageKind,
    /// What is wrong, for people.
    pub what: String,
}

/// What damage means for whoever has to act. Each kind asks for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The last line was never finished: a crash, a full disk, or a cut. The next writer cuts it off.
    Torn,
    /// The line itself was edited, removed, inserted, repeated or moved: look at that line of the file.
    Changed,
    /// The file fits together, but it is not what was signed or exported: it was made again, or is a fork. Believe the
    /// signed or exported copy.
    Rewritten,
    /// What was signed or exported is no longer there: a file, a tail, or the newest state of everything. Restore it.
    Gone,
    /// Another key signed than the expected one: find out whose it is.
    OtherKey,
    /// More entries are without a checkpoint than a writer leaves, or none has one: compare with an export.
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
