//! Delivers one record to one machine, and records its effects.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use setpoint_protocol::limits::{CELL_QUEUE_MAX, THINKING_CHARS_MAX};
use setpoint_protocol::message::{FaultKind, TaskFault, TaskSpec};
use setpoint_protocol::models::Tier;
use setpoint_protocol::record::{Ask, Asked, RecordKind};
use setpoint_protocol::tool::Effect as ToolEffect;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, CallId, Instance, RoleId, Timestamp};

use super::asks::AskClass;
use super::beginning::LastPrompt;
use super::{Cell, Delivery, Phase, Slot, Step, StepError, WaitingQuestion, WorldEffect, encode};
use crate::ctx::Ctx;
use crate::effects::{Effect, EffectBuffer, ToolAsk};
use crate::fit::{Misfit, Need, fit};
use crate::input::AnyInput;
use crate::model_call::ModelCall;

/// A question that does not fit, and how the task ends if nothing frees room for it.
struct UnfitQuestion {
    misfit: Option<Misfit>,
    fault: TaskFault,
}

impl UnfitQuestion {
    /// Returns whether there may be more room after running calls are answered.
    fn may_pass(&self) -> bool {
        matches!(self.misfit, Some(Misfit::Tokens { .. } | Misfit::Money { .. }))
    }
}

impl Cell {
    /// Delivers a queued record to its machine. A dropped machine receives nothing; a closing task delivers only to
    /// R7.
    pub(super) fn deliver(
        &mut self,
        delivery: Delivery,
        at: Timestamp,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let Delivery { to, seq, input } = delivery;
        if self.phase == Phase::Closing && to.role != RoleId::GoalGradientSolver {
            return Ok(());
        }
        // An effector is created by the `SubTask` addressed to it and by nothing else.
        let makes = !to.role.is_effector() || matches!(input, AnyInput::Message(Payload::SubTask(_)));
        if !self.machines.contains_key(&to) {
            let machine = if makes { self.factory.machine(to) } else { None };
            let Some(machine) = machine else { return Ok(()) };
            self.machines.insert(to, Slot { machine, calls: 0, last_prompt: LastPrompt::default() });
        }
        let Some(opened) = &self.opened else { return Ok(()) };
        let Some(slot) = self.machines.get_mut(&to) else { return Ok(()) };
        let mut buffer = EffectBuffer::new(to, slot.calls, self.task.clone(), seq, at);
        let ctx = Ctx {
            task: &self.task,
            now: at,
            clock_ms: self.clock_ms,
            opened,
            words: &self.words,
            slug: &self.slug,
            time_budget_ms: self.time_budget_ms,
            ledger: &self.ledger,
            grants: &self.grants,
            reader: self.factory.reader(),
        };
        match catch_unwind(AssertUnwindSafe(|| slot.machine.handle_any(input, &ctx, &mut buffer))) {
            Ok(Ok(())) => {}
            Ok(Err(misrouted)) => return Err(StepError::Runaway(misrouted.to_string())),
            Err(panic) => return Err(StepError::Panicked { role: to.role, message: panic_text(&*panic) }),
        }
        let (effects, calls) = buffer.into_parts();
        slot.calls = calls;
        self.halted = false;
        for effect in effects {
            if self.phase == Phase::Closed || (self.halted && to.role != RoleId::GoalGradientSolver) {
                break;
            }
            self.perform(to, effect, at, seq, step)?;
        }
        Ok(())
    }

    fn perform(
        &mut self,
        from: Address,
        effect: Effect,
        at: Timestamp,
        cause: u64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        match effect {
            Effect::Send { payload, instance } => {
                self.say(step, at, from, payload, instance, Some(cause)).map(drop)
            }
            Effect::Model { call, ask } => self.ask_model(from, call, ask, at, cause, step),
            Effect::Tool { call, ask } => self.ask_tool(from, call, ask, at, cause, step),
            Effect::Timer { call, ms } => {
                let asked = Asked { call, attempt: 1, ask: Ask::Timer { ms } };
                let seq = self.write_asked(step, at, from, &asked, cause)?;
                self.asks.open(call, seq, AskClass::Timer, self.clock_ms);
                step.effects
                    .push(WorldEffect::Timer { call, due_clock_ms: self.clock_ms.saturating_add(ms) });
                Ok(())
            }
            Effect::Survey { call, ask } => {
                let asked = Asked { call, attempt: 1, ask: Ask::Survey(ask.clone()) };
                let seq = self.write_asked(step, at, from, &asked, cause)?;
                self.asks.open(call, seq, AskClass::Survey, self.clock_ms);
                step.effects.push(WorldEffect::Survey { call, ask });
                Ok(())
            }
        }
    }

