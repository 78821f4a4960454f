//! Reads columns without trusting them: a value that the journal never writes is reported as damage with its
//! place.

use std::fmt::Display;

use rusqlite::Row as SqlRow;
use rusqlite::types::ValueRef;

use super::fault::Faults;
use super::packed::Form;
use crate::chain::Chain;
use crate::damage::{Damage, DamageKind};
use crate::error::{JournalError, Result};
use crate::limits::BODY_BYTES_MAX;

/// The columns of one entry.
pub(crate) struct Columns<'a> {
    row: &'a SqlRow<'a>,
    faults: &'a Faults,
    /// Position of the entry, for a damage.
    pos: Option<u64>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a SqlRow<'a>, faults: &'a Faults) -> Self {
        Self { row, faults, pos: None }
    }

    pub(crate) fn at_pos(mut self, pos: u64) -> Self {
        self.pos = Some(pos);
        self
    }

    pub(crate) fn int(&self, index: usize, column: &'static str) -> Result<i64> {
        match self.value(index, column)? {
            ValueRef::Integer(value) => Ok(value),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                Err(self.bad(column))
            }
        }
    }

    pub(crate) fn optional_int(&self, index: usize, column: &'static str) -> Result<Option<i64>> {
        match self.value(index, column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(value) => Ok(Some(value)),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => Err(self.bad(column)),
        }
    }

    pub(crate) fn count<N: TryFrom<i64>>(&self, index: usize, column: &'static str) -> Result<N> {
        N::try_from(self.int(index, column)?).map_err(|_| self.bad(column))
    }

    pub(crate) fn optional_count(&self, index: usize, column: &'static str) -> Result<Option<u64>> {
        match self.optional_int(index, column)? {
            None => Ok(None),
            Some(value) => u64::try_from(value).map(Some).map_err(|_| self.bad(column)),
        }
    }

    pub(crate) fn text(&self, index: usize, column: &'static str) -> Result<&'a str> {
        self.optional_text(index, column)?.ok_or_else(|| self.bad(column))
    }

    pub(crate) fn optional_text(&self, index: usize, column: &'static str) -> Result<Option<&'a str>> {
        match self.value(index, column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => std::str::from_utf8(text).map(Some).map_err(|_| self.bad(column)),
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => Err(self.bad(column)),
        }
    }

    pub(crate) fn blob(&self, index: usize, column: &'static str) -> Result<&'a [u8]> {
        match self.value(index, column)? {
            ValueRef::Blob(bytes) => Ok(bytes),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => {
                Err(self.bad(column))
            }
        }
    }

    /// Returns a row's own format, its body as it was submitted, and whether it was pruned.
    pub(crate) fn packed(&self, format: usize, body: usize) -> Result<(u16, Vec<u8>, bool)> {
        let (form, format) = Form::split(self.int(format, "format")?).ok_or_else(|| self.bad("format"))?;
        let body = form.open(self.blob(body, "body")?, BODY_BYTES_MAX);
        Ok((format, body.ok_or_else(|| self.bad("body"))?, form == Form::Pruned))
    }

    pub(crate) fn hash(&self, index: usize, column: &'static str) -> Result<Chain> {
        self.blob(index, column)?.try_into().map_err(|_| self.bad(column))
    }

    /// Compares an entry's check with its columns.
    pub(crate) fn checked(
        &self,
        index: usize,
        table: &'static str,
        key: &dyn Display,
        sum: i64,
    ) -> Result<()> {
        if self.int(index, "sum")? == sum {
            return Ok(());
        }
        Err(self.damage(DamageKind::CheckMismatch { table, key: key.to_string() }))
    }

    fn value(&self, index: usize, column: &'static str) -> Result<ValueRef<'a>> {
        self.row.get_ref(index).map_err(|_| self.bad(column))
    }

    fn bad(&self, column: &'static str) -> JournalError {
        self.damage(DamageKind::BadColumn { column })
    }

    fn damage(&self, kind: DamageKind) -> JournalError {
        self.faults.damaged(Damage { pos: self.pos, ..Damage::database(kind) })
    }
}
