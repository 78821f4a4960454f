//! Named positions in the journal: how far a reader outside the tasks has read.

use crate::error::{JournalError, Result};
use crate::limits::CURSOR_NAME_BYTES_MAX;
use crate::row::check_name;
use crate::store::Store;

/// Moves a cursor forward; the position that it already has is accepted.
pub(crate) fn advance(store: &mut dyn Store, name: &str, pos: u64) -> Result<()> {
    let at = place(store, name, pos)?;
    if pos < at {
        return Err(JournalError::CursorBackwards { name: name.to_owned(), at, asked: pos });
    }
    if pos > at { store.set_cursor(name, pos) } else { Ok(()) }
}

/// Sets a cursor to any position, for a reader that starts again.
pub(crate) fn rewind(store: &mut dyn Store, name: &str, pos: u64) -> Result<()> {
    place(store, name, pos)?;
    store.set_cursor(name, pos)
}

fn place(store: &mut dyn Store, name: &str, pos: u64) -> Result<u64> {
    check_name("cursor name", name, CURSOR_NAME_BYTES_MAX)?;
    let last_pos = store.last_pos()?;
    if pos > last_pos {
        return Err(JournalError::CursorBeyondEnd { name: name.to_owned(), last_pos, asked: pos });
    }
    Ok(store.cursor(name)?.unwrap_or(0))
}
