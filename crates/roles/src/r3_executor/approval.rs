//! Handles calls that need consent: a call waits for the person's decision and runs under exactly what was approved.

use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest, ApprovalWord};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ApprovalNeed, ErrorKind};

use super::step::{run, settle};
use super::work::{Fx, Next, Phase, Request, RunningCall, Work};

/// At most this many approvals per call. An approval is bound to what the call finds, so it may need another each time;
/// at the limit it is not run.
const APPROVALS_PER_CALL_MAX: u32 = 3;
/// Maximum characters of a command in a record or notice.
const COMMAND_CHARS_MAX: usize = 500;
/// Maximum characters of the reason in a notice.
const REASON_CHARS_MAX: usize = 200;

/// Handles a call that did nothing because it needs an approval.
pub(super) fn needed(work: &mut Work, running: RunningCall, need: ApprovalNeed, fx: &mut Fx<'_>) -> Next {
    let RunningCall { id, request } = &running;
    if work.refused.contains(&need.digest) {
        return refuse(work, running, &need, "was refused before", fx);
    }
    let is_given = request.grant.as_ref().is_some_and(|grant| need.is_covered_by(grant));
    if is_given || request.approvals >= APPROVALS_PER_CALL_MAX {
        let why = "it asks for an approval again after it was given; it was not run";
        let record = request.called.refused(*id, ErrorKind::ApprovalRequired, why);
        work.attempt.notices.push(format!("{id}: {why}"));
        return settle(work, running.request, record, None, fx);
    }
    if let Some(grant) = fx.ctx.grants.iter().find(|grant| need.is_covered_by(grant)).cloned() {
        return rerun(work, running.request, grant, fx);
    }
    let request = fx.request(|call_id| ApprovalRequest {
        call_id,
        subtask_id: work.subtask.subtask_id.clone(),
        for_call: *id,
        need: need.clone(),
    });
    Next::Wait(Phase::Asking { request, need, running })
}

/// Handles the person's decision. A decision on anything but what was asked allows nothing.
pub(super) fn on_decision(
    work: &mut Work,
    running: RunningCall,
    need: &ApprovalNeed,
    decision: &ApprovalDecision,
    fx: &mut Fx<'_>,
) -> Next {
    let why = match decision.decision {
        ApprovalWord::Never => "was refused",
        ApprovalWord::Once | ApprovalWord::ForTask if decision.digest != need.digest => {
            "was not approved: the approval is for something else"
        }
        ApprovalWord::Once | ApprovalWord::ForTask if work.has_passed_its_deadline(fx.ctx) => {
            return work.fail_late();
        }
        ApprovalWord::Once | ApprovalWord::ForTask => {
            return rerun(work, running.request, need.digest.clone(), fx);
        }
    };
    refuse(work, running, need, why, fx)
}

/// Handles a question that ended without a decision.
pub(super) fn on_no_decision(
    work: &mut Work,
    running: RunningCall,
    need: &ApprovalNeed,
    fx: &mut Fx<'_>,
) -> Next {
    refuse(work, running, need, "was not decided", fx)
}

fn rerun(work: &Work, request: Request, digest: String, fx: &mut Fx<'_>) -> Next {
    let approvals = request.approvals + 1;
    run(work, Request { grant: Some(digest), approvals, ..request }, fx)
}

/// Refuses the call and tells the model not to try another way.
fn refuse(work: &mut Work, running: RunningCall, need: &ApprovalNeed, why: &str, fx: &mut Fx<'_>) -> Next {
    let RunningCall { id, request } = running;
    let command = clip(&need.command, COMMAND_CHARS_MAX);
    let record = request.called.refused(id, ErrorKind::Consent, &format!("consent {why}: {command}"));
    if work.refused.insert(need.digest.clone()) {
        let reason = clip(&need.reason, REASON_CHARS_MAX);
        let notice = format!(
            "{id} needs a person's consent ({reason}), which {why}: finish without it, or stop and say what needs \
             consent; do not try another way to do the same"
        );
        work.conversation.tell(notice.clone());
        work.attempt.notices.push(notice);
    } else {
        work.attempt.notices.push(format!("{id} was not run: its consent {why}"));
    }
    settle(work, request, record, None, fx)
}
