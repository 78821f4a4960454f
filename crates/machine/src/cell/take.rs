//! Handles an external input: it is admitted or refused, recorded, and queued for its machine.

use setpoint_protocol::message::{ApprovalWord, TaskFault};
use setpoint_protocol::record::{Answer, Answered, Reasked, RecordKind};
use setpoint_protocol::tool::{ErrorKind, SideEffect, ToolAnswer};
use setpoint_protocol::topology::{Payload, allows};
use setpoint_protocol::{Address, Instance, RoleId, Timestamp};

use super::{AskClass, Cell, Delivery, External, Step, StepError, encode};
use crate::input::AnyInput;

impl Cell {
    /// Refuses inputs that are not allowed, before anything is recorded.
    pub(super) fn admit(&self, external: &External) -> Result<(), StepError> {
        match external {
            External::Message { from, payload } => {
                let kind = payload.kind();
                let to = kind.route().to.first().copied().unwrap_or(RoleId::Runtime);
                let from_outside = matches!(from, RoleId::User | RoleId::Memory);
                if !from_outside || !to.lives_in_cell() || !allows(*from, to, kind) {
                    return Err(StepError::NoRoute { from: *from, kind });
                }
                let Some(call) = payload.answers() else { return Ok(()) };
                // The message must answer an ask that the role it goes to has made to this party.
                match self.asks.get(call) {
                    Some(ask) if ask.class.is_answered_by(*from) && call.role == to => Ok(()),
                    _ => Err(StepError::NotOpen(call)),
                }
            }
            External::Answered(Answered { call, answer, .. }) => match self.asks.known(*call) {
                Some(ask) if ask.class.can_have(answer) => Ok(()),
                _ => Err(StepError::NotOpen(*call)),
            },
            // A stopped ask is not asked again.
            External::Reasked(Reasked { call, .. }) => {
                if self.asks.get(*call).is_some() {
                    Ok(())
                } else {
                    Err(StepError::NotOpen(*call))
                }
            }
            External::Opened(_) | External::Fault(_) | External::Poisoned(_) => Ok(()),
        }
    }

    /// Records an external input and queues its delivery.
    pub(super) fn take(
        &mut self,
        external: External,
        at: Timestamp,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let runtime = Address::singleton(RoleId::Runtime);
        match external {
            External::Opened(opened) => {
                let body = encode(&*opened)?;
                self.time_budget_ms = opened.controller.time_budget_ms;
                self.opened = Some(*opened);
                self.write(step, at, runtime, vec![], RecordKind::Opened, None, body)?;
            }
            External::Message { from, payload } => {
                let asked = payload.answers().and_then(|call| self.asks.close(call));
                let cause = asked.as_ref().map(|ask| ask.seq);
                if let Payload::ApprovalDecision(decision) = &payload
                    && decision.decision == ApprovalWord::ForTask
                    && let Some(ask) = asked
                    && ask.digest.as_ref() == Some(&decision.digest)
                {
                    self.grants.extend(ask.digest.into_iter().chain(ask.scope));
                }
                let instance = payload.answers().map_or(Instance(0), |call| call.instance);
                self.say(step, at, Address::singleton(from), payload, instance, cause)?;
            }
            External::Answered(answered) => self.take_answer(answered, at, step)?,
            External::Reasked(reasked) => {
                let body = encode(&reasked)?;
                let ask = self.asks.get_mut(reasked.call).map(|ask| {
                    ask.attempt = reasked.attempt;
                    ask.since_ms = self.clock_ms;
                    (ask.seq, ask.class)
                });
                if let Some((_, AskClass::Model)) = ask {
                    let card =
                        self.opened.as_ref().map(|opened| opened.card(reasked.call.role, self.seq + 1));
                    self.ledger.model_reasked(reasked.call, reasked.spent, card);
                }
                let cause = ask.map(|(seq, _)| seq);
                self.write(step, at, runtime, vec![], RecordKind::Reasked, cause, body)?;
            }
            External::Fault(fault) => {
                let fault = TaskFault { elapsed_ms: self.elapsed_ms(), ..fault };
                self.say(step, at, runtime, Payload::TaskFault(fault), Instance(0), None)?;
            }
            External::Poisoned(poisoned) => {
                let body = encode(&poisoned)?;
                self.write(step, at, runtime, vec![], RecordKind::Poisoned, None, body)?;
            }
        }
        Ok(())
    }

    fn take_answer(&mut self, answered: Answered, at: Timestamp, step: &mut Step) -> Result<(), StepError> {
        let call = answered.call;
        let Some(ask) = self.asks.finish(call) else { return Err(StepError::NotOpen(call)) };
        let card = self.opened.as_ref().map(|opened| opened.card(call.role, self.seq + 1));
        match &answered.answer {
            Answer::Model(reply) => {
                let latency_ms = self.clock_ms.saturating_sub(ask.since_ms);
                self.ledger.model_answered(
                    call,
                    reply.usage,
                    card.filter(|_| reply.by.is_none()),
                    latency_ms,
                );
            }
            Answer::ModelFailed(failure) => {
                self.ledger.model_failed(call, Some(failure), answered.spent, card);
            }
            Answer::Tool(_) | Answer::Timer | Answer::Survey(_) | Answer::Interrupted => {
                self.ledger.model_failed(call, None, answered.spent, card);
            }
        }
        if let Answer::Tool(tool) = &answered.answer {
            self.ledger.tool_made(&tool.created);
            self.ledger.tool_touched(touched(tool));
            // A command that starts a service changes no watched file. A refused one did nothing.
            let is_refused = matches!(
                tool.error_kind,
                Some(
                    ErrorKind::ApprovalRequired
                        | ErrorKind::Consent
                        | ErrorKind::Blocked
                        | ErrorKind::InvalidInput
                )
            );
            if tool.side_effect != SideEffect::None || (ask.class == AskClass::Unsafe && !is_refused) {
                self.ledger.tool_acted();
            }
        }
        let is_tool = matches!(ask.class, AskClass::Pure | AskClass::Unsafe);
        let never_made = ask.attempt.saturating_sub(answered.attempt);
        if is_tool {
            self.ledger.tool_never_made(call.role, never_made);
        } else if ask.class == AskClass::Model {
            self.ledger.model_never_made(call.role, never_made, card);
        }
        // A call that only requested approval did nothing. It is asked again once allowed, and is counted then.
        if matches!(&answered.answer, Answer::Tool(tool) if tool.error_kind == Some(ErrorKind::ApprovalRequired))
        {
            self.ledger.tool_never_made(call.role, 1);
        }
        let body = encode(&answered)?;
        let to = Address { role: call.role, instance: call.instance };
        let runtime = Address::singleton(RoleId::Runtime);
        let seq = self.write(step, at, runtime, vec![to], RecordKind::Answered, Some(ask.seq), body)?;
        if !ask.stopped {
            self.queue.push_back(Delivery {
                to,
                seq,
                input: AnyInput::Answer { call, answer: answered.answer },
            });
        }
        self.quiesce_if_drained(step, at, Some(seq))
    }
}

/// Returns the files that a call reports as changed, removed or written.
fn touched(answer: &ToolAnswer) -> Vec<String> {
    if answer.side_effect == SideEffect::None {
        return Vec::new();
    }
    let facts = answer.facts.as_ref().map(|facts| &facts.0);
    let changed = facts.and_then(|facts| facts.pointer("/changed/paths")?.as_array());
    let written = facts.and_then(|facts| facts.get("path"));
    let paths = changed.into_iter().flatten().chain(written);
    paths.filter_map(serde_json::Value::as_str).map(str::to_owned).collect()
}
