//! One task: R7's machine, with the time and the names that its messages use.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use setpoint_control::{GainsError, law};
use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::{AnyInput, AnyMachine, CallReader, Ctx, Ledger};
use setpoint_protocol::envelope::task_id_field;
use setpoint_protocol::record::{Answer, Opened, Surroundings};
use setpoint_protocol::tool::{CallReading, Effect as ToolEffect, ToolCall};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, Any, RoleId, TaskId, Timestamp, ToolId};
use setpoint_roles::r7_goal_gradient_solver::GoalGradientSolver;

use super::Refusal;
use super::complete::{self, Names};
use super::line::Message;

/// A controlled task.
pub(super) struct Task {
    machine: GoalGradientSolver,
    id: TaskId,
    slug: String,
    names: Names,
    ledger: Ledger,
    calls: u32,
    elapsed_ms: u64,
    /// Number of messages decided on.
    rounds: u32,
    has_ended: bool,
}

impl Task {
    /// Creates a task of this name, first used in this line.
    pub(super) fn new(name: &str, line: u64) -> Self {
        Task {
            machine: GoalGradientSolver::default(),
            id: name.parse().unwrap_or_else(|_| TaskId::mint(name, line)),
            slug: setpoint_mkct::slug(""),
            names: Names::default(),
            ledger: Ledger::started_at(0),
            calls: 0,
            elapsed_ms: 0,
            rounds: 0,
            has_ended: false,
        }
    }

    /// Returns whether no decision was made yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.rounds == 0
    }

    /// Returns whether the result was given.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Processes a message and returns the resulting kinds with payloads.
    pub(super) fn take(
        &mut self,
        message: &Message,
        line: u64,
        opened: &Opened,
    ) -> Result<Vec<(&'static str, Any)>, Refusal> {
        let payload = complete::payload(message, self.rounds + 1, self.elapsed_ms, &mut self.names)?;
        if let Some(slug) = message.slug.as_ref().filter(|slug| !slug.is_empty()) {
            self.slug.clone_from(slug);
        }
        let elapsed_before_ms = self.elapsed_ms;
        self.elapsed_ms = elapsed_ms(&payload).unwrap_or(self.elapsed_ms);
        let mut desk =
            Desk { opened, at: message.at.unwrap_or_default(), seq: line.saturating_mul(SEQS_A_LINE) };
        let said = self.settle(payload, &mut desk);
        if said.is_empty() {
            self.elapsed_ms = elapsed_before_ms;
            return Err(Refusal {
                error: "its round has already been decided".to_owned(),
                hint: "number rounds from 1; each directive opens the next".to_owned(),
                task_id: None,
            });
        }
        self.rounds += 1;
        self.has_ended = said.iter().any(|payload| matches!(payload, Payload::FinalResult(_)));
        Ok(said
            .iter()
            .map(|payload| (payload.kind().name(), self.shown(payload, &message.task_id)))
            .collect())
    }

    /// Delivers a message and answers everything that R7 waits for at once: nothing runs and no R2 reports, as if R2
    /// had timed out.
    fn settle(&mut self, payload: Payload, desk: &mut Desk<'_>) -> Vec<Payload> {
        let stops = matches!(payload.kind(), Kind::TaskFault | Kind::CancelRequest);
        let mut inputs = VecDeque::from([AnyInput::Message(payload)]);
        if stops {
            inputs.push_back(AnyInput::Quiesced);
        }
        let mut said = Vec::new();
        while let Some(input) = inputs.pop_front() {
            for effect in self.deliver(input, desk) {
                match effect {
                    // For R2, which does not exist here.
                    Effect::Send { payload: Payload::AbandonNotice(_), .. } => {}
                    Effect::Send { payload, .. } => said.push(payload),
                    Effect::Timer { call, .. } => {
                        inputs.push_back(AnyInput::Answer { call, answer: Answer::Timer });
                    }
                    // R7 cannot cause these effects.
                    Effect::Model { .. } | Effect::Tool { .. } | Effect::Survey { .. } => {}
                }
            }
        }
        said
    }

    fn deliver(&mut self, input: AnyInput, desk: &mut Desk<'_>) -> Vec<Effect> {
        let address = Address::singleton(RoleId::GoalGradientSolver);
        desk.seq = desk.seq.saturating_add(1);
        let mut buffer = EffectBuffer::new(address, self.calls, self.id.clone(), desk.seq, desk.at);
        let ctx = Ctx {
            task: &self.id,
            now: desk.at,
            clock_ms: self.elapsed_ms,
            opened: desk.opened,
            // There is no person and no goal.
            words: "",
            slug: &self.slug,
            time_budget_ms: desk.opened.controller.time_budget_ms,
            ledger: &self.ledger,
            grants: &BTreeSet::new(),
            reader: &NoCalls,
        };
        // Only messages that R7 receives get here, so the inbox never rejects one.
        let delivered = self.machine.handle_any(input, &ctx, &mut buffer);
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        delivered.map(|()| effects).unwrap_or_default()
    }

    /// Returns the payload in its wire form, with the names that the messages use.
    fn shown(&self, payload: &Payload, name: &str) -> Any {
        let bytes = payload.encode().unwrap_or_default();
        let mut value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        self.names.give_back(&mut value);
        if let (Some(field), Some(fields)) = (task_id_field(payload.kind()), value.as_object_mut()) {
            fields.insert(field.to_owned(), name.into());
        }
        Any(value)
    }
}

/// The context of one message.
struct Desk<'a> {
    opened: &'a Opened,
    at: Timestamp,
    /// Counts deliveries over all lines, so that a task that starts again under the same name creates other ids.
    seq: u64,
}

/// Numbers reserved in that count for the deliveries of one line.
const SEQS_A_LINE: u64 = 8;

/// Checks the settings.
///
/// # Errors
/// The first setting that is not allowed.
pub(super) fn validate(opened: &Opened) -> Result<(), GainsError> {
    law::governing(&opened.controller).map(drop)
}

fn elapsed_ms(payload: &Payload) -> Option<u64> {
    match payload {
        Payload::ReplanRequest(request) => Some(request.elapsed_ms),
        Payload::OutcomeSummary(summary) => Some(summary.elapsed_ms),
        Payload::TaskFault(fault) => Some(fault.elapsed_ms),
        _ => None,
    }
}

/// A reader for R7, which makes no calls.
struct NoCalls;

impl CallReader for NoCalls {
    fn read(&self, call: &ToolCall, _: &Surroundings) -> CallReading {
        CallReading {
            tools: vec![ToolId::of_name(&call.tool)],
            target: call.input.to_text(),
            beyond: None,
            effect: ToolEffect::Unsafe,
            volatile: false,
        }
    }
}
