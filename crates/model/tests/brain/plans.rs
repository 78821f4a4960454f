//! What each shipped playbook plans first and after each directive, with the calls that follow: `corpus/plans.txt`.

use expect_test::expect_file;
use serde_json::{Value, json};
use setpoint_extract::draft::PlanDraft;
use setpoint_machine::brief::PlanBrief;
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::message::ActionState;
use setpoint_protocol::tool::ToolCall;

use crate::support::{
    Next, after_failure, brain, catalogue, check_of, criterion_text, execute, execute_brief, plan,
    plan_brief, record,
};

#[test]
fn plans_follow_the_directives() {
    let brain = brain();
    let mut out = String::new();
    for summary in brain.library().list() {
        let Some(goal) = summary.examples.first() else { continue };
        out.push_str(&format!("= {}: {goal}\n", summary.name));
        let first = plan_brief(goal);
        let draft = plan(&brain, &first).unwrap();
        show_task_criteria(&draft, &mut out);
        out.push_str("first\n");
        show(&brain, &draft, &mut out);
        for directives in [
            [ActionState::BreakSymmetry, ActionState::ChangeApproach],
            [ActionState::ChangePath, ActionState::Refine],
        ] {
            let (mut brief, mut draft) = (first.clone(), draft.clone());
            for directive in directives {
                brief = next_brief(&brain, &brief, &draft, directive);
                out.push_str(&format!(
                    "then {}\n",
                    serde_json::to_value(directive).unwrap().as_str().unwrap()
                ));
                match plan(&brain, &brief) {
                    Ok(next) => {
                        assert!(next.task_criteria.is_empty() || brief.task_criteria.is_empty());
                        show(&brain, &next, &mut out);
                        draft = next;
                    }
                    Err(failure) => {
                        out.push_str(&format!("  {}\n", failure.reason));
                        break;
                    }
                }
            }
        }
        out.push('\n');
    }
    expect_file!["corpus/plans.txt"].assert_eq(&out);
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let (one, other) = (brain(), Playbook::new(std::sync::Arc::new(Library::load(None))));
    for summary in one.library().list() {
        for goal in &summary.examples {
            let brief = setpoint_machine::Brief::Plan(Box::new(plan_brief(goal)));
            assert_eq!(one.reply(&brief).unwrap(), other.reply(&brief).unwrap(), "{goal}");
        }
    }
}

#[test]
fn every_example_is_known_best_by_its_own_playbook() {
    let library = Library::load(None);
    let problems: Vec<String> = library.check(None, &catalogue()).iter().map(ToString::to_string).collect();
    assert_eq!(problems, [""; 0]);
    for summary in library.list() {
        assert!(summary.examples.len() >= 2, "{}", summary.name);
        for goal in &summary.examples {
            assert_eq!(library.find(goal).unwrap().playbook, summary.name, "{goal}");
        }
    }
}

/// The tools that a failed round leaves blocked: those of its calls, for the shell by program.
fn next_brief(brain: &Playbook, before: &PlanBrief, draft: &PlanDraft, directive: ActionState) -> PlanBrief {
    let calls = calls(brain, draft);
    let mut tools: Vec<String> = calls.iter().flat_map(tool_ids).collect();
    tools.sort();
    tools.dedup();
    let targets: Vec<String> = calls.iter().flat_map(targets).collect();
    let borrowed = |texts: &[String]| texts.iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
    let (tools, targets) = match directive {
        ActionState::BreakSymmetry | ActionState::ChangeApproach => (borrowed(&tools), Vec::new()),
        ActionState::ChangePath | ActionState::Refine => (Vec::new(), borrowed(&targets)),
    };
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut brief = after_failure(before, draft, directive, &tools, &targets);
    if brief.task_criteria.is_empty() {
        brief.task_criteria =
            draft.task_criteria.iter().map(|criterion| frozen(criterion_text(criterion))).collect();
    }
    brief
}

fn frozen(text: &str) -> setpoint_protocol::message::Criterion {
    serde_json::from_value(json!({"id": "t1", "criterion": text, "mode": "verifiable"})).unwrap()
}

fn tool_ids(call: &ToolCall) -> Vec<String> {
    match call.input.get("command").and_then(Value::as_str) {
        Some(command) => programs(command).into_iter().map(|program| format!("shell/{program}")).collect(),
        None => vec![call.tool.clone()],
    }
}

fn targets(call: &ToolCall) -> Vec<String> {
    let target = call.input.as_object().unwrap().values().find_map(Value::as_str).unwrap();
    tool_ids(call).into_iter().map(|id| format!("{id}: {target}")).collect()
}

/// The first word of every part of a pipeline, `xargs` looked through.
fn programs(command: &str) -> Vec<String> {
    let parts = command.trim_start_matches('(').split(" | ");
    let program = |part: &str| {
        let mut words =
            part.split_whitespace().skip_while(|word| *word == "xargs" || *word == "-0" || *word == "-r");
        words.next().map(str::to_owned)
    };
    parts.filter_map(program).collect()
}

/// The calls that R3 would make, every result being a few empty facts.
fn calls(brain: &Playbook, draft: &PlanDraft) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for subtask in &draft.subtasks {
        let mut brief = execute_brief(subtask);
        while let Next::Call(call) = execute(brain, &brief).unwrap() {
            let facts = json!({"stdout": "", "files": [], "total_bytes": 0});
            brief.calls.push(record(&brief, &call, Ok(facts)));
            brief.rounds_left -= 1;
            calls.push(call);
        }
    }
    calls
}

fn show(brain: &Playbook, draft: &PlanDraft, out: &mut String) {
    for subtask in &draft.subtasks {
        let approach = subtask.approach.as_ref().unwrap();
        let variant = approach.params.get("variant").and_then(Value::as_str);
        let variant = variant.map(|name| format!("/{name}")).unwrap_or_default();
        out.push_str(&format!("  {}{variant}: {}\n", approach.approach, subtask.intent));
        for criterion in &subtask.success_criteria {
            out.push_str(&format!("    must hold: {}\n", criterion_text(criterion)));
            assert!(check_of(criterion).is_some());
        }
    }
    for call in calls(brain, draft) {
        out.push_str(&format!("    {} {}\n", call.tool, serde_json::to_string(&call.input).unwrap()));
    }
}

fn show_task_criteria(draft: &PlanDraft, out: &mut String) {
    for criterion in &draft.task_criteria {
        out.push_str(&format!("  the whole: {}\n", criterion_text(criterion)));
    }
}
