//! Properties of every trace, whatever happened to its task.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::expect_file;
use setpoint_protocol::record::{Ask, Asked, ForkedFrom, Opened, Reasked, Record, RecordKind};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{RoleId, TaskId, Timestamp};
use setpoint_telemetry::attribute::{self as names, Value};
use setpoint_telemetry::measure::{Instrument, Measure};
use setpoint_telemetry::span::{Span, SpanId, TraceId};
use setpoint_telemetry::task::{Content, EVENTS_MAX, RecordTelemetry, TaskTrace};

use crate::seeds::{Task, tasks};

fn trace(task: &TaskId, records: &[Record], content: Content) -> (Vec<Span>, Vec<Measure>) {
    let mut trace = TaskTrace::new(task.clone(), content);
    let (mut spans, mut measures) = (Vec::new(), Vec::new());
    for record in records {
        let RecordTelemetry { spans: ended, measures: measured } = trace.observe(record);
        spans.extend(ended);
        measures.extend(measured);
    }
    assert!(trace.is_ended());
    (spans, measures)
}

#[test]
fn every_task_is_one_tree_with_the_times_of_its_records() {
    for Task { seed, id, records } in tasks() {
        let (spans, _) = trace(id, records, Content::Omitted);
        let by_id: BTreeMap<SpanId, &Span> = spans.iter().map(|span| (span.id, span)).collect();
        assert_eq!(by_id.len(), spans.len(), "{seed}: an id is there twice");
        let root = spans.last().unwrap();
        assert_eq!((root.parent, root.trace), (None, TraceId::of(id)), "{seed}: the task's own comes last");
        assert_eq!((root.start, root.end), (records[0].at, records.last().unwrap().at), "{seed}");
        for span in spans.iter().filter(|span| span.id != root.id) {
            let parent = by_id[&span.parent.unwrap_or_else(|| panic!("{seed}: {span:?}"))];
            assert!(span.start <= span.end && parent.start <= span.start, "{seed}: {span:?}");
            assert!(span.events.len() <= EVENTS_MAX, "{seed}");
        }
    }
}

/// A fork exports only its own records: its tree begins with the first of them.
#[test]
fn fork_exports_nothing_of_the_records_taken_over() {
    const LATER_US: i64 = 3_600_000_000;
    let mut told_before = 0;
    for Task { seed, id, records } in tasks() {
        let taken_over = records.len() * (1 + usize::try_from(*seed % 3).unwrap()) / 4;
        let mut records = records.clone();
        let mut opened: Opened = serde_json::from_slice(&records[0].body).unwrap();
        opened.forked_from =
            Some(ForkedFrom { task: id.clone(), seq: taken_over as u64, models: None, earlier: Vec::new() });
        records[0].body = serde_json::to_vec(&opened).unwrap();
        for record in records.iter_mut().skip(taken_over) {
            record.at = Timestamp::from_micros(record.at.as_micros() + LATER_US);
        }
        let (spans, measures) = trace(id, &records, Content::Exported);
        let begun = records[taken_over].at;
        let root = spans.last().unwrap();
        assert_eq!((root.parent, root.start, root.end), (None, begun, records.last().unwrap().at), "{seed}");
        let ids: BTreeSet<SpanId> = spans.iter().map(|span| span.id).collect();
        for span in &spans {
            assert!(span.start >= begun && span.end >= span.start, "{seed}: {span:?}");
            assert!(span.events.iter().all(|event| event.at >= begun), "{seed}: {span:?}");
            assert!(span.parent.is_none_or(|parent| ids.contains(&parent)), "{seed}: {span:?}");
        }
        let seconds = measures.iter().filter(|one| one.instrument.unit() == "s");
        assert!(seconds.clone().all(|one| one.value < LATER_US as f64 / 1e6), "{seed}");
        let took = seconds.filter(|one| one.instrument == Instrument::TaskSeconds).map(|one| one.value);
        assert_eq!(took.collect::<Vec<_>>(), [root.end.millis_since(begun) as f64 / 1e3], "{seed}");
        told_before +=
            trace(id, &tasks()[usize::try_from(*seed).unwrap()].records, Content::Exported).0.len()
                - spans.len();
    }
    assert!(told_before > tasks().len());
}

