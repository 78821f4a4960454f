//! Measures once more, after the answer, what the checks look at, then sends the result.

use setpoint_machine::Ctx;
use setpoint_protocol::message::ExecutionResult;
use setpoint_protocol::record::Answer;
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{Phase as Measured, ToolCall};
use setpoint_protocol::{Any, CallId};

use super::unmet;
use super::work::{Ending, Fx, Next, Phase, REASON_CHARS_MAX, Work};
use crate::evidence::changes::Reported;
use crate::evidence::{Probes, RECORDS_BYTES_MAX, changes, fit};
use crate::judging::{made_by, touched};

/// Maximum bytes of an output's canonical JSON; of a larger one, head and tail are kept as text.
const OUTPUT_BYTES_MAX: usize = 96 * 1024;

/// Asks the probes, also after the work was given up: a criterion may hold nevertheless.
pub(super) fn measure(work: &mut Work, ending: Ending, fx: &mut Fx<'_>) -> Next {
    let probes = if work.has_passed_its_deadline(fx.ctx) {
        Probes::default()
    } else {
        let probes = Probes::ask(&work.subtask.success_criteria, Measured::After, work.attempt.number, fx);
        probes.and(looked_over(work, fx.ctx), Measured::After, work.attempt.number, fx)
    };
    close_when_measured(work, probes, ending)
}

/// Returns the look at what a judge of the whole work must know: what the only sub-task's task changed, and of several
/// sub-tasks each its own, since others may run meanwhile.
fn looked_over(work: &Work, ctx: &Ctx<'_>) -> Option<ToolCall> {
    let reported = Reported {
        touched: work.records.iter().flat_map(|record| touched(record)).collect(),
        made: work.records.iter().flat_map(|record| made_by(record)).collect(),
        unwatched: changes::unwatched(&work.records),
    };
    if work.subtask.approach.is_some() {
        None
    } else if work.subtask.is_only {
        changes::of_task(reported, ctx)
    } else {
        changes::of_calls(work.records.first()?.call_id.instance, reported, ctx)
    }
}

/// Handles a probe's answer.
pub(super) fn on_probe(
    work: &mut Work,
    mut probes: Probes,
    ending: Ending,
    call: CallId,
    answer: &Answer,
) -> Next {
    probes.take(call, answer);
    close_when_measured(work, probes, ending)
}

fn close_when_measured(work: &mut Work, probes: Probes, ending: Ending) -> Next {
    match probes.is_complete() {
        true => close(work, &probes, ending),
        false => Next::Wait(Phase::Closing { probes, ending }),
    }
}

/// Ends the attempt with its answer and the probes that were answered.
pub(super) fn close(work: &mut Work, probes: &Probes, ending: Ending) -> Next {
    work.records.extend(probes.records().cloned());
    Next::Conclude(ending)
}

/// Sends the result of the attempt.
pub(super) fn conclude(work: &mut Work, ending: Ending, fx: &mut Fx<'_>) {
    let unmet = unmet::claims(&ending.unmet, &work.subtask.success_criteria, &work.records);
    fit(work.records.iter_mut().collect(), RECORDS_BYTES_MAX);
    fx.publish(ExecutionResult {
        subtask_id: work.subtask.subtask_id.clone(),
        attempt: work.attempt.number,
        status: ending.status,
        output: bounded(ending.output),
        uncertainty: ending.uncertainty.map(|doubt| clip(&doubt, REASON_CHARS_MAX)),
        unmet,
        outage: ending.outage,
        tool_calls: work.records.clone(),
    });
}

fn bounded(output: Any) -> Any {
    if output.to_bytes().len() <= OUTPUT_BYTES_MAX {
        return output;
    }
    // A character takes at most six bytes of JSON (`\u0000`).
    Any::from(head_and_tail(&output.to_text(), OUTPUT_BYTES_MAX / 6).as_str())
}
