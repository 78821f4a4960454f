//! What the journal keeps beside its rows: tasks, leases and commands, as plain data.

use std::sync::Arc;

use crate::chain::Chain;
use crate::error::{JournalError, Result};
use crate::limits::{COMMAND_BODY_BYTES_MAX, KIND_BYTES_MAX, LEASE_TTL_MS_MAX, OWNER_BYTES_MAX};
use crate::row::{check_name, check_size};

/// Short number of a task inside a backend. Later tasks have higher numbers.
pub(crate) type Tid = i64;

/// The part of a task that is written once, when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskEntry {
    pub(crate) id: Arc<str>,
    pub(crate) opened_at_us: i64,
    pub(crate) logic_version: u32,
    pub(crate) title: String,
}

/// The part of a task that changes with submissions and leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskState {
    pub(crate) seq: u64,
    pub(crate) chain: Chain,
    pub(crate) closed_at_us: Option<i64>,
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) epoch: u64,
    pub(crate) until_us: i64,
}

/// Which commands to list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CommandScope {
    Task(Tid),
    All,
}

/// Which tasks to list. The stream `system` is not a task and is never listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskFilter {
    /// Every task.
    #[default]
    Any,
    /// Tasks that are not closed.
    Open,
    /// Tasks that are closed.
    Closed,
}

/// What the journal records about a task together with its first rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOpening {
    /// Time of the opening, in microseconds since 1970 (UTC).
    pub opened_at_us: i64,
    /// Version of the logic that made its records.
    pub logic_version: u32,
    /// One line for people (the goal); at most [`crate::limits::TITLE_BYTES_MAX`] bytes, may be empty.
    pub title: String,
    /// Lease of the task from the start; `None` for none.
    pub lease: Option<LeaseTerms>,
}

/// Kinds of rows that keep their bodies; if there are fewer, one is repeated.
pub type KeptKinds = [&'static str; 5];

/// The right to append to a task, until a later epoch is given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Id of the task.
    pub task: Arc<str>,
    /// Owner of the lease. The journal only compares this text.
    pub owner: String,
    /// Increases by one with every lease of the task.
    pub epoch: u64,
    /// Time until which no other owner may take it, in microseconds since 1970 (UTC).
    pub until_us: i64,
}

/// Terms of a lease that an owner asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseTerms {
    /// Owner that asks; 1 to [`OWNER_BYTES_MAX`] bytes. It should name one run of one process (host, pid, start
    /// time), so that others can tell that it has died and displace it at once.
    pub owner: String,
    /// Current time, in microseconds since 1970 (UTC).
    pub now_us: i64,
    /// Duration of the lease, in milliseconds; at most [`LEASE_TTL_MS_MAX`].
    pub ttl_ms: u64,
}

impl LeaseTerms {
    pub(crate) fn check_limits(&self) -> Result<()> {
        check_name("lease owner", &self.owner, OWNER_BYTES_MAX)?;
        if self.ttl_ms > LEASE_TTL_MS_MAX {
            return Err(JournalError::Limit {
                what: "lease time in ms",
                max: LEASE_TTL_MS_MAX,
                got: self.ttl_ms,
            });
        }
        Ok(())
    }

    pub(crate) fn expires_us(&self) -> i64 {
        self.now_us.saturating_add_unsigned(self.ttl_ms.saturating_mul(1_000))
    }
}

impl Lease {
    /// Returns the current lease of a task, if any.
    pub(crate) fn of(task: &Arc<str>, state: &TaskState) -> Option<Self> {
        let owner = state.owner.as_deref()?;
        Some(Self {
            task: Arc::clone(task),
            owner: owner.to_owned(),
            epoch: state.epoch,
            until_us: state.until_us,
        })
    }
}

/// A command to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommand {
    /// Kind of the command; 1 to [`KIND_BYTES_MAX`] bytes.
    pub kind: String,
    /// Exact bytes; at most [`COMMAND_BODY_BYTES_MAX`].
    pub body: Vec<u8>,
    /// Time of sending, in microseconds since 1970 (UTC).
    pub at_us: i64,
}

/// A pending command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Number of the command: increases over all tasks and is never reused.
    pub id: u64,
    /// Id of the task that it is for.
    pub task: String,
    /// Kind of the command.
    pub kind: String,
    /// Exact bytes.
    pub body: Vec<u8>,
    /// Time of sending, in microseconds since 1970 (UTC).
    pub at_us: i64,
}

/// The state of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandState {
    /// No submission has taken it yet.
    Pending,
    /// A submission took it.
    Taken {
        /// Number of the first row of that submission.
        seq: u64,
    },
    /// The task was closed before a submission took it.
    TooLate,
}

/// A command's task and state, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandEntry {
    pub(crate) tid: Tid,
    pub(crate) state: CommandState,
}

impl CommandState {
    /// Decodes the column `taken_seq`: null for pending, 0 for too late, otherwise the row that took the command.
    pub(crate) fn from_taken_seq(taken_seq: Option<u64>) -> Self {
        match taken_seq {
            None => Self::Pending,
            Some(0) => Self::TooLate,
            Some(seq) => Self::Taken { seq },
        }
    }
}

impl NewCommand {
    pub(crate) fn check_limits(&self) -> Result<()> {
        check_name("kind", &self.kind, KIND_BYTES_MAX)?;
        check_size("command body", self.body.len(), COMMAND_BODY_BYTES_MAX)
    }
}

/// Counts of the entries that are not rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EntryCounts {
    pub(crate) fragments: u64,
    pub(crate) commands: u64,
    pub(crate) cursors: u64,
}
