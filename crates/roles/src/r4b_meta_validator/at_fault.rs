//! Whose output is at fault where the whole was rejected although every sub-task matched.

use std::collections::BTreeSet;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{Cite, FailureClass, SubTaskOutcome, Verdict, VerdictWord};
use setpoint_protocol::tool::{Phase, SideEffect, ToolRecord};

use super::round::Round;
use crate::evidence::Probes;

/// The sub-tasks that the model names, by place from 0, and those to which the evidence of a failed verdict points: it cites the
/// calls of one alone, or a probe of what one alone has written. Nobody is at fault for what the surroundings refused.
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

/// The places of those who made a cited call, or wrote what it looks at; the only one made the output.
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

/// Whether a deed was done to what a probe looks at: options may follow the path.
fn is_about(deed: &str, probe: &str) -> bool {
    let path = |target: &str| target.split(' ').next().unwrap_or_default().to_owned();
    path(deed).starts_with('/') && path(deed) == path(probe)
}
