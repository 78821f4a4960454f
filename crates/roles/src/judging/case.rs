//! A case to judge: a claim and the calls that support it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::predicate::{CheckOn, Predicate};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Phase, SideEffect, ToolCall, ToolRecord};
use setpoint_protocol::{Any, CallId, ToolId};

use super::deeds::{WRITE_FILE, path_of};
use super::executed::ends_in;
use super::looks::{follows_links, looks_at, may_lead_to};
use super::named::{Place, is_named};
use super::strength::is_a_look;
use crate::evidence::{Probes, command_of, is_of};
use crate::programs::is_with_shell;

/// Tools that give the content of one file.
const READ_ONE: [&str; 2] = ["read_document", "read_file"];
/// Tools that change one file.
pub(super) const WRITE_ONE: [&str; 2] = ["edit_file", WRITE_FILE];

/// The material that a verdict may rest on.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// One run per sub-task, in sequence order.
    pub runs: Vec<Run<'a>>,
    /// Claimed output.
    pub output: &'a Any,
    /// Probes made after the work.
    pub probes: &'a Probes,
    /// Criteria of the claim.
    pub criteria: &'a [Criterion],
    /// Probes made before the task's work.
    pub baseline: &'a [Arc<ToolRecord>],
    /// The person's request, verbatim.
    pub words: &'a str,
    /// Files that the task has created.
    pub made: &'a BTreeSet<String>,
    /// Files that the task's calls have changed or removed, in every round and sub-task.
    pub touched: &'a BTreeSet<String>,
    /// Whether any of the task's calls so far had a side effect, or may have had one that cannot be seen.
    pub has_acted: bool,
    /// Environment in which the task works.
    pub surroundings: &'a Surroundings,
    /// Version of the logic by which the task was opened.
    pub logic_version: u32,
}

/// The work of one sub-task.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Intent of the sub-task.
    pub intent: &'a str,
    /// Its calls, from all attempts.
    pub calls: &'a [Arc<ToolRecord>],
    /// Number of its last attempt.
    pub attempt: u32,
}

