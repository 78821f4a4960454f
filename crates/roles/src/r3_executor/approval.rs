//! Handles calls that need consent: a call waits for the person's decision and runs under exactly what was approved.

use setpoint_protocol::CallId;
use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest, ApprovalWord};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ApprovalNeed, ErrorKind};

use super::machine::Fx;
use super::step;
use super::tool_answer::{Happened, settle};
use super::work::{Running, Stage, Wanted, Work};

/// At most so many approvals per call. An approval is bound to what the call finds, so it may need another each time;
/// at the limit it is not run.
const APPROVALS_PER_CALL_MAX: u32 = 3;
/// Characters of a command in a record or notice.
const COMMAND_CHARS_MAX: usize = 500;

/// Handles a call that did nothing because it needs an approval.
pub(super) fn needed(work: &mut Work, id: CallId, wanted: Wanted, need: ApprovalNeed, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    if work.refused.contains(&need.digest) {
        refuse(work, Running { id, wanted }, &need, "was refused before", fx);
    } else if wanted.grant.as_ref() == Some(&need.digest) || wanted.approvals >= APPROVALS_PER_CALL_MAX {
        let why = "it asks for an approval again after it was given; it was not run";
        let record = wanted.called.refused(id, ErrorKind::ApprovalRequired, why);
        work.notices.push(format!("{id}: {why}"));
        settle(work, wanted, record, Happened::Nothing, fx);
    } else if ctx.grants.contains(&need.digest) {
        rerun(work, wanted, need.digest, fx);
    } else {
        let request = fx.request(|call_id| ApprovalRequest {
            call_id,
            subtask_id: work.subtask.subtask_id.clone(),
            for_call: id,
            need: need.clone(),
        });
        work.stage = Stage::Asking { request, need, running: Running { id, wanted } };
    }
}

/// Handles the person's decision. A decision on anything but what was asked allows nothing.
pub(super) fn decided(work: &mut Work, decision: &ApprovalDecision, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    if !matches!(&work.stage, Stage::Asking { request, .. } if *request == decision.call_id) {
        return;
    }
    let Some((need, running)) = taken(work) else { return };
    let allowed = match decision.decision {
        ApprovalWord::Once | ApprovalWord::ForTask => decision.digest == need.digest,
        ApprovalWord::Never => false,
    };
    if !allowed {
        let why = match decision.decision {
            ApprovalWord::Never => "was refused",
            ApprovalWord::Once | ApprovalWord::ForTask => {
                "was not approved: the approval is for something else"
            }
        };
        refuse(work, running, &need, why, fx);
    } else if work.has_passed_its_deadline(ctx) {
        work.fail_late(fx);
    } else {
        rerun(work, running.wanted, need.digest, fx);
    }
}

/// Handles a question that ended without a decision.
pub(super) fn cut_short(work: &mut Work, fx: &mut Fx<'_>) {
    if let Some((need, running)) = taken(work) {
        refuse(work, running, &need, "was not decided", fx);
    }
}

fn taken(work: &mut Work) -> Option<(ApprovalNeed, Running)> {
    match std::mem::replace(&mut work.stage, Stage::Concluded) {
        Stage::Asking { need, running, .. } => Some((need, running)),
        other => {
            work.stage = other;
            None
        }
    }
}

fn rerun(work: &mut Work, wanted: Wanted, digest: String, fx: &mut Fx<'_>) {
    let approvals = wanted.approvals + 1;
    step::run(work, Wanted { grant: Some(digest), approvals, ..wanted }, fx);
}

/// Refuses the call and tells the model not to try another way.
fn refuse(work: &mut Work, running: Running, need: &ApprovalNeed, why: &str, fx: &mut Fx<'_>) {
    let Running { id, wanted } = running;
    let command = clip(&need.command, COMMAND_CHARS_MAX);
    let record = wanted.called.refused(id, ErrorKind::Consent, &format!("consent {why}: {command}"));
    if work.refused.insert(need.digest.clone()) {
        let notice = format!(
            "{id} needs a person's consent, which {why}: finish without it, or stop and say what needs consent; do \
             not try another way to do the same"
        );
        work.conversation.tell(notice.clone());
        work.notices.push(notice);
    } else {
        work.notices.push(format!("{id} was not run: its consent {why}"));
    }
    settle(work, wanted, record, Happened::Nothing, fx);
}
