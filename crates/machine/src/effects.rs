//! What a machine wants to happen, as values. Nothing happens here.

use std::marker::PhantomData;
use std::sync::Arc;

use setpoint_protocol::capability::{CallModel, RunProbe, RunTool, Survey};
use setpoint_protocol::id::{DerivedUuid, derive};
use setpoint_protocol::message::Message;
use setpoint_protocol::record::SurveyAsk;
use setpoint_protocol::tool::{Phase, ToolCall};
use setpoint_protocol::topology::{Has, Payload, Receives, SentBy};
use setpoint_protocol::{Address, CallId, Instance, TaskId, Timestamp};

use crate::model_call::ModelCall;

/// One wish of a machine.
#[derive(Debug)]
pub enum Effect {
    /// Send a message. To an effector role it goes to `instance`.
    Send {
        /// The message.
        payload: Payload,
        /// Which effector; the sender's own instance otherwise.
        instance: Instance,
    },
    /// Ask a model.
    Model {
        /// The ask.
        call: CallId,
        /// The question.
        ask: Arc<ModelCall>,
    },
    /// Run a tool.
    Tool {
        /// The ask.
        call: CallId,
        /// The call.
        ask: ToolAsk,
    },
    /// Start a timer on the task's clock.
    Timer {
        /// The ask.
        call: CallId,
        /// Milliseconds from now.
        ms: u64,
    },
    /// Look around where the task works.
    Survey {
        /// The ask.
        call: CallId,
        /// What is looked at.
        ask: SurveyAsk,
    },
}

/// A tool call with what it runs under.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAsk {
    /// The call.
    pub call: ToolCall,
    /// When in the sub-task's life.
    pub phase: Phase,
    /// Whether it may only run when it provably changes nothing.
    pub probe: bool,
    /// The approval it runs under: the digest that was approved.
    pub grant: Option<String>,
    /// The person must approve it even when it only touches what the task created.
    pub caution: bool,
}

/// Collects the effects of one input. A cell makes one a delivery.
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
    /// For the machine at `address`, which has made `calls` asks so far, handling record `seq` of `task` at `at`.
    #[must_use]
    pub fn new(address: Address, calls: u32, task: TaskId, seq: u64, at: Timestamp) -> Self {
        EffectBuffer { address, calls, task, seq, at, ids: 0, out: Vec::new() }
    }

    /// What was collected, and how many asks the machine has made now.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Effect>, u32) {
        (self.out, self.calls)
    }

    fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId { role: self.address.role, instance: self.address.instance, n: self.calls }
    }
}

/// The only way out of a machine. Every method asks the topology at compile time.
#[derive(Debug)]
pub struct Effects<'a, R: Receives> {
    buffer: &'a mut EffectBuffer,
    role: PhantomData<R>,
}

impl<'a, R: Receives> Effects<'a, R> {
    pub(crate) fn new(buffer: &'a mut EffectBuffer) -> Self {
        Effects { buffer, role: PhantomData }
    }

    /// The machine's own instance.
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

    /// Sends a question to a party outside the task (a person, memory). The answer names the id.
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

    /// Runs a tool, under the approval `grant` where it needs one.
    pub fn run_tool(&mut self, tool: ToolCall, grant: Option<String>, caution: bool) -> CallId
    where
        R: Has<RunTool>,
    {
        self.tool(ToolAsk { call: tool, phase: Phase::Work, probe: false, grant, caution })
    }

    /// Runs a read-only call, to measure. It is refused when it is not provably read-only.
    pub fn probe(&mut self, tool: ToolCall, phase: Phase) -> CallId
    where
        R: Has<RunProbe>,
    {
        self.tool(ToolAsk { call: tool, phase, probe: true, grant: None, caution: false })
    }

    /// The id of a call that is refused here and asked of nobody, so that its record can be cited like any other.
    /// It takes its place in the count of asks.
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

    /// Has the runtime look around where the task works.
    pub fn survey(&mut self, ask: SurveyAsk) -> CallId
    where
        R: Has<Survey>,
    {
        let call = self.buffer.next_call();
        self.buffer.out.push(Effect::Survey { call, ask });
        call
    }

    /// A fresh id, derived from the record that is being handled.
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
