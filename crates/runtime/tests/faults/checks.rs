//! Properties of every task, whatever its models do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use setpoint_model_server::question::Site;
use setpoint_protocol::message::{EndState, EndedBy, FinalResult, PartialReport, TaskSpec};
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Reasked, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{CallId, RoleId};

use crate::organisation::{CANARY, GOAL};
use crate::world::{BUDGET, KEY, Outcome, Scenario};

/// Twice the time budget, after which the watchdog ends a task.
const DEADLINE: Duration = BUDGET.saturating_mul(2);
/// Maximum characters of a fault's reason in a line.
const REASON_CHARS_MAX: usize = 90;

/// Checks all properties, and returns the outcome of the task in a line.
pub(crate) fn check(scenario: &Scenario, outcome: &Outcome) -> String {
    let Outcome { records, seen, panics, is_driven, .. } = outcome;
    let about = format!("{scenario:?}");
    let result = only_result(records, &about);
    assert_eq!(*panics, 0, "{about}: somebody panicked");
    assert!(!is_driven, "{about}: it is still driven");
    assert_eq!(open_calls(records), 0, "{about}: a question is open");
    let spec = records.iter().find(|record| record.kind == RecordKind::Message(Kind::TaskSpec));
    let from = spec.map_or(0, |record| record.clock_ms);
    let end = records.last().map_or(0, |record| record.clock_ms);
    let took = Duration::from_millis(end - from);
    assert!(took <= DEADLINE + Duration::from_secs(1), "{about}: it took {took:?}");
    // Time that R1 needs before there is a `TaskSpec` counts, too.
    assert!(outcome.took <= DEADLINE + Duration::from_secs(1), "{about}: it took {:?} in all", outcome.took);

    if scenario.is_possible() {
        assert!(outcome.struck + outcome.astray > 0, "{about}: nothing went wrong");
    }
    let calls = result.usage.calls;
    assert!(calls <= scenario.calls_max(), "{about}: {calls} calls");
    assert_eq!(calls, model_attempts(records), "{about}: not all attempts are counted");
    let sent = seen.len() + outcome.astray;
    let lost = unsent(records);
    assert!(sent as u64 <= calls, "{about}: {sent} requests and {calls} calls");
    assert!(sent as u64 + lost >= calls, "{about}: {sent} requests and {calls} calls, {lost} not sent");
    for seen in seen {
        assert!(seen.problems.is_empty(), "{about}: {:?}", seen.problems);
        assert!(Site::of(seen).is_some(), "{about}: nobody's question");
    }
    nothing_is_told(&result, records, &about);
    if !scenario.is_once {
        the_failure_is_told(&result, records, &about);
    }
    said(scenario, &result, records)
}

/// Returns the only result, and checks that it is the last record.
fn only_result(records: &[Record], about: &str) -> FinalResult {
    let is_result = |record: &&Record| record.kind == RecordKind::Message(Kind::FinalResult);
    assert_eq!(records.iter().filter(is_result).count(), 1, "{about}");
    let last =
        records.last().filter(is_result).unwrap_or_else(|| panic!("{about}: it goes on after its end"));
    serde_json::from_slice(&last.body).unwrap()
}

/// Counts questions to models and tool calls without an answer.
fn open_calls(records: &[Record]) -> usize {
    let mut open: BTreeMap<CallId, ()> = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Asked => {
                let asked: Asked = serde_json::from_slice(&record.body).unwrap();
                if !matches!(asked.ask, Ask::Timer { .. }) {
                    open.insert(asked.call, ());
                }
            }
            RecordKind::Answered => {
                let answered: Answered = serde_json::from_slice(&record.body).unwrap();
                open.remove(&answered.call);
            }
            _ => {}
        }
    }
    open.len()
}

/// Counts attempts of questions to models, except those stopped before they began.
fn model_attempts(records: &[Record]) -> u64 {
    let mut attempts: BTreeMap<CallId, u32> = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Asked => {
                let asked: Asked = serde_json::from_slice(&record.body).unwrap();
                if matches!(asked.ask, Ask::Model { .. }) {
                    attempts.insert(asked.call, 1);
                }
            }
            RecordKind::Reasked => {
                let reasked: Reasked = serde_json::from_slice(&record.body).unwrap();
                attempts.insert(reasked.call, reasked.attempt);
            }
            RecordKind::Answered => {
                let answered: Answered = serde_json::from_slice(&record.body).unwrap();
                if let Some(attempt) = attempts.get_mut(&answered.call) {
                    assert!(answered.attempt <= *attempt, "{answered:?}");
                    *attempt = answered.attempt;
                }
            }
            _ => {}
        }
    }
    attempts.into_values().map(u64::from).sum()
}

/// Counts attempts that no server can have received: stopped before they were sent, or sent to a closed port.
fn unsent(records: &[Record]) -> u64 {
    let mut unsent = 0;
    for record in records {
        match record.kind {
            RecordKind::Answered => {
                let answered: Answered = serde_json::from_slice(&record.body).unwrap();
                let is_refused = matches!(&answered.answer, Answer::ModelFailed(failure)
                    if failure.reason.starts_with("could not connect"));
                unsent += u64::from(is_refused || answered.answer == Answer::Interrupted);
            }
            RecordKind::Reasked => {
                let reasked: Reasked = serde_json::from_slice(&record.body).unwrap();
                unsent += u64::from(reasked.reason.starts_with("could not connect"));
            }
            _ => {}
        }
    }
    unsent
}

