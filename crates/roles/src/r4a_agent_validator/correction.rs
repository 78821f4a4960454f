//! What R3 is told to mend, in words that code chooses.

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{CorrectionSignal, FailureClass, Shown, Verdict};
use setpoint_protocol::text::clip;

/// Characters of each of the signal's texts.
const TEXT_CHARS_MAX: usize = 2_000;
/// Characters of one criterion's part of them.
const PART_CHARS_MAX: usize = 500;
/// Characters of a criterion where it is only named.
const CRITERION_CHARS_MAX: usize = 200;

/// The signal for an attempt in which these criteria failed. The first one leads it.
pub(super) fn signal(subtask_id: &SubTaskId, attempt: u32, failed: &[&Verdict]) -> CorrectionSignal {
    let first = failed.first();
    CorrectionSignal {
        subtask_id: subtask_id.clone(),
        attempt_number: attempt,
        failed_criterion: first.map(|verdict| verdict.criterion.clone()).unwrap_or_default(),
        failure_class: first.and_then(|verdict| verdict.failure_class),
        what_was_wrong: what_was_wrong(failed),
        what_to_do: what_to_do(failed),
        failed_criteria: failed.iter().map(|verdict| verdict.criterion_id.clone()).collect(),
    }
}

fn what_was_wrong(failed: &[&Verdict]) -> String {
    let part = |verdict: &&Verdict| {
        clip(&format!("{}: not met: {}", verdict.criterion, verdict.evidence), PART_CHARS_MAX)
    };
    clip(&failed.iter().map(part).collect::<Vec<_>>().join("\n"), TEXT_CHARS_MAX)
}

/// One sentence for each class among the failures; what passed is to be kept.
fn what_to_do(failed: &[&Verdict]) -> String {
    // What was not shown gave no result that could be wrong.
    let class = |verdict: &&Verdict| match (verdict.shown, verdict.failure_class) {
        (Some(Shown::NotShown), Some(FailureClass::Logical)) => None,
        (_, class) => class,
    };
    let mut classes: Vec<Option<FailureClass>> = failed.iter().map(class).collect();
    classes.sort();
    classes.dedup();
    let mut sentences = vec![format!("Meet this: {}.", criteria(failed))];
    sentences.extend(classes.into_iter().map(|class| advice(class).to_owned()));
    sentences.push("Keep what is right already.".to_owned());
    clip(&sentences.join(" "), TEXT_CHARS_MAX)
}

fn advice(class: Option<FailureClass>) -> &'static str {
    match class {
        Some(FailureClass::Logical) => {
            "What ran gave a wrong result: change how it is done, not where, and check the result by a call."
        }
        Some(FailureClass::Environmental) => {
            "Something outside was missing or refused to work: keep the method and take another target, other \
             parameters or another tool."
        }
        None => "It was not shown: make the call whose result shows it, or correct the answer.",
    }
}

fn criteria(failed: &[&Verdict]) -> String {
    let quoted = |verdict: &&Verdict| format!("\"{}\"", clip(&verdict.criterion, CRITERION_CHARS_MAX));
    failed.iter().map(quoted).collect::<Vec<_>>().join(", ")
}