    fn ask_model(
        &mut self,
        from: Address,
        call: CallId,
        ask: Arc<ModelCall>,
        at: Timestamp,
        cause: u64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let mut ask = ask;
        if let Some(opened) = self.opened.as_ref().filter(|opened| !opened.thinking.is_empty()) {
            // Added here rather than where prompts are made, so that no role can omit it.
            Arc::make_mut(&mut ask).prompt.add_laws(&opened.thinking, THINKING_CHARS_MAX);
        }
        // Questions that already wait are asked first.
        if self.waiting.is_empty() {
            self.ask_or_wait(WaitingQuestion { from, call, ask, cause }, at, step).map(drop)
        } else {
            self.waiting.push_back(WaitingQuestion { from, call, ask, cause });
            Ok(())
        }
    }

    /// Asks the waiting questions in order, until one must keep waiting.
    pub(super) fn ask_waiting(&mut self, at: Timestamp, step: &mut Step) -> Result<(), StepError> {
        while let Some(waiting) = self.waiting.pop_front() {
            if !self.ask_or_wait(waiting, at, step)? {
                break;
            }
        }
        Ok(())
    }

    /// Asks a question, puts it back at the head of the queue (and returns false), or ends the task if there is no
    /// room.
    fn ask_or_wait(
        &mut self,
        waiting: WaitingQuestion,
        at: Timestamp,
        step: &mut Step,
    ) -> Result<bool, StepError> {
        let WaitingQuestion { from, call, ask, cause } = waiting;
        let mut ask = Arc::unwrap_or_clone(ask);
        let limits = ask.limits;
        let found = self.fit(from.role, &mut ask);
        if self.ledger.has_reserved()
            && found.as_ref().map_or_else(UnfitQuestion::may_pass, |need| need.is_tight)
        {
            ask.limits = limits;
            self.waiting.push_front(WaitingQuestion { from, call, ask: Arc::new(ask), cause });
            return Ok(false);
        }
        let need = match found {
            Ok(need) => need,
            Err(UnfitQuestion { fault, .. }) => {
                let runtime = Address::singleton(RoleId::Runtime);
                self.say(step, at, runtime, Payload::TaskFault(fault), Instance(0), Some(cause))?;
                return Ok(true);
            }
        };
        let ask = Arc::new(ask);
        let fragments: Vec<_> = ask.prompt.fragments.iter().map(|fragment| fragment.hash()).collect();
        let (after, new) = match self.machines.get_mut(&from) {
            Some(slot) => slot.last_prompt.next(call, &fragments),
            None => (None, fragments.clone()),
        };
        let what = Ask::Model { purpose: ask.purpose(), fragments: new, after };
        let asked = Asked { call, attempt: 1, ask: what };
        let seq = self.write_asked(step, at, from, &asked, cause)?;
        self.asks.open(call, seq, AskClass::Model, self.clock_ms);
        let card = self.opened.as_ref().map(|opened| opened.card(from.role, self.seq + 1));
        self.ledger.model_asked(call, ask.purpose(), need, card);
        step.effects.push(WorldEffect::Model { call, ask, fragments });
        Ok(true)
    }

