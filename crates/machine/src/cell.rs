//! One task: its machines, one queue, one counter. Pure, and nothing inside is concurrent.
//!
//! A *step* is one external input and everything it causes, run to completion ([`Cell::step`]). It yields the records
//! to append and the effects to start once they are durable. The caller owns clock, journal and world; the tokio
//! driver and the simulation are two such callers.
//!
//! The cell knows no role by name except where the organisation itself demands it: effectors are dropped when their
//! sub-task is judged, a fault or a cancel stops what runs, and the two closing messages end the task.

mod asks;
mod beginning;
mod deliver;
mod replay;
mod take;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use setpoint_protocol::limits::{BODY_BYTES_MAX, STEP_RECORDS_MAX};
use setpoint_protocol::message::TaskFault;
use setpoint_protocol::record::{
    Answered, Opened, Poisoned, Purpose, Reasked, RecordKind, Surroundings, Usage,
};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, Any, CallId, RoleId, TaskId, Timestamp};

use crate::input::AnyInput;
use crate::ledger::Ledger;
use crate::machine::AnyMachine;
use crate::model_call::ModelCall;
use crate::reading::CallReader;

pub use self::asks::{AskClass, PendingAsk, WorldEffect};
pub use self::replay::{Divergence, ReplayedStep, ReplayedTask, Strictness, needs_rebuild};
pub use setpoint_protocol::record::Record;

use self::asks::Asks;
use self::beginning::LastPrompt;

/// Makes the machines of a task, and supplies the two pure functions that the cell needs from elsewhere.
pub trait Factory: Send + Sync {
    /// Returns a new machine for a role instance; `None` for a role that does not live in a cell.
    fn machine(&self, address: Address) -> Option<Box<dyn AnyMachine>>;

    /// Returns the slug of an intent (SPEC section 3).
    fn slug(&self, intent: &str) -> String;

    /// Returns the reader that classifies calls before they run.
    fn reader(&self) -> &dyn CallReader;
}

/// An input from outside the task.
#[derive(Clone, Debug)]
pub enum External {
    /// The task opens. Must be first, and only once.
    Opened(Box<Opened>),
    /// A person's message, or memory's reply.
    Message {
        /// Sender of the message.
        from: RoleId,
        /// Message that is sent.
        payload: Payload,
    },
    /// The world answered an ask.
    Answered(Answered),
    /// A further attempt of an ask starts.
    Reasked(Reasked),
    /// The runtime reports a fault: the watchdog, a deadline, a panic, a divergence.
    Fault(TaskFault),
    /// An input that made a machine panic: recorded, never delivered.
    Poisoned(Poisoned),
}

/// The results of one external input.
#[derive(Debug, Default)]
#[must_use = "the records must be appended before any effect starts"]
pub struct Step {
    /// Records to append, in order, as one transaction.
    pub records: Vec<Record>,
    /// Effects to start once the records are durable.
    pub effects: Vec<WorldEffect>,
    /// Whether the task is closed: the last record is its end.
    pub closed: bool,
}

/// Why the cell rejects an input. Except after [`StepError::Panicked`] and [`StepError::Runaway`], nothing was
/// recorded and nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The task is closed.
    #[error("take the input: the task is closed")]
    Closed,
    /// The task has not been opened, or is already open.
    #[error("take the input: the task {0}")]
    NotNow(&'static str),
    /// No route lets this party send this message into the task.
    #[error("take {kind} from {from}: no route allows it")]
    NoRoute {
        /// Sender of the message.
        from: RoleId,
        /// Kind of the message.
        kind: Kind,
    },
    /// An answer to a call that is not open, or no longer.
    #[error("take an answer to {0}: it is not open")]
    NotOpen(CallId),
    /// A machine panicked. The cell must be rebuilt from its journal.
    #[error("handle the input: {role} panicked: {message}")]
    Panicked {
        /// Role that panicked.
        role: RoleId,
        /// Panic message.
        message: String,
    },
    /// A machine sends messages to itself without end, or sent one that cannot be serialised.
    #[error("finish the step: {0}")]
    Runaway(String),
}

/// A task that runs in one thread.
pub struct Cell {
    task: TaskId,
    factory: Arc<dyn Factory>,
    opened: Option<Opened>,
    /// The person's request, verbatim.
    words: String,
    slug: String,
    time_budget_ms: u64,
    deadline: Option<Timestamp>,
    machines: BTreeMap<Address, Slot>,
    queue: VecDeque<Delivery>,
    seq: u64,
    clock_ms: u64,
    asks: Asks,
    ledger: Ledger,
    /// Questions that wait until running calls free their reservations, oldest first.
    waiting: VecDeque<WaitingQuestion>,
    grants: BTreeSet<String>,
    phase: Phase,
    /// Whether a stop is in progress whose completion R7 must receive.
    draining: bool,
    stopped: u32,
    /// Whether the current delivery stopped everything, so that its machine's other effects do not start.
    halted: bool,
    /// Record of the input at which the last step failed.
    failed_at: Option<Record>,
}

