//! R3's steps: the calls in order, then the answer from their results.

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use setpoint_machine::Brief;
use setpoint_machine::brief::ExecuteBrief;
use setpoint_model::playbook::Playbook;
use setpoint_protocol::record::ModelFailureKind;
use setpoint_protocol::tool::ErrorKind;

use crate::support::{Next, brain_of_two as brain, execute, execute_brief, plan, plan_brief, record};

/// Plays an attempt of the first sub-task of a goal, each call answered by the next of `results`.
fn check(goal: &str, attempt: u32, results: &[Result<Value, ErrorKind>], expected: &Expect) {
    let brain = brain();
    let draft = plan(&brain, &plan_brief(goal)).unwrap();
    let mut brief = execute_brief(&draft.subtasks[0]);
    brief.attempt = attempt;
    let mut out = String::new();
    let mut results = results.iter();
    loop {
        match execute(&brain, &brief).unwrap() {
            Next::Call(call) => {
                out.push_str(&format!("{} {}\n", call.tool, serde_json::to_string(&call.input).unwrap()));
                let Some(result) = results.next() else { break };
                brief.calls.push(record(&brief, &call, result.clone()));
                brief.rounds_left -= 1;
            }
            Next::Answer(answer) => {
                out.push_str(&serde_json::to_string(&answer).unwrap());
                out.push('\n');
                break;
            }
        }
    }
    assert_eq!(results.len(), 0, "not all results were asked for");
    expected.assert_eq(&out);
}

