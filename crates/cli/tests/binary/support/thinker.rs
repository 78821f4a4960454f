//! A scripted model: it answers every role sensibly, and follows the plan of a test.

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, SeenRequest, Turn};

/// Returns which role asks.
pub(crate) fn site(seen: &SeenRequest) -> Site {
    Site::of(seen).unwrap_or_else(|| panic!("nobody asks like this: {}", seen.asked.system))
}

/// Answers for every role, with this plan.
pub(crate) fn think(seen: &SeenRequest, plan: &Value) -> Turn {
    let question = &*seen.asked.told();
    let answer = match site(seen) {
        Site::Perceive => said(&json!({ "title": question::goal(question) })),
        Site::Plan => said(plan),
        Site::Report => said(&json!({ "achieved": "some of it", "next_moves": ["try again"] })),
        Site::Execute => act(question, seen),
        Site::Judge | Site::Merge => judge(question),
    };
    Turn::from(answer)
}

/// Does one sub-task: its intent names the call, `TOOL {…}`, which is made until it succeeds.
fn act(question: &str, seen: &SeenRequest) -> Answer {
    let work = question::work(question).unwrap_or_default();
    if question::calls(question).next().is_some() {
        return said(&json!({ "status": "completed", "output": format!("done: {work}") }));
    }
    let Some((tool, input)) = work.split_once(" {") else {
        return said(&json!({ "status": "failed", "reason": "no call is named" }));
    };
    let tool = tool.rsplit(' ').next().unwrap_or_default();
    let input = format!("{{{input}");
    if seen.asked.tools.is_empty() {
        let input: Value = serde_json::from_str(&input).unwrap();
        return said(&json!({ "tool": tool, "input": input }));
    }
    Answer::call(tool, &input)
}

/// Passes everything that is listed, on the evidence of the last successful call.
fn judge(question: &str) -> Answer {
    let cites: Vec<&str> = question::calls(question).last().into_iter().chain(["output"]).collect();
    let verdict = |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "it is there", "cites": cites });
    let verdicts: Vec<Value> = question::criteria(question).map(verdict).collect();
    said(&json!({ "verdicts": verdicts, "summary": "all three files are written" }))
}

fn said(value: &Value) -> Answer {
    Answer::text(&value.to_string())
}
