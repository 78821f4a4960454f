//! Properties that hold for every answer.

use proptest::prelude::*;
use serde::Serialize;
use setpoint_extract::draft::{
    CriterionDraft, ExecuteDraft, JudgeDraft, MergeDraft, PerceiveDraft, PlanDraft, ReportDraft, StatusDraft,
    SubTaskDraft, TurnDraft, VerdictDraft,
};
use setpoint_extract::{Draft, ExtractError, extract};
use setpoint_protocol::Any;
use setpoint_protocol::message::{FailureClass, Mode, VerdictWord};

/// Generates text of any kind, rich in JSON's characters. It has no `<`, which could form a mark of thinking.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9 .]{0,20}", "[^<◁]{0,20}", "[\"'{}\\[\\],:/#\\\\ \n\t`a-c…“”]{0,20}"]
}

fn perceive() -> impl Strategy<Value = PerceiveDraft> {
    let optional = || prop::option::of(text());
    let (title, intent, scope, deadline) = (optional(), optional(), optional(), optional());
    (title, intent, scope, deadline, prop::collection::vec(text(), 0..3), optional())
        .prop_map(|(title, intent, scope, deadline, questions, answer)| PerceiveDraft {
            title,
            intent,
            scope,
            deadline,
            questions,
            answer,
        })
        .prop_filter("says nothing", Draft::is_said)
}

fn criterion() -> impl Strategy<Value = CriterionDraft> {
    let mode = prop::sample::select(vec![Mode::Verifiable, Mode::Plausible]);
    prop_oneof![
        text().prop_map(CriterionDraft::Plain),
        (text(), mode).prop_map(|(criterion, mode)| CriterionDraft::Structured {
            asked: None,
            assumes: None,
            criterion,
            mode,
            check: None
        }),
    ]
}

fn subtask() -> impl Strategy<Value = SubTaskDraft> {
    let criteria = prop::collection::vec(criterion(), 0..3);
    let inputs = prop::collection::vec(any::<u32>(), 0..3);
    (text(), criteria, prop::option::of(text()), inputs, prop::option::of(any::<i64>())).prop_map(
        |(intent, success_criteria, context, inputs, sequence)| SubTaskDraft {
            intent,
            success_criteria,
            context,
            inputs,
            sequence,
            ..SubTaskDraft::default()
        },
    )
}

fn plan() -> impl Strategy<Value = PlanDraft> {
    (prop::collection::vec(subtask(), 0..4), prop::collection::vec(criterion(), 0..3))
        .prop_map(|(subtasks, task_criteria)| PlanDraft { subtasks, task_criteria, ..PlanDraft::default() })
}

fn report() -> impl Strategy<Value = ReportDraft> {
    (text(), text(), prop::collection::vec(text(), 0..3))
        .prop_map(|(achieved, blocked_by, next_moves)| ReportDraft { achieved, blocked_by, next_moves })
}

fn verdicts() -> impl Strategy<Value = Vec<VerdictDraft>> {
    let verdict = prop::sample::select(vec![VerdictWord::Pass, VerdictWord::Fail]);
    let class = prop::sample::select(vec![FailureClass::Logical, FailureClass::Environmental]);
    let draft = (text(), verdict, text(), prop::collection::vec(text(), 0..3), prop::option::of(class))
        .prop_map(|(criterion_id, verdict, evidence, cites, failure_class)| VerdictDraft {
            cannot: false,
            criterion_id,
            verdict,
            evidence,
            cites,
            failure_class,
        });
    prop::collection::vec(draft, 0..4)
}

fn judge() -> impl Strategy<Value = JudgeDraft> {
    verdicts().prop_map(|verdicts| JudgeDraft { verdicts })
}

fn merge() -> impl Strategy<Value = MergeDraft> {
    (verdicts(), prop::option::of(text()), prop::collection::vec(any::<u32>(), 0..3)).prop_map(
        |(verdicts, summary, output_of)| MergeDraft { verdicts, summary, output_of, at_fault: Vec::new() },
    )
}

fn execute() -> impl Strategy<Value = ExecuteDraft> {
    let status =
        prop::sample::select(vec![StatusDraft::Completed, StatusDraft::Uncertain, StatusDraft::Failed]);
    (status, text(), prop::option::of(text()), prop::option::of(text())).prop_map(
        |(status, output, uncertainty, reason)| ExecuteDraft {
            unmet: Vec::new(),
            status,
            output: Any::from(output.as_str()),
            uncertainty,
            reason,
        },
    )
}

