//! The Auditor's state, and the dispatch of each record to the rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{AuditTotals, Finding, FindingKind};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::{RoleId, TaskId};

use super::body;
use super::cost::UsualCost;
use super::entry::{Entry, ParsedRow};
use super::health::Health;
use super::route;
use super::task::TaskWatch;
use super::window::{Window, count_finding};

/// At most this many open tasks are followed. Beyond it the one without progress for longest is dropped, and reported.
pub const OPEN_TASKS_MAX: usize = 10_000;
/// At most this many ended tasks are remembered by name.
const ENDED_MAX: usize = 1_024;

/// The Auditor. Its whole state is here, and can be stored and restored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Auditor {
    /// Position of the last record that it has read.
    pub(super) position: u64,
    pub(super) open: BTreeMap<TaskId, TaskWatch>,
    /// Tasks without an end that are no longer followed.
    pub(super) given_up: BTreeSet<TaskId>,
    /// Whether an unknown task may be one whose records were lost, or one that was dropped and forgotten: then
    /// nothing is reported against it, unless it is known to have ended.
    pub(super) is_patchy: bool,
    /// Maximum recently ended tasks.
    ended: VecDeque<TaskId>,
    pub(super) health: Health,
    pub(super) cost: UsualCost,
    pub(super) window: Window,
    /// Previous window, so that a query just after a report is not answered from an empty one.
    pub(super) before: Window,
    pub(super) totals: AuditTotals,
}

impl Auditor {
    /// Returns the position of the last record that it has read; 0 if none.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next record of the journal; returns the findings.
    pub fn observe(&mut self, entry: &Entry<'_>) -> Vec<Finding> {
        self.position = entry.pos;
        self.totals.records += 1;
        let findings = if entry.is_system {
            self.window.observe_at(None, entry.at);
            route::check_system(entry).into_iter().collect()
        } else {
            self.observe_task(entry)
        };
        self.keep(&findings);
        findings
    }

    /// Returns the findings about one task, from its records alone: no drift, and nothing that depends on time
    /// passing.
    #[must_use]
    pub fn findings_of(task: &TaskId, records: &[Record]) -> Vec<Finding> {
        let mut auditor = Auditor::default();
        records.iter().flat_map(|record| auditor.observe_record(task, record)).collect()
    }

    /// Reads the next record of a task, whatever its source.
    pub fn observe_record(&mut self, task: &TaskId, record: &Record) -> Vec<Finding> {
        let (from, to) = (record.from.text(), record.to_column());
        self.observe(&Entry {
            pos: self.position + 1,
            task: task.as_str(),
            seq: record.seq,
            at: record.at,
            from: &from,
            to: &to,
            kind: record.kind.name(),
            cause: record.cause,
            body: &record.body,
            is_system: false,
            is_loss: false,
            is_pruning: false,
            is_pruned: false,
        })
    }

    pub(super) fn keep(&mut self, findings: &[Finding]) {
        for finding in findings {
            self.window.observe_at(None, finding.at);
            self.window.find(finding);
            count_finding(&mut self.totals, finding.kind);
        }
    }

    fn observe_task(&mut self, entry: &Entry<'_>) -> Vec<Finding> {
        let malformed = |auditor: &mut Self, text: String| {
            auditor.window.observe_at(None, entry.at);
            vec![entry.finding(FindingKind::BoundaryViolation, RoleId::Runtime, text)]
        };
        let seen = match ParsedRow::read(*entry) {
            Ok(seen) => seen,
            Err(what) => return malformed(self, format!("failed to {what}")),
        };
        let Ok(task) = entry.task.parse::<TaskId>() else {
            let name: String = entry.task.chars().take(80).collect();
            return malformed(self, format!("a record of {name:?}, which is no task"));
        };
        if entry.is_pruned {
            // The removed records may explain whatever looks wrong in the rest.
            self.open.remove(&task);
            self.give_up(task);
            return Vec::new();
        }
        // Records inherited by a fork keep their old times, and were checked in the original task.
        if self.open.get(&task).is_some_and(|watch| watch.has_taken_over(entry.seq)) {
            return self.observe_known(&seen, task);
        }
        let mut findings: Vec<Finding> = route::check(&seen).into_iter().collect();
        if seen.kind == RecordKind::Opened && !self.open.contains_key(&task) && entry.seq == 1 {
            findings.extend(self.on_opened(&seen, task));
            return findings;
        }
        self.window.observe_at(Some(&task), entry.at);
        if self.given_up.contains(&task) {
            if matches!(seen.kind, RecordKind::Message(kind) if kind.closes()) {
                self.given_up.remove(&task);
            }
        } else if self.open.contains_key(&task) {
            findings.extend(self.observe_known(&seen, task));
        } else {
            findings.extend(self.on_stray(&seen, task));
        }
        findings
    }

    /// Starts following a task.
    fn on_opened(&mut self, seen: &ParsedRow<'_>, task: TaskId) -> Option<Finding> {
        let entry = &seen.entry;
        let opened = seen.body::<body::Opened>();
        if opened.as_ref().is_none_or(|opened| opened.forked_from.is_none()) {
            self.window.observe_at(Some(&task), entry.at);
        }
        let Some(opened) = opened else {
            let text = "how the task opened cannot be read";
            return Some(entry.finding(FindingKind::BoundaryViolation, RoleId::Runtime, text));
        };
        self.open.insert(task, TaskWatch::open(seen, opened));
        self.give_up_one(entry.at)
    }

    /// Reports a record of a task that is not open, once: further records of such a task show the same fault.
    fn on_stray(&mut self, seen: &ParsedRow<'_>, task: TaskId) -> Option<Finding> {
        let is_known = !self.is_patchy || self.ended.contains(&task);
        self.give_up(task);
        is_known.then(|| {
            let text = format!("{} after the task's end, or before its opening", seen.kind);
            seen.entry.finding(FindingKind::FinalResult, RoleId::GoalGradientSolver, text)
        })
    }

    /// Reads a record of a task that is followed.
    fn observe_known(&mut self, seen: &ParsedRow<'_>, task: TaskId) -> Vec<Finding> {
        let Some(mut watch) = self.open.remove(&task) else { return Vec::new() };
        let entry = &seen.entry;
        let told = watch.take(seen);
        let mut findings = told.findings;
        for fact in told.facts {
            findings.extend(self.count(entry, &watch, fact));
        }
        findings.extend(self.check_cost(entry, &mut watch));
        if !watch.has_taken_over(entry.seq) && matches!(seen.kind, RecordKind::Message(_)) {
            self.note_trend(&task, &watch, told.is_ended);
        }
        if told.is_ended {
            self.ended.push_back(task);
            if self.ended.len() > ENDED_MAX {
                self.ended.pop_front();
            }
        } else {
            self.open.insert(task, watch);
        }
        findings
    }
}
