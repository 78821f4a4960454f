//! The asks that a task waits for.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::record::{Answer, FragmentHash, SurveyAsk};
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_protocol::tool::Effect as ToolEffect;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, RoleId};

use crate::effects::ToolAsk;
use crate::model_call::ModelCall;

/// An effect to start in the world once the step is durable.
#[derive(Debug)]
pub enum WorldEffect {
    /// Ask a model.
    Model {
        /// Id of the ask.
        call: CallId,
        /// Question to the model.
        ask: Arc<ModelCall>,
        /// Hashes of its prompt's fragments, in order.
        fragments: Vec<FragmentHash>,
    },
    /// Run a tool.
    Tool {
        /// Id of the ask.
        call: CallId,
        /// Tool call to run.
        ask: ToolAsk,
        /// Effect that the call may have, according to its reading.
        effect: ToolEffect,
    },
    /// Start a timer on the task's clock.
    Timer {
        /// Id of the ask.
        call: CallId,
        /// The task's clock at which it fires.
        due_clock_ms: u64,
    },
    /// Survey the place where the task works.
    Survey {
        /// Id of the ask.
        call: CallId,
        /// Paths to look up.
        ask: SurveyAsk,
    },
    /// Ask a person or memory. The same message is in the step's records.
    Party {
        /// Id of the ask.
        call: CallId,
        /// Party that is asked: `User` or `Memory`.
        party: RoleId,
        /// Question to the party.
        payload: Box<Payload>,
    },
    /// Stop an ask. Its answer is still recorded, unless the task is closed.
    Stop {
        /// Id of the ask.
        call: CallId,
    },
}

impl WorldEffect {
    /// Returns the ask that it belongs to.
    #[must_use]
    pub fn call(&self) -> CallId {
        match self {
            WorldEffect::Model { call, .. }
            | WorldEffect::Tool { call, .. }
            | WorldEffect::Timer { call, .. }
            | WorldEffect::Survey { call, .. }
            | WorldEffect::Party { call, .. }
            | WorldEffect::Stop { call } => *call,
        }
    }
}

/// An open ask, for a driver that resumes a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAsk {
    /// Id of the ask.
    pub call: CallId,
    /// Sequence number of its record.
    pub seq: u64,
    /// Number of its last attempt.
    pub attempt: u32,
    /// Class of the ask.
    pub class: AskClass,
    /// Whether it was stopped.
    pub stopped: bool,
}

/// The classes of asks, by how they resume after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskClass {
    /// A model: asked again, and counted again.
    Model,
    /// A tool that provably changes nothing: run again.
    Pure,
    /// A tool that may change something: never repeated silently.
    Unsafe,
    /// A timer: restarted with the remaining time.
    Timer,
    /// A survey: repeated.
    Survey,
    /// A person: shown again under the same id; may stay open for days.
    Person,
    /// Memory: asked again.
    Memory,
}

impl AskClass {
    /// Returns whether an ask of this class can have this answer. People and memory answer with messages.
    pub(super) const fn can_have(self, answer: &Answer) -> bool {
        match answer {
            Answer::Model(_) | Answer::ModelFailed(_) => matches!(self, AskClass::Model),
            Answer::Tool(_) => matches!(self, AskClass::Pure | AskClass::Unsafe),
            Answer::Timer => matches!(self, AskClass::Timer),
            Answer::Survey(_) => matches!(self, AskClass::Survey),
            Answer::Interrupted => true,
        }
    }

