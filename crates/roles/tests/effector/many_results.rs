//! Ten thousand results in one task, each of maximum length: no question and no message grows with their number.

use serde_json::{Value, json};
use setpoint_protocol::limits::{
    BODY_BYTES_MAX, CALLS_PER_REPLY_MAX, EVIDENCE_CHARS_MAX, SUBTASKS_MAX, TOOL_ROUNDS_MAX,
};
use setpoint_protocol::message::{
    CorrectionSignal, DispatchManifest, ExecutionResult, SubTask, SubTaskOutcome,
};
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::{ToolAnswer, ToolCall};
use setpoint_protocol::topology::Payload;
use setpoint_roles::r3_executor::Executor;
use setpoint_roles::r4a_agent_validator::AgentValidator;
use setpoint_roles::r4b_meta_validator::MetaValidator;

use crate::driver::{Driver, Open, says, wants};

/// Maximum characters of a question of R3: its conversation and its first part.
const CONVERSATION_CHARS_MAX: usize = 280_000;
/// Maximum characters of a question of R4a, all fragments together.
const QUESTION_CHARS_MAX: usize = 130_000;
/// Maximum characters of a question of R4b, which sees all sub-tasks.
const MERGE_CHARS_MAX: usize = 200_000;
/// Maximum bytes of a message with all calls of a sub-task: their bodies are cut, and one line of each is kept.
const RESULT_BYTES_MAX: usize = 1024 * 1024;

#[test]
fn questions_of_r3_and_r4a_stay_bounded() {
    let mut driver = Driver::new(Box::new(Executor::default()), 1);
    driver.send(subtask());
    let mut calls = 0;
    for attempt in 1..=3 {
        for _ in 0..TOOL_ROUNDS_MAX {
            let round = (0..CALLS_PER_REPLY_MAX).map(|n| ToolCall {
                tool: "read_file".to_owned(),
                input: json!({ "path": format!("{}/{attempt}/{}", "folder".repeat(20), calls + n) }).into(),
            });
            answer(&mut driver, wants(round.collect::<Vec<_>>()));
            for _ in 0..CALLS_PER_REPLY_MAX {
                calls += 1;
                answer(&mut driver, came_back(calls));
            }
        }
        answer(&mut driver, says("All read."));
        assert_eq!(results(&driver).len(), attempt);
        driver.send(correction(attempt));
    }
    assert_eq!(calls, 3 * TOOL_ROUNDS_MAX as usize * CALLS_PER_REPLY_MAX);
    for prompt in &driver.prompts {
        let length = prompt.chars().count();
        assert!(length <= CONVERSATION_CHARS_MAX, "{length}");
    }
    for result in results(&driver) {
        let bytes = serde_json::to_vec(result).unwrap().len();
        assert!(bytes <= RESULT_BYTES_MAX, "{bytes}");
    }

    let mut judge = Driver::new(Box::new(AgentValidator::default()), 1);
    judge.send(subtask());
    judge.send(ExecutionResult { attempt: 1, ..results(&driver).last().copied().unwrap().clone() });
    let length = judge.prompts.last().unwrap().chars().count();
    assert!((1_000..=QUESTION_CHARS_MAX).contains(&length), "{length}");
}

#[test]
fn questions_of_r4b_stay_bounded() {
    let mut driver = Driver::new(Box::new(MetaValidator::default()), 0);
    let entries: Vec<Value> = (0..SUBTASKS_MAX)
        .map(|n| json!({ "subtask_id": id(n), "sequence": 1, "intent": format!("part {n}"), "success_criteria": [] }))
        .collect();
    let manifest: DispatchManifest = serde_json::from_value(json!({
        "round": 1, "plan_fingerprint": "p", "subtasks": entries, "dispatched_at": "2026-01-02T03:04:05Z",
        "task_criteria": [{ "id": "t1", "criterion": "the whole is whole", "mode": "verifiable" }],
    }))
    .unwrap();
    driver.send(manifest);
    let per_subtask = 10_000_usize.div_ceil(SUBTASKS_MAX);
    for n in 0..SUBTASKS_MAX {
        driver.send(outcome(n, per_subtask));
    }
    let prompt = driver.prompts.last().unwrap();
    let length = prompt.chars().count();
    assert!((10_000..=MERGE_CHARS_MAX).contains(&length), "{length}");
    for place in 1..=SUBTASKS_MAX {
        assert!(prompt.contains(&format!("piece {place}: ")), "sub-task {place} is not shown");
    }
    answer(
        &mut driver,
        says(
            r#"{"verdicts":[{"criterion_id":"t1","verdict":"fail","evidence":"no","cites":["output"],"failure_class":"logical"}]}"#,
        ),
    );
    let Some(Payload::ReplanRequest(request)) = driver.sent.last() else {
        panic!("{:?}", driver.sent.last())
    };
    let bytes = serde_json::to_vec(request).unwrap().len();
    assert!(bytes <= BODY_BYTES_MAX, "{bytes}");
}

fn answer(driver: &mut Driver, answer: Answer) {
    let call = driver.first_open(|open| !matches!(open, Open::Timer)).expect("nothing is waited for");
    driver.answer(call, answer);
}

/// Returns an answer longer than a record may be.
fn came_back(n: usize) -> Answer {
    let text = format!("result {n} {}", "line of it\n".repeat(EVIDENCE_CHARS_MAX / 8));
    Answer::Tool(Box::new(ToolAnswer { ok: true, text, ..ToolAnswer::default() }))
}

fn results(driver: &Driver) -> Vec<&ExecutionResult> {
    let mut results = Vec::new();
    for sent in &driver.sent {
        if let Payload::ExecutionResult(result) = sent {
            results.push(result);
        }
    }
    results
}

fn id(n: usize) -> String {
    format!("00000000-0000-7000-8000-{n:012}")
}

fn subtask() -> SubTask {
    serde_json::from_value(json!({
        "subtask_id": id(1), "intent": "read all of it", "context": "", "sequence": 1, "fingerprint": "f",
        "success_criteria": [{ "id": "s1.c1", "criterion": "all of it was read", "mode": "verifiable" }],
    }))
    .unwrap()
}

fn correction(attempt: usize) -> CorrectionSignal {
    serde_json::from_value(json!({
        "subtask_id": id(1), "attempt_number": attempt, "failed_criterion": "c", "failed_criteria": ["s1.c1"],
        "what_was_wrong": "w".repeat(10_000), "what_to_do": "d".repeat(10_000),
    }))
    .unwrap()
}

fn outcome(n: usize, calls: usize) -> SubTaskOutcome {
    let record = |call: usize| {
        json!({
            "call_id": format!("r3.{}/{}", n + 1, call + 1), "attempt": 1, "phase": "work", "tool": "read_file",
            "input": { "path": format!("{}/{call}", "folder".repeat(20)) }, "target": "t", "ok": true,
            "evidence": "line of it\n".repeat(80), "duration_ms": 1,
        })
    };
    serde_json::from_value(json!({
        "subtask_id": id(n), "success_criteria": [], "status": "matched", "output": "o".repeat(50_000),
        "criteria_verdicts": [], "gap_trajectory": [], "fingerprint": "f",
        "tool_calls": (0..calls).map(record).collect::<Vec<_>>(),
    }))
    .unwrap()
}
