//! A script that plays the models of a whole organisation: it completes a goal in three sub-tasks, so that tests of
//! whole tasks have a correct baseline.
//!
//! Two files are read in parallel and a third one after them ([`FILES`]; a test in which the calls should succeed
//! creates them). Nothing has a check, so every judge is asked. A task without trouble asks [`CALLS`] times.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Script, SeenRequest, Turn};

/// The goal that suits the script.
pub(crate) const GOAL: &str = "take stock of the cellar";
/// The files that are read, relative to the working directory.
pub(crate) const FILES: [&str; 3] = ["shelf-1.txt", "shelf-2.txt", "shelf-3.txt"];
/// Calls of a task that succeeds at once, for a goal of several lines: its title, the plan, six turns of three
/// executors, three judgements, the whole.
pub(crate) const CALLS: usize = 12;
/// A text in every answer, in an unknown field: it must not appear anywhere else.
pub(crate) const CANARY: &str = "canary-5d41402a";

/// The verdict of R4b's model on the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whole {
    /// The whole is accepted.
    #[default]
    Holds,
    /// It fails because of the environment: the task is given up in the end, and its report is requested.
    Fails,
}

/// The script; plays every role of one task.
#[derive(Debug, Default)]
pub(crate) struct Organisation {
    whole: Whole,
    plans: AtomicUsize,
}

impl Organisation {
    /// Creates a script with this verdict on the whole.
    pub(crate) fn new(whole: Whole) -> Self {
        Self { whole, ..Self::default() }
    }
}

impl Script for Organisation {
    fn turn(&self, seen: &SeenRequest) -> Turn {
        let question = &*seen.asked.told();
        let answer = match Site::of(seen) {
            Some(Site::Perceive) => said(json!({ "title": question::goal(question).unwrap_or(GOAL) })),
            Some(Site::Plan) => said(plan(self.plans.fetch_add(1, Ordering::Relaxed))),
            Some(Site::Execute) => step(seen, question),
            Some(Site::Judge) => said(json!({ "verdicts": verdicts(question, Whole::Holds) })),
            Some(Site::Merge) => said(
                json!({ "verdicts": verdicts(question, self.whole), "summary": "All shelves were looked at." }),
            ),
            Some(Site::Report) => said(json!({
                "achieved": "Every shelf was read.", "blocked_by": "The lists do not agree.",
                "next_moves": ["count the jars by hand"],
            })),
            None => Answer::text("Nobody asks like that."),
        };
        answer.into()
    }
}

/// Returns a JSON object with the canary in it.
fn said(mut value: Value) -> Answer {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("remark".to_owned(), CANARY.into());
    }
    Answer::text(&value.to_string())
}

/// Every plan differs, because a failed plan may not be repeated.
fn plan(number: usize) -> Value {
    const VERBS: [&str; 6] = ["read", "look through", "go over", "check", "open", "study"];
    let verb = VERBS.get(number % VERBS.len()).copied().unwrap_or_default();
    let subtask = |(at, file): (usize, &&str)| {
        let mut subtask = json!({
            "intent": format!("{verb} {file} and say which jars it lists"),
            "success_criteria": [format!("the output names every jar of {file} with its kind of fruit")],
            "sequence": if at < 2 { 1 } else { 2 },
        });
        if at == 2 {
            subtask["inputs"] = json!([1, 2]);
        }
        subtask
    };
    json!({
        "subtasks": FILES.iter().enumerate().map(subtask).collect::<Vec<_>>(),
        "task_criteria": ["the result has one line for each of the three shelves, with its jars"],
    })
}

/// Returns a call first, and the answer once its result is there.
fn step(seen: &SeenRequest, question: &str) -> Answer {
    let work = question::work(question).unwrap_or_default();
    let file = FILES.into_iter().find(|file| work.contains(file)).unwrap_or(FILES[0]);
    if question::calls(question).next().is_some() {
        return said(json!({ "status": "completed", "output": format!("{file}: plum, quince") }));
    }
    let input = json!({ "path": file });
    if seen.asked.tools.is_empty() {
        return said(json!({ "tool": "read_file", "input": input }));
    }
    Answer::call("read_file", &input.to_string())
}

/// Returns a verdict for each listed criterion, citing every call that succeeded.
fn verdicts(question: &str, whole: Whole) -> Vec<Value> {
    let cites: Vec<&str> = question::calls(question).chain(["output"]).collect();
    let verdict = |id: &str| match whole {
        Whole::Holds => {
            json!({ "criterion_id": id, "verdict": "pass", "evidence": "it is there", "cites": cites })
        }
        Whole::Fails => json!({
            "criterion_id": id, "verdict": "fail", "evidence": "a list is missing", "cites": cites,
            "failure_class": "environmental",
        }),
    };
    question::criteria(question).map(verdict).collect()
}
