//! Which outputs are at fault when the whole was rejected although every sub-task matched.

use std::collections::BTreeSet;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{Cite, FailureClass, SubTaskOutcome, Verdict, VerdictWord};
use setpoint_protocol::tool::{Phase, SideEffect, ToolRecord};

use super::round::Round;
use crate::evidence::Probes;

/// Returns the sub-tasks that the model names (indexes from 0), and those that the evidence of a failed verdict
/// points to: it cites calls of only one, or a probe of what only one has written. An environmental failure is
/// attributed to none.
pub(super) fn of(round: &Round, verdicts: &[Verdict], named: &[usize], probes: &Probes) -> Vec<SubTaskId> {
    let outcomes: Vec<&SubTaskOutcome> = round.matched().into_iter().map(|(_, outcome)| outcome).collect();
    let failed = verdicts.iter().filter(|verdict| {
        verdict.verdict == VerdictWord::Fail && verdict.failure_class != Some(FailureClass::Environmental)
    });
    let mut at_fault: BTreeSet<usize> = BTreeSet::new();
    for verdict in failed {
        at_fault.extend(named);
        let owners: BTreeSet<usize> =
            verdict.cites.iter().flat_map(|cite| owners(cite, &outcomes, probes)).collect();
        if owners.len() == 1 {
            at_fault.extend(owners);
        }
    }
    at_fault.iter().filter_map(|at| Some(outcomes.get(*at)?.subtask_id.clone())).collect()
}

/// Returns the indexes of the sub-tasks that made a cited call or wrote what it looks at; a single sub-task made the
/// output.
fn owners(cite: &Cite, outcomes: &[&SubTaskOutcome], probes: &Probes) -> Vec<usize> {
    let Some(call) = cite.call() else {
        return if outcomes.len() == 1 { vec![0] } else { Vec::new() };
    };
    let probe = probes.records().find(|record| record.call_id == call);
    let has_written = |record: &ToolRecord, target: &str| {
        record.ok && record.side_effect != SideEffect::None && is_about(&record.target, target)
    };
    let is_owner = |outcome: &&SubTaskOutcome| {
        let mut work = outcome.tool_calls.iter().filter(|record| record.phase == Phase::Work);
        match probe {
            Some(probe) => work.any(|record| has_written(record, &probe.target)),
            None => outcome.tool_calls.iter().any(|record| record.call_id == call),
        }
    };
    (0..).zip(outcomes).filter(|(_, outcome)| is_owner(outcome)).map(|(at, _)| at).collect()
}

/// Returns whether an action concerned what a probe looks at: options may follow the path.
fn is_about(deed: &str, probe: &str) -> bool {
    let path = |target: &str| target.split(' ').next().unwrap_or_default().to_owned();
    path(deed).starts_with('/') && path(deed) == path(probe)
}
