//! A sub-task in progress: its state, what it waits for, and the two ways to continue: think, or conclude.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use setpoint_machine::brief::ExecuteBrief;
use setpoint_machine::draft::UnmetDraft;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::limits::TOOL_ROUNDS_MAX;
use setpoint_protocol::message::{ExecutionResult, ExecutionStatus, SubTask};
use setpoint_protocol::record::ModelFailure;
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{ApprovalNeed, ErrorKind, Phase, ToolCall, ToolRecord};
use setpoint_protocol::{Any, CallId};

use super::conversation::Conversation;
use super::machine::Fx;
use super::offer::{loadable, offered};
use super::progress::Progress;
use super::{prompt, unmet};
use crate::evidence::{Called, Probes, RECORDS_BYTES_MAX, fit};
use crate::left;

/// Maximum bytes of an output's canonical JSON; of a larger one, head and tail are kept as text.
const OUTPUT_BYTES_MAX: usize = 96 * 1024;
/// Remaining tool rounds at which the model is told how many are left.
const ROUNDS_TOLD: [u32; 3] = [8, 3, 1];
const REASON_CHARS_MAX: usize = 1_000;

/// The work and its state.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) subtask: Arc<SubTask>,
    /// Attempt number, from 1.
    pub(super) attempt: u32,
    /// Conversation so far, over all attempts.
    pub(super) conversation: Conversation,
    /// Names of loaded tools.
    pub(super) loaded: BTreeSet<String>,
    /// Calls of all attempts, oldest first.
    pub(super) records: Vec<Arc<ToolRecord>>,
    /// Why calls of this round were not run.
    pub(super) notices: Vec<String>,
    /// Number of calls requested in this round beyond the limit of one reply.
    pub(super) surplus: usize,
    /// Tool rounds of this attempt.
    pub(super) rounds: u32,
    /// Budget level at which the model was last told.
    pub(super) budget_level: left::Level,
    /// Empty or unreadable answers of this attempt.
    pub(super) empty_answers: u32,
    pub(super) progress: Progress,
    /// Digests of calls that the person refused.
    pub(super) refused: BTreeSet<String>,
    /// The deadline's timer, while it runs.
    pub(super) timer: Option<CallId>,
    /// Whether the deadline has passed.
    pub(super) is_late: bool,
    pub(super) stage: Stage,
}

/// What R3 waits for.
#[derive(Debug)]
pub(super) enum Stage {
    Thinking(CallId),
    /// A tool.
    Running(Running),
    /// A person's decision on a call.
    Asking {
        request: CallId,
        /// What was asked.
        need: ApprovalNeed,
        /// Call that waits.
        running: Running,
    },
    /// The probes after the answer.
    Closing {
        probes: Probes,
        /// Answer, sent with the results of the probes.
        ending: Ending,
    },
    /// The attempt has ended; a correction may follow.
    Concluded,
}

/// A running call.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: CallId,
    pub(super) wanted: Wanted,
}

/// A requested call, with the rest of its reply.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) called: Called,
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

impl Work {
    /// Asks the model for the next step.
    pub(super) fn think(&mut self, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        if self.has_passed_its_deadline(ctx) {
            self.fail_late(fx);
            return;
        }
        let rounds_left = TOOL_ROUNDS_MAX.saturating_sub(self.rounds);
        self.tell_what_is_left(rounds_left, ctx);
        let work = self.records.iter().filter(|record| record.phase == Phase::Work);
        let brief = ExecuteBrief {
            words: ctx.words.to_owned(),
            subtask: Arc::clone(&self.subtask),
            attempt: self.attempt,
            turns: self.conversation.turns(),
            tools: offered(&self.subtask, &self.loaded, &ctx.opened.tools),
            loadable: loadable(&self.subtask, &ctx.opened.tools),
            calls: work.cloned().collect(),
            notices: std::mem::take(&mut self.notices),
            rounds_left,
            surroundings: Arc::clone(&ctx.opened.surroundings),
        };
        let prompt = prompt::render(&brief);
        // No schema: the answer may be tool calls, one JSON value or plain text.
        let ask = ModelCall {
            brief: Brief::Execute(Box::new(brief)),
            prompt,
            schema: None,
            limits: ModelLimits::default(),
        };
        self.stage = Stage::Thinking(fx.ask_model(ask));
    }