/// One span per attempt, one event per verdict and per decided round: none is exported twice, none is missing.
#[test]
fn attempts_verdicts_and_rounds_are_complete() {
    for Task { seed, id, records } in tasks() {
        let (spans, _) = trace(id, records, Content::Omitted);
        let named = |name: &str| spans.iter().filter(|span| span.name.starts_with(name)).count();
        let of_models = |ask: &Ask| matches!(ask, Ask::Model { .. });
        let asked = asks(records, of_models);
        let tools = asks(records, |ask| matches!(ask, Ask::Tool { .. }));
        assert_eq!((named("chat "), named("execute_tool ")), (asked, tools), "{seed}");
        let mut expected =
            BTreeMap::from([(names::EVALUATION_RESULT, 0), (names::ROUND, 0), (names::CORRECTION, 0)]);
        for payload in records.iter().filter_map(Record::message) {
            let (name, count) = match payload {
                Payload::SubTaskOutcome(outcome) => {
                    (names::EVALUATION_RESULT, outcome.criteria_verdicts.len())
                }
                Payload::OutcomeSummary(one) => (names::EVALUATION_RESULT, one.task_criteria_verdicts.len()),
                Payload::ReplanRequest(one) => (
                    names::EVALUATION_RESULT,
                    one.task_criteria_verdicts.map_or(0, |verdicts| verdicts.len()),
                ),
                Payload::PlanDirective(_) | Payload::FinalResult(_) => (names::ROUND, 1),
                Payload::CorrectionSignal(_) => (names::CORRECTION, 1),
                _ => continue,
            };
            *expected.entry(name).or_default() += count;
        }
        for (name, count) in expected {
            let found = spans.iter().flat_map(|span| &span.events).filter(|event| event.name == name).count();
            assert_eq!(found, count, "{seed}: {name}");
        }
    }
}

/// Counts the attempts that were made. A call stopped before it was asked (attempt 0) does not count.
fn asks(records: &[Record], wanted: impl Fn(&Ask) -> bool) -> usize {
    let mut attempts = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Asked => {
                let asked: Asked = serde_json::from_slice(&record.body).unwrap();
                if wanted(&asked.ask) {
                    attempts.insert(asked.call, 1);
                }
            }
            RecordKind::Reasked => {
                let reasked: Reasked = serde_json::from_slice(&record.body).unwrap();
                attempts.entry(reasked.call).and_modify(|count| *count += 1);
            }
            RecordKind::Answered => {
                let answered: setpoint_protocol::record::Answered =
                    serde_json::from_slice(&record.body).unwrap();
                if answered.attempt == 0 {
                    attempts.remove(&answered.call);
                }
            }
            _ => {}
        }
    }
    attempts.values().sum()
}

#[test]
fn tokens_of_a_trace_equal_those_of_the_result() {
    let mut counted = 0;
    for Task { seed, id, records } in tasks() {
        let (_, measures) = trace(id, records, Content::Omitted);
        let of = |kind: &str| -> f64 {
            let of_kind = |measure: &&Measure| measure.attributes.contains(&(names::TOKEN_TYPE, kind.into()));
            measures
                .iter()
                .filter(|one| one.instrument == Instrument::Tokens)
                .filter(of_kind)
                .map(|one| one.value)
                .sum()
        };
        let Some(Payload::FinalResult(result)) = records.last().and_then(Record::message) else {
            panic!("{seed}")
        };
        assert_eq!(
            (of("input"), of("output")),
            (result.usage.tokens_in as f64, result.usage.tokens_out as f64),
            "{seed}"
        );
        counted += result.usage.tokens_in;
        let ends = measures.iter().filter(|one| one.instrument == Instrument::Tasks).count();
        assert_eq!(ends, 1, "{seed}");
    }
    assert!(counted > 0);
}

/// The same records give the same spans, and a repeated record gives nothing.
#[test]
fn trace_depends_only_on_the_records() {
    for Task { seed, id, records } in tasks() {
        let once = trace(id, records, Content::Omitted);
        let twice: Vec<Record> = records.iter().flat_map(|record| [record.clone(), record.clone()]).collect();
        assert_eq!(trace(id, &twice, Content::Omitted), once, "{seed}");
    }
}

