//! Converts between a cell's records and the journal's rows.

use setpoint_journal::{Journal, NewRow, Row};
use setpoint_machine::cell::Strictness;
use setpoint_protocol::record::{FORMAT, Opened, Record};
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::factory::LOGIC_VERSION;

use crate::HistoryError;

/// Converts a record to a row.
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

/// Converts a row to a record.
///
/// # Errors
/// If a column cannot be parsed: the row was written by another program, or damaged below the chain.
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

/// Checks that a task still has its records.
///
/// # Errors
/// Returns [`HistoryError::Pruned`] if they have been removed.
pub fn whole(journal: &Journal, task: &TaskId) -> Result<(), HistoryError> {
    match journal.task(task.as_str())?.pruned_at_us {
        None => Ok(()),
        Some(at) => Err(HistoryError::Pruned { task: task.clone(), at: Timestamp::from_micros(at) }),
    }
}

/// Returns all records of a task, checked against their chain.
///
/// # Errors
/// Fails for an unknown, pruned or damaged task.
pub fn read_records(journal: &Journal, task: &TaskId) -> Result<Vec<Record>, HistoryError> {
    whole(journal, task)?;
    journal.verify_task(task.as_str())?;
    let mut records = Vec::new();
    for row in journal.rows(task.as_str(), 1) {
        records.push(record_of(row?)?);
    }
    Ok(records)
}

/// Returns the version of the logic that made a task, and how strictly its records can therefore be compared.
#[must_use]
pub fn strictness_of(records: &[Record]) -> (u32, Strictness) {
    let opened = records.first().and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
    let version = opened.map_or(0, |opened| opened.logic_version);
    let is_same = version == LOGIC_VERSION;
    (version, if is_same { Strictness::Exact } else { Strictness::KindAndAddressee })
}
