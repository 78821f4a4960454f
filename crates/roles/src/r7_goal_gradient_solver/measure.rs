//! Converts messages to the controller's measurement.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_control::Measurement;
use setpoint_control::measurement::{
    Call, CallEnd, Criterion, Event, Merge, Outcome, TOOLS_PER_CALL_MAX, Verdict as Judged,
};
use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{SubTaskOutcome, TaskFault, Verdict};
use setpoint_protocol::tool::{ErrorKind, Phase, ToolRecord};

use super::course::Course;
use super::round::{OverallJudgement, Round, has_failed};

/// Measures a round that R4b reported.
pub(super) fn of_round(round: &Round, course: &Course) -> Measurement {
    let outcomes = round.outcomes.iter().map(|outcome| of_outcome(outcome, course)).collect();
    let event = match &round.whole {
        OverallJudgement::Accepted(_) => Event::Accepted { outcomes, unproven: round.is_unproven() },
        OverallJudgement::Rejected(verdicts) => {
            Event::Rejected { outcomes, merge: Merge::Rejected(of_verdicts(verdicts)) }
        }
        OverallJudgement::Unjudged => Event::Rejected { outcomes, merge: Merge::Unjudged },
        OverallJudgement::Missing => Event::Rejected { outcomes, merge: Merge::NotReached },
    };
    Measurement { elapsed_ms: millis(round.elapsed_ms), event }
}

/// Measures a round whose outcomes are unusable: as accepted if R4b accepted it, otherwise as one that measured
/// nothing.
pub(super) fn of_unusable(round: &Round) -> Measurement {
    let event = match &round.whole {
        OverallJudgement::Accepted(_) => {
            Event::Accepted { outcomes: Vec::new(), unproven: round.is_unproven() }
        }
        OverallJudgement::Rejected(_) | OverallJudgement::Unjudged | OverallJudgement::Missing => {
            Event::Rejected { outcomes: Vec::new(), merge: Merge::Unjudged }
        }
    };
    Measurement { elapsed_ms: millis(round.elapsed_ms), event }
}

/// Measures a fault. Before there is a `TaskSpec` another round could do nothing.
pub(super) fn of_fault(fault: &TaskFault, has_spec: bool) -> Measurement {
    let event = Event::Fault { kind: fault.kind, retryable: fault.retryable && has_spec };
    Measurement { elapsed_ms: millis(fault.elapsed_ms), event }
}

/// Measures a cancel after `elapsed_ms` milliseconds.
pub(super) fn of_cancel(elapsed_ms: u64) -> Measurement {
    Measurement { elapsed_ms: millis(elapsed_ms), event: Event::Cancelled }
}

fn of_outcome(outcome: &SubTaskOutcome, course: &Course) -> Outcome {
    let own: BTreeSet<&CriterionId> =
        outcome.success_criteria.iter().map(|criterion| &criterion.id).collect();
    // A pass on a criterion that the sub-task does not have proves nothing; a fail on one is still counted.
    let counts =
        |verdict: &&Verdict| has_failed(verdict) || own.is_empty() || own.contains(&verdict.criterion_id);
    let criteria = of_verdicts(outcome.criteria_verdicts.iter().filter(counts));
    let judged: BTreeSet<&str> = criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    let unjudged = own.iter().filter(|id| !judged.contains(id.as_str())).count();
    Outcome {
        status: outcome.status,
        unjudged: u32::try_from(unjudged).unwrap_or(u32::MAX),
        gap_trajectory: outcome
            .gap_trajectory
            .iter()
            .map(|point| point.failed_criteria.iter().map(|one| one.criterion_id.to_string()).collect())
            .collect(),
        calls: outcome.tool_calls.iter().filter_map(|call| of_call(call)).collect(),
        carried: course.is_carried(outcome),
        outage: outcome.outage,
        criteria,
    }
}

/// Returns one criterion per id: if an id is judged twice, a fail outweighs a pass.
fn of_verdicts<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Vec<Criterion> {
    let mut criteria: Vec<Criterion> = Vec::new();
    let mut places: BTreeMap<&CriterionId, usize> = BTreeMap::new();
    for verdict in verdicts {
        let judged = match has_failed(verdict) {
            true => Judged::Fail(verdict.failure_class),
            false => Judged::Pass,
        };
        let place = *places.entry(&verdict.criterion_id).or_insert(criteria.len());
        match criteria.get_mut(place) {
            Some(known) if known.verdict == Judged::Pass && judged != Judged::Pass => known.verdict = judged,
            Some(_) => {}
            None => criteria.push(Criterion {
                id: verdict.criterion_id.to_string(),
                mode: verdict.mode,
                verdict: judged,
                vacuous: verdict.vacuous,
            }),
        }
    }
    criteria
}

/// Converts a call of the work. Failing probes are not counted as failures of the work, but a refusal of consent
/// always counts.
fn of_call(record: &ToolRecord) -> Option<Call> {
    let is_refused = record.error_kind == Some(ErrorKind::Consent);
    if record.phase != Phase::Work && !is_refused {
        return None;
    }
    let end = match (is_refused, record.ok) {
        (true, _) => CallEnd::Refused,
        (false, true) => CallEnd::Ok,
        (false, false) => CallEnd::Failed,
    };
    let tools = record.tool_ids().take(TOOLS_PER_CALL_MAX).map(ToString::to_string).collect();
    Some(Call { tools, target: record.target.clone(), end })
}

/// Converts milliseconds to f64: exact up to 2^53, and finite beyond.
fn millis(elapsed_ms: u64) -> f64 {
    elapsed_ms as f64
}
