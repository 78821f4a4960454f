//! The Auditor's state, and the dispatch of records to rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{AuditTotals, DriftRate, Finding, FindingKind};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use super::body;
use super::cost::UsualCost;
use super::entry::{Entry, Seen};
use super::health::Health;
use super::route;
use super::task::{Came, Fact, TaskWatch};
use super::window::{Window, count_end, count_finding};

/// At most so many open tasks are followed. Beyond it the one without progress for longest is dropped, and reported.
pub const OPEN_TASKS_MAX: usize = 10_000;
/// At most so many ended tasks are remembered by name.
const ENDED_MAX: usize = 1_024;
/// Maximum length, in characters, of a note about the journal itself.
const NOTE_CHARS_MAX: usize = 600;

/// The Auditor. Its whole state is here, and can be stored and restored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Auditor {
    /// Position of the last record that it has read.
    pub(super) position: u64,
    open: BTreeMap<TaskId, TaskWatch>,
    /// Tasks without an end that are no longer followed.
    given_up: BTreeSet<TaskId>,
    /// Whether an unknown task may be one whose records were lost, or one that was dropped and forgotten: then
    /// nothing is reported against it, unless it is known to have ended.
    is_patchy: bool,
    /// Most recently ended tasks.
    ended: VecDeque<TaskId>,
    pub(super) health: Health,
    cost: UsualCost,
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
            self.window.saw(None, entry.at);
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
        self.kept(Self::noted(kind, None, vec![next], what, now))
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
        self.kept(Self::noted(FindingKind::JournalDamaged, None, records, why, now))
    }

    /// Reports a task whose entry in the journal is missing or unreadable; `None` if the task is unknown.
    pub fn lost(&mut self, task: &TaskId, kind: FindingKind, why: &str, now: Timestamp) -> Option<Finding> {
        let watch = self.open.remove(task)?;
        self.give_up(task.clone());
        Some(self.kept(Self::noted(kind, Some(task.clone()), vec![watch.last_seq], why, now)))
    }

    fn noted(
        kind: FindingKind,
        task_id: Option<TaskId>,
        records: Vec<u64>,
        what: &str,
        at: Timestamp,
    ) -> Finding {
        let text = setpoint_protocol::text::clip(what, NOTE_CHARS_MAX);
        Finding { kind, accountable: RoleId::Runtime, task_id, records, at, text }
    }

    /// Reports a task that the journal marks as closed although no end was read; `None` if the end was read or the
    /// task is unknown.
    pub fn is_closed_without_end(&mut self, task: &TaskId, now: Timestamp) -> Option<Finding> {
        let watch = self.open.remove(task)?;
        Some(self.kept(Finding {
            kind: FindingKind::FinalResult,
            accountable: RoleId::GoalGradientSolver,
            task_id: Some(task.clone()),
            records: vec![watch.last_seq],
            at: now,
            text: "the task is closed, and no result of it was given".to_owned(),
        }))
    }

    /// Iterates over the tasks without an end, each with its last record, in order, starting after `after`.
    pub fn open_tasks(&self, after: Option<&TaskId>) -> impl Iterator<Item = (&TaskId, u64)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.open.range((from, Bound::Unbounded)).map(|(task, watch)| (task, watch.last_seq))
    }

    fn kept(&mut self, finding: Finding) -> Finding {
        self.keep(std::slice::from_ref(&finding));
        finding
    }

    /// Stops following a task. Beyond the limit its id is not kept, so that unknown tasks may be such ones.
    fn give_up(&mut self, task: TaskId) {
        if self.given_up.len() < OPEN_TASKS_MAX {
            self.given_up.insert(task);
        } else {
            self.is_patchy = true;
        }
    }

    fn keep(&mut self, findings: &[Finding]) {
        for finding in findings {
            self.window.saw(None, finding.at);
            self.window.find(finding);
            count_finding(&mut self.totals, finding.kind);
        }
    }

    fn observe_task(&mut self, entry: &Entry<'_>) -> Vec<Finding> {
        let seen = match Seen::read(*entry) {
            Ok(seen) => seen,
            Err(what) => {
                self.window.saw(None, entry.at);
                let text = format!("failed to {what}");
                return vec![entry.finding(FindingKind::BoundaryViolation, RoleId::Runtime, text)];
            }
        };
        let Ok(task) = entry.task.parse::<TaskId>() else {
            self.window.saw(None, entry.at);
            let text = format!(
                "a record of {:?}, which is no task",
                entry.task.chars().take(80).collect::<String>()
            );
            return vec![entry.finding(FindingKind::BoundaryViolation, RoleId::Runtime, text)];
        };
        if entry.is_pruned {
            // The removed records may explain whatever looks wrong in the rest.
            self.open.remove(&task);
            self.give_up(task);
            return Vec::new();
        }
        // Records inherited by a fork keep their old times, and were checked in the original task.
        if self.open.get(&task).is_some_and(|watch| watch.has_taken_over(entry.seq)) {
            return self.observe_known(entry, &seen, task);
        }
        let mut findings: Vec<Finding> = route::check(&seen).into_iter().collect();
        if seen.kind == RecordKind::Opened && !self.open.contains_key(&task) && entry.seq == 1 {
            let opened = seen.body::<body::Opened>();
            if opened.as_ref().is_none_or(|opened| opened.forked_from.is_none()) {
                self.window.saw(Some(&task), entry.at);
            }
            match opened {
                Some(opened) => {
                    self.open.insert(task, TaskWatch::open(&seen, opened));
                    findings.extend(self.give_up_one(entry.at));
                }
                None => {
                    let text = "how the task opened cannot be read";
                    findings.push(entry.finding(FindingKind::BoundaryViolation, RoleId::Runtime, text));
                }
            }
            return findings;
        }
        self.window.saw(Some(&task), entry.at);
        if self.given_up.contains(&task) {
            if matches!(seen.kind, RecordKind::Message(kind) if kind.closes()) {
                self.given_up.remove(&task);
            }
            return findings;
        }
        if !self.open.contains_key(&task) {
            if !self.is_patchy || self.ended.contains(&task) {
                let text = format!("{} after the task's end, or before its opening", seen.kind);
                findings.push(entry.finding(FindingKind::FinalResult, RoleId::GoalGradientSolver, text));
            }
            // Reported once: further records of such a task are as much out of place.
            self.give_up(task);
            return findings;
        }
        findings.extend(self.observe_known(entry, &seen, task));
        findings
    }

    /// Reads a record of a task that is followed.
    fn observe_known(&mut self, entry: &Entry<'_>, seen: &Seen<'_>, task: TaskId) -> Vec<Finding> {
        let Some(mut watch) = self.open.remove(&task) else { return Vec::new() };
        let mut told = watch.take(seen);
        let mut findings = std::mem::take(&mut told.findings);
        for fact in told.facts {
            findings.extend(self.count(entry, &watch, fact));
        }
        findings.extend(self.check_cost(entry, &mut watch));
        let is_own = !watch.has_taken_over(entry.seq);
        if is_own && !watch.course.rounds().is_empty() && matches!(seen.kind, RecordKind::Message(_)) {
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

    /// A trend needs decided rounds, and at least two of them.
    fn note_trend(&mut self, task: &TaskId, watch: &TaskWatch, is_ended: bool) {
        let known = self.window.trends.iter().find(|one| one.task_id == *task);
        let is_news = known.is_none_or(|one| one.rounds.len() != watch.course.rounds().len());
        if watch.replans > 0 && (is_news || is_ended) {
            self.window.trend(watch.trend(task, is_ended));
        }
    }

    fn check_cost(&mut self, entry: &Entry<'_>, watch: &mut TaskWatch) -> Option<Finding> {
        let mean = self.cost.is_run_away(watch.tokens)?;
        watch.is_first_run_away().then(|| {
            let text = format!("{} tokens so far; a task uses {mean:.0} here", watch.tokens);
            entry.finding(FindingKind::CostRunaway, RoleId::GoalGradientSolver, text)
        })
    }

    /// Counts a fact over all tasks. Returns a finding if a share has changed.
    fn count(&mut self, entry: &Entry<'_>, watch: &TaskWatch, fact: Fact) -> Option<Finding> {
        let model_of = |role| watch.models.of(role).name.as_str();
        match fact {
            Fact::Came(came) => self.count_call(entry, came),
            Fact::Worked { role, failed } => {
                self.health.role(entry, (role, model_of(role), DriftRate::Failure), failed)
            }
            Fact::Executed { failed } => {
                let role = RoleId::Executor;
                self.health.role(entry, (role, model_of(role), DriftRate::Failure), failed)
            }
            Fact::Judged { role, failed } => {
                self.health.role(entry, (role, model_of(role), DriftRate::FailVerdict), failed)
            }
            Fact::Claimed { refuted } => {
                self.health.claim(model_of(RoleId::Executor), refuted);
                None
            }
            Fact::Corrected => {
                self.window.corrections += 1;
                self.totals.corrections += 1;
                None
            }
            Fact::Replanned => {
                self.totals.replans += 1;
                None
            }
            Fact::IsTask => {
                self.totals.tasks += 1;
                None
            }
            Fact::Ended(end) => {
                count_end(&mut self.totals, end);
                // The tokens inherited by a fork were spent elsewhere, so they say nothing about the usual cost of a
                // task.
                if !watch.is_fork() {
                    self.cost.ended(watch.tokens);
                }
                None
            }
        }
    }

    fn count_call(&mut self, entry: &Entry<'_>, came: Came) -> Option<Finding> {
        match came {
            Came::Model { model, failure, is_cut, duration_ms, tokens } => {
                self.window.model(&model, failure, is_cut, duration_ms);
                self.totals.tokens = self.totals.tokens.saturating_add(tokens);
                None
            }
            Came::AttemptAnew => {
                self.totals.model_calls += 1;
                None
            }
            Came::Attempt { role, model, is_retry } => {
                self.totals.model_calls += 1;
                if is_retry {
                    self.window.retried(&model);
                }
                self.health.role(entry, (role, &model, DriftRate::Retry), is_retry)
            }
            Came::Used { role, model, malformed } => {
                if malformed {
                    self.window.malformed(&model);
                }
                self.health.role(entry, (role, &model, DriftRate::Malformed), malformed)
            }
            Came::Tool { tool, ok, error, duration_ms } => {
                self.totals.tool_calls += 1;
                self.window.tool(&tool, ok, error, duration_ms);
                self.health.tool(entry, &tool, !ok)
            }
        }
    }

    /// Drops one task if more are followed than the limit allows.
    fn give_up_one(&mut self, now: Timestamp) -> Option<Finding> {
        if self.open.len() <= OPEN_TASKS_MAX {
            return None;
        }
        let (task, last) = self
            .open
            .iter()
            .min_by_key(|(_, watch)| watch.last_at)
            .map(|(task, watch)| (task.clone(), watch.last_seq))?;
        self.open.remove(&task);
        self.give_up(task.clone());
        Some(Finding {
            kind: FindingKind::TaskStalled,
            accountable: RoleId::Runtime,
            task_id: Some(task),
            records: vec![last],
            at: now,
            text: format!("more than {OPEN_TASKS_MAX} tasks have no end; this one is followed no further"),
        })
    }
}
