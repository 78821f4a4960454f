//! One route for every question about consent: for each sub-task and each one who answers.

use std::process::Command;

use serde_json::Value;

use crate::process_terminal::{INTERRUPT, QUESTION, Terminal, open_task};
use crate::support::task::{self, Trial};
use crate::support::{Came, Home};

const GOAL: &str = "remove it after the steps";
/// The sub-tasks that the asking one rests on, at most.
const DEPTH_MAX: usize = 2;

/// Who answers.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// A person at a terminal, with this key.
    Terminal(&'static str),
    /// The file `approve`, with this line.
    File(&'static str),
    /// No one can.
    Headless,
    /// Level L3, which leaves what nothing confines to a person, and no one can be asked.
    Autonomous,
    /// Another process that resumes the task, once the first was interrupted at the question: with this line, or without
    /// a file.
    Another(Option<&'static str>),
}

/// Each route with what it comes to: the exit code, the decision, and who made it.
const ROUTES: [(Route, i32, &str, &str); 9] = [
    (Route::Terminal("y"), 0, "once", "terminal"),
    (Route::Terminal("t"), 0, "for_task", "terminal"),
    (Route::Terminal("n"), 5, "never", "terminal"),
    (Route::File("command rm there.txt"), 0, "once", "file:approve:1"),
    (Route::File("deny path there.txt"), 5, "never", "file:approve:1"),
    (Route::Headless, 5, "never", "headless"),
    (Route::Autonomous, 5, "never", "headless"),
    (Route::Another(Some("path there.txt")), 0, "once", "file:approve:1"),
    (Route::Another(None), 5, "never", "headless"),
];

/// Returns a home with a playbook whose last step needs consent and rests on `depth` earlier ones, one after the other.
fn home(depth: usize) -> Home {
    let mut book = format!(
        r#"
name = "steps"
title = "Steps"
description = "Counts a few files and removes another."
examples = ["{GOAL}", "please {GOAL}"]
patterns = ["{GOAL}"]
task_criteria = ["gone"]

[criteria.gone]
text = "there is no there.txt"
on = {{ probe = {{ tool = "file_facts", input = {{ path = "there.txt" }} }} }}
expect = {{ file = {{ exists = false }} }}

[[approach]]
name = "only"
note = "one after the other"
"#
    );
    let home = Home::new();
    home.file("there.txt", "there\n");
    for n in 0..=depth {
        let command = if n == depth { "rm there.txt".to_owned() } else { format!("wc -l step{n}.txt") };
        let (program, criterion) = (
            command.split(' ').next().unwrap(),
            if n == depth { "gone".to_owned() } else { format!("counted{n}") },
        );
        let inputs: Vec<String> = (0..n).map(|n| (n + 1).to_string()).collect();
        book.push_str(&format!(
            r#"
[[approach.step]]
intent = "Step {n} of all: {command}"
criteria = ["{criterion}"]
sequence = {sequence}
inputs = [{inputs}]
on_error = "answer"

[[approach.step.call]]
tool = "shell"
programs = ["{program}"]
input = {{ command = "{command}" }}

[approach.step.output]
step = {n}
"#,
            sequence = n + 1,
            inputs = inputs.join(", "),
        ));
        if n < depth {
            home.file(format!("step{n}.txt"), "one\n");
            book.push_str(&format!(
                r#"
[criteria.counted{n}]
text = "wc has counted step{n}.txt"
on = {{ call = {{ tool = "shell", which = "{command}" }} }}
expect = {{ all = [{{ exit_code = 0 }}, {{ pointer = {{ at = "/timed_out", is = {{ equals = false }} }} }}] }}
"#
            ));
        }
    }
    home.playbook("steps", &book);
    home
}

/// Pursues the goal by a route. Returns the exit code and the task.
fn pursue(home: &Home, route: Route) -> (i32, String) {
    let at_terminal = |key: &str| {
        let mut terminal = Terminal::start(home, "", &format!("run '{GOAL}'"));
        terminal.waits_for(QUESTION);
        terminal.types(key);
        terminal.end().0
    };
    let code = match route {
        Route::Terminal(key) => at_terminal(key),
        Route::File(line) => {
            home.file("approve", format!("{line}\n"));
            home.run(&["run", "--approve", "approve", GOAL]).code
        }
        Route::Headless => home.run(&["run", GOAL]).code,
        Route::Autonomous => Came::of(at_l3(home, &["run", GOAL]).env("SETPOINT_CONTAINER", "true")).code,
        Route::Another(line) => {
            assert_eq!(at_terminal(INTERRUPT), 130);
            let task = open_task(home);
            let mut arguments = vec!["tasks", "resume", task.as_str()];
            if let Some(line) = line {
                home.file("approve", format!("{line}\n"));
                arguments.extend(["--approve", "approve"]);
            }
            home.run(&arguments).code
        }
    };
    let tasks = home.run(&["tasks", "list", "--json"]).json();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks:#}");
    (code, tasks[0]["task_id"].as_str().unwrap().to_owned())
}

fn at_l3(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(arguments);
    command.env("SETPOINT_LEVEL", "L3");
    command
}

/// A file that the shell obeys is changed without a question at level L3, if the person said that this is a container; what
/// the approval file denies is not.
#[test]
fn level_l3_allows_in_a_container_alone() {
    // The trial does not look at the file, so that its end does not depend on the answer.
    for (is_container, denied, code, content, decision, by) in [
        (false, false, 2, "one\n", "", ""),
        (true, false, 0, "two\n", "once", "level L3"),
        (true, true, 0, "one\n", "never", "file:approve:1"),
    ] {
        let home = Home::new();
        Trial::new().edits(".envrc", "1").write(&home);
        home.file(".envrc", "one\n");
        home.file("approve", if denied { "deny path .envrc\n" } else { "# nothing\n" });
        let mut command = at_l3(&home, &["run", "--approve", "approve", task::GOAL]);
        if is_container {
            command.env("SETPOINT_CONTAINER", "true");
        }
        let came = Came::of(&mut command);
        assert_eq!(came.code, code, "{came:#?}");
        let envrc = std::fs::read_to_string(home.work().join(".envrc")).unwrap();
        assert_eq!(envrc, content, "{came:#?}");
        let tasks = home.run(&["tasks", "list", "--json"]).json();
        let Some(task) = tasks[0]["task_id"].as_str() else {
            assert!(came.err.contains("SETPOINT_CONTAINER=true"), "{}", came.err);
            continue;
        };
        let shown = home.run(&["tasks", "show", "--json", task]).json();
        let last = shown["approvals"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["decision"], &last["by"]), (&decision.into(), &by.into()), "{shown:#}");
    }
}

#[test]
fn every_sub_task_asks_by_the_same_route() {
    for depth in 0..=DEPTH_MAX {
        for (route, code, decision, by) in ROUTES {
            let home = home(depth);
            let (ended, task) = pursue(&home, route);
            let case = format!("{depth} {route:?}");
            assert_eq!(ended, code, "{case}");
            assert_eq!(home.work().join("there.txt").exists(), code != 0, "{case}");

            let shown = home.run(&["tasks", "show", "--json", &task]).json();
            let approvals = shown["approvals"].as_array().unwrap();
            let last = approvals.last().unwrap();
            let said = |name: &str| last[name].as_str().unwrap_or_default().to_owned();
            assert_eq!(
                (said("decision"), said("by")),
                (decision.to_owned(), by.to_owned()),
                "{case}: {shown:#}"
            );
            assert_eq!(
                (said("command"), said("rule")),
                ("rm there.txt".to_owned(), "not_read_only".to_owned()),
                "{case}"
            );
            // The effector of the last sub-task asks, each has one.
            assert!(said("for_call").starts_with(&format!("r3.{}/", depth + 1)), "{case}: {last:#}");

            // A refused call is not a failed one: it is the person's decision that ends the task, in the first round.
            let records = home.records(&task);
            let of = |kind: &str| records.iter().filter(|record| record["type"] == kind).collect::<Vec<_>>();
            let end = &of("setpoint.FinalResult")[0]["data"];
            let rounds = of("setpoint.DispatchManifest").len();
            let expected = if code == 0 { "criteria_met" } else { "consent" };
            assert_eq!((end["ended_by"].as_str().unwrap(), rounds), (expected, 1), "{case}: {end:#}");
            let calls: Vec<&Value> = of("setpoint.SubTaskOutcome")
                .iter()
                .flat_map(|outcome| outcome["data"]["tool_calls"].as_array().unwrap())
                .collect();
            let kinds: Vec<&str> = calls.iter().filter_map(|call| call["error_kind"].as_str()).collect();
            assert_eq!(kinds, if code == 0 { vec![] } else { vec!["consent"] }, "{case}: {calls:#?}");
        }
    }
}
