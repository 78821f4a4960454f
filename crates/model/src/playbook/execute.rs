//! R3's next step: the calls of the playbook in order, then an answer from their results.
//!
//! It keeps no state: the next call follows from the calls made so far. It does not judge them: a missing value is null
//! in the answer, and the checks judge that.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use setpoint_extract::draft::{ExecuteDraft, StatusDraft};
use setpoint_machine::brief::ExecuteBrief;
use setpoint_protocol::Any;
use setpoint_protocol::limits::TOOL_ROUNDS_MAX;
use setpoint_protocol::message::Approach;
use setpoint_protocol::record::ModelFailure;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Phase, ToolCall, ToolRecord};

use super::book::{Book, CallForm, OnError, StepForm};
use super::library::Library;
use super::template::{Scope, TemplateError};
use super::{gaps, unable};

/// Maximum characters of a failed call's message.
const SAID_CHARS_MAX: usize = 300;

/// What R3 does next.
#[derive(Debug)]
pub(crate) enum Step {
    Call(ToolCall),
    Answer(ExecuteDraft),
}

pub(crate) fn execute(library: &Library, brief: &ExecuteBrief) -> Result<Step, ModelFailure> {
    let work = Work::of(library, brief).ok_or_else(|| unable::no_step(brief))?;
    let mut results: Vec<&ToolRecord> = Vec::new();
    for call in &work.step.calls {
        let wanted = match work.call(call, brief, &results) {
            Ok(wanted) => wanted,
            Err(error) => return Ok(work.answer(brief, &results, Some(format!("failed to {error}")))),
        };
        let Some(record) = record_of(&wanted, brief, &results) else {
            // A call that the runtime refused without a record would be requested again without end.
            let refused = !brief.notices.is_empty() && rounds_used(brief) > results.len();
            let doubt = refused.then(|| brief.notices.join("; "));
            return Ok(doubt.map_or(Step::Call(wanted), |doubt| work.answer(brief, &results, Some(doubt))));
        };
        results.push(record);
        match work.step.on_error {
            _ if record.ok => {}
            OnError::Continue => {}
            OnError::Answer => break,
            OnError::GiveUp => {
                return Ok(Step::Answer(ExecuteDraft {
                    status: StatusDraft::Failed,
                    output: Any::NULL,
                    uncertainty: None,
                    reason: Some(what_failed(record)),
                    unmet: Vec::new(),
                }));
            }
        }
    }
    Ok(work.answer(brief, &results, None))
}

/// The step of a playbook that corresponds to a sub-task.
struct Work<'l> {
    step: &'l StepForm,
    values: BTreeMap<String, Value>,
}

impl<'l> Work<'l> {
    fn of(library: &'l Library, brief: &ExecuteBrief) -> Option<Work<'l>> {
        let planned = brief.subtask.approach.as_ref()?;
        let book: &Book = library.book(&planned.playbook)?;
        let approach = book.approach(&planned.approach)?;
        let (place, values) = params(planned)?;
        let step = approach.steps.get(place.checked_sub(1)?)?;
        Some(Work { step, values })
    }

    fn call(
        &self,
        call: &CallForm,
        brief: &ExecuteBrief,
        results: &[&ToolRecord],
    ) -> Result<ToolCall, TemplateError> {
        let input = call.input.input(&self.scope(brief, results))?;
        Ok(ToolCall { tool: call.tool.clone(), input: Any(input) })
    }

    fn answer(&self, brief: &ExecuteBrief, results: &[&ToolRecord], doubt: Option<String>) -> Step {
        let mut output = self.step.output.value(&self.scope(brief, results)).unwrap_or(Value::Null);
        gaps::add_gaps(&mut output, results);
        let failures = (1..).zip(results).filter(|(_, record)| !record.ok);
        let doubts: Vec<String> = failures.map(|(n, record)| failure_of(n, record)).chain(doubt).collect();
        let (status, uncertainty) = match doubts.as_slice() {
            [] => (StatusDraft::Completed, None),
            _ => (StatusDraft::Uncertain, Some(doubts.join("; "))),
        };
        Step::Answer(ExecuteDraft {
            status,
            output: Any(output),
            uncertainty,
            reason: None,
            unmet: Vec::new(),
        })
    }

    fn scope<'a>(&'a self, brief: &'a ExecuteBrief, results: &'a [&'a ToolRecord]) -> Scope<'a> {
        Scope { results, ..Scope::new(&self.values, &brief.surroundings) }
    }
}

/// Reads step and values from a sub-task's approach. They come from the journal, so nothing is assumed about them.
fn params(approach: &Approach) -> Option<(usize, BTreeMap<String, Value>)> {
    let Any(params) = &approach.params;
    let place = usize::try_from(params.get("step")?.as_u64()?).ok()?;
    let values = params.get("values")?.as_object()?;
    Some((place, values.iter().map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// Returns the record of a call in this attempt; the next one if a step makes the same call twice. A call that the
/// runtime answered from earlier records has none of its own; then the latest record of the same call counts.
fn record_of<'b>(wanted: &ToolCall, brief: &'b ExecuteBrief, used: &[&ToolRecord]) -> Option<&'b ToolRecord> {
    let same = |record: &&ToolRecord| {
        record.phase == Phase::Work && record.tool.tool() == wanted.tool && record.input == wanted.input
    };
    let of_this_attempt = |record: &&ToolRecord| record.attempt == brief.attempt;
    let is_used = |record: &&ToolRecord| used.iter().any(|used| used.call_id == record.call_id);
    let calls = || brief.calls.iter().map(Arc::as_ref);
    let own = || calls().filter(same).filter(of_this_attempt);
    let earlier = || calls().rev().find(|record| !brief.notices.is_empty() && same(record));
    own().find(|record| !is_used(record)).or_else(|| own().next_back()).or_else(earlier)
}

fn rounds_used(brief: &ExecuteBrief) -> usize {
    usize::try_from(TOOL_ROUNDS_MAX.saturating_sub(brief.rounds_left)).unwrap_or(usize::MAX)
}

/// Returns a failed call's message on one line.
fn what_failed(record: &ToolRecord) -> String {
    let said = record.evidence.lines().map(str::trim).find(|line| !line.is_empty());
    format!("{}: {}", record.tool, clip(said.unwrap_or("it failed and said nothing"), SAID_CHARS_MAX))
}

/// Describes the failure of the `n`-th call.
fn failure_of(n: usize, record: &ToolRecord) -> String {
    let kind = record.error_kind.and_then(|kind| serde_json::to_value(kind).ok());
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("no reason given");
    format!("call {n} ({}) failed: {kind}", record.tool)
}