#[test]
fn the_answer_is_made_of_the_results() {
    check(
        "find the two largest files in src",
        1,
        &[Ok(json!({"stdout": "20\tsrc/a b\n10\tsrc/c\n"})), Ok(json!({"stdout": "0\n"}))],
        &expect![[r#"
            shell {"command":"find -H src -xdev -type f -printf \"%s\\t%p\\n\" | sort -k1,1nr | head -n 2"}
            shell {"command":"find -H src -xdev -type f -path \"*[[:cntrl:]]*\" -printf \".\\n\" | wc -l"}
            {"status":"completed","output":{"complete":true,"count":2,"files":[{"bytes":20,"path":"src/a b"},{"bytes":10,"path":"src/c"}],"odd_names":0}}
        "#]],
    );
    check(
        "compare a1 with b1",
        1,
        &[Ok(
            json!({"identical": false, "differences": [{"path": "x", "what": "only in left"}], "difference_count": 3, "same": 3, "unreadable": 1}),
        )],
        &expect![[r#"
            compare_dirs {"left":"a1","limit":200,"right":"b1"}
            {"status":"completed","output":{"compared":"contents, not permissions, owners or dates","complete":false,"count":3,"differences":[{"path":"x","what":"only in left"}],"identical":false,"left_out":["1 file or folder could not be read","1 of 3 differences are listed"],"same":3}}
        "#]],
    );
}

/// The manifest's second approach, whose second call writes what the first one found.
fn hashing_brief(brain: &Playbook) -> ExecuteBrief {
    let first = plan_brief("create a checksum manifest of ./release in sums.txt");
    let draft = plan(brain, &first).unwrap();
    let failed = setpoint_protocol::message::ActionState::ChangePath;
    let next = crate::support::after_failure(&first, &draft, failed, &[], &[]);
    execute_brief(&plan(brain, &next).unwrap().subtasks[0])
}

#[test]
fn a_result_goes_into_the_next_call() {
    let brain = brain();
    let mut brief = hashing_brief(&brain);
    let Ok(Next::Call(call)) = execute(&brain, &brief) else { panic!("no call") };
    let files = json!({"files": [
        {"path": "./release/a b", "hash": "11", "bytes": 1},
        {"path": "/home/user/project/release/c/d", "hash": "22", "bytes": 1},
        {"path": "./release/sums.txt", "hash": "33", "bytes": 1},
    ]});
    brief.calls.push(record(&brief, &call, Ok(files)));
    let Ok(Next::Call(call)) = execute(&brain, &brief) else { panic!("no second call") };
    assert_eq!(call.input.get("content"), Some(&json!("11  a b\n22  c/d\n")));
    brief.calls.push(record(&brief, &call, Ok(json!({}))));
    let Ok(Next::Answer(answer)) = execute(&brain, &brief) else { panic!("no answer") };
    assert_eq!(answer.output.get("entries"), Some(&json!(2)));
}

#[test]
fn what_failed_ends_the_work_with_what_it_said() {
    check(
        "sha256 of a.txt",
        1,
        &[Err(ErrorKind::MissingTool)],
        &expect![[r#"
            shell {"command":"sha256sum -- a.txt"}
            {"status":"failed","output":null,"reason":"shell/sha256sum: what it printed"}
        "#]],
    );
    check(
        "create a checksum manifest of ./release in sums.txt",
        1,
        &[Err(ErrorKind::NotFound)],
        &expect![[r#"
            manifest_create {"algorithm":"sha256","manifest":"/home/user/project/sums.txt","root":"./release"}
            {"status":"failed","output":null,"reason":"manifest_create: what it printed"}
        "#]],
    );
    check(
        "archive ./photos",
        1,
        &[Err(ErrorKind::Permission)],
        &expect![[r#"
            archive_create {"archive":"photos.tar.gz","source":"./photos"}
            {"status":"failed","output":null,"reason":"archive_create: what it printed"}
        "#]],
    );
}

#[test]
fn a_result_that_is_not_there_ends_the_calls() {
    let brain = brain();
    let mut brief = hashing_brief(&brain);
    let Ok(Next::Call(call)) = execute(&brain, &brief) else { panic!("no call") };
    let mut too_large = record(&brief, &call, Ok(json!({})));
    Arc::make_mut(&mut too_large).facts = None;
    brief.calls.push(too_large);
    let Ok(Next::Answer(answer)) = execute(&brain, &brief) else { panic!("a call without its content") };
    assert_eq!(answer.uncertainty.as_deref(), Some("failed to find a value for `result.1/files`"));
}

#[test]
fn what_the_runtime_answers_from_its_records_is_taken_from_there() {
    let brain = brain();
    let draft = plan(&brain, &plan_brief("find the two largest files in src")).unwrap();
    let mut brief = execute_brief(&draft.subtasks[0]);
    let Ok(Next::Call(first)) = execute(&brain, &brief) else { panic!("no call") };
    brief.calls.push(record(&brief, &first, Ok(json!({"stdout": "20\tsrc/a\n"}))));
    brief.attempt = 2;
    brief.rounds_left -= 2;
    brief.notices.push("the same call as r3.1/1".to_owned());
    let Ok(Next::Answer(answer)) = execute(&brain, &brief) else {
        panic!("asked again for what was refused")
    };
    assert_eq!(answer.uncertainty.as_deref(), Some("the same call as r3.1/1"));
    brief.rounds_left += 1;
    let Ok(Next::Call(second)) = execute(&brain, &brief) else { panic!("no second call") };
    assert_ne!(first, second);
    brief.calls.push(record(&brief, &second, Ok(json!({"stdout": "0\n"}))));
    let Ok(Next::Answer(answer)) = execute(&brain, &brief) else { panic!("no answer") };
    assert_eq!(answer.output.pointer("/files/0/bytes"), Some(&json!(20)));
    assert_eq!(answer.output.pointer("/odd_names"), Some(&json!(0)));
}

#[test]
fn a_sub_task_of_somebody_elses_is_not_done() {
    let brain = brain();
    let draft = plan(&brain, &plan_brief("find the two largest files in src")).unwrap();
    let mut brief = execute_brief(&draft.subtasks[0]);
    let whole = brief.subtask.approach.clone().unwrap();
    let changes: [(&str, Value); 5] = [
        ("playbook", json!("unknown")),
        ("approach", json!("unknown")),
        ("params", json!({"step": 9, "values": {}})),
        ("params", json!({"step": -1, "values": {}})),
        ("params", json!("x")),
    ];
    for (key, value) in changes {
        let mut changed = serde_json::to_value(&whole).unwrap();
        changed[key] = value;
        Arc::make_mut(&mut brief.subtask).approach = Some(serde_json::from_value(changed).unwrap());
        let failure = brain.reply(&Brief::Execute(Box::new(brief.clone()))).unwrap_err();
        assert_eq!(failure.kind, ModelFailureKind::Unable, "{key}");
    }
    Arc::make_mut(&mut brief.subtask).approach = None;
    let failure = brain.reply(&Brief::Execute(Box::new(brief))).unwrap_err();
    expect!["the sub-task was not planned from a playbook, and the embedded brain is not a language model"]
        .assert_eq(&failure.reason);
}