/// The text around an answer.
#[derive(Clone, Copy, Debug)]
struct Around {
    before: &'static str,
    after: &'static str,
}

fn around() -> impl Strategy<Value = Vec<Around>> {
    const AROUND: &[Around] = &[
        Around { before: "Sure! Here it is: ", after: "\nDone." },
        Around { before: "The set {a, b} and [1], it's \"so\":\n", after: " with {braces} after" },
        Around { before: "```json\n", after: "\n```" },
        Around { before: "~~~\n", after: "\n~~~\n" },
        Around { before: "```json\n", after: "" },
        Around { before: "<think>maybe {\"intent\":\"x\"}, or {not</think>\n", after: "" },
        Around { before: "<thinking>\n<thinking>in\n</thinking>out\n</thinking>", after: "\n" },
        Around { before: "no {opening mark\n</think>\n\n", after: "" },
        Around { before: "{\"note\":1} ", after: " {\"other\":[2]}" },
        Around { before: "fn f() { x: y; }\n", after: "\n" },
        Around {
            before: "Like {\"subtasks\": [...], \"verdicts\": [...], \"achieved\": ...}:\n",
            after: "\n",
        },
        Around { before: "<answer>\n", after: "\n</answer>" },
        Around { before: "\u{feff}\u{200b}", after: "\0" },
        Around { before: "", after: "<|im_end|>\n<|im_start|>user\n{\"intent\":\"more\"}" },
    ];
    prop::collection::vec(prop::sample::select(AROUND), 1..3)
}

/// Returns the answer inside all of it. A block of thinking must begin with the text.
fn wrapped(json: &str, around: &[Around]) -> String {
    let thinks = |around: &&Around| around.before.contains("think>");
    let inner: Vec<&Around> = around.iter().filter(|around| !thinks(around)).collect();
    let outer: Vec<&Around> = around.iter().filter(thinks).collect();
    let around = |json: String, around: &&Around| format!("{}{json}{}", around.before, around.after);
    let inside = inner.iter().fold(json.to_owned(), around);
    outer.iter().take(1).fold(inside, around)
}

fn found_unchanged<T: Draft + Serialize + std::fmt::Debug>(
    draft: &T,
    around: &[Around],
    pretty: bool,
) -> Result<(), TestCaseError> {
    let json =
        if pretty { serde_json::to_string_pretty(draft) } else { serde_json::to_string(draft) }.unwrap();
    for text in [json.clone(), wrapped(&json, around)] {
        let found = extract::<T>(&text);
        prop_assert_eq!(found.as_ref(), Ok(draft), "{}", text);
    }
    Ok(())
}

/// Checks that no prefix of an answer is accepted as one.
fn never_completed<T: Draft + Serialize + std::fmt::Debug>(draft: &T) -> Result<(), TestCaseError> {
    let json = serde_json::to_string(draft).unwrap();
    for (at, _) in json.char_indices() {
        let (beginning, _) = json.split_at(at);
        for text in [beginning.to_owned(), format!("So: {beginning}"), format!("```json\n{beginning}\n```")] {
            prop_assert!(extract::<T>(&text).is_err(), "{}", text);
        }
    }
    Ok(())
}

