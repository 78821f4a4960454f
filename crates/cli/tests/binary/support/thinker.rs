//! A model as a script: it reads what each role is asked and answers sensibly, in the words that the prompts ask for.

use serde_json::{Value, json};
use setpoint_model_server::{Answer, Seen, Turn};

/// Who is asked, by the standing instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asked {
    Perceiver,
    Planner,
    Report,
    Executor,
    AgentValidator,
    MetaValidator,
}

impl Asked {
    /// Who a request is for.
    pub(crate) fn of(seen: &Seen) -> Self {
        let begins = |text: &str| seen.asked.system.trim_start().starts_with(text);
        if begins("You turn what a person typed") {
            Asked::Perceiver
        } else if begins("You plan how a goal is reached") {
            Asked::Planner
        } else if begins("A task is being given up") {
            Asked::Report
        } else if begins("You do one sub-task") {
            Asked::Executor
        } else if begins("You judge criteria") {
            Asked::AgentValidator
        } else if begins("Several pieces of work") {
            Asked::MetaValidator
        } else {
            panic!("nobody asks like this: {}", seen.asked.system)
        }
    }
}

/// Answers for every role, with this plan.
pub(crate) fn think(seen: &Seen, plan: &Value) -> Turn {
    let question = seen.asked.last_user().unwrap_or_default();
    let answer = match Asked::of(seen) {
        Asked::Perceiver => said(&json!({ "intent": line_after(question, "The person typed:") })),
        Asked::Planner => said(plan),
        Asked::Report => said(&json!({ "achieved": "some of it", "next_moves": ["try again"] })),
        Asked::Executor => act(question, seen),
        Asked::AgentValidator | Asked::MetaValidator => judge(question),
    };
    Turn::from(answer)
}

/// One sub-task: its intent names the call, `TOOL {…}`, which is made once, and then it is done.
fn act(question: &str, seen: &Seen) -> Answer {
    let work = line_after(question, "The sub-task: ");
    if question.contains("data calls so far") {
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

/// Everything that is listed passes, on the evidence of the last call that succeeded.
fn judge(question: &str) -> Answer {
    let ids =
        question.split("Judge:\n").nth(1).unwrap_or_default().lines().take_while(|line| !line.is_empty());
    let is_good = |line: &&str| line.starts_with("r3.") && line.contains(" ok");
    let call = question.lines().rev().map(str::trim_start).find(is_good);
    let call = call.and_then(|line| line.split(' ').next()).unwrap_or_default();
    let verdicts: Vec<Value> = ids
        .filter_map(|line| line.split(' ').next())
        .map(|id| json!({ "criterion_id": id, "verdict": "pass", "evidence": "it is there", "cites": ["output", call] }))
        .collect();
    said(&json!({ "verdicts": verdicts, "summary": "all three files are written" }))
}

fn said(value: &Value) -> Answer {
    Answer::text(&value.to_string())
}

/// What stands after `mark`, in its line or in the next one.
fn line_after(text: &str, mark: &str) -> String {
    let after = text.split(mark).nth(1).unwrap_or_default();
    after.trim_start_matches('\n').lines().next().unwrap_or_default().trim().to_owned()
}
