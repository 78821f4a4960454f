//! The durable log of Setpoint: every record of every task, in the order in which it became durable.
//!
//! The crate stores rows; it never knows what they mean. Addresses and kinds are text, bodies are bytes. It
//! never reads a clock, never draws a random number, never deletes a row, and never says that something is durable
//! before it is. The one thing that it ever takes away from a row is its body, when a person prunes the task, and then
//! another row says so ([`Journal::prune`]).
//!
//! Reading order: [`Journal`] is the handle; a [`Submission`] is what one task appends at once; [`TaskHead`]
//! is where a task stands and chains its rows; [`Row`] is what readers get. [`JournalError`] names everything
//! that can go wrong, [`limits`] everything that is bounded.
//!
//! On disk a journal is one directory: `journal.db` (SQLite, write-ahead log) and `head`, a small file that
//! remembers the last durable row, so that a log which lost its tail says so. [`Journal::in_memory`] has the
//! same semantics without the disk.

mod ack;
mod append;
mod chain;
mod command;
mod cursor;
mod damage;
mod error;
mod failpoint;
mod head;
mod job;
mod journal;
mod lease;
pub mod limits;
mod loss;
mod memory;
mod options;
mod prune;
mod reader;
mod row;
mod sqlite;
mod store;
mod submission;
mod system;
mod task;
mod verify;
mod watch;

pub use ack::{Ack, NotQueued};
pub use chain::{Chain, TaskHead, chain, start_of_chain};
pub use command::{Command, CommandState, NewCommand};
pub use damage::{Damage, DamageKind, JournalFile};
pub use error::{JournalError, StorageFault};
pub use head::HeadState;
pub use journal::Journal;
pub use lease::{Lease, LeaseTerms};
pub use loss::{LOSS_KIND, Loss};
pub use options::{JournalOptions, OnLoss, OpenReport};
pub use prune::{KeptKinds, PRUNING_KIND, Prune, Pruned};
pub use reader::Rows;
pub use row::{Fragment, NewRow, Row};
pub use store::Kinds;
pub use submission::{Committed, Submission, TaskOpening};
pub use system::SYSTEM_STREAM;
pub use task::{Task, TaskFilter};
pub use verify::{TaskVerification, Verification};
pub use watch::CommitListener;