/// With unreadable bodies or missing records, a trace has less detail, but is still a tree that ends.
#[test]
fn damaged_records_still_give_a_tree() {
    for Task { seed, id, records } in tasks() {
        let last = records.len() - 1;
        let damaged = records.iter().enumerate().filter_map(|(n, record)| {
            let mut record = record.clone();
            match (n as u64 + *seed) % 5 {
                _ if n == last => {}
                0 => return None,
                1 => record.body = b"{\"call\":[]}".to_vec(),
                2 => record.body.truncate(record.body.len() / 2),
                _ => {}
            }
            Some(record)
        });
        let (spans, _) = trace(id, &damaged.collect::<Vec<_>>(), Content::Exported);
        let ids: BTreeMap<SpanId, usize> = spans.iter().map(|span| (span.id, 1)).collect();
        assert_eq!(ids.len(), spans.len(), "{seed}");
        assert!(
            spans.iter().all(|span| span.parent.is_none_or(|parent| ids.contains_key(&parent))),
            "{seed}"
        );
        assert_eq!(spans.iter().filter(|span| span.parent.is_none()).count(), 1, "{seed}");
    }
}

/// Shows the whole trace of a task with a replan, a correction and a retry.
#[test]
fn whole_trace_of_a_task() {
    let has = |records: &[Record], kind| records.iter().any(|record| record.kind == kind);
    let wanted = tasks().iter().find(|task| {
        has(&task.records, RecordKind::Message(Kind::PlanDirective))
            && has(&task.records, RecordKind::Message(Kind::CorrectionSignal))
            && task.records.len() < 140
    });
    let Task { id, records, .. } = wanted.unwrap();
    let (spans, measures) = trace(id, records, Content::Omitted);
    let mut shown = String::new();
    branch(&mut shown, &spans, None, 0);
    let of_task = |one: &Measure| one.instrument.name().starts_with("setpoint.");
    for Measure { instrument, value, attributes } in measures.into_iter().filter(of_task) {
        writeln!(
            shown,
            "{} {value:.3} {}{}",
            instrument.name(),
            instrument.unit(),
            attributes_of(&attributes)
        )
        .unwrap();
    }
    expect_file!["trace.txt"].assert_eq(&shown);
}

fn branch(shown: &mut String, spans: &[Span], parent: Option<SpanId>, depth: usize) {
    let mut children: Vec<&Span> = spans.iter().filter(|span| span.parent == parent).collect();
    children.sort_by_key(|span| (span.start, span.id));
    for span in children {
        let indent = "  ".repeat(depth);
        let took = span.end.millis_since(span.start);
        let error = span.error.as_ref().map(|error| format!(" !{error}")).unwrap_or_default();
        writeln!(shown, "{indent}{}{error} {took} ms{}", span.name, attributes_of(&span.attributes)).unwrap();
        for event in &span.events {
            writeln!(shown, "{indent}  * {}{}", event.name, attributes_of(&event.attributes)).unwrap();
        }
        branch(shown, spans, Some(span.id), depth + 1);
    }
}

fn attributes_of(attributes: &[names::Attribute]) -> String {
    let text = |value: &Value| match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:.3}"),
        Value::Text(value) => value.clone(),
        Value::Texts(values) => values.join("+"),
    };
    let short = |name: &'static str| name.trim_start_matches("gen_ai.").trim_start_matches("setpoint.");
    attributes.iter().map(|(name, value)| format!(" {}={}", short(name), text(value))).collect()
}

/// A trace holds no text of a person, a model or a tool unless that was requested, and never a prompt.
#[test]
fn content_is_exported_only_on_request() {
    let said = |content| -> usize {
        let mut found = 0;
        for Task { id, records, .. } in tasks() {
            let (spans, _) = trace(id, records, content);
            let all = format!("{spans:?}");
            found += usize::from(all.contains("count every thing") || all.contains("count-every-thing"));
            for name in
                [names::GOAL, names::OUTPUT_MESSAGES, names::TOOL_CALL_RESULT, names::EVALUATION_EXPLANATION]
            {
                found += usize::from(all.contains(&format!("\"{name}\"")));
            }
        }
        found
    };
    assert_eq!(said(Content::Omitted), 0);
    assert!(said(Content::Exported) > 2 * tasks().len());
}

/// Every role that takes part has an activity under its own name.
#[test]
fn every_role_of_the_loop_is_an_agent_span() {
    let is_measured = |one: &Record| one.kind == RecordKind::Message(Kind::OutcomeSummary);
    let Task { id, records, .. } = tasks().iter().find(|task| task.records.iter().any(is_measured)).unwrap();
    let (spans, _) = trace(id, records, Content::Omitted);
    for role in RoleId::ALL.into_iter().filter(|role| role.lives_in_cell()) {
        let is_there = spans.iter().any(|span| {
            span.name == format!("invoke_agent {role}")
                && span.attributes.contains(&(names::AGENT_NAME, role.name().into()))
                && span.attributes.contains(&(names::ROLE, role.label().into()))
        });
        assert!(is_there, "{role}");
    }
}
