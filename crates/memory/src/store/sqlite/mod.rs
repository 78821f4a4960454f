//! The database: how it is opened, what its tables are, and how rows are read without trusting them.

mod columns;
mod connect;
mod schema;
mod seal;

pub(crate) use columns::Columns;
pub(crate) use connect::{Access, Db, FileId};
pub(crate) use schema::{Identity, create, identify};
pub(crate) use seal::Seal;

/// The database's file in its directory.
pub(crate) const DATABASE: &str = "memory.db";
