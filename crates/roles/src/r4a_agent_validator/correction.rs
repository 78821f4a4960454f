//! What R3 must correct, in words that code chooses.

use std::sync::Arc;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{Cite, CorrectionSignal, FailureClass, JudgedBy, Shown, Verdict};
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{ErrorKind, Phase, ToolRecord};

use crate::judging::printed;

/// Maximum characters of the signal's texts.
const TEXT_CHARS_MAX: usize = 2_000;
/// Maximum characters of one criterion's part of them.
const PART_CHARS_MAX: usize = 500;
/// Maximum characters of a criterion that is only named.
const CRITERION_CHARS_MAX: usize = 200;
/// Maximum characters of a failed command that are quoted.
const COMMAND_CHARS_MAX: usize = 160;
/// At most this many of the last lines of a failed command's output are quoted.
const LAST_LINES: usize = 6;

/// The kind of correction that a criterion needs. Each has exactly one, so that advice never contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The answer is incomplete, or nothing shows it yet.
    Lacks,
    /// A call showed it, and a later one may have changed it.
    Overtaken,
    /// A command that it rests on failed.
    Failed,
    /// Something outside is missing or does not work.
    Missing,
    /// It ran, and the result is wrong.
    Wrong,
}

/// Returns the signal for an attempt in which these criteria failed. The first one leads it.
pub(super) fn signal(
    subtask_id: &SubTaskId,
    attempt: u32,
    failed: &[&Verdict],
    records: &[Arc<ToolRecord>],
) -> CorrectionSignal {
    let first = failed.first();
    CorrectionSignal {
        subtask_id: subtask_id.clone(),
        attempt_number: attempt,
        failed_criterion: first.map(|verdict| verdict.criterion.clone()).unwrap_or_default(),
        failure_class: first.and_then(|verdict| verdict.failure_class),
        what_was_wrong: what_was_wrong(failed, records),
        what_to_do: what_to_do(failed, records),
        failed_criteria: failed.iter().map(|verdict| verdict.criterion_id.clone()).collect(),
    }
}

/// Returns what was observed for each criterion, and for a failed command its exit code and last lines.
fn what_was_wrong(failed: &[&Verdict], records: &[Arc<ToolRecord>]) -> String {
    let part = |verdict: &&Verdict| {
        let mut text = clip(&format!("{}: not met: {}", verdict.criterion, verdict.evidence), PART_CHARS_MAX);
        if let Some(call) = failed_command(verdict, records) {
            text.push_str(&end_of(call));
        }
        text
    };
    clip(&failed.iter().map(part).collect::<Vec<_>>().join("\n"), TEXT_CHARS_MAX)
}

/// Returns how a command ended, with its last lines.
fn end_of(call: &ToolRecord) -> String {
    let code = call.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
    let lines: Vec<&str> = printed(call).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    let last: String = last.iter().map(|line| format!("\n    {line}")).collect();
    let said = match last.as_str() {
        "" => " and printed nothing".to_owned(),
        last => format!("; its last lines:{}", head_and_tail(last, PART_CHARS_MAX)),
    };
    format!("\n  `{}` ended{code}{said}", clip(&call.target, COMMAND_CHARS_MAX))
}

/// Returns one sentence per kind of failure, naming its criteria, and what passed and must be kept.
fn what_to_do(failed: &[&Verdict], records: &[Arc<ToolRecord>]) -> String {
    let mut kinds: Vec<Kind> = failed.iter().map(|verdict| kind(verdict, records)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of = |wanted: &Kind| {
        let own = failed.iter().filter(|verdict| kind(verdict, records) == *wanted);
        let quoted = |verdict: &&Verdict| format!("\"{}\"", clip(&verdict.criterion, CRITERION_CHARS_MAX));
        format!("For {}: {}", own.map(quoted).collect::<Vec<_>>().join(", "), advice(*wanted))
    };
    let mut sentences: Vec<String> = kinds.iter().map(of).collect();
    sentences.push("Keep what is right already.".to_owned());
    clip(&sentences.join(" "), TEXT_CHARS_MAX)
}

fn kind(verdict: &Verdict, records: &[Arc<ToolRecord>]) -> Kind {
    let rests_on_the_output = verdict.cites.iter().all(|cite| *cite == Cite::OUTPUT);
    if verdict.failure_class == Some(FailureClass::Environmental) {
        Kind::Missing
    } else if failed_command(verdict, records).is_some() {
        Kind::Failed
    } else if is_overtaken(verdict, records) {
        Kind::Overtaken
    } else if verdict.shown == Some(Shown::NotShown)
        || (rests_on_the_output && verdict.judged_by == JudgedBy::Check)
        || verdict.failure_class.is_none()
    {
        Kind::Lacks
    } else {
        Kind::Wrong
    }
}

const fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::Lacks => {
            "the answer lacks it, or no call shows it yet. Complete the answer; make a call only where none shows it."
        }
        Kind::Overtaken => "make that call once more, by itself and after all that may change something.",
        Kind::Failed => "the command failed. Mend what its output names, and run it again.",
        Kind::Missing => {
            "something is missing or refuses to work. Look where it is and how it is called; where it cannot be had \
             here, say so with `unmet` and the call that shows it."
        }
        Kind::Wrong => {
            "it ran, and the result is another one. Change how it is done, and check the result by a call."
        }
    }
}

/// Returns whether a check found its call, but the call is outdated.
fn is_overtaken(verdict: &Verdict, records: &[Arc<ToolRecord>]) -> bool {
    let of_the_work = |id| records.iter().any(|call| call.call_id == id && call.phase == Phase::Work);
    verdict.shown == Some(Shown::NotShown)
        && verdict.judged_by == JudgedBy::Check
        && verdict.failure_class.is_none()
        && verdict.cites.iter().filter_map(Cite::call).any(of_the_work)
}

/// Returns the last cited call with a non-zero exit.
fn failed_command<'a>(verdict: &Verdict, records: &'a [Arc<ToolRecord>]) -> Option<&'a ToolRecord> {
    let cited = verdict.cites.iter().rev().filter_map(Cite::call);
    let call = |id| records.iter().map(Arc::as_ref).find(|record| record.call_id == id);
    cited.filter_map(call).find(|record| record.error_kind == Some(ErrorKind::Exit))
}
