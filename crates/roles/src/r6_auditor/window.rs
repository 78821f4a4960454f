//! Observations since the last report, and since the beginning.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{
    AuditTotals, EndState, ErrorCount, FailureCount, Finding, FindingCount, FindingKind, GapTrend,
    ModelHealth, ToolHealth,
};
use setpoint_protocol::record::ModelFailureKind;
use setpoint_protocol::tool::ErrorKind;
use setpoint_protocol::{TaskId, Timestamp};

/// At most this many findings of a window are listed; more are counted.
const FINDINGS_MAX: usize = 200;
/// At most this many tasks of a window have their rounds listed, the newest.
const TRENDS_MAX: usize = 50;
/// At most this many tasks of a window are distinguished; more are counted as they are opened.
const TASKS_MAX: usize = 100_000;
/// At most this many models, tools and roles with their models are distinguished; the rest are counted together under
/// an empty name.
pub(super) const NAMES_MAX: usize = 512;

/// The observations of a period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Window {
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
    pub(super) tasks: BTreeSet<TaskId>,
    pub(super) corrections: u64,
    pub(super) findings: Vec<Finding>,
    pub(super) left_out: u64,
    pub(super) trends: Vec<GapTrend>,
    tools: BTreeMap<String, Tool>,
    models: BTreeMap<String, Model>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tool {
    calls: u64,
    failed: u64,
    errors: Vec<ErrorCount>,
    duration_ms: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Model {
    calls: u64,
    failures: Vec<FailureCount>,
    retries: u64,
    cut: u64,
    malformed: u64,
    duration_ms: u64,
}

impl Window {
    pub(super) fn observe_at(&mut self, task: Option<&TaskId>, at: Timestamp) {
        self.from = Some(self.from.map_or(at, |from| from.min(at)));
        self.to = Some(self.to.map_or(at, |to| to.max(at)));
        if let Some(task) = task
            && self.tasks.len() < TASKS_MAX
            && !self.tasks.contains(task)
        {
            self.tasks.insert(task.clone());
        }
    }

    pub(super) fn find(&mut self, finding: &Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding.clone());
        } else {
            self.left_out += 1;
        }
    }

    /// Stores the current rounds of a task.
    pub(super) fn trend(&mut self, trend: GapTrend) {
        self.trends.retain(|one| one.task_id != trend.task_id);
        self.trends.push(trend);
        if self.trends.len() > TRENDS_MAX {
            self.trends.remove(0);
        }
    }

    pub(super) fn tool(&mut self, name: &str, ok: bool, error: Option<ErrorKind>, duration_ms: u64) {
        let tool = named(&mut self.tools, name);
        tool.calls += 1;
        tool.duration_ms = tool.duration_ms.saturating_add(duration_ms);
        if !ok {
            tool.failed += 1;
            add_error(&mut tool.errors, ErrorCount { kind: error, count: 1 });
        }
    }

    pub(super) fn model(
        &mut self,
        name: &str,
        failure: Option<Option<ModelFailureKind>>,
        is_cut: bool,
        duration_ms: u64,
    ) {
        let model = named(&mut self.models, name);
        model.calls += 1;
        model.cut += u64::from(is_cut);
        model.duration_ms = model.duration_ms.saturating_add(duration_ms);
        if let Some(kind) = failure {
            add_failure(&mut model.failures, FailureCount { kind, count: 1 });
        }
    }

    pub(super) fn retried(&mut self, name: &str) {
        named(&mut self.models, name).retries += 1;
    }

    pub(super) fn malformed(&mut self, name: &str) {
        named(&mut self.models, name).malformed += 1;
    }

    /// Combines both windows; this one follows the other.
    pub(super) fn after(&self, earlier: &Window) -> Window {
        let mut both = earlier.clone();
        both.from = earlier.from.or(self.from);
        both.to = self.to.or(earlier.to);
        both.tasks.extend(self.tasks.iter().cloned());
        both.corrections += self.corrections;
        both.left_out += self.left_out;
        self.findings.iter().for_each(|finding| both.find(finding));
        self.trends.iter().for_each(|trend| both.trend(trend.clone()));
        for (name, tool) in &self.tools {
            let sum = named(&mut both.tools, name);
            sum.calls += tool.calls;
            sum.failed += tool.failed;
            sum.duration_ms = sum.duration_ms.saturating_add(tool.duration_ms);
            tool.errors.iter().for_each(|error| add_error(&mut sum.errors, error.clone()));
        }
        for (name, model) in &self.models {
            let sum = named(&mut both.models, name);
            sum.calls += model.calls;
            sum.retries += model.retries;
            sum.cut += model.cut;
            sum.malformed += model.malformed;
            sum.duration_ms = sum.duration_ms.saturating_add(model.duration_ms);
            model.failures.iter().for_each(|failure| add_failure(&mut sum.failures, failure.clone()));
        }
        both
    }

    pub(super) fn tools(&self) -> Vec<ToolHealth> {
        let health = |(name, tool): (&String, &Tool)| {
            let mut errors = tool.errors.clone();
            errors.sort_by_key(|one| std::cmp::Reverse(one.count));
            ToolHealth {
                tool: name.clone(),
                calls: tool.calls,
                failed: tool.failed,
                errors,
                duration_ms: tool.duration_ms,
            }
        };
        self.tools.iter().map(health).collect()
    }

    pub(super) fn models(&self) -> Vec<ModelHealth> {
        let health = |(name, model): (&String, &Model)| {
            let mut failures = model.failures.clone();
            failures.sort_by_key(|one| std::cmp::Reverse(one.count));
            ModelHealth {
                model: name.clone(),
                calls: model.calls,
                failures,
                retries: model.retries,
                cut: model.cut,
                malformed: model.malformed,
                duration_ms: model.duration_ms,
            }
        };
        self.models.iter().map(health).collect()
    }
}

/// Returns the entry of this name; beyond the limit, that of the empty name.
pub(super) fn named<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    let name = if map.len() < NAMES_MAX || map.contains_key(name) { name } else { "" };
    map.entry(name.to_owned()).or_default()
}

fn add_error(errors: &mut Vec<ErrorCount>, more: ErrorCount) {
    match errors.iter_mut().find(|one| one.kind == more.kind) {
        Some(one) => one.count += more.count,
        None => errors.push(more),
    }
}

fn add_failure(failures: &mut Vec<FailureCount>, more: FailureCount) {
    match failures.iter_mut().find(|one| one.kind == more.kind) {
        Some(one) => one.count += more.count,
        None => failures.push(more),
    }
}

/// Counts an end.
pub(super) fn count_end(totals: &mut AuditTotals, end: EndState) {
    match end {
        EndState::Accept => totals.accepted += 1,
        EndState::Success => totals.with_gaps += 1,
        EndState::Abandon => totals.abandoned += 1,
    }
}

/// Counts a finding.
pub(super) fn count_finding(totals: &mut AuditTotals, kind: FindingKind) {
    match totals.findings.iter_mut().find(|one| one.kind == kind) {
        Some(one) => one.count += 1,
        None => {
            totals.findings.push(FindingCount { kind, count: 1 });
            totals.findings.sort_by_key(|one| one.kind);
        }
    }
}
