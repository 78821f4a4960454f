//! Lines in, lines out.

use std::io::{BufReader, Read as _};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use setpoint_protocol::envelope::{Columns, Envelope};

use super::*;

#[test]
fn a_round_is_answered_with_lessons_and_a_directive() {
    check(
        r#"{"kind":"ReplanRequest","task_id":"t","slug":"count_go_files","payload":{"elapsed_ms":2000,"outcomes":[
            {"subtask_id":"find","status":"failed","criteria_verdicts":[{"criterion":"it is there","verdict":"fail","failure_class":"environmental"}],
             "tool_calls":[{"tool":"fetch","target":"https://a"}]},
            {"subtask_id":"look","status":"matched","success_criteria":["it is seen"],"criteria_verdicts":[{"criterion":"it is seen","verdict":"pass"}]}]}}"#,
        &expect![[r#"
            t Megram M tool:fetch path:https://a
            t Megram K task:t subtask:look
            t PlanDirective change_path D 0.5 tools [] targets ["fetch: https://a"] failed ["find"] matched ["look"]
            lines 1 directives 1 results 0 skipped 0 errors 0 open 1
        "#]],
    );
}

#[test]
fn every_form_of_a_line_means_the_same() {
    let payload = json!({ "round": 1, "elapsed_ms": 1, "outcomes": [{ "status": "failed" }] });
    let mut beside = payload.clone();
    beside["kind"] = json!("ReplanRequest");
    beside["task_id"] = json!("t");
    let mut inside = payload.clone();
    inside["task_id"] = json!("t");
    let task = "t".parse().unwrap();
    let at = setpoint_protocol::Timestamp::from_micros(0);
    let columns = Columns {
        task: &task,
        seq: 9,
        at,
        from: "meta_validator",
        to: "goal_gradient_solver",
        kind: "ReplanRequest",
        cause: None,
        opened_at: at,
        slug: None,
    };
    let envelope = Envelope::new(columns, Any(payload.clone()));
    let lines = [
        json!({ "kind": "ReplanRequest", "task_id": "t", "payload": payload }),
        json!({ "kind": "ReplanRequest", "payload": inside }),
        beside,
        json!(envelope),
        envelope.to_cloud_event().0,
    ];
    let written = lines.map(|line| run_text(&line.to_string()));
    assert!(written[0].0.contains("\"directive\":\"change_path\""), "{}", written[0].0);
    assert!(written.iter().all(|one| *one == written[0]), "{written:#?}");
}

