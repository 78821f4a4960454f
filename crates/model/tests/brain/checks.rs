//! The checks of shipped playbooks, filled in as they are planned.

use setpoint_extract::draft::CriterionDraft;
use setpoint_protocol::Any;
use setpoint_protocol::limits::{CRITERION_CHARS_MAX, INTENT_CHARS_MAX};
use setpoint_protocol::message::ActionState;
use setpoint_protocol::predicate::{Check, Observation};

use crate::support::{after_failure, brain, check_of, criterion_text, plan, plan_brief};

/// Every criterion that any approach plans for any example, with the playbook's name.
fn criteria() -> Vec<(String, CriterionDraft)> {
    let brain = brain();
    let mut criteria = Vec::new();
    for summary in brain.library().list() {
        for goal in &summary.examples {
            let mut brief = plan_brief(goal);
            while let Ok(draft) = plan(&brain, &brief) {
                assert!(!draft.subtasks.is_empty(), "{goal}");
                for subtask in &draft.subtasks {
                    assert!(!subtask.success_criteria.is_empty(), "{goal}");
                    assert!(subtask.intent.chars().count() <= INTENT_CHARS_MAX);
                }
                let all = draft.subtasks.iter().flat_map(|subtask| &subtask.success_criteria);
                criteria
                    .extend(all.chain(&draft.task_criteria).map(|one| (summary.name.clone(), one.clone())));
                brief = after_failure(&brief, &draft, ActionState::ChangePath, &[], &[]);
                assert!(brief.round < 20, "{goal}: the plans do not come to an end");
            }
        }
    }
    criteria
}

#[test]
fn every_criterion_has_a_check_that_can_be_evaluated() {
    for (playbook, criterion) in criteria() {
        let text = criterion_text(&criterion);
        assert!(text.chars().count() <= CRITERION_CHARS_MAX, "{playbook}: {text}");
        let check = check_of(&criterion).unwrap_or_else(|| panic!("{playbook}: {text}"));
        let check: Check = serde_json::from_value(check.0.clone()).unwrap();
        check.expect.validate().unwrap();
        assert!(check.expect.says_more_than_exit_code(), "{playbook}: {text}");
    }
}

#[test]
fn no_check_holds_of_nothing() {
    for (playbook, criterion) in criteria() {
        let check: Check = serde_json::from_value(check_of(&criterion).unwrap().0.clone()).unwrap();
        for (text, value) in [("", None), ("null", None), ("", Some(serde_json::json!({})))] {
            let seen = Observation { text, value: value.as_ref(), exit_code: Some(0) };
            for output in [Any::NULL, Any(serde_json::json!({}))] {
                let finding = check.expect.evaluate_against(&seen, &output);
                assert!(!finding.holds, "{playbook}: {}: {}", criterion_text(&criterion), finding.why);
            }
        }
    }
}
