//! Checks on records that were cut: what is missing from the record may have been in the part left out.

use serde_json::Value;
use setpoint_protocol::predicate::{Comparison, Finding, Observation, Predicate};
use setpoint_protocol::text::is_cut;

use super::left_out::may_be_left_out;

/// The name of the part of a document's facts that is about what was given of it.
const GIVEN: &str = "given";

/// The result of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PredicateOutcome {
    /// Holds only if it would also hold for the whole text.
    pub(super) finding: Finding,
    /// Whether it fails here but might hold for the whole text.
    pub(super) is_cut_short: bool,
}

/// Evaluates a predicate on evidence that may have been cut, compared with the output if there is one.
pub(super) fn look(
    expect: &Predicate,
    observed: &Observation<'_>,
    output: Option<&Value>,
) -> PredicateOutcome {
    let mut finding = match output {
        Some(output) => expect.evaluate_against(observed, output),
        None => expect.evaluate(observed),
    };
    let is_doubtful = if finding.holds { rests_on_the_whole } else { reads_what_is_cut };
    if is_cut(observed.text) && is_doubtful(expect, observed.value.is_some()) {
        finding.holds = false;
        finding.why.push_str("; the evidence was cut, and this may be about what is missing of it");
        return PredicateOutcome { finding, is_cut_short: true };
    }
    if finding.holds && may_be_left_out(expect, observed) {
        finding.holds = false;
        finding.why.push_str(
            "; what was looked at is not all there is, so it does not show that something is missing",
        );
        return PredicateOutcome { finding, is_cut_short: true };
    }
    // Two partial lists can agree by accident, and a count over a part is not the count of the whole.
    let is_cut_short = expect.speaks_of_the_output()
        && (is_partial(observed.value) || expect.has(&|part| reads_what_was_given(part, observed.value)));
    if is_cut_short {
        finding.holds = false;
        finding.why.push_str("; what was measured is not all there is, so it shows nothing of the whole");
    }
    PredicateOutcome { finding, is_cut_short }
}

/// Returns whether a call reports that its own result is incomplete.
fn is_partial(facts: Option<&Value>) -> bool {
    let fact = |name: &str| facts.and_then(|facts| facts.get(name));
    fact("complete") == Some(&Value::Bool(false))
        || fact("unreadable").and_then(Value::as_u64).is_some_and(|unreadable| unreadable > 0)
}

/// Returns whether it compares the output with what was given of a document, if that is not all. How many pages it has is
/// known all the same.
fn reads_what_was_given(predicate: &Predicate, facts: Option<&Value>) -> bool {
    let Predicate::Pointer { at, is: Comparison::Output { .. } } = predicate else { return false };
    let given = facts.and_then(|facts| facts.get(GIVEN)).filter(|_| {
        at.strip_prefix('/').and_then(|at| at.split('/').next()).is_some_and(|name| name == GIVEN)
    });
    is_partial(given)
}

/// Returns whether it reads something that may have been cut. Facts are stored whole or not at all.
fn reads_what_is_cut(predicate: &Predicate, has_facts: bool) -> bool {
    match predicate {
        Predicate::ExitCode(_) => false,
        Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::NumberInRange { .. }
        | Predicate::TestRun(_) => true,
        Predicate::Pointer { .. } | Predicate::Rows(_) | Predicate::File(_) => !has_facts,
        Predicate::All(parts) | Predicate::Any(parts) => {
            parts.iter().any(|part| reads_what_is_cut(part, has_facts))
        }
        Predicate::Not(part) => reads_what_is_cut(part, has_facts),
    }
}