#[test]
fn a_complete_message_is_used_unchanged() {
    let full = json!({
        "round": 1, "gap_summary": "", "failed_subtasks": ["00000000-0000-7000-8000-000000000001"],
        "correction_count": 0, "elapsed_ms": 5000, "partial_output": null, "plan_fingerprint": "p",
        "recommendation": "replan",
        "outcomes": [{
            "subtask_id": "00000000-0000-7000-8000-000000000001", "status": "failed", "output": null,
            "success_criteria": [{ "id": "s1.c1", "criterion": "it runs", "mode": "plausible" }],
            "criteria_verdicts": [{
                "criterion_id": "s1.c1", "criterion": "it runs", "mode": "plausible", "verdict": "fail",
                "failure_class": "logical", "evidence": "no", "cites": ["output"], "judged_by": "model",
            }],
            "gap_trajectory": [
                { "attempt": 1, "failed_criteria": [{ "criterion_id": "s1.c1" }] },
                { "attempt": 2, "failed_criteria": [] },
            ],
            "tool_calls": [], "fingerprint": "f",
        }],
    });
    check(
        &json!({ "kind": "ReplanRequest", "payload": full }).to_string(),
        &expect![[r#"
            task PlanDirective break_symmetry D 0.5 tools [] targets [] failed ["00000000-0000-7000-8000-000000000001"] matched []
            lines 1 directives 1 results 0 skipped 0 errors 0 open 1
        "#]],
    );
}

/// R2 does not exist here, so R7 writes the end itself. The same name then starts a new task.
#[test]
fn an_abandon_is_one_line_and_forgets_the_task() {
    let round = |n: u32| {
        format!(
            r#"{{"kind":"ReplanRequest","round":{n},"elapsed_ms":{},"outcomes":[{{"status":"failed"}}]}}"#,
            u64::from(n) * 1000
        )
    };
    let input = [round(1), round(2), round(3), round(4), round(1)].join("\n");
    check(
        &input,
        &expect![[r#"
            task PlanDirective change_path D 1.0 tools [] targets [] failed ["subtask-1"] matched []
            task PlanDirective change_path D 1.0 tools [] targets [] failed ["subtask-2"] matched []
            task PlanDirective change_path D 1.0 tools [] targets [] failed ["subtask-3"] matched []
            task FinalResult abandon by omega replans 3 accountable planner: No criterion was met. Not met: a sub-task failed: nothing was judged. It was given up because its rounds and its time are nearly used up.
            task PlanDirective change_path D 1.0 tools [] targets [] failed ["subtask-1"] matched []
            lines 5 directives 4 results 1 skipped 0 errors 0 open 1
        "#]],
    );
}

#[test]
fn faults_and_cancels_are_decided_on_at_once() {
    check(
        r#"{"kind":"TaskFault","task_id":"a","retryable":true,"elapsed_ms":1000,"reason":"down"}
           {"kind":"TaskFault","task_id":"a","role":"planner","reason":"no plan","hints":["name a tool"]}
           {"kind":"TaskFault","task_id":"b","kind_of":"?","payload":{"kind":"budget"}}
           {"kind":"CancelRequest","task_id":"c","payload":{}}
           {"kind":"OutcomeSummary","task_id":"d","elapsed_ms":1,"outcomes":[{"status":"matched","criteria_verdicts":[{"criterion":"x","verdict":"pass"}]}]}"#,
        &expect![[r#"
            a PlanDirective change_path D 1.0 tools [] targets [] failed [] matched []
            a FinalResult abandon by fault replans 1 accountable planner: Not started: no plan.
            b FinalResult abandon by budget replans 0 accountable runtime: No round was judged, so nothing can be called achieved. A budget is used up.
            c FinalResult abandon by cancelled replans 0 accountable user: No round was judged, so nothing can be called achieved. It was cancelled.
            d Megram M intent:_ env:local
            d Megram K task:d subtask:subtask-1
            d FinalResult accept by criteria_met replans 0 accountable null: Every criterion is met: x.
            lines 5 directives 1 results 4 skipped 0 errors 0 open 0
        "#]],
    );
}

#[test]
fn a_bad_line_is_answered_and_the_next_is_read() {
    check(
        r#"not json
           [1]

           {"task_id":"t"}
           {"kind":7}
           {"kind":"ReplanRequest","task_id":["t"]}
           {"kind":"ReplanRequest","task_id":""}
           {"kind":"SubTask","payload":{}}
           {"kind":"Nonsense"}
           {"kind":"ReplanRequest","payload":[]}
           {"kind":"ReplanRequest","task_id":"t","outcomes":[]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":-1,"outcomes":[]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":1,"outcomes":[3]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":1,"outcomes":[{"status":"fine"}]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":1,"outcomes":[{"status":"failed","tool_calls":[{"target":"x"}]}]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":1e400,"outcomes":[]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":1.5,"round":1,"outcomes":[]}
           {"kind":"ReplanRequest","task_id":"t","elapsed_ms":2,"round":1,"outcomes":[]}
           {"kind":"SubTask","seq":3,"task_id":"t","payload":{}}
           {"kind":"Quiesced","seq":4,"task_id":"t","payload":{}}
           {"specversion":"1.0","type":"setpoint.PlanDirective","data":{}}
           {"specversion":"1.0","type":"another.thing"}"#,
        &expect![[r#"
            line 1 failed to use the line: it is not a JSON object: expected ident (column 2) | write one JSON object per line
            line 2 failed to use the line: it is not a JSON object: invalid type: sequence, expected a map (column 0) | write one JSON object per line
            line 4 failed to use the line: the field `kind` is missing | name the message: ReplanRequest, OutcomeSummary, TaskFault, CancelRequest
            line 5 failed to use the line: the field `kind` is not a string | write `kind` in quotes
            line 6 failed to use the line: the field `task_id` is not a string | write `task_id` in quotes
            line 7 failed to use the line: the field `task_id` is empty or too long | use 1 to 256 characters
            line 8 failed to use the line: "SubTask" is not a message for the controller | send one of ReplanRequest, OutcomeSummary, TaskFault, CancelRequest
            line 9 failed to use the line: "Nonsense" is not a message for the controller | send one of ReplanRequest, OutcomeSummary, TaskFault, CancelRequest
            line 10 failed to use the line: the payload is not an object | write a ReplanRequest as an object
            line 11 failed to use the line: failed to read a ReplanRequest: missing field `elapsed_ms` | `setpoint schema` shows a ReplanRequest in full
            line 12 failed to use the line: failed to read a ReplanRequest: invalid value: integer `-1`, expected u64 | `setpoint schema` shows a ReplanRequest in full
            line 13 failed to use the line: failed to read a ReplanRequest: an outcome is not an object | `setpoint schema` shows a ReplanRequest in full
            line 14 failed to use the line: failed to read a ReplanRequest: unknown variant `fine`, expected `matched` or `failed` | `setpoint schema` shows a ReplanRequest in full
            line 15 failed to use the line: failed to read a ReplanRequest: missing field `tool` | `setpoint schema` shows a ReplanRequest in full
            line 16 failed to use the line: it is not a JSON object: number out of range (column 56) | write one JSON object per line
            t PlanDirective change_path D 1.0 tools [] targets [] failed [] matched []
            line 18 failed to use the line: its round has already been decided | number rounds from 1; each directive opens the next
            lines 22 directives 1 results 0 skipped 4 errors 16 open 1
        "#]],
    );
}

#[test]
fn endless_overlong_and_binary_lines_are_read_safely() {
    let good = r#"{"kind":"CancelRequest"}"#;
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(std::iter::repeat_n(b'x', LINE_BYTES_MAX + 1));
    input.extend(format!("\n{}\r\n{}\n{good}", "[".repeat(100_000), good).into_bytes());
    // A reader that returns a few bytes at a time splits lines anywhere.
    let mut output = Vec::new();
    let slow = BufReader::with_capacity(7, input.as_slice());
    let summary = run(slow, &mut output, ControllerSettings::default()).unwrap();
    let expected = Summary { lines: 5, results: 2, errors: 3, ..Summary::default() };
    assert_eq!(summary, expected, "{}", String::from_utf8_lossy(&output));
}

#[test]
fn output_is_deterministic_and_ids_do_not_repeat() {
    let line = r#"{"kind":"OutcomeSummary","elapsed_ms":1,"outcomes":[{"status":"matched","success_criteria":["a"]}]}"#;
    let input = format!("{line}\n{line}\n");
    let (first, _) = run_text(&input);
    assert_eq!(first, run_text(&input).0);
    let ids: Vec<String> = first
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|said| said["kind"] == "Megram")
        .map(|said| said["payload"]["id"].to_string())
        .collect();
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    // An acceptance without a verdict is unproven and teaches nothing about the approach: only what matched is stored.
    assert_eq!((ids.len(), distinct.len()), (2, 2), "{ids:?}");
}

#[test]
fn settings_are_used_and_checked() {
    let line =
        r#"{"kind":"ReplanRequest","elapsed_ms":0,"outcomes":[{"status":"failed"},{"status":"matched"}]}"#;
    let wide = ControllerSettings { delta: 0.5, ..ControllerSettings::default() };
    let mut output = Vec::new();
    let summary = run(line.as_bytes(), &mut output, wide).unwrap();
    assert_eq!((summary.directives, summary.results), (0, 1), "{}", String::from_utf8_lossy(&output));
    let wrong = ControllerSettings { delta: f64::NAN, ..ControllerSettings::default() };
    let error = run(line.as_bytes(), Vec::new(), wrong).unwrap_err();
    assert!(matches!(error, GgsError::Settings(_)), "{error}");
}

#[test]
fn a_failing_input_or_output_stops_the_run() {
    let line = "{\"kind\":\"CancelRequest\"}\n";
    let broken = BufReader::new(line.as_bytes().chain(Broken));
    let error = run(broken, Vec::new(), ControllerSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "read line 2");
    let error = run(line.as_bytes(), Broken, ControllerSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "write the answer to line 1");
}

#[test]
fn the_number_of_open_tasks_is_limited() {
    let mut output = Vec::new();
    let opened = opened(ControllerSettings::default());
    let mut tasks: BTreeMap<String, Task> = BTreeMap::new();
    for n in 0..TASKS_MAX {
        tasks.insert(n.to_string(), Task::new("t", 1));
    }
    let mut bench = Bench { opened, tasks, summary: Summary::default(), output: &mut output };
    bench.take(Ok(br#"{"kind":"CancelRequest","task_id":"one more"}"#.to_vec())).unwrap();
    bench.take(Ok(br#"{"kind":"CancelRequest","task_id":"7"}"#.to_vec())).unwrap();
    bench.take(Ok(br#"{"kind":"CancelRequest","task_id":"one more"}"#.to_vec())).unwrap();
    assert_eq!((bench.summary.errors, bench.summary.results), (1, 2));
}

/// The rounds of the vectors as they are in the file, in the short form.
#[test]
fn the_vectors_run_as_lines() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../control/tests/fixtures/conformance.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    for sequence in vectors["ggs"]["sequences"].as_array().unwrap() {
        let rounds = sequence["rounds"].as_array().unwrap();
        let mut input = String::new();
        for round in rounds {
            let mut payload = round.clone();
            payload.as_object_mut().unwrap().remove("kind");
            let kind = match round["kind"].as_str().unwrap() {
                "replan" => "ReplanRequest",
                "accept" => "OutcomeSummary",
                _ => "CancelRequest",
            };
            let line = json!({ "kind": kind, "task_id": round["task_id"], "payload": payload });
            input.push_str(&format!("{line}\n"));
        }
        let (output, summary) = run_text(&input);
        assert_eq!(summary.errors, 0, "{output}");
        let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answers: Vec<Value> = answers.filter(|said| said["kind"] != "Megram").collect();
        assert_eq!(answers.len(), rounds.len(), "{output}");
        for (round, said) in rounds.iter().zip(&answers).filter(|(round, _)| round["expect"].is_object()) {
            let payload = &said["payload"];
            assert_eq!(said["kind"], round["expect"]["message"], "{}", sequence["id"]);
            assert_eq!(said["task_id"], round["task_id"], "{}", sequence["id"]);
            for field in ["directive", "prev_directive", "blocked_tools", "blocked_targets"] {
                if let (Some(got), Some(wanted)) = (payload.get(field), round["expect"].get(field)) {
                    assert_eq!(got, wanted, "{} {field}", sequence["id"]);
                }
            }
        }
    }
}

fn check(input: &str, expected: &Expect) {
    // A message that continues in the next line of the test is one line.
    let mut joined = String::new();
    for line in input.lines() {
        let line = line.trim_start();
        let goes_on = ["{\"subtask_id", "\"tool_calls"].iter().any(|start| line.starts_with(start));
        joined.push_str(if joined.is_empty() || goes_on { "" } else { "\n" });
        joined.push_str(line);
    }
    let (output, summary) = run_text(&joined);
    let mut shown: String = output.lines().map(|line| show(line) + "\n").collect();
    let Summary { lines, directives, results, skipped, errors, open } = summary;
    shown.push_str(&format!(
        "lines {lines} directives {directives} results {results} skipped {skipped} errors {errors} open {open}\n"
    ));
    expected.assert_eq(&shown);
}

fn run_text(input: &str) -> (String, Summary) {
    let mut output = Vec::new();
    let summary = run(input.as_bytes(), &mut output, ControllerSettings::default()).unwrap();
    (String::from_utf8(output).unwrap(), summary)
}

fn show(line: &str) -> String {
    let said: Value = serde_json::from_str(line).unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(error) = said.get("error") {
        return format!("line {} {} | {}", said["line"], text(error), text(&said["hint"]));
    }
    let (task, kind, payload) = (text(&said["task_id"]), text(&said["kind"]), &said["payload"]);
    let rest = match kind.as_str() {
        "Megram" => ["level", "space", "entity"].map(|field| text(&payload[field])).join(" "),
        "PlanDirective" => {
            let matched = payload["matched"].as_array().unwrap().iter();
            let matched = json!(matched.map(|outcome| &outcome["subtask_id"]).collect::<Vec<_>>());
            assert_eq!(payload["task_id"], said["task_id"]);
            format!(
                "{} D {} tools {} targets {} failed {} matched {matched}",
                text(&payload["directive"]),
                payload["loss"]["D"],
                payload["blocked_tools"],
                payload["blocked_targets"],
                payload["failed_subtasks"],
            )
        }
        "FinalResult" => format!(
            "{} by {} replans {} accountable {}: {}",
            text(&payload["directive"]),
            text(&payload["ended_by"]),
            payload["replans"],
            text(&payload["accountable"]),
            text(&payload["summary"]),
        ),
        _ => payload.to_string(),
    };
    format!("{task} {kind} {rest}")
}

/// Fails to read and to write.
struct Broken;

impl io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
