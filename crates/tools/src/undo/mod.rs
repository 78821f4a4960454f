//! Undo: what calls changed is kept before they change it, and can be put back.
//!
//! Each task has a folder in the data directory, which no tool enters. `log.jsonl` notes each change before it is made,
//! with the call that makes it: what was at a path, and what it becomes. `contents` has the old contents of files, each
//! under its hash. A note is on the disk before the change begins, so after a crash in between it announces a change
//! that was not made, which the state of the path shows.
//!
//! [`Undoing`] goes backwards through the notes of the calls that the journal knows. It puts a state back only where
//! the path is as the last change left it: what somebody else changed since is left alone, unless a person says
//! otherwise.

mod keep;
pub(crate) mod labels;
mod note;
mod plan;
mod report;
mod repositories;
mod restore;
mod written;

pub(crate) use keep::{Becomes, Keeper, Keeping, Size};
pub(crate) use labels::After;
pub use plan::{Undoing, UndoingError, Verb};
pub(crate) use repositories::{OwnFolder, kept_text};
pub(crate) use written::Written;

/// Largest file whose content is kept, in bytes.
pub const KEPT_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// What is kept for one task, in bytes.
pub const KEPT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Maximum files and folders that are kept when a folder is removed.
pub const KEPT_ENTRIES_MAX: u64 = 10_000;