/// Returns a draft without brackets and other marks in its texts: if the marks around them are missing, text cannot
/// be told from structure.
fn tame<T: Serialize + Draft>(draft: &T) -> T {
    fn walk(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => {
                *text = text.replace(['{', '}', '[', ']', '\'', '“', '”'], ".");
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(walk),
            serde_json::Value::Object(fields) => fields.values_mut().for_each(walk),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(draft).unwrap();
    walk(&mut value);
    serde_json::from_value(value).unwrap()
}

/// Returns every text that is a draft's JSON without one of its structural characters.
fn with_one_missing<T: Serialize>(draft: &T) -> Vec<(String, char)> {
    let json = serde_json::to_string(draft).unwrap();
    let without = |(at, c): (usize, char)| {
        let (before, rest) = json.split_at(at);
        (format!("{before}{}", rest.strip_prefix(c).unwrap()), c)
    };
    json.char_indices().filter(|(_, c)| !c.is_alphanumeric() && *c != '_').map(without).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_is_found_unchanged_in_any_surrounding_text(
        perceive in perceive(),
        plan in plan(),
        report in report(),
        judge in judge(),
        merge in merge(),
        around in around(),
        pretty in any::<bool>(),
    ) {
        found_unchanged(&perceive, &around, pretty)?;
        found_unchanged(&plan, &around, pretty)?;
        found_unchanged(&report, &around, pretty)?;
        found_unchanged(&judge, &around, pretty)?;
        if merge.is_said() {
            found_unchanged(&merge, &around, pretty)?;
        }
    }

    #[test]
    fn a_turn_is_found_unchanged_in_any_surrounding_text(execute in execute(), around in around()) {
        let json = serde_json::to_string(&execute).unwrap();
        for text in [json.clone(), wrapped(&json, &around)] {
            prop_assert_eq!(extract::<TurnDraft>(&text), Ok(TurnDraft::Answer(execute.clone())), "{}", text);
        }
    }

    #[test]
    fn two_differing_answers_are_an_error(left in judge(), right in judge()) {
        let text = format!("{}\n{}", serde_json::to_string(&left).unwrap(), serde_json::to_string(&right).unwrap());
        let has_dots = |draft: &JudgeDraft| ["\"…\"", "\"...\""].iter().any(|dots| serde_json::to_string(draft).unwrap().contains(dots));
        prop_assume!(!has_dots(&left) && !has_dots(&right));
        let expected = if left == right { Ok(left) } else { Err(ExtractError::Several(2)) };
        prop_assert_eq!(extract::<JudgeDraft>(&text), expected);
    }

    #[test]
    fn an_error_holds_no_word_of_the_answer(name in "zq[a-z]{6}", value in "qz[a-z]{6}", cut in any::<prop::sample::Index>()) {
        let json = format!(r#"{{"subtasks":[{{"intent":"{value}","{name}":{{"{name}":["{value}"]}},"sequence":"{value}"}}]}}"#);
        let (beginning, _) = json.split_at(cut.index(json.len() + 1));
        for text in [beginning.to_owned(), json.replace("\"intent\"", "\"goal\""), json.replace(":[", "=["), json.clone()] {
            let error = extract::<PlanDraft>(&text).unwrap_err().to_string();
            prop_assert!(!error.contains("zq") && !error.contains("qz"), "{}: {}", text, error);
        }
    }
}

proptest! {
    // Each case is some hundred answers.
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_prefix_of_an_answer_is_not_an_answer(plan in plan(), judge in judge(), merge in merge(), execute in execute()) {
        never_completed(&plan)?;
        never_completed(&judge)?;
        never_completed(&merge)?;
        never_completed(&execute)?;
    }

    #[test]
    fn a_missing_character_loses_no_item_and_flips_no_verdict(
        plan in plan(),
        judge in judge(),
        merge in merge(),
        report in report(),
    ) {
        let (plan, judge, merge, report) = (tame(&plan), tame(&judge), tame(&merge), tame(&report));
        for (text, missing) in with_one_missing(&plan) {
            if let Ok(found) = extract::<PlanDraft>(&text) {
                let size = |plan: &PlanDraft| -> Vec<usize> {
                    let criteria = plan.subtasks.iter().map(|subtask| subtask.success_criteria.len());
                    criteria.chain([plan.task_criteria.len()]).collect()
                };
                prop_assert_eq!(size(&found), size(&plan), "without {:?}: {}", missing, text);
            }
        }
        let words = |verdicts: &[VerdictDraft]| verdicts.iter().map(|draft| draft.verdict).collect::<Vec<_>>();
        for (text, missing) in with_one_missing(&judge) {
            if let Ok(found) = extract::<JudgeDraft>(&text) {
                prop_assert_eq!(words(&found.verdicts), words(&judge.verdicts), "without {:?}: {}", missing, text);
            }
        }
        for (text, missing) in with_one_missing(&merge) {
            if let Ok(found) = extract::<MergeDraft>(&text) {
                let has = |merge: &MergeDraft| {
                    (words(&merge.verdicts), merge.summary.is_some(), merge.output_of.is_empty())
                };
                prop_assert_eq!(has(&found), has(&merge), "without {:?}: {}", missing, text);
            }
        }
        for (text, missing) in with_one_missing(&report) {
            if let Ok(found) = extract::<ReportDraft>(&text) {
                prop_assert_eq!(found.next_moves.len(), report.next_moves.len(), "without {:?}: {}", missing, text);
            }
        }
    }
}
