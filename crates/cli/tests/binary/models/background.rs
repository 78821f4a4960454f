//! A process in the background: it ends with its task and with the program, and what is known of it outlasts both.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Delay, Fault, Gate, Hosted, SeenRequest, Turn, Wire};

use super::{command, plan};
use crate::support::thinker::{site, think};
use crate::support::{Came, Home, say};

/// What is kept running; `nap` is a copy of `sleep` in the working directory.
const COMMAND: &str = "trap '' TERM; setsid -f ./nap 300; echo begun; ./nap 300; ./nap 300";

/// Returns a plan of one sub-task that may run commands.
fn keeps() -> Value {
    let probe = json!({ "tool": "file_facts", "input": { "path": "nap" } });
    plan(&[json!({
        "intent": "keep something running",
        "tools": ["shell"],
        "success_criteria": [{ "criterion": "nap is a file",
            "check": { "on": { "probe": probe }, "expect": { "file": { "exists": true } } } }],
    })])
}

fn call(input: &Value) -> Turn {
    Turn::from(Answer::call("background", &input.to_string()))
}

/// Waits until nothing runs that belongs to this folder. If something stayed, this would not end.
fn none_is_left(work: &Path) {
    let is_of = |entry: &fs::DirEntry| {
        let exe = fs::read_link(entry.path().join("exe")).unwrap_or_default();
        exe.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nap"))
            && fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == work)
    };
    while fs::read_dir("/proc").unwrap().flatten().any(|entry| is_of(&entry)) {
        std::thread::yield_now();
    }
}

#[test]
fn process_a_killed_program_leaves_nothing_running_and_says_what_it_was() {
    let home = Home::new();
    let report = home.run(&["sandbox", "--explain", "--json"]).json();
    if report["tier"] != "full" {
        return say(&format!("not tried, because the sandbox does not hold here: {}", report["missing"]));
    }
    let work = fs::canonicalize(home.work()).unwrap();
    fs::copy("/bin/sleep", work.join("nap")).unwrap();
    let gate = Gate::new();
    let script = {
        let (gate, is_first) = (gate.clone(), AtomicBool::new(true));
        move |seen: &SeenRequest| -> Turn {
            if site(seen) != Site::Execute {
                return think(seen, &keeps());
            }
            let told = seen.asked.told();
            let start = json!({ "action": "start", "command": COMMAND, "wait_for": "begun" });
            match question::calls(&told).count() {
                0 => call(&start),
                // The program is killed here, and asks again in its next life.
                1 if is_first.swap(false, Ordering::Relaxed) => {
                    call(&start).with(Fault::PauseInBody(Delay::Until(gate.clone())))
                }
                1 => call(&json!({ "action": "poll", "name": "p1" })),
                2 => call(&start),
                _ => {
                    Turn::from(Answer::text(&json!({ "status": "completed", "output": "done" }).to_string()))
                }
            }
        }
    };
    let server = Hosted::start(Arc::new(script)).unwrap();
    let begin = |arguments: &[&str]| {
        let mut command = command(&home, &server, Wire::Chat, arguments);
        command.env("SETPOINT_SANDBOX", "true");
        command
    };
    let mut program = begin(&["run", "--json", "keep something running"]).spawn().unwrap();
    server.wait_for(&gate, 1);
    kill_process(Pid::from_child(&program), Signal::KILL).unwrap();
    program.wait().unwrap();
    none_is_left(&work);

    let came = Came::of(&mut begin(&["tasks", "resume", "--json"]));
    let task = came.json()[0]["task_id"].as_str().unwrap().to_owned();
    // The task has ended, and what it kept running with it.
    none_is_left(&work);
    let answers: Vec<String> = home
        .records(&task)
        .iter()
        .filter_map(|record| record.pointer("/data/answer/tool/text")?.as_str().map(str::to_owned))
        .collect();
    let of_p =
        |name: &str, what: &str| answers.iter().any(|text| text.starts_with(&format!("{name} {what}")));
    assert!(of_p("p1", "is running"), "{answers:#?}");
    assert!(of_p("p1", "ended when the task was interrupted"), "{answers:#?}");
    assert!(of_p("p2", "is running"), "{answers:#?}");
    let known = answers.iter().find(|text| text.contains("was interrupted")).unwrap();
    assert!(known.contains("setsid -f ./nap 300") && known.ends_with("begun\n"), "{known}");
    // The end of the task ended it, and not only that of the program.
    let kept = crate::support::shell(&home.data(), "cat undo/*/background/p2.json");
    assert!(kept.contains("it was stopped"), "{kept}");
    // A replay takes all of this from the record.
    let replayed = home.run(&["replay", &task]);
    assert_eq!(replayed.code, 0, "{replayed:#?}");
}
