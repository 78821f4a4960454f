//! The database: how it is opened, its tables, and how rows are read with checks.

mod columns;
mod connect;
mod schema;
mod seal;

pub(crate) use columns::Columns;
pub(crate) use connect::{Access, Db, FileId};
pub(crate) use schema::{Identity, create, identify};
pub(crate) use seal::Seal;

/// Name of the database in its directory.
pub(crate) const DATABASE: &str = "memory.db";