/// The standing of a cited call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CitationState<'a> {
    /// No such call exists.
    Missing,
    /// Made before the work or before its last attempt, so it cannot show the result.
    Stale(&'a ToolRecord),
    /// Counts as evidence.
    Counts(&'a ToolRecord),
}

impl<'a> Case<'a> {
    /// Returns the standing of the call cited as `id`.
    pub(super) fn cited(&self, id: CallId) -> CitationState<'a> {
        if let Some(record) = self.probes.records().find(|record| record.call_id == id) {
            return CitationState::Counts(record);
        }
        if let Some(record) = self.baseline.iter().find(|record| record.call_id == id) {
            return CitationState::Stale(record);
        }
        for run in &self.runs {
            if let Some(record) = run.calls.iter().find(|record| record.call_id == id) {
                return if run.is_fresh(record) {
                    CitationState::Counts(record)
                } else {
                    CitationState::Stale(record)
                };
            }
        }
        CitationState::Missing
    }

    /// Returns whether any call succeeded that a pass could cite.
    pub(super) fn has_proof(&self) -> bool {
        let worked = self.runs.iter().any(|run| run.calls.iter().any(|call| call.ok && run.is_fresh(call)));
        worked || self.probes.records().any(|record| record.ok)
    }

    /// Returns whether the work made any call, refused and failed ones included.
    pub(super) fn has_work(&self) -> bool {
        self.runs.iter().any(|run| run.calls.iter().any(|call| call.phase == Phase::Work))
    }

    /// Returns the last call of the work.
    pub(super) fn last_call(&self) -> Option<&'a ToolRecord> {
        self.runs.iter().rev().find_map(|run| run.last_attempt().next())
    }

    /// Returns the last call of this tool, given by name or id, over all attempts: the one that `which` names, if it
    /// names one.
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

    /// Returns a later call that may have changed what this one showed. A call that a check names counts as a
    /// measurement, not as a change.
    pub(super) fn changed_after(&self, record: &ToolRecord) -> Option<&'a ToolRecord> {
        let run = self.runs.iter().find(|run| run.calls.iter().any(|call| call.call_id == record.call_id))?;
        let later = run.work().skip_while(|call| call.call_id != record.call_id).skip(1);
        later.into_iter().find(|call| self.may_change(call, record))
    }

    fn may_change(&self, call: &ToolRecord, shown: &ToolRecord) -> bool {
        // If the file changes of a command could not be observed, one that a check names counts as a measurement.
        let is_measured = is_measured(call);
        // File changes are observed only where the task works; elsewhere the command may have changed anything.
        let is_out_of_sight = is_measured && is_elsewhere(shown, self.surroundings);
        if (call.side_effect == SideEffect::None && !is_out_of_sight) || call.target == shown.target {
            return false;
        }
        if READ_ONE.contains(&shown.tool.tool())
            && !follows_links(shown)
            && let Some(changed) = all_changed(call)
        {
            let read = path_of(shown);
            let is_it = |changed: &String| {
                ends_in(changed, &read)
                    || ends_in(&read, changed)
                    || read
                        .strip_prefix(changed)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '/']))
            };
            return changed.iter().any(is_it);
        }
        // A look at named files lasts as long as they do.
        if !is_out_of_sight
            && let Some(changed) = all_changed(call)
            && let Some(named) = looks_at(shown, self.logic_version)
        {
            return named.iter().any(|word| changed.iter().any(|path| may_lead_to(word, path)));
        }
        // Changing one file does not undo what a tool did to another.
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

    /// Returns whether the task has changed nothing, as far as is known: what holds now held before, or came about by
    /// itself.
    pub(super) fn is_unchanged(&self) -> bool {
        !self.has_acted && self.work().all(is_a_look)
    }

    /// Returns where named commands are meant to run.
    pub(super) fn place(&self) -> Place<'a> {
        let intents = self.runs.iter().map(|run| run.intent);
        let criteria = self.criteria.iter().map(|criterion| criterion.criterion.as_str());
        Place {
            cwd: &self.surroundings.cwd,
            workspace: &self.surroundings.workspace,
            said: [self.words].into_iter().chain(intents).chain(criteria).collect(),
        }
    }

    /// Returns what the probe `call` found before the work.
    pub(super) fn before(&self, call: &ToolCall) -> Option<&'a ToolRecord> {
        self.baseline.iter().map(Arc::as_ref).find(|record| is_of(record, call))
    }

    /// Returns the calls of the work, oldest first.
    pub(super) fn work(&self) -> impl Iterator<Item = &'a ToolRecord> + use<'a, '_> {
        self.runs.iter().flat_map(|run| run.work())
    }
}

/// Returns all files that a call changed, if they are known.
fn all_changed(call: &ToolRecord) -> Option<Vec<String>> {
    if WRITE_ONE.contains(&call.tool.tool()) {
        return Some(vec![path_of(call)]);
    }
    let changed = call.facts.as_ref()?.0.get("changed")?;
    let paths = changed.get("paths")?.as_array()?;
    let is_all = changed.get("count")?.as_u64() == Some(paths.len() as u64);
    is_all.then(|| paths.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Returns whether all files that a call changed are known, so that what it left alone is, too.
pub(super) fn is_seen(call: &ToolRecord) -> bool {
    let is_of_a_program = command_of(call).is_some() || is_with_shell(call.tool.tool());
    call.side_effect == SideEffect::None || !is_of_a_program || all_changed(call).is_some()
}

/// Returns whether the file changes of a command were observed where the task works.
pub(crate) fn is_measured(call: &ToolRecord) -> bool {
    call.facts.as_ref().is_some_and(|facts| facts.0.get("changed").is_some())
}

/// Returns whether a call concerns a place outside the working directory and the workspace, as far as its text shows.
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
    /// Returns the calls of the work, from all attempts.
    fn work(self) -> impl DoubleEndedIterator<Item = &'a ToolRecord> {
        self.calls.iter().map(Arc::as_ref).filter(|record| record.phase == Phase::Work)
    }

    /// Returns the calls of the last attempt, newest first.
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
