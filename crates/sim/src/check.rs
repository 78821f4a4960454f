//! Invariants of every run, whatever the model, the tools, the person and the power supply did.

use std::collections::BTreeSet;

use setpoint_protocol::RoleId;
use setpoint_protocol::message::EndState;
use setpoint_protocol::message::VerdictWord;
use setpoint_protocol::record::{Answered, RecordKind};
use setpoint_protocol::topology::{Kind, Payload, allows};

use crate::world::{Run, Scenario};

/// Returns the first invariant that a run violated.
///
/// # Errors
/// The invariant, in words, with the place.
pub fn check(run: &Run, scenario: &Scenario) -> Result<(), String> {
    if let Some(broken) = &run.broken {
        return Err(broken.clone());
    }
    ends_in_one_final_result(run)?;
    streams_are_gapless_and_routed(run)?;
    rounds_are_bounded(run, scenario)?;
    results_are_honest(run)?;
    nothing_is_repeated(run)?;
    budgets_hold(run, scenario)
}

fn ends_in_one_final_result(run: &Run) -> Result<(), String> {
    let finals = run.records.iter().filter(|r| r.kind == RecordKind::Message(Kind::FinalResult)).count();
    let last = run.records.last().map(|r| r.kind);
    if finals != 1 || last != Some(RecordKind::Message(Kind::FinalResult)) || !run.closed {
        return Err(format!("{finals} FinalResults, the last record is {last:?}, closed: {}", run.closed));
    }
    Ok(())
}

fn streams_are_gapless_and_routed(run: &Run) -> Result<(), String> {
    for (n, record) in run.records.iter().enumerate() {
        if record.seq != n as u64 + 1 {
            return Err(format!("record {} stands at place {}", record.seq, n + 1));
        }
        if let RecordKind::Message(kind) = record.kind {
            for to in &record.to {
                if !allows(record.from.role, to.role, kind) {
                    return Err(format!(
                        "record {}: no route lets {} send {kind} to {to}",
                        record.seq, record.from
                    ));
                }
            }
        }
        if record.cause.is_some_and(|cause| cause >= record.seq) {
            return Err(format!("record {} is caused by a later one", record.seq));
        }
    }
    Ok(())
}

fn rounds_are_bounded(run: &Run, scenario: &Scenario) -> Result<(), String> {
    let directives = messages(run).filter(|payload| matches!(payload, Payload::PlanDirective(_))).count();
    let max = usize::try_from(scenario.controller.max_replans).unwrap_or(usize::MAX);
    if directives > max {
        return Err(format!("{directives} directives with {max} replans allowed"));
    }
    for payload in messages(run) {
        if let Payload::PlanDirective(directive) = payload {
            let loss = directive.loss;
            for (name, value) in [("D", loss.d), ("P", loss.p), ("Omega", loss.omega)] {
                if !(0.0..=1.0).contains(&value) {
                    return Err(format!("{name} is {value}"));
                }
            }
        }
    }
    Ok(())
}

fn results_are_honest(run: &Run) -> Result<(), String> {
    for payload in messages(run) {
        let Payload::FinalResult(result) = payload else { continue };
        let failed = result.verdicts.iter().any(|verdict| verdict.verdict == VerdictWord::Fail);
        if result.directive == EndState::Accept && (failed || !result.unmet_criteria.is_empty()) {
            return Err("an accept with an unmet criterion".to_owned());
        }
        if result.directive != EndState::Accept && result.accountable.is_none() {
            return Err("nobody is accountable for a result that is no accept".to_owned());
        }
        if result.directive == EndState::Success && !result.unproven && result.unmet_criteria.is_empty() {
            return Err("accepted with gaps that have no name".to_owned());
        }
    }
    Ok(())
}

fn nothing_is_repeated(run: &Run) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for call in &run.unsafe_started {
        if !seen.insert(*call) {
            return Err(format!("the call {call} with side effects was started twice"));
        }
    }
    let mut sent = BTreeSet::new();
    for ask in &run.sent {
        if !sent.insert(*ask) {
            return Err(format!("attempt {} of {} was sent twice", ask.1, ask.0));
        }
    }
    let mut answered = BTreeSet::new();
    for record in run.records.iter().filter(|r| r.kind == RecordKind::Answered) {
        let body: Answered = serde_json::from_slice(&record.body).map_err(|error| error.to_string())?;
        if !answered.insert(body.call) {
            return Err(format!("{} was answered twice", body.call));
        }
    }
    Ok(())
}

fn budgets_hold(run: &Run, scenario: &Scenario) -> Result<(), String> {
    let calls =
        run.records.iter().filter(|r| r.kind == RecordKind::Asked && asks_a_model(&r.body)).count() as u64;
    match scenario.budgets.calls {
        Some(max) if calls > max => Err(format!("{calls} model calls with a budget of {max}")),
        _ => Ok(()),
    }
}

fn asks_a_model(body: &[u8]) -> bool {
    serde_json::from_slice::<setpoint_protocol::record::Asked>(body)
        .is_ok_and(|asked| matches!(asked.ask, setpoint_protocol::record::Ask::Model { .. }))
}

fn messages(run: &Run) -> impl Iterator<Item = Payload> {
    run.records
        .iter()
        .filter(|record| record.from.role != RoleId::Operator)
        .filter_map(|record| record.message())
}
