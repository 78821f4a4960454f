//! The journal's rows as the Auditor reads them, and their digest in its log.

use std::collections::BTreeSet;

use setpoint_journal::{Journal, JournalError, Loss, PRUNING_KIND, Row, SYSTEM_STREAM};
use setpoint_protocol::Timestamp;
use setpoint_roles::r6_auditor::Entry;

use setpoint_protocol::text::error_chain;

/// Maximum rows per page.
pub(super) const PAGE_ROWS: usize = 512;
/// Maximum rows per log entry.
pub(super) const ROWS_PER_ENTRY: usize = 64;
/// Maximum consecutive unreadable rows per gap.
const GAP_ROWS_MAX: u64 = 512;

/// The next part of the journal.
pub(super) enum Page {
    Rows(Vec<Row>),
    /// Positions whose rows are missing or unreadable.
    Gap(Gap),
    /// The end, for now.
    End,
}

/// Positions whose rows are missing or unreadable.
pub(super) struct Gap {
    /// The last of them.
    pub(super) to: u64,
    /// The tasks whose rows they are, as far as known.
    pub(super) tasks: Vec<String>,
    /// Why the first of them cannot be read.
    pub(super) why: String,
}

/// Reads what follows `after`: at most `rows_max` rows, or a gap that ends at `gap_to` at the latest.
///
/// # Errors
/// If the journal cannot be read for another reason than damage.
pub(super) fn page(
    journal: &Journal,
    after: u64,
    rows_max: usize,
    gap_to: Option<u64>,
) -> Result<Page, JournalError> {
    let mut at = after;
    let mut tasks: BTreeSet<String> = BTreeSet::new();
    let mut why: Option<String> = None;
    loop {
        match journal.rows_after(at, rows_max.min(PAGE_ROWS)) {
            Ok(_) if why.is_some() => break,
            Ok(rows) if rows.is_empty() => return Ok(Page::End),
            Ok(rows) => return Ok(Page::Rows(rows)),
            // Skip only up to the journal's last position: no row follows it to continue with.
            Err(error @ JournalError::Damaged { .. }) if at < journal.last_pos()? => {
                if let JournalError::Damaged { damage, .. } = &error {
                    tasks.extend(damage.task.clone());
                }
                at = gap_end(journal, at)?;
                why.get_or_insert_with(|| error_chain(&error));
            }
            Err(_) if why.is_some() => break,
            Err(error) => return Err(error),
        }
        let is_bound = gap_to.is_some_and(|to| at >= to);
        if is_bound || at - after >= GAP_ROWS_MAX {
            break;
        }
    }
    let to = gap_to.map_or(at, |to| at.min(to.max(after + 1)));
    Ok(Page::Gap(Gap { to, tasks: tasks.into_iter().collect(), why: why.unwrap_or_default() }))
}

/// Returns where a gap ends whose first row, after `at`, cannot be read: before the next readable position, or at
/// that row.
fn gap_end(journal: &Journal, at: u64) -> Result<u64, JournalError> {
    let next = match journal.next_pos(at) {
        Ok(next) => next,
        Err(JournalError::Damaged { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(next.map_or(at + 1, |next| if next > at + 1 { next - 1 } else { next }))
}

/// Returns the rows after `after` up to `to` that are there, at most `count`; the error says why one cannot be
/// read.
pub(super) fn noted_rows(journal: &Journal, after: u64, to: u64, count: u64) -> Result<Vec<Row>, String> {
    let count = usize::try_from(count).unwrap_or(ROWS_PER_ENTRY).min(ROWS_PER_ENTRY);
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < count {
        let last = rows.last().map_or(after, |row| row.pos);
        let page = journal.rows_after(last, count - rows.len()).map_err(|error| error_chain(&error))?;
        let before = rows.len();
        rows.extend(page.into_iter().filter(|row| row.pos <= to));
        if rows.len() == before {
            break;
        }
    }
    Ok(rows)
}

/// Converts a row to the Auditor's form.
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
        is_pruning: is_system && row.kind == PRUNING_KIND,
        is_pruned: row.is_pruned,
    }
}

/// Returns the digest of rows. The row's hash covers everything but its position and its stream's name.
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
