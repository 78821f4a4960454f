//! Properties that hold for any input in any order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use setpoint_protocol::CallId;
use setpoint_protocol::limits::{CALLS_PER_REPLY_MAX, CORRECTIONS_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::message::{
    CorrectionSignal, DispatchManifest, ExecutionResult, ExecutionStatus, OutcomeStatus, SubTask,
    SubTaskOutcome, VerdictWord,
};
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::record::{Answer, ModelFailure, ModelFailureKind};
use setpoint_protocol::tool::{Phase, TASK_CHANGES, ToolAnswer, ToolCall, ToolRecord};
use setpoint_protocol::topology::Payload;
use setpoint_roles::r3_executor::Executor;
use setpoint_roles::r4a_agent_validator::AgentValidator;
use setpoint_roles::r4b_meta_validator::MetaValidator;

use crate::driver::{Driver, Open, says, wants};

/// Maximum runs of one call, approvals included.
const RUNS_PER_CALL_MAX: usize = 4;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r3_keeps_its_limits_and_ends_each_attempt_once(choices in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut choices = choices.into_iter();
        let mut driver = Driver::new(Box::new(Executor::default()), 1);
        let task = subtask(choices.next().unwrap_or(0));
        let has_probe = task.success_criteria.iter().any(|criterion| {
            matches!(criterion.check.as_ref().map(|check| &check.on), Some(CheckOn::Probe(_)))
        });
        driver.send(task);
        let mut is_late = false;
        let mut attempt = 1;
        let mut model_calls = 0;
        let mut runs = 0;
        loop {
            let results = results(&driver);
            prop_assert!(results.len() <= attempt, "an attempt ended twice");
            if results.len() == attempt {
                prop_assert_eq!(results.last().map(|result| result.attempt as usize), Some(attempt));
                let result = results.last().unwrap();
                prop_assert!(has_unique_calls(result));
                let is_measured = result.status != ExecutionStatus::Failed && has_probe;
                let [probes, looks] = measured_after(result);
                prop_assert!(is_late || probes == usize::from(is_measured));
                prop_assert!(looks <= 1, "what changed was looked at {} times", looks);
                if attempt == 4 {
                    break;
                }
                driver.open.retain(|_, open| matches!(open, Open::Timer));
                driver.send(correction(attempt));
                attempt += 1;
                (model_calls, runs) = (0, 0);
                continue;
            }
            let waits: Vec<(CallId, Open)> = driver
                .open
                .iter()
                .filter(|(_, open)| !matches!(open, Open::Timer))
                .map(|(call, open)| (*call, open.clone()))
                .collect();
            prop_assert!(!waits.is_empty(), "nothing is waited for and nothing was said");
            let probes = waits.iter().filter(|(_, open)| matches!(open, Open::Tool { probe: true })).count();
            prop_assert!(waits.len() == probes || waits.len() == 1, "calls run side by side: {waits:?}");
            let choice = choices.next().unwrap_or(251);
            let (call, open) = waits[usize::from(choice) % waits.len()].clone();
            match open {
                Open::Model => {
                    model_calls += 1;
                    runs = 0;
                    prop_assert!(model_calls <= TOOL_ROUNDS_MAX + 2, "{model_calls} model calls");
                }
                Open::Tool { probe: false } => {
                    runs += 1;
                    prop_assert!(runs <= CALLS_PER_REPLY_MAX * RUNS_PER_CALL_MAX, "{runs} runs in a round");
                }
                Open::Tool { probe: true } | Open::Timer | Open::Approval { .. } => {}
            }
            disturb(&mut driver, choice);
            match open {
                Open::Model => driver.answer(call, model_reply(choice, &mut choices)),
                Open::Tool { .. } => driver.answer(call, tool_answer(choice)),
                Open::Approval { digest } => {
                    let word = ["once", "for_task", "never"][usize::from(choice) % 3];
                    let digest = if choice % 7 == 0 { "other" } else { digest.as_str() };
                    driver.open.remove(&call);
                    driver.send(decision(call, word, digest));
                }
                Open::Timer => panic!("timers are not waited for here"),
            }
            if choice == 250
                && let Some(timer) = driver.first_open(|open| matches!(open, Open::Timer))
            {
                driver.answer(timer, Answer::Timer);
                is_late = true;
            }
        }
    }

    #[test]
    fn r4a_says_matched_only_when_every_verdict_passed(choices in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut choices = choices.into_iter();
        let mut driver = Driver::new(Box::new(AgentValidator::default()), 1);
        let rubric = subtask(choices.next().unwrap_or(0));
        driver.send(rubric.clone());
        let mut attempts = 0;
        loop {
            let outcomes: Vec<&SubTaskOutcome> = driver.sent.iter().filter_map(|sent| match sent {
                Payload::SubTaskOutcome(outcome) => Some(outcome),
                _ => None,
            }).collect();
            let corrections = driver.sent.len() - outcomes.len();
            prop_assert!(corrections <= CORRECTIONS_MAX as usize);
            if let Some(outcome) = outcomes.first() {
                prop_assert_eq!(outcomes.len(), 1);
                let all_pass = outcome.criteria_verdicts.iter().all(|verdict| verdict.verdict == VerdictWord::Pass);
                let one_each = outcome.criteria_verdicts.len() == rubric.success_criteria.len();
                let is_met = all_pass && one_each && !rubric.success_criteria.is_empty();
                prop_assert_eq!(outcome.status == OutcomeStatus::Matched, is_met);
                prop_assert_eq!(outcome.gap_trajectory.len(), attempts as usize);
                let before = driver.sent.len();
                driver.send(result(1, 0));
                prop_assert_eq!(driver.sent.len(), before);
                break;
            }
            prop_assert_eq!(corrections, attempts as usize, "the attempt was not answered");
            attempts += 1;
            driver.send(result(attempts, choices.next().unwrap_or(0)));
            let mut model_calls = 0;
            while let Some((call, open)) = driver.open.iter().next().map(|(call, open)| (*call, open.clone())) {
                let choice = choices.next().unwrap_or(3);
                disturb(&mut driver, choice);
                match open {
                    Open::Model => {
                        model_calls += 1;
                        prop_assert!(model_calls <= 3, "judge, repair and classes are three calls");
                        driver.answer(call, judge_reply(choice, &["s1.c1", "s1.c2", "s1.c3"]));
                    }
                    other => prop_assert!(false, "R4a may touch nothing, and asked {other:?}"),
                }
            }
        }
    }

    #[test]
    fn r4b_ends_each_completed_round_once(choices in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut choices = choices.into_iter().chain(std::iter::repeat(5));
        let mut driver = Driver::new(Box::new(MetaValidator::default()), 0);
        for round in 1..=3_u32 {
            let first = driver.sent.len();
            driver.open.clear();
            let manifest = manifest(round, &mut choices);
            driver.send(manifest.clone());
            let mut open: Vec<&str> = manifest.subtasks.iter()
                .filter(|entry| entry.carried.is_none())
                .map(|entry| entry.subtask_id.as_str())
                .collect();
            let all = open.len();
            let is_dropped = choices.next().unwrap_or(0) % 5 == 0;
            for choice in choices.by_ref() {
                if open.is_empty() && driver.open.is_empty() {
                    break;
                }
                disturb(&mut driver, choice);
                if let Some((call, kind)) = driver.open.iter().next().map(|(call, open)| (*call, open.clone())) {
                    let is_baseline = open.len() == all;
                    prop_assert!(open.is_empty() || is_baseline, "it verifies before everything was reported");
                    driver.answer(call, match kind {
                        Open::Model => judge_reply(choice, &["t1", "t2", "t3"]),
                        _ => tool_answer(choice),
                    });
                } else if is_dropped && open.len() < 2 {
                    break;
                } else {
                    let id = open[usize::from(choice) % open.len()];
                    if choice % 9 == 0 {
                        driver.send(outcome("00000000-0000-7000-8000-0000000000ff", choice));
                    }
                    driver.send(outcome(id, choice));
                    open.retain(|other| *other != id);
                    driver.send(outcome(id, choice.wrapping_add(1)));
                }
            }
            let ends = driver.sent.iter().skip(first)
                .filter(|sent| matches!(sent, Payload::OutcomeSummary(_) | Payload::ReplanRequest(_)))
                .count();
            let is_complete = open.is_empty() && driver.open.is_empty();
            prop_assert!(ends == 1 || (ends == 0 && !is_complete), "{ends} ends, complete: {is_complete}");
            for sent in driver.sent.iter().skip(first) {
                if let Payload::OutcomeSummary(summary) = sent {
                    prop_assert!(summary.outcomes.iter().all(|outcome| outcome.status == OutcomeStatus::Matched));
                    prop_assert!(summary.task_criteria_verdicts.iter().all(|verdict| verdict.verdict == VerdictWord::Pass));
                    prop_assert_eq!(summary.task_criteria_verdicts.len(), manifest.task_criteria.len());
                }
            }
        }
    }
}