struct Slot {
    machine: Box<dyn AnyMachine>,
    calls: u32,
    last_prompt: LastPrompt,
}

struct Delivery {
    to: Address,
    seq: u64,
    input: AnyInput,
}

/// A question that the budgets have no room for while other calls are running.
struct WaitingQuestion {
    from: Address,
    call: CallId,
    ask: Arc<ModelCall>,
    cause: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Closing,
    Closed,
}

impl Cell {
    /// Creates an empty cell for `task`.
    #[must_use]
    pub fn new(task: TaskId, factory: Arc<dyn Factory>) -> Self {
        Cell {
            task,
            factory,
            opened: None,
            words: String::new(),
            slug: String::new(),
            time_budget_ms: 0,
            deadline: None,
            machines: BTreeMap::new(),
            queue: VecDeque::new(),
            seq: 0,
            clock_ms: 0,
            asks: Asks::default(),
            ledger: Ledger::default(),
            waiting: VecDeque::new(),
            grants: BTreeSet::new(),
            phase: Phase::Running,
            draining: false,
            stopped: 0,
            halted: false,
            failed_at: None,
        }
    }

    /// Returns the task's id.
    #[must_use]
    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// Returns how the task opened; `None` before it did.
    #[must_use]
    pub fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    /// Returns the surroundings that it opened in.
    #[must_use]
    pub fn surroundings(&self) -> Option<&Arc<Surroundings>> {
        self.opened.as_ref().map(|opened| &opened.surroundings)
    }

    /// Returns the sums over the records so far.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the last record's sequence number; 0 before the first.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the task's clock at its last input, in milliseconds.
    #[must_use]
    pub fn clock_ms(&self) -> u64 {
        self.clock_ms
    }

    /// Returns the effective time budget in milliseconds; 0 before the task opened.
    #[must_use]
    pub fn time_budget_ms(&self) -> u64 {
        self.time_budget_ms
    }

    /// Returns the task's clock at its `TaskSpec`.
    #[must_use]
    pub fn spec_clock_ms(&self) -> Option<u64> {
        self.ledger.spec_clock_ms
    }

    /// Returns the person's deadline, if the `TaskSpec` has one: hard, on the wall clock.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Returns whether only people are awaited, which pauses the task's clock.
    #[must_use]
    pub fn waits_only_for_people(&self) -> bool {
        self.asks.only_people()
    }

    /// Returns whether an ask is open and was not stopped.
    #[must_use]
    pub fn is_open(&self, call: CallId) -> bool {
        self.asks.get(call).is_some()
    }

    /// Processes one external input at time `at`, with the task's clock at `clock_ms`, and everything that it causes.
    ///
    /// # Errors
    /// A rejected input leaves the cell unchanged, except [`StepError::Panicked`] and [`StepError::Runaway`]: after
    /// those the cell must be rebuilt from its journal.
    pub fn step(&mut self, external: External, at: Timestamp, clock_ms: u64) -> Result<Step, StepError> {
        if self.phase == Phase::Closed {
            return Err(StepError::Closed);
        }
        if self.opened.is_none() != matches!(external, External::Opened(_)) {
            let when = if self.opened.is_none() { "has not been opened" } else { "is open already" };
            return Err(StepError::NotNow(when));
        }
        self.admit(&external)?;
        self.clock_ms = clock_ms.max(self.clock_ms);
        let mut step = Step::default();
        match self.run(external, at, &mut step) {
            Ok(()) => Ok(step),
            Err(error) => {
                self.failed_at = step.records.into_iter().next();
                Err(error)
            }
        }
    }

    /// Returns the input at which the last step failed, for the journal of the cell that is rebuilt without it.
    pub fn poisoned(&mut self, error: &StepError) -> Poisoned {
        let panic = error.to_string();
        match self.failed_at.take() {
            Some(input) => Poisoned { kind: input.kind.to_string(), body: poisoned_body(&input.body), panic },
            // The input itself could not be written; the error names it.
            None => Poisoned { kind: "unwritten".to_owned(), body: Any(Value::Null), panic },
        }
    }

