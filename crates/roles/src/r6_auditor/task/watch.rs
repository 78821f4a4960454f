//! The state of a task that has not ended: what the rules need.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{Finding, FindingKind, GapTrend};
use setpoint_protocol::models::Models;
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use super::super::body;
use super::super::entry::ParsedRow;
use super::asks::Asks;
use super::course::Course;
use super::fan_in::FanIn;

/// Milliseconds without a record after which a task that waits for no person counts as stalled, while no tool runs.
pub const STALLED_MS: u64 = 10 * 60 * 1_000;
/// Milliseconds without a record while a tool call is running, which may legitimately take long.
const STALLED_IN_A_TOOL_MS: u64 = 60 * 60 * 1_000;

/// The state of a task that has not ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TaskWatch {
    pub(crate) last_seq: u64,
    pub(crate) last_at: Timestamp,
    pub(crate) models: Models,
    pub(super) settings: ControllerSettings,
    pub(super) budgets: Budgets,
    pub(super) asks: Asks,
    pub(super) fan_in: FanIn,
    pub(super) criteria: Vec<body::Criterion>,
    pub(super) course: Course,
    /// Tokens used so far.
    pub(crate) tokens: u64,
    /// Number of replans.
    pub(super) replans: u64,
    /// Last inherited record; records up to it were counted in another task.
    pub(super) taken_over: u64,
    /// Findings reported once per task that have been reported.
    pub(super) said: BTreeSet<FindingKind>,
    /// Record at which the task was found to be stalled.
    pub(super) stalled_at: Option<u64>,
    /// Whether it is known to be a task.
    pub(super) is_task: bool,
}

impl TaskWatch {
    /// Starts following a task from the record that opens it.
    pub(crate) fn open(seen: &ParsedRow<'_>, opened: body::Opened) -> Self {
        TaskWatch {
            last_seq: seen.entry.seq,
            last_at: seen.entry.at,
            models: opened.models,
            settings: opened.controller,
            budgets: opened.budgets,
            asks: Asks::default(),
            fan_in: FanIn::default(),
            criteria: Vec::new(),
            course: Course::default(),
            tokens: 0,
            replans: 0,
            taken_over: opened.forked_from.map_or(0, |fork| fork.seq),
            said: BTreeSet::new(),
            stalled_at: None,
            is_task: false,
        }
    }

    /// Returns whether its first records are inherited from another task.
    pub(crate) fn is_fork(&self) -> bool {
        self.taken_over > 0
    }

    /// Returns whether the record is inherited from another task.
    pub(crate) fn has_taken_over(&self, seq: u64) -> bool {
        seq <= self.taken_over
    }

    /// Returns whether this kind of finding is the first for this task.
    pub(crate) fn is_news(&mut self, kind: FindingKind) -> bool {
        self.said.insert(kind)
    }

    /// Reports that it is stalled at `now` although it waits for no person; once per record at which it stalls.
    pub(crate) fn stalled(&mut self, task: &TaskId, now: Timestamp) -> Option<Finding> {
        let still_ms = now.millis_since(self.last_at);
        let patience = if self.asks.runs_a_tool() { STALLED_IN_A_TOOL_MS } else { STALLED_MS };
        if still_ms < patience || self.asks.waits_for_a_person() || self.stalled_at == Some(self.last_seq) {
            return None;
        }
        self.stalled_at = Some(self.last_seq);
        let (accountable, what) = match self.asks.oldest_under_way() {
            Some((call, what)) => (call.role, format!("{what} ({call}) has no answer")),
            None => (RoleId::Runtime, "nothing is under way".to_owned()),
        };
        let minutes = still_ms / 60_000;
        Some(Finding {
            kind: FindingKind::TaskStalled,
            accountable,
            task_id: Some(task.clone()),
            records: vec![self.last_seq],
            at: now,
            text: format!(
                "no record for {minutes} min: {what}; `setpoint tasks resume` takes it up where nobody drives it"
            ),
        })
    }

    /// Returns its rounds, if it was replanned: a trend needs at least two of them.
    pub(crate) fn trend(&self, task: &TaskId, is_ended: bool) -> Option<GapTrend> {
        let rounds = &self.course.rounds;
        let has_trend = self.replans > 0 && !rounds.is_empty();
        has_trend.then(|| GapTrend { task_id: task.clone(), rounds: rounds.clone(), is_ended })
    }
}
