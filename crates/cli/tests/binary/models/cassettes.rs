//! A recorded run, and its replay in another folder without the server.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::{Hosted, SeenRequest, Wire};

use crate::support::thinker::think;
use crate::support::{Came, Home};

use super::{KEY, command, plan, writes};

const GOAL: &str = "write two small files";

#[test]
fn a_recorded_run_is_played_offline_in_another_place() {
    let (here, there) = (Home::new(), Home::new());
    let plan = plan(&[writes("alpha", 1), writes("beta", 1)]);
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let run = |options: &[&str]| {
        let arguments: Vec<&str> = ["run", "--json"].iter().chain(options).copied().chain([GOAL]).collect();
        Came::of(&mut command(&here, &server, Wire::Anthropic, &arguments))
    };
    let recorded = run(&["--record", "tape.jsonl"]);
    assert_eq!(recorded.code, 0, "{recorded:#?}");
    let asked = server.seen().len();
    let tape = here.work().join("tape.jsonl");
    let text = fs::read_to_string(&tape).unwrap();
    assert_eq!(text.lines().count(), asked + 1);
    assert!(!text.contains(KEY));
    assert_eq!(fs::metadata(&tape).unwrap().permissions().mode() & 0o777, 0o600);

    // In this folder no provider and no key is configured; the server is not asked.
    let copy = there.file("copy.jsonl", &text);
    let replay = copy.to_str().unwrap();
    let played = there.run(&["run", "--json", "--replay", replay, GOAL]);
    assert_eq!(played.code, 0, "{played:#?}");
    let (first, second) = (recorded.json(), played.json());
    for field in ["summary", "output", "ended_by", "unmet_criteria"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_eq!(second["usage"]["tokens_in"], first["usage"]["tokens_in"]);
    assert_eq!(second["usage"]["cost"], 0.0, "nothing is paid twice");
    assert_eq!(second["usage"]["tokens_recorded"], tokens(&first), "it says who answered");
    assert!(first["usage"].get("tokens_recorded").is_none());
    assert_eq!(fs::read_to_string(there.work().join("names/beta.txt")).unwrap(), "beta\n");
    assert_eq!(server.seen().len(), asked);

    // An existing recording is not overwritten.
    let again = run(&["--record", "tape.jsonl"]);
    assert_eq!(again.code, 2, "{again:#?}");
    assert!(again.err.contains("tape.jsonl") && again.err.contains("hint:"), "{again:#?}");
    assert_eq!(fs::read_to_string(&tape).unwrap(), text);
}

fn tokens(result: &Value) -> u64 {
    let usage = &result["usage"];
    usage["tokens_in"].as_u64().unwrap() + usage["tokens_out"].as_u64().unwrap()
}

/// Returns a task that waits until the test opens the pipe.
fn waiting(home: &Home) -> Value {
    let pipe = home.work().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let done = json!({ "criterion": "the gate was open", "check": { "on": { "call": { "tool": "shell", "which": "cat gate" } }, "expect": { "contains": "open" } } });
    let subtask = json!({ "intent": "call shell {\"command\":\"cat gate\"}", "success_criteria": [done], "sequence": 1 });
    json!({ "subtasks": [subtask], "task_criteria": [{ "criterion": "it was worth it", "mode": "plausible" }] })
}

/// Waits until the task has come to the pipe. Writing to the returned file lets it go on.
fn gate(home: &Home) -> fs::File {
    fs::OpenOptions::new().write(true).open(home.work().join("gate")).unwrap()
}

/// Kills a run that waits at the pipe, and returns the task that it left open.
fn killed_at_the_gate(home: &Home, mut run: Child) -> String {
    let open = gate(home);
    run.kill().unwrap();
    run.wait().unwrap();
    drop(open);
    home.run(&["tasks", "list", "--open", "--json"]).json()[0]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn process_a_killed_replay_resumes_from_its_recording() {
    let home = Home::new();
    let plan = waiting(&home);
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let start = |options: &[&str]| {
        let mut command = command(&home, &server, Wire::Chat, options);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let recording = start(&["run", "--json", "--record", "tape.jsonl", "wait at the gate"]);
    writeln!(gate(&home), "open").unwrap();
    let recorded = Came::from(recording.wait_with_output().unwrap());
    assert_eq!(recorded.code, 0, "{recorded:#?}");
    let asked = server.seen().len();

    let task =
        killed_at_the_gate(&home, start(&["run", "--json", "--replay", "tape.jsonl", "wait at the gate"]));

    // With models it is refused: their calls would cost money that the task does not count.
    let refused = Came::of(&mut command(&home, &server, Wire::Chat, &["tasks", "resume", &task]));
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("a recording answered it"), "{refused:#?}");
    assert!(refused.err.contains("--replay FILE"), "{refused:#?}");
    assert_eq!(server.seen().len(), asked);

    let playing = start(&["tasks", "resume", "--json", "--replay", "tape.jsonl", &task]);
    writeln!(gate(&home), "open").unwrap();
    let played = Came::from(playing.wait_with_output().unwrap());
    assert_eq!(played.code, 0, "{played:#?}");
    assert_eq!(played.json()["usage"]["cost"], 0.0);
    assert_eq!(server.seen().len(), asked, "nobody was asked");
}

#[test]
fn process_a_task_with_models_cannot_resume_with_a_recording() {
    let home = Home::new();
    let plan = waiting(&home);
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let interrupted = |options: &[&str]| {
        let process = command(&home, &server, Wire::Chat, options).stdout(Stdio::null()).spawn().unwrap();
        killed_at_the_gate(&home, process)
    };
    let asked = interrupted(&["run", "--record", "tape.jsonl", "wait at the gate"]);
    let refused = home.run(&["tasks", "resume", "--replay", "tape.jsonl", &asked]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("models answered it"), "{refused:#?}");
    assert_eq!(home.run(&["tasks", "cancel", &asked]).code, 0);

    let played = interrupted(&["run", "--replay", "tape.jsonl", "wait at the gate"]);
    let cancelled = home.run(&["tasks", "cancel", &played]);
    assert_eq!(cancelled.code, 0, "{cancelled:#?}");
    assert_eq!(home.run(&["tasks", "list", "--open", "--json"]).json(), json!([]));
}
