//! Between a cell's records and the journal's rows.

use setpoint_journal::{NewRow, Row};
use setpoint_protocol::Timestamp;
use setpoint_protocol::record::{FORMAT, Record};

use crate::error::RuntimeError;

/// The row of a record.
pub(crate) fn row_of(record: Record) -> NewRow {
    NewRow {
        seq: record.seq,
        at_us: record.at.as_micros(),
        clock_ms: record.clock_ms,
        from: record.from.text(),
        to: record.to_column(),
        kind: record.kind.name().into(),
        cause: record.cause,
        format: FORMAT,
        body: record.body,
    }
}

/// The record of a row.
///
/// # Errors
/// When a column cannot be read: the row was written by another program, or damaged below the chain.
pub fn record_of(row: Row) -> Result<Record, RuntimeError> {
    let unreadable =
        |what: &'static str| RuntimeError::Unreadable { task: row.task.to_string(), seq: row.seq, what };
    Ok(Record {
        seq: row.seq,
        at: Timestamp::from_micros(row.at_us),
        clock_ms: row.clock_ms,
        from: row.from.parse().map_err(|_| unreadable("sender"))?,
        to: Record::receivers(&row.to).map_err(|_| unreadable("receivers"))?,
        kind: row.kind.parse().map_err(|_| unreadable("kind"))?,
        cause: row.cause,
        body: row.body,
    })
}