/// Checks that no key is recorded, and that no text of a model reaches the result's account of its calls.
fn nothing_is_told(result: &FinalResult, records: &[Record], about: &str) {
    for record in records {
        let body = String::from_utf8_lossy(&record.body);
        assert!(!body.contains(KEY), "{about}: the key stands in {}: {body}", record.kind);
    }
    let verdicts: Vec<&str> = result.verdicts.iter().map(|verdict| verdict.evidence.as_str()).collect();
    let told = [&[result.summary.as_str()], verdicts.as_slice()].concat();
    let told =
        told.into_iter().chain(result.next_moves.iter().chain(&result.unmet_criteria).map(String::as_str));
    for text in told {
        assert!(!text.contains(CANARY), "{about}: {text}");
    }
}

/// Checks that a result other than accept says why models failed to execute or judge.
fn the_failure_is_told(result: &FinalResult, records: &[Record], about: &str) {
    let plans = records.iter().rposition(|record| record.kind == RecordKind::Message(Kind::DispatchManifest));
    let answered = records.iter().skip(plans.unwrap_or(records.len()));
    let answered = answered.filter(|record| record.kind == RecordKind::Answered);
    let mut failed = answered.filter_map(|record| {
        let answered: Answered = serde_json::from_slice(&record.body).unwrap();
        match (answered.call.role, answered.answer) {
            (RoleId::Planner, _) => None,
            (_, Answer::ModelFailed(failure)) => Some(clip(&failure.reason, REASON_CHARS_MAX)),
            _ => None,
        }
    });
    if let Some(reason) = failed.next()
        && result.directive != EndState::Accept
    {
        let reason = reason.trim_end_matches('…');
        assert!(result.summary.contains(reason), "{about}: {reason} is not in {}", result.summary);
        assert!(!result.next_moves.is_empty(), "{about}");
    }
}

/// Returns the outcome of the task in a line.
fn said(scenario: &Scenario, result: &FinalResult, records: &[Record]) -> String {
    let end = match result.directive {
        EndState::Accept => "accept",
        EndState::Success => "success",
        EndState::Abandon => "abandon",
    };
    if scenario.meets_everybody() && result.ended_by != EndedBy::Fault {
        // With two sub-tasks under way it is chance which one meets the fault, and what it costs.
        return end.to_owned();
    }
    let mut line = format!("{end} by {}", result.ended_by.name());
    // The progress of the other sub-tasks at the end is chance.
    let is_sudden = matches!(result.ended_by, EndedBy::Budget | EndedBy::Deadline);
    if result.replans > 0 && !is_sudden {
        line.push_str(&format!(" after {} replans", result.replans));
    }
    let spec = records.iter().find(|record| record.kind == RecordKind::Message(Kind::TaskSpec));
    if let Some(spec) = spec {
        let spec: TaskSpec = serde_json::from_slice(&spec.body).unwrap();
        if spec.intent != GOAL {
            line.push_str(&format!(", intent {:?}", spec.intent));
        }
    }
    match result.ended_by {
        _ if is_sudden => {}
        EndedBy::Fault => {
            let said = |mark: &str| result.summary.split_once(mark).map(|(_, reason)| reason);
            let reason = said("Reason: ").or_else(|| said("Not started: ")).unwrap_or_default();
            line.push_str(&format!(": {}", clip(reason, REASON_CHARS_MAX)));
        }
        _ => line.push_str(&format!(", {} calls", result.usage.calls)),
    }
    if is_report_said(records) {
        line.push_str(", with the model's report");
    }
    line
}

/// Lists when each question was asked, retried and answered, to find out why a scenario ended as it did.
pub(crate) fn story(records: &[Record]) -> String {
    let mut story = String::new();
    for record in records {
        let what = match record.kind {
            RecordKind::Asked => {
                let asked: Asked = serde_json::from_slice(&record.body).unwrap();
                match asked.ask {
                    Ask::Model { purpose, .. } => format!("{} asks: {}", asked.call, purpose.name()),
                    _ => continue,
                }
            }
            RecordKind::Reasked => {
                let Reasked { call, attempt, reason, .. } = serde_json::from_slice(&record.body).unwrap();
                format!("{call} attempt {attempt}: {reason}")
            }
            RecordKind::Answered => {
                let answered: Answered = serde_json::from_slice(&record.body).unwrap();
                match answered.answer {
                    Answer::ModelFailed(failure) => format!("{} failed: {}", answered.call, failure.reason),
                    _ => format!("{} answered", answered.call),
                }
            }
            RecordKind::Message(kind) => kind.name().to_owned(),
            _ => continue,
        };
        writeln!(story, "{:>8} ms {what}", record.clock_ms).unwrap();
    }
    story
}

/// Returns whether a model wrote the report of an abandoned task.
fn is_report_said(records: &[Record]) -> bool {
    let said = records.iter().filter(|record| record.kind == RecordKind::Message(Kind::PartialReport));
    said.map(|record| serde_json::from_slice::<PartialReport>(&record.body).unwrap())
        .any(|report| report.achieved.starts_with("Every shelf"))
}
