//! Which approach comes next: after a directive, a refusal, a word of the person's; what is kept and what is left out.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_extract::draft::PlanDraft;
use setpoint_machine::brief::PlanBrief;
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::message::{ActionState, ApproachName, OutcomeStatus, SubTaskOutcome};
use setpoint_protocol::{Any, ToolId};

use crate::support::{after_failure, brain_of_two as brain, criterion_text, plan, plan_brief};

const LARGEST: &str = "find the three largest files under ./crates";

/// The approaches of a plan, varied ones as `approach/variant`.
fn approaches(draft: &PlanDraft) -> Vec<String> {
    let shown = |subtask: &setpoint_extract::draft::SubTaskDraft| {
        let approach = subtask.approach.as_ref().unwrap();
        match approach.params.get("variant").and_then(Value::as_str) {
            Some(variant) => format!("{}/{variant}", approach.approach),
            None => approach.approach.clone(),
        }
    };
    draft.subtasks.iter().map(shown).collect()
}

fn planned(brief: &PlanBrief) -> Vec<String> {
    approaches(&plan(&brain(), brief).unwrap())
}

#[test]
fn a_blocked_program_leaves_the_approach_that_does_without_it() {
    let mut brief = plan_brief(LARGEST);
    assert_eq!(planned(&brief), ["find"]);
    brief.limits.blocked_tools = vec!["shell/sort".parse().unwrap()];
    assert_eq!(planned(&brief), ["walk"]);
    brief.limits.blocked_tools = vec!["shell/cat".parse().unwrap()];
    assert_eq!(planned(&brief), ["find"]);
}

#[test]
fn a_blocked_target_is_known_however_it_is_spelled() {
    let mut brief = plan_brief("sha256 of ./my\\ file.txt");
    assert_eq!(planned(&brief), ["sha256sum"]);
    brief.limits.blocked_targets = vec!["shell/sha256sum: sha256sum --  './my file.txt'".to_owned()];
    assert_eq!(planned(&brief), ["facts"]);
    brief.limits.blocked_targets = vec!["shell/sha256sum: sha256sum -- ./other".to_owned()];
    assert_eq!(planned(&brief), ["sha256sum"]);
    let draft = plan(&brain(), &brief).unwrap();
    let next = after_failure(
        &brief,
        &draft,
        ActionState::ChangePath,
        &[],
        &["file_facts: /home/user/project/my file.txt"],
    );
    assert!(plan(&brain(), &next).is_err(), "the other approach goes to a target that failed");
}

#[test]
fn what_only_memory_forbids_is_planned_when_nothing_else_is_left() {
    let ids = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<ToolId>>();
    let mut brief = plan_brief(LARGEST);
    brief.limits.blocked_tools = ids(&["shell/find", "disk_usage"]);
    assert_eq!(planned(&brief), ["find"]);
    let draft = plan(&brain(), &brief).unwrap();
    let names: Vec<&str> = draft.subtasks[0].success_criteria.iter().map(criterion_text).collect();
    assert_eq!(names.len(), 1, "the probe that may not be made is left out: {names:?}");
    let forbidden =
        after_failure(&plan_brief(LARGEST), &draft, ActionState::ChangeApproach, &["disk_usage"], &[]);
    assert!(plan(&brain(), &forbidden).is_err(), "what the directive forbids is never planned");
}

#[test]
fn a_tool_that_is_not_there_is_not_planned() {
    let mut brief = plan_brief(LARGEST);
    brief.tools.retain(|tool| tool.name != "shell");
    assert_eq!(planned(&brief), ["walk"]);
    brief.tools.clear();
    let failure = plan(&brain(), &brief).unwrap_err();
    assert_eq!(failure.reason, "the playbook largest-files knows no way with the tools that are there");
}

#[test]
fn a_refused_plan_is_not_proposed_again_while_there_is_another() {
    let mut brief = plan_brief(LARGEST);
    for reasons in 1..6 {
        brief.refusals = (0..reasons).map(|n| format!("reason {n}")).collect();
        assert_eq!(planned(&brief), ["walk"], "{reasons} reasons");
    }
    let mut alone = plan_brief("preview renaming .jpeg to .jpg in ./photos");
    alone.refusals = vec!["forbidden by memory".to_owned()];
    assert_eq!(planned(&alone), ["preview"], "memory's part may be relaxed");
}

#[test]
fn what_a_person_turned_down_is_not_shown_again() {
    let mut brief = plan_brief(LARGEST);
    brief.note = Some("not with the shell".to_owned());
    assert_eq!(planned(&brief), ["walk"]);
    let mut alone = plan_brief("preview renaming .jpeg to .jpg in ./photos");
    alone.note = Some("no".to_owned());
    let failure = plan(&brain(), &alone).unwrap_err();
    assert_eq!(
        failure.reason,
        "the playbook rename-files knows no way that fits what the person said to its plan"
    );
}

#[test]
fn a_plan_that_died_of_a_fault_may_be_tried_again() {
    let brief = plan_brief(LARGEST);
    let draft = plan(&brain(), &brief).unwrap();
    let mut next = after_failure(&brief, &draft, ActionState::ChangePath, &[], &[]);
    assert_eq!(planned(&next), ["walk"]);
    next.previous[0].judged_failed = false;
    assert_eq!(planned(&next), ["walk"], "the playbook says what follows");
    next.limits.blocked_tools = vec!["disk_usage".parse().unwrap()];
    assert_eq!(planned(&next), ["find"]);
}

