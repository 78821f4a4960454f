//! Drives one machine by hand: stores its unanswered asks and its messages.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::{AnyInput, AnyMachine, Ctx, Ledger};
use setpoint_protocol::record::{Answer, Opened, Part, Reply, Usage};
use setpoint_protocol::tool::ToolCall;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Address, CallId, Instance, TaskId, Timestamp};

use crate::world;

pub(crate) struct Driver {
    machine: Box<dyn AnyMachine>,
    address: Address,
    calls: u32,
    seq: u64,
    opened: Opened,
    /// Unanswered asks, messages to people included.
    pub(crate) open: BTreeMap<CallId, Open>,
    /// Messages it sent, in order.
    pub(crate) sent: Vec<Payload>,
    /// Prompts of its model calls, as text.
    pub(crate) prompts: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Open {
    Model,
    Tool { probe: bool },
    Timer,
    Approval { digest: String },
}

impl Driver {
    pub(crate) fn new(machine: Box<dyn AnyMachine>, instance: u16) -> Self {
        let address = Address::effector(machine.role(), Instance(instance));
        Driver {
            machine,
            address,
            calls: 0,
            seq: 0,
            opened: world::opened(),
            open: BTreeMap::new(),
            sent: Vec::new(),
            prompts: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, payload: impl Into<Payload>) {
        self.deliver(AnyInput::Message(payload.into()));
    }

    pub(crate) fn answer(&mut self, call: CallId, answer: Answer) {
        self.open.remove(&call);
        self.deliver(AnyInput::Answer { call, answer });
    }

    pub(crate) fn first_open(&self, wanted: impl Fn(&Open) -> bool) -> Option<CallId> {
        self.open.iter().find(|(_, open)| wanted(open)).map(|(call, _)| *call)
    }

    fn deliver(&mut self, input: AnyInput) {
        self.seq += 1;
        let task = TaskId::mint("driver", 1);
        let now = Timestamp::from_micros(1_767_323_045_000_000);
        let mut buffer = EffectBuffer::new(self.address, self.calls, task.clone(), self.seq, now);
        let ctx = Ctx {
            task: &task,
            now,
            clock_ms: self.seq,
            opened: &self.opened,
            words: world::WORDS,
            slug: "",
            time_budget_ms: 300_000,
            ledger: &Ledger::default(),
            grants: &BTreeSet::new(),
            reader: &world::Reader,
        };
        self.machine.handle_any(input, &ctx, &mut buffer).unwrap();
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        for effect in effects {
            match effect {
                Effect::Send { payload, .. } => {
                    if let Payload::ApprovalRequest(request) = &payload {
                        let digest = request.need.digest.clone();
                        self.open.insert(request.call_id, Open::Approval { digest });
                    }
                    self.sent.push(payload);
                }
                Effect::Model { call, ask } => {
                    self.prompts.push(ask.prompt.to_text());
                    self.open.insert(call, Open::Model);
                }
                Effect::Tool { call, ask } => {
                    self.open.insert(call, Open::Tool { probe: ask.probe });
                }
                Effect::Timer { call, .. } => {
                    self.open.insert(call, Open::Timer);
                }
                Effect::Survey { .. } => panic!("an effector does not look around"),
            }
        }
    }
}

pub(crate) fn says(text: &str) -> Answer {
    Answer::Model(Reply {
        parts: vec![Part::Text(text.to_owned())],
        usage: Usage::default(),
        is_cut: false,
        by: None,
    })
}

pub(crate) fn wants(calls: impl IntoIterator<Item = ToolCall>) -> Answer {
    let parts = calls.into_iter().map(|call| Part::ToolCall(call.into())).collect();
    Answer::Model(Reply { parts, usage: Usage::default(), is_cut: false, by: None })
}
