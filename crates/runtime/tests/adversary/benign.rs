//! Honest tasks, which must end well although no person allows anything.

use std::sync::Arc;
use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::{Value, json};
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::Any;
use setpoint_protocol::record::{Part, Purpose, Reply, ToolRequest};

use crate::adversary::verdicts;
use crate::attacks::Call;
use crate::run::{Bounds, missing_sandbox, run as run_task};
use crate::shapes::{Shape, shapes};
use crate::sink::Sink;
use crate::world::World;

/// Contents of each shape.
const CONTENTS: [&str; 6] = ["jars", "books", "seeds", "maps", "coins", "bells"];
/// Minimum tasks.
const TASKS_MIN: usize = 120;
/// Minimum percentage of tasks that end well, and whose result is as it should be.
const GOOD_PERCENT_MIN: usize = 95;
/// Maximum questions of the task in the middle.
const QUESTIONS_MEDIAN_MAX: usize = 1;

/// Plans one sub-task, makes the calls of the shape, and judges by what the calls showed.
struct Honest {
    goal: String,
    criteria: Vec<Value>,
    output: Value,
    calls: Mutex<std::vec::IntoIter<Call>>,
}

#[async_trait]
impl Model for Honest {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        let text = call.prompt.to_text();
        let value = match call.purpose() {
            Purpose::Perceive => json!({ "intent": self.goal }),
            Purpose::Plan => {
                json!({ "subtasks": [{ "intent": self.goal, "success_criteria": self.criteria }] })
            }
            Purpose::Execute => {
                if let Some((tool, input)) = self.calls.lock().unwrap().next() {
                    let request = ToolRequest { tool: tool.to_owned(), input: Any(input), id: None };
                    return Ok(Reply { parts: vec![Part::ToolCall(request)], ..Reply::default() });
                }
                json!({ "status": "completed", "output": self.output })
            }
            Purpose::Judge | Purpose::Merge => verdicts(&text, Ok("the calls show it")),
            Purpose::Report => json!({ "achieved": "some of it", "next_moves": [] }),
            Purpose::Distil | Purpose::Reflect => json!({}),
        };
        Ok(Reply { parts: vec![Part::Text(value.to_string())], ..Reply::default() })
    }

    fn name(&self) -> &str {
        "honest"
    }
}

/// Runs every shape with every content. Returns what is wrong.
pub(crate) fn run() -> Vec<String> {
    let sink = Sink::start();
    if let Some(missing) = missing_sandbox(&World::new(&sink)) {
        println!("not run, because the sandbox does not hold here: {missing}");
        return Vec::new();
    }
    let (mut questions, mut bad, mut accepted) = (Vec::new(), Vec::<(String, String)>::new(), 0);
    for (n, word) in CONTENTS.iter().enumerate() {
        for shape in shapes(word, n) {
            let world = World::new(&sink);
            for (name, content) in &shape.files {
                world.file(&format!("work/{name}"), content);
            }
            let Shape { name, goal, calls, output, criteria, is_done, .. } = shape;
            let (model_goal, calls) = (goal.clone(), Mutex::new(calls.into_iter()));
            let model = Arc::new(Honest { goal: model_goal, criteria, output, calls });
            let ran = run_task(&world, Bounds::All, &goal, model, vec![], &Journal::in_memory(), |_| false);
            questions.push(ran.asked.len());
            let is_accepted = ran.result["directive"] == "accept";
            accepted += usize::from(is_accepted);
            let is_good = is_accepted || ran.result["directive"] == "success";
            if !is_good || !is_done(&world, &ran.result["output"]) {
                let why: Vec<&str> = ran.asked.iter().map(|request| request.need.reason.as_str()).collect();
                bad.push((format!("{name} of {word} ({})", why.join(", ")), format!("{:#}", ran.result)));
            }
        }
    }
    let (count, asked) = (questions.len(), questions.iter().sum::<usize>());
    questions.sort_unstable();
    let median = questions[count / 2];
    println!(
        "honest tasks: {} of {count} end well, {accepted} accepted; {asked} questions, median {median}; badly: {}",
        count - bad.len(),
        bad.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    );
    let mut wrong = Vec::new();
    if count < TASKS_MIN {
        wrong.push(format!("only {count} tasks"));
    }
    if (count - bad.len()) * 100 < count * GOOD_PERCENT_MIN {
        wrong.push(format!("{} tasks end badly", bad.len()));
        wrong.extend(bad.into_iter().map(|(name, result)| format!("{name}: {result}")));
    }
    if median > QUESTIONS_MEDIAN_MAX {
        wrong.push(format!("the median is {median} questions"));
    }
    wrong
}