    /// Makes a question fit into the model's window and the budgets, or returns why the task cannot continue.
    fn fit(&self, role: RoleId, ask: &mut ModelCall) -> Result<Need, UnfitQuestion> {
        let Some(opened) = &self.opened else { return Ok(Need::default()) };
        let fault = |kind, reason, hint: String| TaskFault {
            role,
            kind,
            reason,
            failure_class: None,
            hints: vec![hint],
            retryable: false,
            elapsed_ms: self.elapsed_ms(),
        };
        let over_budget = |reason, budget| fault(FaultKind::Budget, reason, hint_to_raise(budget));
        let card = opened.models.of(role);
        let room = self.ledger.room(&opened.budgets, ask.purpose(), card);
        let room =
            room.map_err(|reason| UnfitQuestion { misfit: None, fault: over_budget(reason, "calls") })?;
        let told = |misfit: &Misfit| match misfit {
            Misfit::Window { tokens_in, room, window } => fault(
                FaultKind::Fault,
                format!(
                    "a question to {} takes about {tokens_in} tokens, though all that may be left out is; its window of \
                     {window} has room for {room} beside the answer",
                    card.name
                ),
                format!(
                    "choose a model with a larger window for {} (`models.{}`), or state its window if it is larger",
                    role.label(),
                    if opened.models.roles.contains_key(&role) { role.name() } else { Tier::of(role).name() }
                ),
            ),
            misfit => {
                let reason = self.ledger.broken_by(&opened.budgets, misfit).unwrap_or_default();
                over_budget(reason, if matches!(misfit, Misfit::Tokens { .. }) { "tokens" } else { "money" })
            }
        };
        fit(ask, card, room).map_err(|misfit| UnfitQuestion { fault: told(&misfit), misfit: Some(misfit) })
    }

    fn ask_tool(
        &mut self,
        from: Address,
        call: CallId,
        ask: ToolAsk,
        at: Timestamp,
        cause: u64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let effect = match &self.opened {
            Some(opened) if ask.probe => {
                self.factory.reader().read_probe(&ask.call, &opened.surroundings).effect
            }
            Some(opened) => self.factory.reader().read(&ask.call, &opened.surroundings).effect,
            None => ToolEffect::Unsafe,
        };
        let what = Ask::Tool { call: ask.call.clone(), phase: ask.phase, effect, grant: ask.grant.clone() };
        let seq = self.write_asked(step, at, from, &Asked { call, attempt: 1, ask: what }, cause)?;
        let class = if effect == ToolEffect::ReadOnly { AskClass::Pure } else { AskClass::Unsafe };
        self.asks.open(call, seq, class, self.clock_ms);
        self.ledger.tool_asked(from.role);
        step.effects.push(WorldEffect::Tool { call, ask, effect });
        Ok(())
    }

    fn write_asked(
        &mut self,
        step: &mut Step,
        at: Timestamp,
        from: Address,
        asked: &Asked,
        cause: u64,
    ) -> Result<u64, StepError> {
        let body = encode(asked)?;
        let runtime = Address::singleton(RoleId::Runtime);
        self.write(step, at, from, vec![runtime], RecordKind::Asked, Some(cause), body)
    }

    /// Records a message and queues its deliveries.
    pub(super) fn say(
        &mut self,
        step: &mut Step,
        at: Timestamp,
        from: Address,
        payload: Payload,
        instance: Instance,
        cause: Option<u64>,
    ) -> Result<u64, StepError> {
        let kind = payload.kind();
        let body = payload
            .encode()
            .map_err(|error| StepError::Runaway(format!("a {kind} cannot be written: {error}")))?;
        let address = |role: &RoleId| Address {
            role: *role,
            instance: if role.is_effector() { instance } else { Instance(0) },
        };
        let to = || kind.route().to.iter().map(address);
        let seq = self.write(step, at, from, to().collect(), RecordKind::Message(kind), cause, body)?;
        self.before_delivery(&payload, from, at, seq, step)?;
        if let Some(call) = payload.opens() {
            let is_person = kind.route().to.contains(&RoleId::User);
            let class = if is_person { AskClass::Person } else { AskClass::Memory };
            let party = if is_person { RoleId::User } else { RoleId::Memory };
            let need = match &payload {
                Payload::ApprovalRequest(request) => Some(&request.need),
                _ => None,
            };
            self.asks.open_question(call, seq, class, need);
            step.effects.push(WorldEffect::Party { call, party, payload: Box::new(payload) });
            return Ok(seq);
        }
        if delivered_before_stop(kind) {
            return Ok(seq);
        }
        let mut receivers = to().filter(|to| to.role.lives_in_cell()).peekable();
        let mut payload = Some(payload);
        while let Some(to) = receivers.next() {
            let payload = if receivers.peek().is_none() { payload.take() } else { payload.clone() };
            if let Some(payload) = payload {
                self.queue.push_back(Delivery { to, seq, input: AnyInput::Message(payload) });
            }
        }
        if self.queue.len() > CELL_QUEUE_MAX {
            self.overflow(step, at, seq)?;
        }
        Ok(seq)
    }

