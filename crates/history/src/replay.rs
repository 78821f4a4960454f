//! Replays a task: runs its machines over its recorded inputs and compares everything with the record.

use std::sync::Arc;

use setpoint_machine::cell::{ReplayedStep, Strictness};
use setpoint_machine::{Cell, Factory, WorldEffect, gate};
use setpoint_protocol::TaskId;
use setpoint_protocol::gate::Rule;
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Record, RecordKind};
use setpoint_protocol::replay::{DivergencePlace, ReplayReport};

use crate::records::strictness_of;
use crate::{History, HistoryError, fragments};

impl History {
    /// Runs a task's machines again over its recorded inputs and compares their outputs and requested effects with
    /// the recorded ones. Nothing is asked and nothing is started.
    ///
    /// # Errors
    /// Fails for an unknown or damaged task. A divergence is not an error but a result.
    pub fn replay(&self, task: &TaskId) -> Result<ReplayReport, HistoryError> {
        let records = self.records(task)?;
        let report = replay(task, &records, Arc::clone(&self.factory));
        Ok(ReplayReport { fragments_missing: fragments::missing_of(&self.journal, &records)?, ..report })
    }
}

/// Replays records that are already loaded.
pub(crate) fn replay(task: &TaskId, records: &[Record], factory: Arc<dyn Factory>) -> ReplayReport {
    let (logic_version, strictness) = strictness_of(records);
    let is_exact = strictness == Strictness::Exact;
    let mut report = ReplayReport {
        task_id: task.clone(),
        records: records.len() as u64,
        replayed: 0,
        steps: 0,
        asks: 0,
        rules: 0,
        fragments_missing: 0,
        is_exact,
        logic_version,
        is_closed: false,
        divergence: None,
    };
    let mut astray = None;
    let mut cell = Cell::new(task.clone(), factory);
    let replayed = cell.replay_steps(records, strictness, &mut |step| {
        if astray.is_some() {
            return;
        }
        if is_exact && let Err(place) = effects_are_recorded(&step) {
            astray = Some(place);
            return;
        }
        report.steps += 1;
        report.replayed += step.records.len() as u64;
        report.asks += step.effects.iter().filter(|effect| begins(effect)).count() as u64;
        report.is_closed = step.closed;
    });
    let diverged = replayed.err().map(|found| DivergencePlace { seq: found.seq, reason: found.reason });
    // The requested effects come before later outputs, so their divergence is reported first.
    report.divergence = astray.or(diverged);
    match decided_again(records) {
        Ok(count) => report.rules = count,
        Err(place) => {
            let is_first = report.divergence.as_ref().is_none_or(|other| place.seq < other.seq);
            report.divergence = if is_first { Some(place) } else { report.divergence };
        }
    }
    report
}

/// Decides again by the recorded facts about each call that needed consent. Returns how many there are, or the first that
/// the rules decide otherwise. Questions from before facts were recorded are left out.
fn decided_again(records: &[Record]) -> Result<u64, DivergencePlace> {
    let mut count = 0;
    for record in records.iter().filter(|record| record.kind == RecordKind::Answered) {
        let Ok(answered) = serde_json::from_slice::<Answered>(&record.body) else { continue };
        let Answer::Tool(answer) = answered.answer else { continue };
        let Some(need) = answer.approval else { continue };
        let (Some(rule), Some(facts)) = (need.rule, need.facts) else { continue };
        let again = gate::decide(&facts).rule();
        if again != Some(rule) {
            let again = again.map_or("let it through", Rule::name);
            let reason = format!(
                "by the recorded facts about {}, the gate's rule is not `{rule}`, as recorded, but: {again}",
                answered.call
            );
            return Err(DivergencePlace { seq: record.seq, reason });
        }
        count += 1;
    }
    Ok(count)
}

/// Returns whether this starts something in the world, rather than stopping it.
fn begins(effect: &WorldEffect) -> bool {
    !matches!(effect, WorldEffect::Stop { .. })
}

/// Checks that every effect of a step matches its records, and that every record of an ask has its effect.
fn effects_are_recorded(step: &ReplayedStep<'_>) -> Result<(), DivergencePlace> {
    let asked: Vec<(u64, Asked)> = step
        .records
        .iter()
        .filter(|record| record.kind == RecordKind::Asked)
        .filter_map(|record| Some((record.seq, serde_json::from_slice(&record.body).ok()?)))
        .collect();
    let first = step.records.first().map_or(0, |record| record.seq);
    for effect in step.effects.iter().filter(|effect| begins(effect)) {
        let is_recorded = match effect {
            WorldEffect::Party { payload, .. } => {
                let body = payload.encode().unwrap_or_default();
                let kind = RecordKind::Message(payload.kind());
                step.records.iter().any(|record| record.kind == kind && record.body == body)
            }
            other => asked.iter().any(|(_, asked)| is_asked(other, asked)),
        };
        if !is_recorded {
            let reason =
                format!("the machines start {}, which no record of its step asks for", effect.call());
            return Err(DivergencePlace { seq: first, reason });
        }
    }
    let is_started = |asked: &Asked| step.effects.iter().any(|effect| is_asked(effect, asked));
    match asked.iter().find(|(_, asked)| !is_started(asked)) {
        None => Ok(()),
        Some((seq, asked)) => {
            let reason = format!("the machines do not start {}, which is recorded here", asked.call);
            Err(DivergencePlace { seq: *seq, reason })
        }
    }
}

