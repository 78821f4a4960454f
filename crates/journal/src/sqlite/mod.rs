//! The journal on disk: one SQLite database with its write-ahead log, and the head file beside it.
//!
//! One connection writes, in the writer's thread; each reader has its own. Nothing here knows the rules of
//! the journal: they are written above [`crate::store`].

mod backend;
mod check;
mod columns;
mod connect;
mod fault;
mod open;
mod packed;
mod pruning;
mod readers;
mod schema;
mod store;
mod sum;
mod transaction;
mod view;
mod writer;

pub(crate) use backend::SqliteJournal;
pub(crate) use open::open;

/// Name of the database in the journal directory.
pub(crate) const DATABASE: &str = "journal.db";