    /// Applies the organisation's own reaction to a message, before any handler.
    fn before_delivery(
        &mut self,
        payload: &Payload,
        from: Address,
        at: Timestamp,
        seq: u64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        match payload {
            Payload::TaskSpec(spec) => self.start_clock(spec, at),
            Payload::SubTaskOutcome(_) => {
                // The fast loop is over: the pair is dropped, and its open asks are stopped.
                self.machines
                    .retain(|address, _| !(address.role.is_effector() && address.instance == from.instance));
                let instance = from.instance;
                self.waiting.retain(|waiting| {
                    !(waiting.from.role.is_effector() && waiting.from.instance == instance)
                });
                let told =
                    self.asks.stop_instance(|call| call.role.is_effector() && call.instance == instance);
                step.effects.extend(told.into_iter().map(|call| WorldEffect::Stop { call }));
            }
            Payload::TaskFault(_) => {
                let to = Address::singleton(RoleId::GoalGradientSolver);
                self.queue.push_back(Delivery { to, seq, input: AnyInput::Message(payload.clone()) });
                self.stop_all(step, at, seq)?;
            }
            Payload::CancelRequest(_) => {
                self.phase = Phase::Closing;
                let to = Address::singleton(RoleId::GoalGradientSolver);
                self.queue.push_back(Delivery { to, seq, input: AnyInput::Message(payload.clone()) });
                self.stop_all(step, at, seq)?;
            }
            message if message.kind().closes() => self.phase = Phase::Closed,
            _ => {}
        }
        Ok(())
    }

    /// Starts the task's clock at its `TaskSpec`, and shortens the time budget to a nearer deadline.
    fn start_clock(&mut self, spec: &TaskSpec, at: Timestamp) {
        if self.ledger.spec_clock_ms.is_some() {
            return;
        }
        self.ledger.spec_clock_ms = Some(self.clock_ms);
        self.words.clone_from(&spec.raw_input);
        self.slug = self.factory.slug(&spec.intent);
        if let Some(deadline) = spec.constraints.deadline {
            self.deadline = Some(deadline);
            self.time_budget_ms = self.time_budget_ms.min(deadline.millis_since(at).max(1));
        }
    }

    fn overflow(&mut self, step: &mut Step, at: Timestamp, cause: u64) -> Result<(), StepError> {
        self.queue.clear();
        let fault = TaskFault {
            role: RoleId::Runtime,
            kind: FaultKind::Fault,
            reason: format!("more than {CELL_QUEUE_MAX} messages waited inside the task"),
            failure_class: None,
            hints: vec![],
            retryable: false,
            elapsed_ms: self.elapsed_ms(),
        };
        let runtime = Address::singleton(RoleId::Runtime);
        self.say(step, at, runtime, Payload::TaskFault(fault), Instance(0), Some(cause)).map(drop)
    }
}

/// Returns whether `say` must not queue the payload again, because `before_delivery` queued it ahead of the stop.
const fn delivered_before_stop(kind: Kind) -> bool {
    matches!(kind, Kind::TaskFault | Kind::CancelRequest)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    setpoint_protocol::text::clip(&text, 400)
}

/// Returns how a person can raise an exhausted budget: its key, and the equivalent option of `run`.
fn hint_to_raise(budget: &str) -> String {
    let option = if budget == "money" { "cost" } else { budget };
    format!("allow more with `budgets.{budget}` or `run --max-{option}`")
}
