//! The rules of the journal, over both backends.

mod append;
mod command;
mod concurrency;
mod cursor;
mod lease;
mod limits;
pub(crate) mod prune;
mod reading;
mod task;
