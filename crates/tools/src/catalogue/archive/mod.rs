//! `archive_create` and `archive_list`: pack and list tar archives without an external program.

mod create;
mod list;

pub(crate) use create::ArchiveCreate;
pub use list::ARCHIVE_BYTES_MAX;
pub(crate) use list::ArchiveList;