    /// Returns whether `party` answers an ask of this class with a message.
    pub(super) const fn is_answered_by(self, party: RoleId) -> bool {
        match self {
            AskClass::Person => matches!(party, RoleId::User),
            AskClass::Memory => matches!(party, RoleId::Memory),
            AskClass::Model | AskClass::Pure | AskClass::Unsafe | AskClass::Timer | AskClass::Survey => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct OpenAsk {
    pub(super) seq: u64,
    pub(super) attempt: u32,
    /// The task's clock when the last attempt began.
    pub(super) since_ms: u64,
    pub(super) class: AskClass,
    pub(super) stopped: bool,
    /// Digest that a person is asked to approve; an approval of any other grants nothing.
    pub(super) digest: Option<String>,
    /// What an approval for the whole task covers beside it.
    pub(super) scope: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Asks {
    open: BTreeMap<CallId, OpenAsk>,
}

impl Asks {
    pub(super) fn open(&mut self, call: CallId, seq: u64, class: AskClass, since_ms: u64) {
        self.open.insert(
            call,
            OpenAsk { seq, attempt: 1, since_ms, class, stopped: false, digest: None, scope: None },
        );
    }

    /// Opens a question to a person or to memory.
    pub(super) fn open_question(
        &mut self,
        call: CallId,
        seq: u64,
        class: AskClass,
        need: Option<&ApprovalNeed>,
    ) {
        let digest = need.map(|need| need.digest.clone());
        let scope = need.and_then(|need| need.scope.clone());
        self.open
            .insert(call, OpenAsk { seq, attempt: 1, since_ms: 0, class, stopped: false, digest, scope });
    }

    /// Returns an ask that is open and was not stopped.
    pub(super) fn get(&self, call: CallId) -> Option<&OpenAsk> {
        self.open.get(&call).filter(|ask| !ask.stopped)
    }

    /// Returns an open ask, stopped or not: its answer is recorded in any case.
    pub(super) fn known(&self, call: CallId) -> Option<&OpenAsk> {
        self.open.get(&call)
    }

    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut OpenAsk> {
        self.open.get_mut(&call)
    }

    pub(super) fn close(&mut self, call: CallId) -> Option<OpenAsk> {
        self.get(call)?;
        self.open.remove(&call)
    }

    /// Removes the ask, stopped or not.
    pub(super) fn finish(&mut self, call: CallId) -> Option<OpenAsk> {
        self.open.remove(&call)
    }

    /// Stops everything. Timers and questions end at once; models, tools and surveys stay until they have answered.
    pub(super) fn stop_all(&mut self) -> Vec<CallId> {
        self.stop_where(|_| true)
    }

    /// Stops the asks of one effector.
    pub(super) fn stop_instance(&mut self, calls: impl Fn(CallId) -> bool) -> Vec<CallId> {
        self.stop_where(calls)
    }

    fn stop_where(&mut self, wanted: impl Fn(CallId) -> bool) -> Vec<CallId> {
        let mut told = Vec::new();
        self.open.retain(|call, ask| {
            if !wanted(*call) || ask.stopped {
                return true;
            }
            told.push(*call);
            ask.stopped = true;
            matches!(ask.class, AskClass::Model | AskClass::Pure | AskClass::Unsafe | AskClass::Survey)
        });
        told
    }

    /// Forgets asks whose record is `seq` or a later one.
    pub(super) fn forget_from(&mut self, seq: u64) {
        self.open.retain(|_, ask| ask.seq < seq);
    }

    pub(super) fn close_all(&mut self) -> Vec<CallId> {
        std::mem::take(&mut self.open).into_keys().collect()
    }

    pub(super) fn any_stopped(&self) -> bool {
        self.open.values().any(|ask| ask.stopped)
    }

    pub(super) fn only_people(&self) -> bool {
        let mut people = false;
        for ask in self.open.values() {
            match ask.class {
                AskClass::Person => people = true,
                AskClass::Timer => {}
                AskClass::Model | AskClass::Pure | AskClass::Unsafe | AskClass::Survey | AskClass::Memory => {
                    return false;
                }
            }
        }
        people
    }

    pub(super) fn pending(&self) -> Vec<PendingAsk> {
        self.open
            .iter()
            .map(|(call, ask)| PendingAsk {
                call: *call,
                seq: ask.seq,
                attempt: ask.attempt,
                class: ask.class,
                stopped: ask.stopped,
            })
            .collect()
    }
}
