//! What a verification finds, and where.

use std::fmt;

use crate::log::checkpoint::PublicKey;
use crate::log::line::LineFault;

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
    /// The line in it, counted from 1, where there is one.
    pub line: Option<u64>,
    /// What is wrong.
    pub kind: DamageKind,
}

/// What is wrong at the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageKind {
    /// There is no log.
    NoLog,
    /// The line does not continue the one before it.
    Line(LineFault),
    /// The last line was never finished, or its end was taken away: a crash, a full disk, or a cut.
    Torn {
        /// Bytes of it.
        bytes: u64,
    },
    /// The line is no checkpoint as the log writes it.
    Malformed,
    /// The signature is not the key's under this checkpoint.
    Signature,
    /// It was signed with another key than the one before it, or than the one that was asked for.
    Key {
        /// The key that it should have.
        expected: PublicKey,
        /// The key that it has.
        found: PublicKey,
    },
    /// It does not name the checkpoint before it: one was removed, inserted, moved or changed.
    Previous,
    /// It covers fewer entries than the one before it, and does not begin a new log either.
    Size {
        /// What the one before it covers.
        previous: u64,
        /// What it covers.
        found: u64,
    },
    /// There are more lines than are looked at.
    TooMany {
        /// How many are.
        max: usize,
    },
    /// The log ends before what the checkpoint covers: its tail was cut off.
    Cut {
        /// Entries that the checkpoint covers.
        sealed: u64,
        /// Number of the last entry.
        entries: u64,
    },
    /// The log's first entries are others than those that the checkpoint was made of: it was rewritten, or is a fork.
    NotSealed {
        /// Entries that the checkpoint covers.
        sealed: u64,
        /// Later checkpoints of the same file that do not fit either.
        others: u64,
    },
    /// Far more entries are under no checkpoint than a writer leaves: checkpoints were removed, or could not be written.
    Unsealed {
        /// Entries after the newest checkpoint.
        entries: u64,
    },
    /// There are entries, and none is under a checkpoint of the key that was asked for.
    NothingSigned,
    /// The line of the export is not that of the log's own checkpoints: the log is a fork of the exported one, was
    /// signed anew, or is another log.
    Differs,
    /// The export has more checkpoints than the log: the log was put back to an older state.
    Ahead {
        /// How many more.
        checkpoints: u64,
    },
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
        write!(out, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        write!(out, ": {}", self.kind)
    }
}

impl fmt::Display for DamageKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DamageKind::NoLog => write!(out, "there is none"),
            DamageKind::Line(fault) => write!(out, "{fault}"),
            DamageKind::Torn { bytes } => {
                write!(out, "the last line has {bytes} bytes and no end: a crash, a full disk, or a cut")
            }
            DamageKind::Malformed => write!(out, "it is no checkpoint"),
            DamageKind::Signature => write!(out, "its signature is not one under it"),
            DamageKind::Key { expected, found } => {
                write!(out, "it is signed with the key {found}, and not with {expected}")
            }
            DamageKind::Previous => {
                write!(
                    out,
                    "it does not continue the checkpoint before it: one was removed, inserted, moved or changed"
                )
            }
            DamageKind::Size { previous, found } => {
                write!(out, "it covers {found} entries, and the checkpoint before it {previous}")
            }
            DamageKind::TooMany { max } => {
                write!(out, "there are more than {max} lines; the rest was not read")
            }
            DamageKind::Cut { sealed, entries } => {
                write!(
                    out,
                    "it covers {sealed} entries, and the log ends after {entries}: the tail was cut off"
                )
            }
            DamageKind::NotSealed { sealed, others } => {
                write!(
                    out,
                    "the first {sealed} entries of the log are not those that it was made of: they were rewritten, or this is a fork"
                )?;
                if *others > 0 { write!(out, " (and {others} later checkpoints)") } else { Ok(()) }
            }
            DamageKind::Unsealed { entries } => {
                write!(
                    out,
                    "the last {entries} entries are under none: some were removed, or could not be written"
                )
            }
            DamageKind::NothingSigned => {
                write!(out, "none of the entries is signed with the key that was named")
            }
            DamageKind::Differs => write!(
                out,
                "it is not the checkpoint that the log has there: the log is a fork, was signed anew, or is another one"
            ),
            DamageKind::Ahead { checkpoints } => {
                write!(
                    out,
                    "it has {checkpoints} checkpoints more than the log: the log was put back to an older state"
                )
            }
        }
    }
}