/// Returns whether it may hold for a part but not for the whole: because of what is absent or what comes first.
fn rests_on_the_whole(predicate: &Predicate, has_facts: bool) -> bool {
    match predicate {
        Predicate::NumberInRange { .. } => true,
        Predicate::Not(part) => reads_what_is_cut(part, has_facts),
        Predicate::All(parts) | Predicate::Any(parts) => {
            parts.iter().any(|part| rests_on_the_whole(part, has_facts))
        }
        Predicate::ExitCode(_)
        | Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::Pointer { .. }
        | Predicate::Rows(_)
        | Predicate::TestRun(_)
        | Predicate::File(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::text::{head_and_tail, head_lines};

    #[test]
    fn text_past_the_end_of_a_cut_file_may_exist() {
        let file = "alpha\nbeta\ngamma\n";
        for first_line in [None, Some(1)] {
            let cut = head_lines(file, 12, first_line).to_text("");
            for (predicate, expected) in [
                (json!({"contains": "alpha"}), (true, false)),
                (json!({"contains": "gamma"}), (false, true)),
                (json!({"not": {"contains": "delta"}}), (false, true)),
            ] {
                let parsed: Predicate = serde_json::from_value(predicate.clone()).unwrap();
                let looked = look(&parsed, &Observation { text: &cut, value: None, exit_code: None }, None);
                assert_eq!((looked.finding.holds, looked.is_cut_short), expected, "{predicate} {cut}");
            }
        }
    }

    #[test]
    fn a_part_of_a_document_shows_its_size_and_no_more() {
        let facts = |is_whole: bool| json!({ "pages": 250, "complete": true, "given": { "to": 3, "pages_without_text": [2], "complete": is_whole } });
        let output = json!({ "answer": 250, "last": 3, "scans": [2] });
        for (pointer, at, on_a_part) in [
            ("/pages", "/answer", true),
            ("/given/to", "/last", false),
            ("/given/pages_without_text", "/scans", false),
        ] {
            let predicate =
                json!({"pointer": {"at": pointer, "is": {"output": {"how": "equals", "at": at}}}});
            let predicate: Predicate = serde_json::from_value(predicate).unwrap();
            let holds = |facts: Value| {
                let observed = Observation { text: "", value: Some(&facts), exit_code: None };
                look(&predicate, &observed, Some(&output)).finding.holds
            };
            assert_eq!((holds(facts(false)), holds(facts(true))), (on_a_part, true), "{pointer}");
        }
    }

    #[test]
    fn text_missing_from_a_cut_record_may_exist() {
        let cut = head_and_tail(&format!("head 1 {} tail", "x".repeat(100)), 30);
        let facts = json!({"lines": 1});
        for (predicate, on_cut_text, on_cut_text_with_facts) in [
            (json!({"contains": "tail"}), "holds", "holds"),
            (json!({"contains": "lost"}), "cut short", "cut short"),
            (json!({"matches": "^lost"}), "cut short", "cut short"),
            (json!({"not": {"contains": "lost"}}), "cut short", "cut short"),
            (json!({"not": {"exit_code": 1}}), "holds", "holds"),
            (json!({"exit_code": 1}), "no", "no"),
            (json!({"number_in_range": {"min": 0.0, "max": 9.0}}), "cut short", "cut short"),
            (json!({"pointer": {"at": "/lines", "is": {"equals": 1}}}), "cut short", "holds"),
            (json!({"pointer": {"at": "/lines", "is": {"equals": 2}}}), "cut short", "no"),
            (json!({"file": {"lines": 2}}), "cut short", "no"),
            (json!({"all": [{"exit_code": 0}, {"contains": "lost"}]}), "cut short", "cut short"),
            (json!({"any": [{"exit_code": 0}, {"contains": "lost"}]}), "holds", "holds"),
        ] {
            let shown = predicate.to_string();
            let predicate: Predicate = serde_json::from_value(predicate).unwrap();
            let word = |text: &str, value| {
                let observed = Observation { text, value, exit_code: Some(0) };
                let looked = look(&predicate, &observed, None);
                assert_eq!(
                    looked.is_cut_short,
                    looked.finding.why.contains("the evidence was cut"),
                    "{shown}"
                );
                match (looked.finding.holds, looked.is_cut_short) {
                    (true, _) => "holds",
                    (false, true) => "cut short",
                    (false, false) => "no",
                }
            };
            assert_eq!(word(&cut, None), on_cut_text, "{shown}");
            assert_eq!(word(&cut, Some(&facts)), on_cut_text_with_facts, "{shown}");
            assert_ne!(word("head 1 tail", Some(&facts)), "cut short", "{shown}");
        }
    }
}