    /// Takes an input and runs everything it causes.
    fn run(&mut self, external: External, at: Timestamp, step: &mut Step) -> Result<(), StepError> {
        self.take(external, at, step)?;
        loop {
            while let Some(delivery) = self.queue.pop_front() {
                if step.records.len() > STEP_RECORDS_MAX {
                    return Err(StepError::Runaway(format!(
                        "more than {STEP_RECORDS_MAX} records in one step"
                    )));
                }
                self.deliver(delivery, at, step)?;
                if self.phase == Phase::Closed {
                    self.queue.clear();
                    self.waiting.clear();
                }
            }
            self.ask_waiting(at, step)?;
            if self.queue.is_empty() {
                break;
            }
        }
        step.closed = self.phase == Phase::Closed;
        if step.closed {
            let open: Vec<CallId> = self.asks.close_all();
            step.effects.extend(open.into_iter().map(|call| WorldEffect::Stop { call }));
        }
        Ok(())
    }

    /// Returns the open asks, for a driver that resumes a task.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingAsk> {
        self.asks.pending()
    }

    /// Returns whether the budgets leave room for another attempt of a model call, after the previous one used
    /// `lost`.
    #[must_use]
    pub fn may_ask_again(&self, call: CallId, purpose: Purpose, lost: Usage) -> bool {
        self.opened.as_ref().is_none_or(|opened| {
            self.ledger.has_room_again(&opened.budgets, purpose, lost, opened.models.of(call.role))
        })
    }

    /// Returns the last attempt of an open ask.
    #[must_use]
    pub fn attempt_of(&self, call: CallId) -> Option<u32> {
        self.asks.known(call).map(|ask| ask.attempt)
    }

    /// Stops everything that runs and drops the effectors. R7 receives `Quiesced` after the last ask has been
    /// answered.
    fn stop_all(&mut self, step: &mut Step, at: Timestamp, cause: u64) -> Result<(), StepError> {
        self.machines.retain(|address, _| !address.role.is_effector());
        // The round is over, and undelivered messages to the other roles and waiting questions belong to it.
        self.waiting.clear();
        self.queue.retain(|delivery| delivery.to.role == RoleId::GoalGradientSolver);
        self.halted = true;
        for call in self.asks.stop_all() {
            self.stopped += 1;
            step.effects.push(WorldEffect::Stop { call });
        }
        self.draining = true;
        self.quiesce_if_drained(step, at, Some(cause))
    }

    fn quiesce_if_drained(
        &mut self,
        step: &mut Step,
        at: Timestamp,
        cause: Option<u64>,
    ) -> Result<(), StepError> {
        if !self.draining || self.asks.any_stopped() {
            return Ok(());
        }
        self.draining = false;
        let body =
            encode(&setpoint_protocol::record::Quiesced { stopped: std::mem::take(&mut self.stopped) })?;
        let to = Address::singleton(RoleId::GoalGradientSolver);
        let runtime = Address::singleton(RoleId::Runtime);
        let seq = self.write(step, at, runtime, vec![to], RecordKind::Quiesced, cause, body)?;
        self.queue.push_back(Delivery { to, seq, input: AnyInput::Quiesced });
        Ok(())
    }

    fn elapsed_ms(&self) -> u64 {
        self.ledger.spec_clock_ms.map_or(0, |start| self.clock_ms.saturating_sub(start))
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of a record, in their order")]
    fn write(
        &mut self,
        step: &mut Step,
        at: Timestamp,
        from: Address,
        to: Vec<Address>,
        kind: RecordKind,
        cause: Option<u64>,
        body: Vec<u8>,
    ) -> Result<u64, StepError> {
        if body.len() > BODY_BYTES_MAX {
            return Err(StepError::Runaway(format!(
                "a {kind} of {} bytes is larger than {BODY_BYTES_MAX}",
                body.len()
            )));
        }
        self.seq += 1;
        step.records.push(Record { seq: self.seq, at, clock_ms: self.clock_ms, from, to, kind, cause, body });
        Ok(self.seq)
    }
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cell")
            .field("task", &self.task)
            .field("seq", &self.seq)
            .field("phase", &self.phase)
            .finish()
    }
}

fn encode<T: serde::Serialize>(body: &T) -> Result<Vec<u8>, StepError> {
    setpoint_protocol::body::encode(body)
        .map_err(|error| StepError::Runaway(format!("a body cannot be written: {error}")))
}

/// Returns a body for a `Poisoned` record: as JSON if it parses, otherwise as text.
fn poisoned_body(bytes: &[u8]) -> Any {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Any(Value::String(String::from_utf8_lossy(bytes).into_owned())))
}
