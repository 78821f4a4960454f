//! Handles a tool's answer.

use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::ErrorKind;

use super::approval;
use super::step::settle;
use super::work::{Fx, Next, RunningCall, Work};
use crate::answer::tool_answer_of;

/// Handles the answer of the running call.
pub(super) fn on_tool_answer(
    work: &mut Work,
    running: RunningCall,
    answer: &Answer,
    fx: &mut Fx<'_>,
) -> Next {
    let RunningCall { id, request } = running;
    let Some(answer) = tool_answer_of(answer) else {
        let record = request.called.interrupted(id, request.grant.is_some());
        work.attempt.notices.push(format!("{id} was {}", record.evidence));
        return settle(work, request, record, Some(&[]), fx);
    };
    match &answer.approval {
        Some(need) if answer.error_kind == Some(ErrorKind::ApprovalRequired) => {
            approval::needed(work, RunningCall { id, request }, need.clone(), fx)
        }
        _ => {
            let record = request.called.answered(id, answer);
            let mut result = answer.text.clone().into_bytes();
            result.push(0);
            result.extend(answer.facts.as_ref().map(|facts| facts.to_bytes()).unwrap_or_default());
            settle(work, request, record, Some(&result), fx)
        }
    }
}