    /// Ends the attempt.
    pub(super) fn conclude(&mut self, ending: Ending, fx: &mut Fx<'_>) {
        self.stage = Stage::Concluded;
        let unmet = unmet::claims(&ending.unmet, &self.subtask.success_criteria, &self.records);
        fit(self.records.iter_mut().collect(), RECORDS_BYTES_MAX);
        fx.publish(ExecutionResult {
            subtask_id: self.subtask.subtask_id.clone(),
            attempt: self.attempt,
            status: ending.status,
            output: bounded(ending.output),
            uncertainty: ending.uncertainty.map(|doubt| clip(&doubt, REASON_CHARS_MAX)),
            unmet,
            outage: ending.outage,
            tool_calls: self.records.clone(),
        });
    }

    /// Ends the attempt as failed, for this reason.
    pub(super) fn fail(&mut self, reason: &str, fx: &mut Fx<'_>) {
        self.conclude(Ending::failed(reason), fx);
    }

    /// Ends the attempt because its model did not answer.
    pub(super) fn fail_unanswered(&mut self, failure: &ModelFailure, fx: &mut Fx<'_>) {
        let reason = format!("the model did not answer: {}", clip(&failure.reason, 400));
        self.conclude(Ending { outage: failure.kind.retryable(), ..Ending::failed(&reason) }, fx);
    }

    /// Ends the attempt because the deadline has passed.
    pub(super) fn fail_late(&mut self, fx: &mut Fx<'_>) {
        let deadline = self.subtask.deadline.map(|deadline| format!(" ({deadline})")).unwrap_or_default();
        self.fail(&format!("timeout: the deadline has passed{deadline}"), fx);
    }

    /// Ends the attempt with its answer and the probes after it. A probe without an answer counts as not made.
    pub(super) fn close(&mut self, probes: &Probes, ending: Ending, fx: &mut Fx<'_>) {
        self.records.extend(probes.records().cloned());
        self.conclude(ending, fx);
    }

    /// Handles the deadline's timer: gives up whatever is pending.
    pub(super) fn expired(&mut self, fx: &mut Fx<'_>) {
        self.is_late = true;
        match std::mem::replace(&mut self.stage, Stage::Concluded) {
            Stage::Concluded => return,
            Stage::Running(running) => {
                let why = "the deadline passed while it ran, outcome unknown; verify before repeating";
                let Wanted { called, grant, .. } = running.wanted;
                let record = called.unfinished(running.id, grant.is_some(), ErrorKind::Timeout, why);
                self.records.push(record.into());
            }
            Stage::Closing { probes, ending } => {
                self.close(&probes, ending, fx);
                return;
            }
            Stage::Thinking(_) | Stage::Asking { .. } => {}
        }
        self.fail_late(fx);
    }

    /// Returns whether the deadline has passed, by its timer or by the record's time: the timer pauses while a person
    /// is asked, the deadline does not.
    pub(super) fn has_passed_its_deadline(&self, ctx: &Ctx<'_>) -> bool {
        self.is_late || self.subtask.deadline.is_some_and(|deadline| deadline <= ctx.now)
    }

    /// Tells the model what is left of its rounds and budgets when that drops to a lower level.
    fn tell_what_is_left(&mut self, rounds_left: u32, ctx: &Ctx<'_>) {
        match rounds_left {
            0 => self.conversation.tell("no tool round is left: answer now".to_owned()),
            rounds if ROUNDS_TOLD.contains(&rounds) => {
                self.conversation.tell(format!("tool rounds left in this attempt: {rounds}"));
            }
            _ => {}
        }
        let level = left::level(ctx);
        if level > self.budget_level {
            self.budget_level = level;
            self.conversation.tell(left::left(ctx));
        }
    }
}

fn bounded(output: Any) -> Any {
    if output.to_bytes().len() <= OUTPUT_BYTES_MAX {
        return output;
    }
    // A character takes at most six bytes of JSON (`\u0000`).
    Any::from(head_and_tail(&output.to_text(), OUTPUT_BYTES_MAX / 6).as_str())
}