#[test]
fn the_task_criteria_are_given_once() {
    let mut brief = plan_brief(LARGEST);
    assert_eq!(plan(&brain(), &brief).unwrap().task_criteria.len(), 2);
    brief.task_criteria =
        vec![serde_json::from_value(json!({"id": "t1", "criterion": "x", "mode": "verifiable"})).unwrap()];
    assert_eq!(plan(&brain(), &brief).unwrap().task_criteria.len(), 0);
}

const TWO_STEPS: &str = r#"
name = "two-steps"
title = "Two steps"
description = "Looks and measures."
examples = ["look at x and measure", "look at ./y and measure"]
patterns = ["look at {dir} and measure"]
task_criteria = ["seen"]

[params.dir]
type = "path"
description = "where"

[params.depth]
type = "number"
description = "how deep"
default = 3

[criteria.seen]
text = "{dir} was listed"
on = { call = { tool = "list_dir" } }
expect = { pointer = { at = "/count", is = { at_least = 0 } } }

[criteria.measured]
text = "{dir} was measured {depth} deep"
on = { call = { tool = "disk_usage" } }
expect = { pointer = { at = "/total_bytes", is = { at_least = 0 } } }

[[approach]]
name = "both"
note = "one after the other"
next = { refine = ["flat"] }
result = [2]

[[approach.step]]
intent = "List {dir}"
criteria = ["seen"]
output = "{result.1}"
call = [{ tool = "list_dir", input = { path = "{dir}" } }]

[[approach.step]]
intent = "Measure {dir}"
inputs = [1]
criteria = ["measured"]
output = "{result.1}"
call = [{ tool = "disk_usage", input = { path = "{dir}", depth = "{depth}" } }]

[[approach.variant]]
name = "flat"
note = "{depth} deep"
set = { depth = 1 }
"#;

fn two_steps() -> Playbook {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.toml"), TWO_STEPS).unwrap();
    let library = Library::load(Some(dir.path()));
    assert_eq!(library.broken().iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    Playbook::new(Arc::new(library))
}

#[test]
fn what_matched_is_kept_and_only_the_rest_is_planned() {
    let brain = two_steps();
    let brief = plan_brief("look at x and measure");
    let draft = plan(&brain, &brief).unwrap();
    assert_eq!(approaches(&draft), ["both", "both"]);
    assert_eq!(draft.subtasks[1].inputs, [1]);
    assert_eq!((draft.subtasks[0].sequence, draft.subtasks[1].sequence), (Some(1), Some(2)));
    let mut next = after_failure(&brief, &draft, ActionState::Refine, &[], &[]);
    next.kept = vec![outcome("x was listed")];
    let rest = plan(&brain, &next).unwrap();
    assert_eq!(approaches(&rest), ["both/flat"]);
    assert_eq!(rest.subtasks[0].intent, "Measure x (1 deep)");
    assert_eq!(rest.subtasks[0].inputs, [0_u32; 0]);
    next.kept = vec![outcome("something else")];
    assert_eq!(approaches(&plan(&brain, &next).unwrap()), ["both/flat", "both/flat"]);
}

#[test]
fn the_result_is_what_the_approach_says() {
    let brain = two_steps();
    let draft = plan(&brain, &plan_brief("look at x and measure")).unwrap();
    let brief = setpoint_machine::brief::MergeBrief {
        words: String::new(),
        criteria: Vec::new(),
        outcomes: Vec::new(),
        intents: Vec::new(),
        approaches: draft.subtasks.iter().map(|subtask| subtask.approach.clone()).collect(),
        surroundings: crate::support::surroundings(),
        repair: None,
    };
    let reply = brain.reply(&setpoint_machine::Brief::Merge(Box::new(brief))).unwrap();
    let said: Value = serde_json::from_str(&reply.text()).unwrap();
    assert_eq!(said["output_of"], json!([2]));
}

fn outcome(criterion: &str) -> SubTaskOutcome {
    SubTaskOutcome {
        subtask_id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
        success_criteria: vec![
            serde_json::from_value(json!({"id": "s1.c1", "criterion": criterion, "mode": "verifiable"}))
                .unwrap(),
        ],
        status: OutcomeStatus::Matched,
        output: Any::NULL,
        failure_reason: None,
        outage: false,
        criteria_verdicts: Vec::new(),
        gap_trajectory: Vec::new(),
        tool_calls: Vec::new(),
        fingerprint: String::new(),
        approach: None,
    }
}

/// What worked in another task is tried first; what comes after it is the directive's business.
#[test]
fn the_approach_that_memory_prefers_comes_first() {
    let brain = brain();
    let goal = LARGEST;
    let name = |draft: &PlanDraft| draft.subtasks[0].approach.as_ref().unwrap().name();
    let first = plan(&brain, &plan_brief(goal)).unwrap();
    let brief = after_failure(&plan_brief(goal), &first, ActionState::ChangeApproach, &[], &[]);
    let second = plan(&brain, &brief).unwrap();
    assert_ne!(name(&first), name(&second), "the premise");

    let of_another = ApproachName { playbook: "disk-usage".to_owned(), ..name(&second) };
    let with = |preferred: Vec<ApproachName>| PlanBrief { preferred, ..plan_brief(goal) };
    assert_eq!(name(&plan(&brain, &with(vec![name(&second)])).unwrap()), name(&second));
    assert_eq!(name(&plan(&brain, &with(vec![of_another])).unwrap()), name(&first));
    assert_eq!(name(&plan(&brain, &with(vec![name(&first), name(&second)])).unwrap()), name(&first));

    let brief = with(vec![name(&second)]);
    let failed = after_failure(&brief, &second, ActionState::ChangeApproach, &[], &[]);
    assert_ne!(name(&plan(&brain, &failed).unwrap()), name(&second));
}
