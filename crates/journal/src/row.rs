//! Records as they are submitted and as they are read, and the fragments that they share.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::chain::Chain;
use crate::error::{JournalError, Result};
use crate::limits::{ADDRESS_BYTES_MAX, BODY_BYTES_MAX, COUNT_MAX, FRAGMENT_BYTES_MAX, KIND_BYTES_MAX};

/// A record to append. The journal adds `pos`; pushing it onto a [`crate::Submission`] chains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// Number in its task, gapless from 1.
    pub seq: u64,
    /// Time of emission, in microseconds since 1970 (UTC).
    pub at_us: i64,
    /// The task's own clock at that time, in milliseconds.
    pub clock_ms: u64,
    /// Address of the sender; 1 to [`ADDRESS_BYTES_MAX`] bytes.
    pub from: Cow<'static, str>,
    /// Address of the receiver; 1 to [`ADDRESS_BYTES_MAX`] bytes.
    pub to: Cow<'static, str>,
    /// Kind of the record; 1 to [`KIND_BYTES_MAX`] bytes.
    pub kind: Cow<'static, str>,
    /// Number of the row of the same task that caused it.
    pub cause: Option<u64>,
    /// Encoding of the body.
    pub format: u16,
    /// Exact bytes; at most [`BODY_BYTES_MAX`].
    pub body: Vec<u8>,
}

/// A record as the journal stores it.
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// Position in the whole journal, from 1 in commit order. A position is never reused.
    pub pos: u64,
    /// Id of the task.
    pub task: Arc<str>,
    /// Number in its task, gapless from 1.
    pub seq: u64,
    /// Time of emission, in microseconds since 1970 (UTC).
    pub at_us: i64,
    /// The task's own clock at that time, in milliseconds.
    pub clock_ms: u64,
    /// Address of the sender.
    pub from: Cow<'static, str>,
    /// Address of the receiver.
    pub to: Cow<'static, str>,
    /// Kind of the record.
    pub kind: Cow<'static, str>,
    /// Number of the row of the same task that caused it.
    pub cause: Option<u64>,
    /// Encoding of the body.
    pub format: u16,
    /// Hash of the task's row before it and of every column here but `pos`.
    pub chain: Chain,
    /// Exact bytes; empty if the row was pruned.
    pub body: Vec<u8>,
    /// Whether the body was removed by a pruning. The chain still covers the removed body.
    pub is_pruned: bool,
}

/// Bytes stored once, under their own hash, however many records name them.
#[derive(Clone, PartialEq, Eq)]
pub struct Fragment {
    hash: [u8; 32],
    bytes: Arc<Vec<u8>>,
}

/// Borrowed columns of one row: the input of the chain, and what a backend writes.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) seq: u64,
    pub(crate) at_us: i64,
    pub(crate) clock_ms: u64,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) cause: Option<u64>,
    pub(crate) format: u16,
    pub(crate) body: &'a [u8],
}

/// A row chained by its submitter.
#[derive(Debug, Clone)]
pub(crate) struct SealedRow {
    pub(crate) row: NewRow,
    pub(crate) chain: Chain,
    /// Whether a pruning removed its body.
    pub(crate) is_pruned: bool,
}

impl SealedRow {
    /// Returns the row as readers get it.
    pub(crate) fn stored_at(&self, pos: u64, task: &Arc<str>) -> Row {
        let NewRow { seq, at_us, clock_ms, from, to, kind, cause, format, body } = self.row.clone();
        let (task, chain, is_pruned) = (Arc::clone(task), self.chain, self.is_pruned);
        Row { pos, task, seq, at_us, clock_ms, from, to, kind, cause, format, chain, body, is_pruned }
    }
}

impl NewRow {
    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            seq: self.seq,
            at_us: self.at_us,
            clock_ms: self.clock_ms,
            from: &self.from,
            to: &self.to,
            kind: &self.kind,
            cause: self.cause,
            format: self.format,
            body: &self.body,
        }
    }

    /// Returns the bytes that the row takes in a submission.
    pub(crate) fn bytes(&self) -> usize {
        self.body.len() + self.from.len() + self.to.len() + self.kind.len()
    }

    pub(crate) fn check_limits(&self) -> Result<()> {
        check_name("`from` address", &self.from, ADDRESS_BYTES_MAX)?;
        check_name("`to` address", &self.to, ADDRESS_BYTES_MAX)?;
        check_name("kind", &self.kind, KIND_BYTES_MAX)?;
        check_size("body", self.body.len(), BODY_BYTES_MAX)?;
        check_count("seq", self.seq)?;
        check_count("clock_ms", self.clock_ms)?;
        check_count("cause", self.cause.unwrap_or(0))
    }
}

impl Row {
    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            seq: self.seq,
            at_us: self.at_us,
            clock_ms: self.clock_ms,
            from: &self.from,
            to: &self.to,
            kind: &self.kind,
            cause: self.cause,
            format: self.format,
            body: &self.body,
        }
    }

    /// Returns the bytes that the row takes in a page.
    pub(crate) fn bytes(&self) -> usize {
        self.body.len() + self.from.len() + self.to.len() + self.kind.len()
    }
}

impl Fragment {
    /// Hashes the bytes. Fails with [`JournalError::Limit`] above [`FRAGMENT_BYTES_MAX`].
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        check_size("fragment", bytes.len(), FRAGMENT_BYTES_MAX)?;
        Ok(Self { hash: Self::hash_of(&bytes), bytes: Arc::new(bytes) })
    }

    /// Returns the hash under which these bytes are stored.
    #[must_use]
    pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
        *blake3::hash(bytes).as_bytes()
    }

    /// Hash of the bytes.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Prints only the size of a body, which may be large or private.
impl fmt::Debug for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Row")
            .field("pos", &self.pos)
            .field("task", &self.task)
            .field("seq", &self.seq)
            .field("at_us", &self.at_us)
            .field("clock_ms", &self.clock_ms)
            .field("from", &self.from)
            .field("to", &self.to)
            .field("kind", &self.kind)
            .field("cause", &self.cause)
            .field("format", &self.format)
            .field("body_bytes", &self.body.len())
            .field("is_pruned", &self.is_pruned)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Fragment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Fragment").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// Checks that a name is short, not empty, and prints on one line.
pub(crate) fn check_name(what: &'static str, name: &str, bytes_max: usize) -> Result<()> {
    check_size(what, name.len(), bytes_max)?;
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(JournalError::BadName { what, why: "is empty or holds a control character" });
    }
    Ok(())
}

pub(crate) fn check_size(what: &'static str, got: usize, max: usize) -> Result<()> {
    if got > max {
        return Err(JournalError::Limit { what, max: max as u64, got: got as u64 });
    }
    Ok(())
}

pub(crate) fn check_count(what: &'static str, got: u64) -> Result<()> {
    if got > COUNT_MAX {
        return Err(JournalError::Limit { what, max: COUNT_MAX, got });
    }
    Ok(())
}
