//! Attempts with an unusual end: failed and asked again, never asked, answered late, never answered.

use serde_json::{Value, json};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, Instance, RoleId, TaskId, Timestamp};
use setpoint_telemetry::attribute::{self as names, Attribute};
use setpoint_telemetry::measure::Instrument;
use setpoint_telemetry::span::Span;
use setpoint_telemetry::task::{Content, RecordTelemetry, TaskTrace};

/// Traces records of one role and its validator, a millisecond apart.
fn told(steps: &[(RecordKind, Value)]) -> RecordTelemetry {
    let effector = |role| Address::effector(role, Instance(1));
    let mut trace = TaskTrace::new(TaskId::mint("attempts", 1), Content::Omitted);
    let mut all = RecordTelemetry::default();
    for ((kind, body), seq) in steps.iter().zip(1..) {
        let (from, to) = match kind {
            RecordKind::Message(Kind::SubTaskOutcome) => {
                (effector(RoleId::AgentValidator), Address::singleton(RoleId::MetaValidator))
            }
            RecordKind::Message(_) => {
                (Address::singleton(RoleId::Perceiver), Address::singleton(RoleId::User))
            }
            RecordKind::Answered | RecordKind::Reasked => {
                (Address::singleton(RoleId::Runtime), effector(RoleId::Executor))
            }
            _ => (effector(RoleId::Executor), Address::singleton(RoleId::Runtime)),
        };
        let at = Timestamp::from_micros(seq * 1_000);
        let seq = seq.unsigned_abs();
        let body = serde_json::to_vec(body).unwrap();
        let record = Record { seq, at, clock_ms: 0, from, to: vec![to], kind: *kind, cause: None, body };
        let RecordTelemetry { spans, measures } = trace.observe(&record);
        all.spans.extend(spans);
        all.measures.extend(measures);
    }
    assert!(trace.is_ended());
    all
}

fn asked() -> (RecordKind, Value) {
    let ask = json!({ "model": { "purpose": "execute", "fragments": [] } });
    (RecordKind::Asked, json!({ "call": "r3.1/1", "attempt": 1, "ask": ask }))
}

fn answered(attempt: u32) -> (RecordKind, Value) {
    let answer = json!({ "model": { "parts": [], "usage": { "tokens_in": 7, "tokens_out": 3 } } });
    (RecordKind::Answered, json!({ "call": "r3.1/1", "attempt": attempt, "answer": answer }))
}

fn end() -> (RecordKind, Value) {
    (RecordKind::Message(Kind::DirectAnswer), json!({ "text": "hello" }))
}

fn chats(told: &RecordTelemetry) -> Vec<&Span> {
    told.spans.iter().filter(|span| span.name.starts_with("chat")).collect()
}

fn has(span: &Span, attribute: Attribute) -> bool {
    span.attributes.contains(&attribute)
}

#[test]
fn each_attempt_is_a_span_with_its_usage() {
    let reasked = json!({ "call": "r3.1/1", "attempt": 2, "reason": "busy", "spent": { "tokens_in": 5, "tokens_out": 1 } });
    let told = told(&[asked(), (RecordKind::Reasked, reasked), answered(2), end()]);
    let chats = chats(&told);
    assert_eq!(chats.len(), 2);
    for (span, attempt, tokens, error) in [(chats[0], 1_u32, 5_u64, Some("_OTHER")), (chats[1], 2, 7, None)] {
        assert!(
            has(span, (names::ATTEMPT, attempt.into())) && has(span, (names::INPUT_TOKENS, tokens.into()))
        );
        assert_eq!(span.error.as_deref(), error);
        assert_eq!(span.parent, chats[0].parent);
    }
    assert_eq!(chats[0].end, chats[1].start);
    let tokens = told.measures.iter().filter(|one| one.instrument == Instrument::Tokens);
    assert_eq!(tokens.map(|one| one.value).sum::<f64>(), 5.0 + 1.0 + 7.0 + 3.0);
}

#[test]
fn call_stopped_before_it_was_asked_is_not_an_attempt() {
    let told = told(&[
        asked(),
        (RecordKind::Answered, json!({ "call": "r3.1/1", "attempt": 0, "answer": "interrupted" })),
        end(),
    ]);
    assert_eq!((chats(&told).len(), told.measures.len()), (0, 0));
}

#[test]
fn unanswered_call_ends_with_its_task() {
    let told = told(&[asked(), end()]);
    let chats = chats(&told);
    assert_eq!((chats.len(), chats[0].error.as_deref()), (1, Some("interrupted")));
    assert_eq!(chats[0].end, Timestamp::from_micros(2_000));
}

/// An effector is dropped with its outcome; a later answer to its ask begins no activity.
#[test]
fn late_answer_begins_no_new_activity() {
    let outcome = json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "success_criteria": [], "status": "failed",
        "output": null, "criteria_verdicts": [], "gap_trajectory": [], "tool_calls": [], "fingerprint": "f",
    });
    let told = told(&[asked(), (RecordKind::Message(Kind::SubTaskOutcome), outcome), answered(1), end()]);
    assert_eq!(chats(&told).len(), 1);
    let lives = told.spans.iter().filter(|span| span.name == "invoke_agent executor");
    assert_eq!(lives.count(), 1);
}

/// A task took over its first three records: an ask in them is exported from the record that asks it again.
#[test]
fn attempt_before_a_fork_is_not_exported_again() {
    let mut opened = crate::seeds::tasks()[0].records[0].body.clone();
    let from = br#"{"forked_from":{"task":"count-0000000000000001","seq":3},"#;
    opened.splice(..1, from.iter().copied());
    let opened = (RecordKind::Opened, serde_json::from_slice(&opened).unwrap());
    let reasked = || {
        (RecordKind::Reasked, json!({ "call": "r3.1/1", "attempt": 2, "reason": "the task was forked here" }))
    };
    let nothing = || (RecordKind::Quiesced, json!({}));
    let forked = told(&[opened.clone(), asked(), nothing(), reasked(), answered(2), end()]);
    let again = chats(&forked);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].start, Timestamp::from_micros(4_000));
    assert!(has(again[0], (names::ATTEMPT, 2_u32.into())));
    let tokens = forked.measures.iter().filter(|one| one.instrument == Instrument::Tokens);
    assert_eq!(tokens.map(|one| one.value).sum::<f64>(), 7.0 + 3.0);
    // Answered in the taken-over part, and never asked again: neither belongs to this task.
    let before = told(&[opened.clone(), asked(), answered(1), end()]);
    assert_eq!((chats(&before).len(), before.measures.len()), (0, 0));
    let stopped = told(&[opened, asked(), nothing(), end()]);
    assert_eq!((chats(&stopped).len(), stopped.measures.len()), (0, 0));
}