/// Returns whether the effect is what the record asks for.
fn is_asked(effect: &WorldEffect, asked: &Asked) -> bool {
    if begins(effect) && effect.call() != asked.call {
        return false;
    }
    match (effect, &asked.ask) {
        (WorldEffect::Model { ask, fragments, .. }, Ask::Model { purpose, fragments: recorded, after }) => {
            let before = after.map_or(0, |start| start.count as usize);
            ask.purpose() == *purpose
                && fragments.len() == before + recorded.len()
                && fragments.ends_with(recorded)
        }
        (WorldEffect::Tool { ask, effect, .. }, Ask::Tool { call, phase, effect: recorded, grant }) => {
            ask.call == *call && ask.phase == *phase && effect == recorded && ask.grant == *grant
        }
        (WorldEffect::Timer { .. }, Ask::Timer { .. }) => true,
        (WorldEffect::Survey { ask, .. }, Ask::Survey(recorded)) => ask == recorded,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use setpoint_protocol::record::Purpose;
    use setpoint_protocol::{Address, CallId, RoleId, Timestamp};

    use super::*;

    fn call(n: u32) -> CallId {
        CallId { role: RoleId::Planner, instance: setpoint_protocol::Instance(0), n }
    }

    fn asked(seq: u64, n: u32, ask: Ask) -> Record {
        Record {
            seq,
            at: Timestamp::default(),
            clock_ms: 0,
            from: Address::singleton(RoleId::Planner),
            to: vec![],
            kind: RecordKind::Asked,
            cause: None,
            body: serde_json::to_vec(&Asked { call: call(n), attempt: 1, ask }).unwrap(),
        }
    }

    fn place(records: &[Record], effects: &[WorldEffect]) -> Option<(u64, String)> {
        let step = ReplayedStep { records, effects, closed: false };
        effects_are_recorded(&step).err().map(|place| (place.seq, place.reason))
    }

    #[test]
    fn a_rule_that_does_not_follow_from_its_facts_is_found() {
        let fetch = json!({ "level": "l1", "cwd": "/w", "cause": { "connects": { "host": "a.example" } } });
        let need = |extra: serde_json::Value| {
            let mut need = json!({ "command": "GET http://a.example/", "reason": "why", "digest": "d" });
            need.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let tool = json!({ "ok": false, "text": "", "duration_ms": 1, "approval": need });
            let body = json!({ "call": call(1), "attempt": 1, "answer": { "tool": tool } });
            let kind = RecordKind::Answered;
            Record { kind, body: serde_json::to_vec(&body).unwrap(), ..asked(7, 1, Ask::Timer { ms: 1 }) }
        };
        let right = need(json!({ "rule": "network", "facts": fetch }));
        let old = need(json!({}));
        assert_eq!(decided_again(&[right.clone(), old.clone(), right.clone()]), Ok(2));
        let wrong = need(json!({ "rule": "caution", "facts": fetch }));
        let place = decided_again(&[right, old, wrong]).unwrap_err();
        assert_eq!(place.seq, 7);
        assert!(place.reason.contains("r2/1") && place.reason.ends_with("but: network"), "{}", place.reason);
        // A recorded grant would have let it through.
        let granted = json!({ "level": "l1", "cwd": "/w", "grant": "covers" });
        let place = decided_again(&[need(json!({ "rule": "caution", "facts": granted }))]).unwrap_err();
        assert!(place.reason.ends_with("but: let it through"), "{}", place.reason);
    }

    #[test]
    fn started_effects_match_recorded_asks() {
        let timer = |n| WorldEffect::Timer { call: call(n), due_clock_ms: 7 };
        let records = [asked(4, 1, Ask::Timer { ms: 7 }), asked(5, 2, Ask::Timer { ms: 7 })];
        assert_eq!(place(&records, &[timer(1), timer(2), WorldEffect::Stop { call: call(9) }]), None);
        let missing = "the machines do not start r2/2, which is recorded here".to_owned();
        assert_eq!(place(&records, &[timer(1)]), Some((5, missing)));
        let unasked = "the machines start r2/3, which no record of its step asks for".to_owned();
        assert_eq!(place(&records, &[timer(1), timer(2), timer(3)]), Some((4, unasked)));
        // The same ask, but of another kind.
        let model = [asked(4, 1, Ask::Model { purpose: Purpose::Plan, fragments: vec![], after: None })];
        assert!(place(&model, &[timer(1)]).is_some());
    }
}
