//! The effects that a machine requests, as values. Nothing happens here.

use std::marker::PhantomData;
use std::sync::Arc;

use setpoint_protocol::capability::{CallModel, RunProbe, RunTool, Survey};
use setpoint_protocol::id::{DerivedUuid, derive};
use setpoint_protocol::message::Message;
use setpoint_protocol::record::SurveyAsk;
use setpoint_protocol::tool::{Phase, ToolCall};
use setpoint_protocol::topology::{Has, Payload, Receives, SentBy};
use setpoint_protocol::{Address, CallId, Instance, TaskId, Timestamp};

use crate::ctx::Ctx;
use crate::model_call::ModelCall;

/// An effect that a machine requests.
#[derive(Debug)]
pub enum Effect {
    /// Send a message. To an effector role it goes to `instance`.
    Send {
        /// Message to send.
        payload: Payload,
        /// Effector that receives it; by default the sender's own instance.
        instance: Instance,
    },
    /// Ask a model.
    Model {
        /// Id of the ask.
        call: CallId,
        /// Question to the model.
        ask: Arc<ModelCall>,
    },
    /// Run a tool.
    Tool {
        /// Id of the ask.
        call: CallId,
        /// Tool call to run.
        ask: ToolAsk,
    },
    /// Start a timer on the task's clock.
    Timer {
        /// Id of the ask.
        call: CallId,
        /// Milliseconds from now.
        ms: u64,
    },
    /// Survey the place where the task works.
    Survey {
        /// Id of the ask.
        call: CallId,
        /// Paths to look up.
        ask: SurveyAsk,
    },
}

/// A tool call with the conditions that it runs under.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAsk {
    /// Call to run.
    pub call: ToolCall,
    /// Whether it is work or a probe, and before or after the work.
    pub phase: Phase,
    /// Whether it may only run if it provably changes nothing.
    pub probe: bool,
    /// Digest of the approval that it runs under.
    pub grant: Option<String>,
    /// Whether the person must approve it even if it only touches what the task created.
    pub caution: bool,
}

/// Collects the effects of one input. A cell makes one per delivery.
#[derive(Debug)]
pub struct EffectBuffer {
    pub(crate) address: Address,
    pub(crate) calls: u32,
    pub(crate) task: TaskId,
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) ids: u32,
    pub(crate) out: Vec<Effect>,
}

impl EffectBuffer {
    /// Creates a buffer for the machine at `address`, which has made `calls` asks so far and handles record `seq` of
    /// `task` at `at`.
    #[must_use]
    pub fn new(address: Address, calls: u32, task: TaskId, seq: u64, at: Timestamp) -> Self {
        EffectBuffer { address, calls, task, seq, at, ids: 0, out: Vec::new() }
    }

    /// Returns the collected effects, and the machine's number of asks.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Effect>, u32) {
        (self.out, self.calls)
    }

    fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId { role: self.address.role, instance: self.address.instance, n: self.calls }
    }
}

/// The context of one input, and the only way out of a machine. Every method checks the topology at compile time.
#[derive(Debug)]
pub struct Effects<'a, R: Receives> {
    /// Context of the input. It is a copy, so reading it borrows no effects.
    pub ctx: &'a Ctx<'a>,
    buffer: &'a mut EffectBuffer,
    role: PhantomData<R>,
}

impl<'a, R: Receives> Effects<'a, R> {
    pub(crate) fn new(ctx: &'a Ctx<'a>, buffer: &'a mut EffectBuffer) -> Self {
        Effects { ctx, buffer, role: PhantomData }
    }

    /// Returns the machine's own instance.
    #[must_use]
    pub fn instance(&self) -> Instance {
        self.buffer.address.instance
    }

    /// Sends a message to its receivers: singletons, or the effector of the same instance.
    pub fn publish<M: SentBy<R>>(&mut self, message: M) {
        let instance = self.buffer.address.instance;
        self.publish_to(instance, message);
    }

    /// Sends a message to the effector `instance`.
    pub fn publish_to<M: SentBy<R>>(&mut self, instance: Instance, message: M) {
        self.buffer.out.push(Effect::Send { payload: message.into(), instance });
    }

    /// Sends a question to a party outside the task (a person, memory). The answer names the returned id.
    pub fn request<M: SentBy<R> + Message>(&mut self, message: impl FnOnce(CallId) -> M) -> CallId {
        let call = self.buffer.next_call();
        let instance = self.buffer.address.instance;
        self.buffer.out.push(Effect::Send { payload: message(call).into(), instance });
        call
    }

    /// Asks a model.
    pub fn ask_model(&mut self, ask: ModelCall) -> CallId
    where
        R: Has<CallModel>,
    {
        let call = self.buffer.next_call();
        self.buffer.out.push(Effect::Model { call, ask: Arc::new(ask) });
        call
    }

    /// Runs a tool, under the approval `grant` if it needs one.
    pub fn run_tool(&mut self, tool: ToolCall, grant: Option<String>, caution: bool) -> CallId
    where
        R: Has<RunTool>,
    {
        self.tool(ToolAsk { call: tool, phase: Phase::Work, probe: false, grant, caution })
    }

    /// Runs a read-only call as a measurement. It is refused if it is not provably read-only.
    pub fn probe(&mut self, tool: ToolCall, phase: Phase) -> CallId
    where
        R: Has<RunProbe>,
    {
        self.tool(ToolAsk { call: tool, phase, probe: true, grant: None, caution: false })
    }

    /// Reserves the id of a call that is refused here and never made, so that its record can be cited like any other.
    /// It counts as an ask.
    pub fn refused_call(&mut self) -> CallId
    where
        R: Has<RunTool>,
    {
        self.buffer.next_call()
    }

    /// Starts a timer on the task's clock.
    pub fn start_timer(&mut self, ms: u64) -> CallId {
        let call = self.buffer.next_call();
        self.buffer.out.push(Effect::Timer { call, ms });
        call
    }

    /// Starts a survey of the place where the task works.
    pub fn survey(&mut self, ask: SurveyAsk) -> CallId
    where
        R: Has<Survey>,
    {
        let call = self.buffer.next_call();
        self.buffer.out.push(Effect::Survey { call, ask });
        call
    }

    /// Returns a new id, derived from the record that is being handled.
    pub fn new_id(&mut self) -> DerivedUuid {
        self.buffer.ids += 1;
        derive(&self.buffer.task, self.buffer.seq, self.buffer.ids, self.buffer.at)
    }

    fn tool(&mut self, ask: ToolAsk) -> CallId {
        let call = self.buffer.next_call();
        self.buffer.out.push(Effect::Tool { call, ask });
        call
    }
}
