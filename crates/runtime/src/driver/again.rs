//! Retries a question to a model after a failure that may pass.
//!
//! Every retry is recorded before it is sent, waits longer than the one before, and counts against the task's budget of
//! calls. All attempts of a question share its time limit.
//!
//! A failure that only a person can repair (a key, a name, a window, a server that asks to be left alone for long) ends
//! the task at once: no other plan helps, and every round would cost the same again. There is one exception: a goal
//! that is too long for R1's model goes on to R2, which asks about it in its own way.

use std::sync::Arc;
use std::time::Duration;

use setpoint_machine::{External, ModelCall, WorldEffect};
use setpoint_model::ModelError;
use setpoint_protocol::CallId;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FailureClass, FaultKind, TaskFault};
use setpoint_protocol::record::{Answer, Answered, ModelFailure, ModelFailureKind, Purpose, Reasked, Usage};
use setpoint_protocol::text::clip;
use tokio::time::Instant;

use super::{Driver, Inbound};

/// Maximum attempts of one question, the first included.
pub(super) const ATTEMPTS_MAX: u32 = 5;
/// Wait before the second attempt; each later wait is twice as long.
const WAIT_FIRST: Duration = Duration::from_millis(500);
/// Longest wait of our own choice.
const WAIT_LAST: Duration = Duration::from_secs(20);
/// Maximum characters of a failure in a fault.
const REASON_CHARS_MAX: usize = 1_000;

/// A question that will be retried.
pub(super) struct Retry {
    /// The failed attempt.
    pub(super) attempt: u32,
    /// Cost of the failed attempt.
    pub(super) spent: Usage,
    failure: ModelFailure,
    pub(super) due: Instant,
}

/// An ask that is retried once its new attempt is recorded.
pub(super) struct RetriedAsk {
    pub(super) attempt: u32,
    pub(super) effect: WorldEffect,
    /// Its answer, if the budgets are used up by then.
    pub(super) failure: ModelFailure,
}

/// A question to a model, with the time limit shared by all its attempts.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) ask: Arc<ModelCall>,
    pub(super) until: Instant,
}

impl Driver {
    /// Handles a failed attempt. Returns the input that ends the question or the task; `None` if the question will be
    /// retried.
    pub(super) fn failed(
        &mut self,
        call: CallId,
        attempt: u32,
        error: ModelError,
        spent: Usage,
    ) -> Option<External> {
        let is_stopped = self.running.remove(&call).is_some_and(|running| running.stop_by.is_some());
        if is_stopped {
            let answer = Answer::Interrupted;
            return Some(External::Answered(Answered { call, attempt, answer, spent }));
        }
        let ModelError { failure, again_after } = error;
        match again_after.and_then(|after| self.next_attempt(call, attempt, after, spent)) {
            Some(due) => {
                self.again.insert(call, Retry { attempt, spent, failure, due });
                None
            }
            None => {
                let purpose = self.questions.get(&call).map(|question| question.ask.purpose());
                let fault = purpose.and_then(|purpose| fault_for_person(purpose, &failure));
                let answer = Answer::ModelFailed(after_attempts(failure, attempt));
                let answered = External::Answered(Answered { call, attempt, answer, spent });
                match fault {
                    // The fault comes first: the answer would start another round.
                    Some(fault) => {
                        self.backlog.push_front(Inbound::External(answered));
                        Some(External::Fault(fault))
                    }
                    None => Some(answered),
                }
            }
        }
    }

    /// Returns when the next attempt may begin; `None` if there is none.
    fn next_attempt(&self, call: CallId, attempt: u32, after: Duration, spent: Usage) -> Option<Instant> {
        let question = self.questions.get(&call)?;
        let due = Instant::now() + after + self.backoff(call, attempt);
        let has_time = due < question.until;
        let has_budget = self.cell.may_ask_again(call, question.ask.purpose(), spent);
        (attempt < ATTEMPTS_MAX && has_time && has_budget).then_some(due)
    }