/// Sends inputs that nothing waits for, which must not change anything.
fn disturb(driver: &mut Driver, choice: u8) {
    if choice.is_multiple_of(11) {
        let stale: CallId = format!("r3.1/{}", 5_000 + u32::from(choice)).parse().unwrap();
        driver.answer(stale, tool_answer(choice));
        driver.answer(stale, says("stale"));
    }
}

fn results(driver: &Driver) -> Vec<ExecutionResult> {
    let result = |sent: &Payload| match sent {
        Payload::ExecutionResult(result) => Some(result.clone()),
        _ => None,
    };
    driver.sent.iter().filter_map(result).collect()
}

/// Returns how many probes of checks were made after the attempt, and how many looks at what changed.
fn measured_after(result: &ExecutionResult) -> [usize; 2] {
    let is_after = |call: &&ToolRecord| call.phase == Phase::After && call.attempt == result.attempt;
    let after = result.tool_calls.iter().map(AsRef::as_ref).filter(is_after);
    let (looks, probes): (Vec<&ToolRecord>, Vec<_>) =
        after.partition(|call| call.tool.tool() == TASK_CHANGES);
    [probes.len(), looks.len()]
}

fn has_unique_calls(result: &ExecutionResult) -> bool {
    let ids: BTreeSet<CallId> = result.tool_calls.iter().map(|call| call.call_id).collect();
    ids.len() == result.tool_calls.len()
}

