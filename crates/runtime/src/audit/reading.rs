//! Rows of the journal as the Auditor takes them, and the digest that its log keeps of them.

use setpoint_journal::{Loss, Row, SYSTEM_STREAM};
use setpoint_protocol::Timestamp;
use setpoint_roles::r6_auditor::Entry;

/// Rows that are read at a time.
pub(super) const PAGE_ROWS: usize = 512;
/// Rows that one entry of the log notes at most.
pub(super) const ROWS_PER_ENTRY: usize = 64;

/// A row as the Auditor takes it.
pub(super) fn entry(row: &Row) -> Entry<'_> {
    let is_system = &*row.task == SYSTEM_STREAM;
    Entry {
        pos: row.pos,
        task: &row.task,
        seq: row.seq,
        at: Timestamp::from_micros(row.at_us),
        from: &row.from,
        to: &row.to,
        kind: &row.kind,
        cause: row.cause,
        body: &row.body,
        is_system,
        is_loss: is_system && Loss::recorded_by(row).is_some(),
    }
}

/// The digest of rows: a row's hash covers all of it but its place and its stream's name.
pub(super) fn digest(rows: &[Row]) -> String {
    let mut bytes = Vec::with_capacity(rows.len() * 96);
    for row in rows {
        bytes.extend_from_slice(&row.pos.to_le_bytes());
        bytes.extend_from_slice(&(row.task.len() as u64).to_le_bytes());
        bytes.extend_from_slice(row.task.as_bytes());
        bytes.extend_from_slice(&row.seq.to_le_bytes());
        bytes.extend_from_slice(&row.chain);
    }
    blake3::hash(&bytes).to_hex().to_string()
}
