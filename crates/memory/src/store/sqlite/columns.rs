//! Reads columns with checks: a value that the store never writes counts as damage.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::Db;
use crate::store::error::{MemoryError, Result};

/// The columns of one row.
pub(crate) struct Columns<'a> {
    row: &'a Row<'a>,
    db: &'a Db,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a Row<'a>, db: &'a Db) -> Self {
        Self { row, db }
    }

    pub(crate) fn int(&self, index: usize) -> Result<i64> {
        self.optional_int(index)?.ok_or_else(|| self.bad(index))
    }

    pub(crate) fn optional_int(&self, index: usize) -> Result<Option<i64>> {
        match self.value(index)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(value) => Ok(Some(value)),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => Err(self.bad(index)),
        }
    }

    pub(crate) fn count(&self, index: usize) -> Result<u64> {
        u64::try_from(self.int(index)?).map_err(|_| self.bad(index))
    }

    pub(crate) fn real(&self, index: usize) -> Result<f64> {
        match self.value(index)? {
            ValueRef::Real(value) if value.is_finite() => Ok(value),
            ValueRef::Null
            | ValueRef::Real(_)
            | ValueRef::Integer(_)
            | ValueRef::Text(_)
            | ValueRef::Blob(_) => Err(self.bad(index)),
        }
    }

    pub(crate) fn blob(&self, index: usize) -> Result<&'a [u8]> {
        self.optional_blob(index)?.ok_or_else(|| self.bad(index))
    }

    pub(crate) fn optional_blob(&self, index: usize) -> Result<Option<&'a [u8]>> {
        match self.value(index)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => Err(self.bad(index)),
        }
    }

    /// Returns a text. It is stored as bytes, because some functions of SQLite end a text at a NUL character.
    pub(crate) fn text(&self, index: usize) -> Result<&'a str> {
        std::str::from_utf8(self.blob(index)?).map_err(|_| self.bad(index))
    }

    /// Creates the error for a row that is not what was written.
    pub(crate) fn damaged(&self, what: &str) -> MemoryError {
        self.db.damaged(what)
    }

    fn value(&self, index: usize) -> Result<ValueRef<'a>> {
        self.row.get_ref(index).map_err(|_| self.bad(index))
    }

    fn bad(&self, index: usize) -> MemoryError {
        let name = self.row.as_ref().column_name(index).unwrap_or("?");
        self.db.damaged(format!("the column {name} holds an invalid value"))
    }
}