fn model_reply(choice: u8, choices: &mut impl Iterator<Item = u8>) -> Answer {
    match choice % 16 {
        0 => says(""),
        1 => says(r#"{"status":"completed","output":1}"#),
        2 => Answer::Interrupted,
        3 => failed(),
        4 => says(r#"{"tool":"shell","input":{"command":"make"}}"#),
        _ => wants((0..=choice % 20).map(|_| tool_call(choices.next().unwrap_or(0)))),
    }
}

fn tool_call(choice: u8) -> ToolCall {
    let n = choice / 8;
    let (tool, input) = match choice % 8 {
        0 => ("teleport", json!({"to": n})),
        1 => ("clock", json!({})),
        2 => ("read_file", json!("no object")),
        3 => ("shell", json!({"command": format!("make {}", n % 3)})),
        4 => ("write_file", json!({"path": "a", "text": n})),
        _ => ("read_file", json!({"path": n.to_string()})),
    };
    ToolCall { tool: tool.to_owned(), input: input.into() }
}

fn tool_answer(choice: u8) -> Answer {
    let answer: Value = match choice % 10 {
        0 => return Answer::Interrupted,
        1 => json!({"ok": false, "error_kind": "timeout", "text": "", "duration_ms": 9}),
        2 | 3 => json!({
            "ok": false, "error_kind": "approval_required", "text": "", "duration_ms": 1,
            "approval": {"command": "rm", "reason": "x", "digest": format!("d{}", choice / 10)},
        }),
        4 => json!({"ok": false, "error_kind": "exit", "exit_code": 1, "text": "no", "duration_ms": 1}),
        _ => json!({"ok": true, "text": format!("{choice}"), "exit_code": 0, "duration_ms": 1}),
    };
    Answer::Tool(Box::new(serde_json::from_value::<ToolAnswer>(answer).unwrap()))
}

fn judge_reply(choice: u8, ids: &[&str]) -> Answer {
    let verdict =
        |word: &str, id: &str, cite: &str| json!({"criterion_id": id, "verdict": word, "cites": [cite]});
    let verdicts: Vec<Value> = match choice % 8 {
        0 => return Answer::Interrupted,
        1 => return failed(),
        2 => return says("no verdicts at all"),
        3 => ids.iter().map(|id| verdict("pass", id, "r3.1/1")).collect(),
        4 => ids.iter().map(|id| verdict("fail", id, "output")).collect(),
        5 => ids.iter().map(|id| verdict("pass", id, "output")).collect(),
        6 => ids.iter().take(1).map(|id| verdict("pass", id, "r3.1/99")).collect(),
        _ => ids.iter().chain(ids).chain(["s9.c9"].iter()).map(|id| verdict("pass", id, "r3.1/1")).collect(),
    };
    says(&json!({"verdicts": verdicts, "output_of": [choice / 8]}).to_string())
}

fn failed() -> Answer {
    let kind = ModelFailureKind::Unavailable;
    Answer::ModelFailed(ModelFailure { kind, reason: "503".to_owned(), hints: Vec::new() })
}

fn criteria(prefix: &str, choice: u8) -> Value {
    let criterion = |n: u8, check: Value| json!({"id": format!("{prefix}{n}"), "criterion": format!("c{n}"), "mode": "plausible", "check": check});
    let probe =
        json!({"on": {"probe": {"tool": "read_file", "input": {"path": "a"}}}, "expect": {"contains": "1"}});
    let mut all = vec![criterion(1, Value::Null)];
    if choice & 1 != 0 {
        all.push(criterion(2, probe));
    }
    if choice & 2 != 0 {
        all.push(criterion(3, json!({"on": "output", "expect": {"contains": "1"}})));
    }
    if choice & 4 != 0 {
        all.push(criterion(4, json!({"on": {"call": {"tool": "shell"}}, "expect": {"exit_code": 0}})));
    }
    if choice & 8 != 0 {
        all.remove(0);
    }
    Value::Array(all)
}

fn subtask(choice: u8) -> SubTask {
    serde_json::from_value(json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "intent": "work", "context": "", "sequence": 1,
        "success_criteria": criteria("s1.c", choice), "fingerprint": "f",
        "deadline": if choice & 16 != 0 { Some("2026-01-02T03:05:05Z") } else { None },
    }))
    .unwrap()
}

