//! R7: text scripts, the published vectors as real messages, and properties that hold for any sequence of inputs.

// Marked as tests so that the lints know the helpers in it for test code.
#[cfg(test)]
mod r7_support;

use r7_support::driver::{Driver, directive, result};
use r7_support::in_a_cell::Task;
use r7_support::{conformance, properties, script, short};
use serde_json::{Value, json};
use setpoint_machine::effects::Effect;
use setpoint_protocol::message::ReplanRequest;
use setpoint_protocol::topology::{Kind, Payload};

#[test]
fn scripts() {
    script::check_all("r7");
}

#[test]
fn the_role_gives_the_results_of_every_vector() {
    conformance::check();
}

#[test]
fn any_inputs_end_once_and_answer_every_round_once() {
    properties::check();
}

#[test]
fn matched_outcomes_are_carried_unchanged() {
    let body = replan(json!({ "outcomes": ["failed 1 E !fetch:u", "matched 2 .. glob:*.go"] }));
    let request: ReplanRequest = serde_json::from_value(body.clone()).unwrap();
    let directive = directive(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    assert_eq!(directive.matched, [request.outcomes[1].clone()]);
}

#[test]
fn every_verdict_of_the_last_round_is_in_the_result() {
    let body =
        replan(json!({ "outcomes": ["matched 1 ..", "matched 2 ."], "task_criteria_verdicts": "...L" }));
    let request: ReplanRequest = serde_json::from_value(body.clone()).unwrap();
    let result = result(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    // The task's own criteria and the sub-tasks' are reported separately.
    let of_subtasks = request.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts);
    let expected: Vec<_> = of_subtasks.cloned().collect();
    assert_eq!(Some(result.verdicts), request.task_criteria_verdicts);
    assert_eq!(result.subtask_verdicts, expected);
}

#[test]
fn findings_and_quotes_are_bounded() {
    let mut outcome = json!({ "of": format!("failed 1 {}", "L".repeat(100)) });
    let reason = "日本語".repeat(10_000);
    let body = replan(json!({ "outcomes": [outcome.clone()] }));
    let wide = directive(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    assert_eq!(wide.findings.len(), 64);
    assert!(wide.rationale.ends_with("36 more findings are left out."), "{}", wide.rationale);

    outcome["of"] = json!("failed 1 -");
    outcome["failure_reason"] = json!(reason);
    let body = replan(json!({ "outcomes": [outcome] }));
    let long = directive(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    let evidence = &long.findings[0].evidence;
    assert!(evidence.chars().count() == 600 && evidence.ends_with('…'), "{evidence}");
}

#[test]
fn the_list_of_exemptions_is_bounded() {
    let calls: Vec<String> = (1..=11).map(|n| format!("!read_file:/secret/{n}")).collect();
    let body = replan(json!({ "outcomes": [format!("failed 1 E {} !fetch:https://x", calls.join(" "))] }));
    let directive = directive(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    assert_eq!(directive.blocked_targets, ["fetch: https://x"]);
    let named = directive.rationale.split_once(" Not blocked: ").unwrap().1;
    assert_eq!(named.matches(" (it only read), ").count(), 8);
    assert!(named.ends_with(", and 3 more."), "{named}");
    assert!(!directive.rationale.contains("secret"), "a target may hold anything: {named}");
}

#[test]
fn outcomes_beyond_every_limit_measure_nothing_and_end_nothing() {
    let outcomes: Vec<String> = (1..=1_025).map(|n| format!("failed {n} L")).collect();
    let body = replan(json!({ "outcomes": outcomes }));
    let directive = directive(Driver::new(&json!({})).message(Kind::ReplanRequest, &body));
    assert_eq!((directive.loss.d, directive.loss.p), (1.0, 0.5));
    assert!(directive.rationale.contains("at most 1024 are allowed"), "{}", directive.rationale);

    let outcomes: Vec<String> = (1..=1_025).map(|n| format!("matched {n} .")).collect();
    let body = short::expand("OutcomeSummary", json!({ "outcomes": outcomes }));
    let result = result(Driver::new(&json!({})).message(Kind::OutcomeSummary, &body));
    assert_eq!(result.ended_by.name(), "criteria_met");
}

#[test]
fn ids_of_megrams_differ_and_are_derived() {
    let body = replan(json!({ "outcomes": ["failed 1 E !fetch:u !fetch:v", "matched 2 . glob:g"] }));
    let ids = || {
        let effects = Driver::new(&json!({})).message(Kind::ReplanRequest, &body);
        let megrams = effects.iter().filter_map(|effect| match effect {
            Effect::Send { payload: Payload::Megram(megram), .. } => Some(megram.id.to_string()),
            _ => None,
        });
        megrams.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ids().len(), 3);
    assert_eq!(ids(), ids());
}

#[test]
fn a_cell_decides_on_a_fault_after_all_answers() {
    let mut task = Task::start();
    let fault = json!({ "reason": "the journal diverges", "retryable": true });
    assert_eq!(task.fault(fault), "TaskFault Quiesced AbandonNotice Asked");
    assert!(!task.is_closed());
    assert_eq!(task.wait(), "Answered FinalResult");
    assert!(task.is_closed() && task.timer.is_none());
    task.replay();
}

#[test]
fn a_cell_ends_a_cancelled_task_in_the_same_step() {
    let mut task = Task::start();
    assert_eq!(task.say(Kind::CancelRequest, "{}"), "CancelRequest Quiesced FinalResult");
    assert!(task.is_closed());
    task.replay();
}

#[test]
fn a_cell_stops_the_timer_when_a_second_fault_ends_the_wait() {
    let mut task = Task::start();
    task.fault(json!({ "kind": "budget" }));
    assert!(task.timer.is_some());
    assert_eq!(task.fault(json!({ "kind": "deadline" })), "TaskFault Quiesced FinalResult");
    assert!(task.is_closed() && task.timer.is_none());
    task.replay();
}

fn replan(message: Value) -> Value {
    short::expand("ReplanRequest", message)
}
