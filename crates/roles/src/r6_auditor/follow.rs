//! Which tasks are followed, and findings about a task that no record of its own shows.

use std::ops::Bound;

use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use super::machine::{Auditor, OPEN_TASKS_MAX};

/// Maximum length, in characters, of a note about the journal itself.
const NOTE_CHARS_MAX: usize = 600;

impl Auditor {
    /// Returns findings about what is missing by `now`: stalled tasks.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Finding> {
        let findings: Vec<Finding> =
            self.open.iter_mut().filter_map(|(task, watch)| watch.stalled(task, now)).collect();
        self.keep(&findings);
        findings
    }

    /// Records a finding about the journal or the Auditor's own log that no record shows.
    pub fn note(&mut self, kind: FindingKind, what: &str, now: Timestamp) -> Finding {
        let next = self.position.saturating_add(1);
        self.store_finding(finding_without_record(kind, None, vec![next], what, now))
    }

    /// Continues after unreadable records, up to position `to`, which belong to these tasks as far as known. The
    /// tasks are no longer followed, because the content of those records is unknown.
    pub fn skip(&mut self, to: u64, tasks: &[String], why: &str, now: Timestamp) -> Finding {
        let first = self.position.saturating_add(1);
        let mut records = vec![first, to];
        records.dedup();
        self.position = self.position.max(to);
        for task in tasks {
            if let Ok(task) = task.parse::<TaskId>() {
                self.open.remove(&task);
                self.give_up(task);
            }
        }
        self.is_patchy |= tasks.is_empty();
        self.store_finding(finding_without_record(FindingKind::JournalDamaged, None, records, why, now))
    }

    /// Reports a task whose entry in the journal is missing or unreadable; `None` if the task is unknown.
    pub fn lost(&mut self, task: &TaskId, kind: FindingKind, why: &str, now: Timestamp) -> Option<Finding> {
        let watch = self.open.remove(task)?;
        self.give_up(task.clone());
        Some(self.store_finding(finding_without_record(
            kind,
            Some(task.clone()),
            vec![watch.last_seq],
            why,
            now,
        )))
    }

    /// Reports a task that the journal marks as closed although no end was read; `None` if the end was read or the
    /// task is unknown.
    pub fn report_closed_without_end(&mut self, task: &TaskId, now: Timestamp) -> Option<Finding> {
        let watch = self.open.remove(task)?;
        let what = "the task is closed, and no result of it was given";
        let noted = finding_without_record(
            FindingKind::FinalResult,
            Some(task.clone()),
            vec![watch.last_seq],
            what,
            now,
        );
        Some(self.store_finding(Finding { accountable: RoleId::GoalGradientSolver, ..noted }))
    }

    /// Iterates over the tasks without an end, each with its last record, in order, starting after `after`.
    pub fn open_tasks(&self, after: Option<&TaskId>) -> impl Iterator<Item = (&TaskId, u64)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.open.range((from, Bound::Unbounded)).map(|(task, watch)| (task, watch.last_seq))
    }

    fn store_finding(&mut self, finding: Finding) -> Finding {
        self.keep(std::slice::from_ref(&finding));
        finding
    }

    /// Stops following a task. Beyond the limit its id is not kept, so any unknown task may be one of these.
    pub(super) fn give_up(&mut self, task: TaskId) {
        if self.given_up.len() < OPEN_TASKS_MAX {
            self.given_up.insert(task);
        } else {
            self.is_patchy = true;
        }
    }

    /// Drops one task if more are followed than the limit allows.
    pub(super) fn give_up_one(&mut self, now: Timestamp) -> Option<Finding> {
        if self.open.len() <= OPEN_TASKS_MAX {
            return None;
        }
        let oldest = self.open.iter().min_by_key(|(_, watch)| watch.last_at);
        let (task, last) = oldest.map(|(task, watch)| (task.clone(), watch.last_seq))?;
        self.open.remove(&task);
        self.give_up(task.clone());
        let text = format!("more than {OPEN_TASKS_MAX} tasks have no end; this one is followed no further");
        Some(finding_without_record(FindingKind::TaskStalled, Some(task), vec![last], &text, now))
    }
}

/// Returns a finding that no record shows.
fn finding_without_record(
    kind: FindingKind,
    task_id: Option<TaskId>,
    records: Vec<u64>,
    what: &str,
    at: Timestamp,
) -> Finding {
    let text = setpoint_protocol::text::clip(what, NOTE_CHARS_MAX);
    Finding { kind, accountable: RoleId::Runtime, task_id, records, at, text }
}
