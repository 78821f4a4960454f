//! `archive_create` and `archive_list`: tar archives, packed and looked into without any other program.

mod create;
mod list;

pub(crate) use create::ArchiveCreate;
pub use list::ARCHIVE_BYTES_MAX;
pub(crate) use list::ArchiveList;
