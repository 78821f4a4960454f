//! The durable log of Setpoint: every record of every task, in the order in which it became durable.
//!
//! The crate stores rows and does not interpret them: addresses and kinds are text, bodies are bytes. It
//! never reads a clock, never draws a random number, never deletes a row, and never reports a row as durable
//! before it is. It removes one thing only, the body of a row, when a person prunes the row's task, and records
//! that in another row ([`Journal::prune`]).
//!
//! Reading order: [`Journal`] is the handle; a [`Submission`] is what one task appends at once; [`TaskHead`]
//! is a task's last row, to which the next rows are chained; [`Row`] is what readers get. [`JournalError`] names
//! every failure, [`limits`] every bound.
//!
//! On disk a journal is one directory: `journal.db` (SQLite, write-ahead log) and `head`, a small file that
//! records the last durable row, so that a log that lost its tail is detected. [`Journal::in_memory`] has the
//! same semantics without the disk.

mod ack;
mod append;
mod chain;
mod command;
mod cursor;
mod damage;
mod entry;
mod error;
pub mod failpoint;
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
mod rows;
mod sqlite;
mod store;
mod submission;
mod system;
mod task;
mod verify;
mod watch;

pub use ack::{Ack, NotQueued};
pub use chain::{Chain, TaskHead, chain, start_of_chain};
pub use damage::{Damage, DamageKind, JournalFile};
pub use entry::{Command, CommandState, KeptKinds, Lease, LeaseTerms, NewCommand, TaskFilter, TaskOpening};
pub use error::{JournalError, StorageFault};
pub use head::HeadState;
pub use journal::Journal;
pub use loss::{LOSS_KIND, Loss};
pub use options::{JournalOptions, OnLoss, OpenReport};
pub use prune::{PRUNING_KIND, Prune, PruneResult};
pub use row::{Fragment, NewRow, Row};
pub use rows::Rows;
pub use store::Kinds;
pub use submission::{CommitReceipt, Submission};
pub use system::SYSTEM_STREAM;
pub use task::Task;
pub use verify::{TaskVerification, Verification};
pub use watch::CommitListener;
