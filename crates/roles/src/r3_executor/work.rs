//! A sub-task in progress: its state, what R3 waits for, and what follows an input. Handlers return [`Next`]; the
//! machine alone applies it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use setpoint_extract::draft::UnmetDraft;
use setpoint_machine::Effects;
use setpoint_protocol::message::{ExecutionStatus, SubTask};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ApprovalNeed, ToolCall, ToolRecord};
use setpoint_protocol::topology::party;
use setpoint_protocol::{Any, CallId};

use super::conversation::Conversation;
use super::progress::Progress;
use crate::evidence::{ExaminedCall, Probes};
use crate::left;

pub(super) const REASON_CHARS_MAX: usize = 1_000;

/// The context of an input of R3, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::Executor>;

/// The work on a sub-task, over all attempts.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) subtask: Arc<SubTask>,
    pub(super) attempt: Attempt,
    pub(super) conversation: Conversation,
    /// Names of loaded tools.
    pub(super) loaded: BTreeSet<String>,
    /// Calls so far, oldest first.
    pub(super) records: Vec<Arc<ToolRecord>>,
    /// Budget level at which the model was last told.
    pub(super) budget_level: left::Level,
    /// Digests of calls that the person refused.
    pub(super) refused: BTreeSet<String>,
    /// The deadline's timer, while it runs.
    pub(super) timer: Option<CallId>,
    /// Whether the deadline has passed.
    pub(super) is_late: bool,
}

/// What counts for one attempt alone.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Why calls of this round were not run.
    pub(super) notices: Vec<String>,
    /// Number of calls requested in this round beyond the limit of one reply.
    pub(super) surplus: usize,
    /// Tool rounds.
    pub(super) rounds: u32,
    /// Empty or unreadable answers.
    pub(super) empty_answers: u32,
    pub(super) progress: Progress,
}

/// What R3 waits for.
#[derive(Debug)]
pub(super) enum Phase {
    Thinking(CallId),
    /// A tool.
    Running(RunningCall),
    /// A person's decision on what the call that waits needs.
    Asking {
        request: CallId,
        need: ApprovalNeed,
        running: RunningCall,
    },
    /// The probes after the answer, which is sent with their results.
    Closing {
        probes: Probes,
        ending: Ending,
    },
    /// The attempt has ended; a correction may follow.
    Concluded,
}

/// What follows an input.
#[must_use = "a step that is dropped leaves the sub-task hanging"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Phase),
    /// Ask the model for the next step.
    Think,
    /// Measure once more what the checks look at, then end the attempt.
    Measure(Ending),
    /// End the attempt.
    Conclude(Ending),
}

/// A running call.
#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) id: CallId,
    pub(super) request: Request,
}

/// A requested call, with the rest of its reply.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) called: ExaminedCall,
    /// Approval that it runs under.
    pub(super) grant: Option<String>,
    /// Approvals given to it so far.
    pub(super) approvals: u32,
    /// Calls of the same reply that follow it.
    pub(super) queue: VecDeque<ToolCall>,
}

/// How an attempt ends.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) status: ExecutionStatus,
    pub(super) output: Any,
    pub(super) uncertainty: Option<String>,
    /// What the model claims cannot hold here.
    pub(super) unmet: Vec<UnmetDraft>,
    /// Whether the model's service was unavailable.
    pub(super) outage: bool,
}

impl Ending {
    /// Completes with this output.
    pub(super) fn completed(output: Any) -> Self {
        let status = ExecutionStatus::Completed;
        Ending { status, output, uncertainty: None, unmet: Vec::new(), outage: false }
    }

    /// Fails for this reason.
    pub(super) fn failed(reason: &str) -> Self {
        let output = Any::from(clip(reason, REASON_CHARS_MAX).as_str());
        Ending { status: ExecutionStatus::Failed, ..Ending::completed(output) }
    }
}

impl Next {
    /// Ends the attempt as failed, for this reason.
    pub(super) fn fail(reason: &str) -> Self {
        Next::Conclude(Ending::failed(reason))
    }
}

impl Work {
    /// Opens the work on a sub-task, and starts the deadline's timer.
    pub(super) fn on_sub_task(subtask: SubTask, fx: &mut Fx<'_>) -> Self {
        let left_ms = subtask.deadline.map(|deadline| deadline.millis_since(fx.ctx.now));
        Work {
            subtask: subtask.into(),
            attempt: Attempt { number: 1, ..Attempt::default() },
            conversation: Conversation::default(),
            loaded: BTreeSet::new(),
            records: Vec::new(),
            budget_level: left::Level::default(),
            refused: BTreeSet::new(),
            timer: left_ms.filter(|ms| *ms > 0).map(|ms| fx.start_timer(ms)),
            is_late: left_ms == Some(0),
        }
    }

    /// Keeps the record of a call, and shows it to the model.
    pub(super) fn keep(&mut self, record: ToolRecord) {
        let record = Arc::new(record);
        self.conversation.result(&record);
        self.records.push(record);
    }
}
