//! Builders for short measurements, and a short text form of decisions.

use setpoint_control::measurement::{Call, CallEnd, Criterion, Event, Merge, Outcome, Verdict};
use setpoint_control::{Decision, FailureClass, Measurement, Mode, OutcomeStatus, Subject};

/// Creates one criterion per letter: `.` pass, `L` logical fail, `E` environmental fail, `?` fail without a class;
/// `v` a vacuous pass, `V` a vacuous fail without a class. Ids are c1, c2, …
pub(crate) fn criteria(verdicts: &str) -> Vec<Criterion> {
    let criterion = |(index, letter)| Criterion {
        id: format!("c{}", index + 1),
        mode: Mode::Verifiable,
        verdict: match letter {
            '.' | 'v' => Verdict::Pass,
            'L' => Verdict::Fail(Some(FailureClass::Logical)),
            'E' => Verdict::Fail(Some(FailureClass::Environmental)),
            '?' | 'V' => Verdict::Fail(None),
            other => panic!("no verdict is written {other:?}"),
        },
        vacuous: letter.eq_ignore_ascii_case(&'v'),
    };
    verdicts.chars().enumerate().map(criterion).collect()
}

/// Creates a failed sub-task with these verdicts and calls.
pub(crate) fn failed(verdicts: &str, calls: &[&str]) -> Outcome {
    with_calls(OutcomeStatus::Failed, verdicts, calls)
}

/// Creates a matched sub-task with these verdicts and calls.
pub(crate) fn matched(verdicts: &str, calls: &[&str]) -> Outcome {
    with_calls(OutcomeStatus::Matched, verdicts, calls)
}

/// Creates a round that R4b rejects because of its sub-tasks.
pub(crate) fn rejected(elapsed_ms: f64, outcomes: &[Outcome]) -> Measurement {
    let event = Event::Rejected { outcomes: outcomes.to_vec(), merge: Merge::NotReached };
    Measurement { elapsed_ms, event }
}

/// Creates a round that R4b accepts.
pub(crate) fn accepted(elapsed_ms: f64, outcomes: &[Outcome]) -> Measurement {
    Measurement { elapsed_ms, event: Event::Accepted { outcomes: outcomes.to_vec(), unproven: false } }
}

/// Formats a decision, without its loss.
pub(crate) fn show(decision: &Decision) -> String {
    let mut lines = vec![format!(
        "{} -> {} by {}, round {}, replans {}, {}, urgency {}, {}",
        decision.prev_directive,
        decision.directive(),
        decision.ruling.decided_by(),
        decision.rounds,
        decision.replans,
        decision.trend,
        decision.urgency,
        decision.failure_class,
    )];
    lines.extend(decision.blocked_tools.iter().map(|tool| format!("blocked tool {tool}")));
    lines.extend(decision.blocked_targets.iter().map(|target| format!("blocked target {target}")));
    lines.extend(decision.lessons.iter().map(|lesson| match &lesson.subject {
        Subject::Intent => format!("lesson {} for the intent", lesson.state),
        Subject::Pair(pair) => format!("lesson {} for {pair}", lesson.state),
    }));
    lines.push(decision.rationale.clone());
    lines.join("\n") + "\n"
}

/// A call is written `tool[+tool] target`, with `!` in front if it failed, and `x` and a space if
/// consent was refused.
fn with_calls(status: OutcomeStatus, verdicts: &str, calls: &[&str]) -> Outcome {
    let call = |text: &&str| {
        let (end, rest) = match (text.strip_prefix('!'), text.strip_prefix("x ")) {
            (Some(rest), _) => (CallEnd::Failed, rest),
            (None, Some(rest)) => (CallEnd::Refused, rest),
            (None, None) => (CallEnd::Ok, *text),
        };
        let (tools, target) = rest.split_once(' ').expect("a call is a tool and a target");
        Call { tools: tools.split('+').map(str::to_owned).collect(), target: target.to_owned(), end }
    };
    Outcome { criteria: criteria(verdicts), calls: calls.iter().map(call).collect(), ..Outcome::new(status) }
}