fn correction(attempt: usize) -> CorrectionSignal {
    serde_json::from_value(json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "attempt_number": attempt, "failed_criterion": "c",
        "what_was_wrong": "w", "what_to_do": "d", "failed_criteria": [],
    }))
    .unwrap()
}

fn decision(call: CallId, word: &str, digest: &str) -> setpoint_protocol::message::ApprovalDecision {
    serde_json::from_value(json!({"call_id": call, "decision": word, "digest": digest, "by": "test"}))
        .unwrap()
}

fn result(attempt: u32, choice: u8) -> ExecutionResult {
    let record = json!({
        "call_id": "r3.1/1", "attempt": attempt, "phase": "work", "tool": "shell/make", "input": {}, "target": "make",
        "ok": choice & 1 == 0, "error_kind": if choice & 1 == 0 { None } else { Some("consent") },
        "exit_code": 0, "evidence": "e", "duration_ms": 1,
    });
    let probe = json!({
        "call_id": "r3.1/2", "attempt": attempt, "phase": "after", "tool": "read_file", "input": {"path": "a"},
        "target": "/ws/a", "ok": choice & 8 == 0, "evidence": format!("{choice}"), "duration_ms": 1,
    });
    let mut records = Vec::new();
    if choice & 2 == 0 {
        records.push(record);
    }
    if choice & 4 == 0 {
        records.push(probe);
    }
    serde_json::from_value(json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "attempt": attempt,
        "status": if choice % 5 == 4 { "failed" } else { "completed" }, "output": "1",
        "tool_calls": records,
    }))
    .unwrap()
}

fn outcome(id: &str, choice: u8) -> SubTaskOutcome {
    let is_failed = choice.is_multiple_of(6);
    serde_json::from_value(json!({
        "subtask_id": id, "success_criteria": [], "status": if is_failed { "failed" } else { "matched" },
        "output": choice, "criteria_verdicts": [], "gap_trajectory": [], "fingerprint": "f",
        "failure_reason": if is_failed { Some("x") } else { None },
        "tool_calls": [{
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "shell/make", "input": {}, "target": "make",
            "ok": true, "exit_code": 0, "evidence": "e", "duration_ms": 1,
        }],
    }))
    .unwrap()
}

fn manifest(round: u32, choices: &mut impl Iterator<Item = u8>) -> DispatchManifest {
    let mut next = || choices.next().unwrap_or(0);
    let count = next() % 5;
    let entries: Vec<Value> = (0..count)
        .map(|n| {
            let id = format!("00000000-0000-7000-8000-00000000{round:02}{n:02}");
            let carried = (next() % 5 == 0).then(|| outcome(&id, 1));
            json!({
                "subtask_id": id, "sequence": next() % 3, "intent": format!("part {n}"), "success_criteria": [],
                "carried": carried,
            })
        })
        .collect();
    let task_criteria = if next() % 4 == 0 { json!([]) } else { criteria("t", next()) };
    serde_json::from_value(json!({
        "round": round, "plan_fingerprint": "p", "subtasks": entries, "task_criteria": task_criteria,
        "dispatched_at": "2026-01-02T03:04:05Z",
    }))
    .unwrap()
}
