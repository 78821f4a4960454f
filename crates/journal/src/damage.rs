//! Damage to a journal, and its place.

use std::fmt;

/// One damage, with its place as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub file: JournalFile,
    /// Position of the row.
    pub pos: Option<u64>,
    /// Task id of the row or entry.
    pub task: Option<String>,
    /// Sequence number of the row in its task.
    pub seq: Option<u64>,
    pub kind: DamageKind,
}

/// A file of a journal directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JournalFile {
    /// `journal.db` together with its write-ahead log: SQLite reads them as one.
    Database,
    /// `head`.
    Head,
}

/// The kind of a damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageKind {
    /// The row's chain is not the hash of the row before it and its own columns.
    ChainMismatch,
    /// The row's body is missing, and no pruning of its task is recorded.
    BodyGone,
    /// A required row is missing.
    RowMissing,
    /// A row's number or position does not fit its task or the journal.
    RowMisplaced,
    /// A task's entry and its rows disagree about the last row.
    TaskDisagrees,
    /// An entry that no chain covers (task, lease, command, cursor) does not match its own check.
    CheckMismatch {
        /// The table of the entry.
        table: &'static str,
        /// Its number or name in that table.
        key: String,
    },
    /// A required entry is missing.
    EntryMissing {
        /// The table of the entry.
        table: &'static str,
        /// Its number in that table.
        key: String,
    },
    /// A fragment's bytes do not match the hash that they are stored under.
    FragmentMismatch {
        /// The hash, as hexadecimal digits.
        hash: String,
    },
    /// A column holds a value that the journal never writes.
    BadColumn {
        /// The column.
        column: &'static str,
    },
    /// The tables or indexes differ from those of this format.
    Schema,
    /// SQLite cannot read the place.
    Unreadable { message: String },
    /// SQLite's integrity check reported something.
    Integrity { message: String },
    /// A slot of the head file does not match its check, or the file has another length.
    HeadUnreadable,
    /// The head file is absent or empty, although the journal has rows.
    HeadAbsent,
    /// The journal's row at the head file's position is another one.
    HeadMismatch,
    /// The head file names a row after the journal's end: rows are lost.
    TailLost {
        /// The last position in the journal.
        last_pos: u64,
    },
}

impl Damage {
    /// Returns a damage of the database without a known place.
    pub(crate) fn database(kind: DamageKind) -> Self {
        Self { file: JournalFile::Database, pos: None, task: None, seq: None, kind }
    }

    /// Returns a damage of the head file.
    pub(crate) fn head(pos: Option<u64>, kind: DamageKind) -> Self {
        Self { file: JournalFile::Head, pos, task: None, seq: None, kind }
    }

    pub(crate) fn at_pos(mut self, pos: u64) -> Self {
        self.pos = Some(pos);
        self
    }

    pub(crate) fn in_task(mut self, task: &str) -> Self {
        self.task = Some(task.to_owned());
        self
    }

    pub(crate) fn at_seq(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.file {
            JournalFile::Database => "journal.db",
            JournalFile::Head => "head",
        })?;
        if let Some(pos) = self.pos {
            write!(out, ", pos {pos}")?;
        }
        if let Some(task) = &self.task {
            write!(out, ", task {task}")?;
        }
        if let Some(seq) = self.seq {
            write!(out, ", seq {seq}")?;
        }
        write!(out, ": {}", self.kind)
    }
}

impl fmt::Display for DamageKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChainMismatch => out.write_str("the row does not match its chain"),
            Self::BodyGone => out.write_str("the row's body is gone, and its task was never pruned"),
            Self::RowMissing => out.write_str("the row is missing"),
            Self::RowMisplaced => out.write_str("the row is out of order"),
            Self::TaskDisagrees => out.write_str("the task's entry and its rows disagree about the last row"),
            Self::CheckMismatch { table, key } => {
                write!(out, "entry {key} of `{table}` does not match its check")
            }
            Self::EntryMissing { table, key } => write!(out, "entry {key} of `{table}` is missing"),
            Self::FragmentMismatch { hash } => write!(out, "fragment {hash} does not match its hash"),
            Self::BadColumn { column } => {
                write!(out, "column `{column}` holds an invalid value")
            }
            Self::Schema => out.write_str("the tables are not those of a journal"),
            Self::Unreadable { message } => write!(out, "it cannot be read ({message})"),
            Self::Integrity { message } => write!(out, "the integrity check says: {message}"),
            Self::HeadUnreadable => out.write_str("a slot does not match its check"),
            Self::HeadAbsent => out.write_str("it names no row although the journal has some"),
            Self::HeadMismatch => out.write_str("it names a row that the journal holds differently"),
            Self::TailLost { last_pos } => {
                write!(out, "it names a row after the journal's end at {last_pos}")
            }
        }
    }
}