    /// Turns due retries into inputs: an attempt begins once its record is durable. [`Driver::in_budget`] checks then
    /// whether the budgets still have room.
    pub(super) fn ask_due_again(&mut self) {
        let now = Instant::now();
        let due: Vec<CallId> =
            self.again.iter().filter(|(_, again)| again.due <= now).map(|(call, _)| *call).collect();
        for call in due {
            let (Some(again), Some(question)) = (self.again.remove(&call), self.questions.get(&call)) else {
                continue;
            };
            let ask = Arc::clone(&question.ask);
            let effect = WorldEffect::Model { call, ask, fragments: vec![] };
            let Retry { attempt, spent, failure, .. } = again;
            let (attempt, reason) = (attempt.saturating_add(1), failure.reason.clone());
            let reasked = Reasked { call, attempt, reason, spent, by_runtime: false };
            self.ask_again(reasked, effect, failure);
        }
    }

    /// Retries an ask once `reasked` is recorded; `failure` is its answer if the budgets are used up by then.
    pub(super) fn ask_again(&mut self, reasked: Reasked, effect: WorldEffect, failure: ModelFailure) {
        self.resumed.insert(reasked.call, RetriedAsk { attempt: reasked.attempt, effect, failure });
        self.backlog.push_back(Inbound::External(External::Reasked(reasked)));
    }

    /// Checks a retry just before it is recorded. If others used up the budgets while it waited, returns the failure of
    /// the attempt before it.
    pub(super) fn in_budget(&mut self, external: External) -> External {
        let External::Reasked(reasked) = external else { return external };
        if !self.cell.is_open(reasked.call) {
            // The ask was stopped in the meantime; the cell refuses the retry.
            self.resumed.remove(&reasked.call);
            return External::Reasked(reasked);
        }
        let purpose = match self.resumed.get(&reasked.call).map(|resumed| &resumed.effect) {
            Some(WorldEffect::Model { ask, .. }) => ask.purpose(),
            _ => return External::Reasked(reasked),
        };
        if self.cell.may_ask_again(reasked.call, purpose, reasked.spent) {
            return External::Reasked(reasked);
        }
        let Reasked { call, attempt, spent, reason, .. } = reasked;
        let attempt = attempt.saturating_sub(1);
        let failure = self.resumed.remove(&call).map(|resumed| resumed.failure);
        let failure = failure.unwrap_or_else(|| broken_off(reason));
        let answer = Answer::ModelFailed(after_attempts(failure, attempt));
        External::Answered(Answered { call, attempt, answer, spent })
    }

    /// Returns between half and all of a doubling wait. The share depends on task, call and attempt, so that tasks that
    /// failed together do not retry together.
    fn backoff(&self, call: CallId, attempt: u32) -> Duration {
        let doubled = WAIT_FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(WAIT_LAST);
        let hash = blake3::hash(format!("{} {call} {attempt}", self.task).as_bytes());
        let share = hash.as_bytes().first().copied().unwrap_or_default();
        doubled / 2 + doubled.mul_f64(f64::from(share) / 512.0)
    }
}

/// Returns the fault for a failure that only a person can repair. R2 raises its own fault.
fn fault_for_person(purpose: Purpose, failure: &ModelFailure) -> Option<TaskFault> {
    let who = match purpose {
        Purpose::Plan | Purpose::Report => return None,
        // A goal that is too long is still the goal: R1 passes it on unread.
        Purpose::Perceive if failure.kind == ModelFailureKind::TooLong => return None,
        Purpose::Perceive => "read the goal",
        Purpose::Execute => "execute",
        Purpose::Judge => "judge",
        Purpose::Merge => "judge the whole",
        // R5 asks outside tasks.
        Purpose::Distil | Purpose::Reflect => return None,
    };
    if failure.kind.retryable() || failure.hints.is_empty() {
        return None;
    }
    Some(TaskFault {
        role: RoleId::Runtime,
        kind: FaultKind::Fault,
        reason: format!("no model could {who}: {}", clip(&failure.reason, REASON_CHARS_MAX)),
        failure_class: Some(FailureClass::Environmental),
        hints: failure.hints.clone(),
        retryable: false,
        elapsed_ms: 0,
    })
}

/// Creates the failure of an attempt whose result was lost.
pub(super) fn broken_off(reason: String) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::Unavailable, reason, hints: vec![] }
}

/// Adds the number of attempts to the recorded failure.
fn after_attempts(failure: ModelFailure, attempt: u32) -> ModelFailure {
    if attempt < 2 {
        return failure;
    }
    ModelFailure { reason: format!("{} (asked {attempt} times)", failure.reason), ..failure }
}
