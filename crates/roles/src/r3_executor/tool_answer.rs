//! Handles a tool's answer.

use std::sync::Arc;

use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::{ErrorKind, ToolRecord};

use super::approval;
use super::machine::Fx;
use super::progress::Pace;
use super::step;
use super::work::{Running, Stage, Wanted, Work};

/// Handles the answer of the running call.
pub(super) fn take(work: &mut Work, answer: &Answer, fx: &mut Fx<'_>) {
    let Stage::Running(Running { id, wanted }) = std::mem::replace(&mut work.stage, Stage::Concluded) else {
        return;
    };
    match answer {
        Answer::Tool(tool) => match &tool.approval {
            Some(need) if tool.error_kind == Some(ErrorKind::ApprovalRequired) => {
                approval::needed(work, id, wanted, need.clone(), fx);
            }
            _ => {
                let record = wanted.called.answered(id, tool);
                let mut result = tool.text.clone().into_bytes();
                result.push(0);
                result.extend(tool.facts.as_ref().map(|facts| facts.to_bytes()).unwrap_or_default());
                settle(work, wanted, record, Happened::Ran(result), fx);
            }
        },
        Answer::Model(_)
        | Answer::ModelFailed(_)
        | Answer::Timer
        | Answer::Survey(_)
        | Answer::Interrupted => {
            let record = wanted.called.interrupted(id, wanted.grant.is_some());
            work.notices.push(format!("{id} was {}", record.evidence));
            settle(work, wanted, record, Happened::Ran(Vec::new()), fx);
        }
    }
}

/// The effect of a call.
pub(super) enum Happened {
    /// It ran, or may have, with this result.
    Ran(Vec<u8>),
    Nothing,
}

/// Stores a record and continues, unless the attempt makes no progress.
pub(super) fn settle(
    work: &mut Work,
    wanted: Wanted,
    record: ToolRecord,
    happened: Happened,
    fx: &mut Fx<'_>,
) {
    let Wanted { called, queue, .. } = wanted;
    let pace = match happened {
        Happened::Ran(result) => work.progress.ran(&called, &record, &result),
        Happened::Nothing => work.progress.refused(&called, &record),
    };
    let record = Arc::new(record);
    work.conversation.result(&record);
    work.records.push(record);
    match pace {
        Pace::Stuck => step::stuck(work, &called, fx),
        Pace::GoOn => step::next(work, queue, fx),
    }
}
