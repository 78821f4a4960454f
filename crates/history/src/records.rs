//! Between a cell's records and the journal's rows.

use setpoint_journal::{Journal, NewRow, Row};
use setpoint_machine::cell::Strictness;
use setpoint_protocol::record::{FORMAT, Opened, Record};
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::factory::LOGIC_VERSION;

use crate::HistoryError;

/// The row of a record.
#[must_use]
pub fn row_of(record: Record) -> NewRow {
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
pub fn record_of(row: Row) -> Result<Record, HistoryError> {
    let unreadable =
        |what: &'static str| HistoryError::Unreadable { task: row.task.to_string(), seq: row.seq, what };
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

/// Checks that a task has its steps.
///
/// # Errors
/// [`HistoryError::Pruned`] if they are gone.
pub fn whole(journal: &Journal, task: &TaskId) -> Result<(), HistoryError> {
    match journal.task(task.as_str())?.pruned_at_us {
        None => Ok(()),
        Some(at) => Err(HistoryError::Pruned { task: task.clone(), at: Timestamp::from_micros(at) }),
    }
}

/// All records of a task, checked against their chain.
///
/// # Errors
/// An unknown, pruned or damaged task.
pub fn read_records(journal: &Journal, task: &TaskId) -> Result<Vec<Record>, HistoryError> {
    whole(journal, task)?;
    journal.verify_task(task.as_str())?;
    let mut records = Vec::new();
    for row in journal.rows(task.as_str(), 1) {
        records.push(record_of(row?)?);
    }
    Ok(records)
}

/// The version of the logic that made a task, and how strictly its records can be compared because of it.
#[must_use]
pub fn strictness_of(records: &[Record]) -> (u32, Strictness) {
    let opened = records.first().and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
    let version = opened.map_or(0, |opened| opened.logic_version);
    let is_same = version == LOGIC_VERSION;
    (version, if is_same { Strictness::Exact } else { Strictness::KindAndAddressee })
}
