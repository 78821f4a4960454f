//! What is judged: a claim, and the calls that stand behind it.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_protocol::message::Criterion;
use setpoint_protocol::predicate::{CheckOn, Predicate};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Phase, SideEffect, ToolCall, ToolRecord};
use setpoint_protocol::{Any, CallId, ToolId};

use super::named::{Place, is_named};
use crate::evidence::{Probes, is_of};

/// Everything that a verdict may rest on.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// One for each sub-task, in sequence order.
    pub runs: Vec<Run<'a>>,
    /// The claim.
    pub output: &'a Any,
    /// What was measured after it.
    pub probes: &'a Probes,
    /// All that is judged of it.
    pub criteria: &'a [Criterion],
    /// What the probes found before the task's work.
    pub baseline: &'a [Arc<ToolRecord>],
    /// What the person asked, verbatim.
    pub words: &'a str,
    /// Files that the task has created.
    pub made: &'a BTreeSet<String>,
    /// Files that the task's calls have changed or removed, in every round and sub-task.
    pub touched: &'a BTreeSet<String>,
    /// Where the task works.
    pub surroundings: &'a Surroundings,
}

/// The work of one sub-task.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What it was for.
    pub intent: &'a str,
    /// Its calls, of all attempts.
    pub calls: &'a [Arc<ToolRecord>],
    /// Its last attempt.
    pub attempt: u32,
}

/// What a cited call is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cited<'a> {
    /// There is no such call.
    Missing,
    /// It was made before the work, or before its last attempt: it cannot show what came of it.
    Stale(&'a ToolRecord),
    /// It counts, for what it says.
    Counts(&'a ToolRecord),
}

impl<'a> Case<'a> {
    /// What a citation of `id` is worth.
    pub(super) fn cited(&self, id: CallId) -> Cited<'a> {
        if let Some(record) = self.probes.records().find(|record| record.call_id == id) {
            return Cited::Counts(record);
        }
        if let Some(record) = self.baseline.iter().find(|record| record.call_id == id) {
            return Cited::Stale(record);
        }
        for run in &self.runs {
            if let Some(record) = run.calls.iter().find(|record| record.call_id == id) {
                return if run.is_fresh(record) { Cited::Counts(record) } else { Cited::Stale(record) };
            }
        }
        Cited::Missing
    }

    /// Whether any call succeeded that a pass could cite.
    pub(super) fn has_proof(&self) -> bool {
        let worked = self.runs.iter().any(|run| run.calls.iter().any(|call| call.ok && run.is_fresh(call)));
        worked || self.probes.records().any(|record| record.ok)
    }

    /// Whether the work made any call, refused and failed ones included.
    pub(super) fn has_work(&self) -> bool {
        self.runs.iter().any(|run| run.calls.iter().any(|call| call.phase == Phase::Work))
    }

    /// The last call of the work.
    pub(super) fn last_call(&self) -> Option<&'a ToolRecord> {
        self.runs.iter().rev().find_map(|run| run.last_attempt().next())
    }

    /// The last call of this tool, given by name or by id, over all attempts: the one that `which` names, where it names one.
    pub(super) fn last_call_of(
        &self,
        tool: &str,
        which: Option<&str>,
        expect: &Predicate,
    ) -> Option<&'a ToolRecord> {
        let wanted = ToolId::of_name(tool);
        let place = self.place();
        let is_wanted = |record: &&ToolRecord| {
            record.tool_ids().any(|id| wanted.covers(id))
                && which.is_none_or(|which| is_named(record, which, expect, &place))
        };
        self.runs.iter().rev().find_map(|run| run.work().rev().find(is_wanted))
    }

    /// A later call that may have changed what this one showed. One that a check names measures, as this one did.
    pub(super) fn changed_after(&self, record: &ToolRecord) -> Option<&'a ToolRecord> {
        let run = self.runs.iter().find(|run| run.calls.iter().any(|call| call.call_id == record.call_id))?;
        let later = run.work().skip_while(|call| call.call_id != record.call_id).skip(1);
        later.into_iter().find(|call| self.may_change(call, record))
    }

    fn may_change(&self, call: &ToolRecord, shown: &ToolRecord) -> bool {
        // Where nobody could look what a command changed, one that a check names is taken for a measurement.
        let is_measured = is_measured(call);
        // Whoever looked at what a command changed looked where the task works, and nowhere else.
        let is_out_of_sight = is_measured && is_elsewhere(shown, self.surroundings);
        if (call.side_effect == SideEffect::None && !is_out_of_sight) || call.target == shown.target {
            return false;
        }
        // What a tool did to one file stays done when another one is changed.
        let is_deed = shown.side_effect != SideEffect::None && shown.tool.tool() != "shell";
        let is_named =
            |criterion: &Criterion| match criterion.check.as_ref().map(|check| (&check.on, &check.expect)) {
                Some((CheckOn::Call { tool, which: Some(which) }, expect)) => {
                    ToolId::of_name(tool).covers(&call.tool) && is_named(call, which, expect, &self.place())
                }
                _ => false,
            };
        !is_deed && (is_measured || !self.criteria.iter().any(is_named))
    }

    /// Where named commands are meant to run.
    fn place(&self) -> Place<'a> {
        let intents = self.runs.iter().map(|run| run.intent);
        let criteria = self.criteria.iter().map(|criterion| criterion.criterion.as_str());
        Place {
            cwd: &self.surroundings.cwd,
            said: [self.words].into_iter().chain(intents).chain(criteria).collect(),
        }
    }

    /// What the probe `call` found before the work.
    pub(super) fn before(&self, call: &ToolCall) -> Option<&'a ToolRecord> {
        self.baseline.iter().map(Arc::as_ref).find(|record| is_of(record, call))
    }

    /// The calls of the work, oldest first.
    pub(super) fn work(&self) -> impl Iterator<Item = &'a ToolRecord> + use<'a, '_> {
        self.runs.iter().flat_map(|run| run.work())
    }
}

/// Whether it was looked at what a command changed where the task works.
pub(crate) fn is_measured(call: &ToolRecord) -> bool {
    call.facts.as_ref().is_some_and(|facts| facts.0.get("changed").is_some())
}

/// Whether a call is about a place that is neither the working directory nor the workspace, as far as its words tell.
pub(crate) fn is_elsewhere(call: &ToolRecord, surroundings: &Surroundings) -> bool {
    if call.tool.tool() == "shell" {
        return call.facts.as_ref().is_some_and(|facts| facts.0.get("elsewhere").is_some());
    }
    let is_below = |root: &String| {
        let rest = call.target.strip_prefix(root.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ' ']))
    };
    let roots = [&surroundings.cwd, &surroundings.workspace];
    call.target.starts_with('/') && !roots.into_iter().any(is_below)
}

impl<'a> Run<'a> {
    /// The calls of the work, of all attempts.
    fn work(self) -> impl DoubleEndedIterator<Item = &'a ToolRecord> {
        self.calls.iter().map(Arc::as_ref).filter(|record| record.phase == Phase::Work)
    }

    /// The calls of the last attempt, the last first.
    fn last_attempt(self) -> impl Iterator<Item = &'a ToolRecord> {
        let attempt = self.attempt;
        let calls = self.calls.iter().rev().map(Arc::as_ref);
        calls.filter(move |record| record.phase == Phase::Work && record.attempt == attempt)
    }

    fn is_fresh(&self, record: &ToolRecord) -> bool {
        match record.phase {
            Phase::Before => false,
            Phase::Work => true,
            Phase::After => record.attempt == self.attempt,
        }
    }
}
