//! R7 in a real cell, among roles that receive everything and send nothing.

use std::sync::Arc;

use serde_json::json;
use setpoint_machine::cell::{External, Factory, Record, Step, Strictness};
use setpoint_machine::effects::EffectBuffer;
use setpoint_machine::machine::AnyMachine;
use setpoint_machine::{AnyInput, CallReader, Cell, Ctx, WorldEffect};
use setpoint_protocol::message::TaskFault;
use setpoint_protocol::record::{Answer, Answered};
use setpoint_protocol::topology::{Kind, Misrouted, Payload};
use setpoint_protocol::{Address, CallId, RoleId, TaskId, Timestamp};
use setpoint_roles::r7_goal_gradient_solver::GoalGradientSolver;

use super::driver::{Reader, opened};
use super::short;

/// A task in its cell, with the records so far.
pub(crate) struct Task {
    cell: Cell,
    records: Vec<Record>,
    pub(crate) timer: Option<CallId>,
}

impl Task {
    /// Opens a task in which no other role does anything.
    pub(crate) fn start() -> Self {
        let mut task = Task { cell: empty(), records: Vec::new(), timer: None };
        task.step(External::Opened(Box::new(opened(&json!({})))));
        task.say(Kind::UserInput, r#"{"raw_input": "count go files"}"#);
        task
    }

    /// Delivers a person's message; returns the kinds of the resulting records.
    pub(crate) fn say(&mut self, kind: Kind, body: &str) -> String {
        let payload = Payload::decode(kind, body.as_bytes()).unwrap();
        self.step(External::Message { from: RoleId::User, payload })
    }

    /// Delivers a fault that the runtime reports.
    pub(crate) fn fault(&mut self, fault: serde_json::Value) -> String {
        let fault: TaskFault = serde_json::from_value(short::expand("TaskFault", fault)).unwrap();
        self.step(External::Fault(fault))
    }

    /// Delivers the answer of R7's timer.
    pub(crate) fn wait(&mut self) -> String {
        let call = self.timer.take().expect("a timer runs");
        self.step(External::Answered(Answered::new(call, 1, Answer::Timer)))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.cell.is_closed()
    }

    /// Feeds the records to a new cell, which must derive the same ones.
    pub(crate) fn replay(&self) {
        empty().replay(&self.records, Strictness::Exact).unwrap();
    }

    fn step(&mut self, external: External) -> String {
        let at = Timestamp::from_micros(1_767_323_045_000_000);
        let Step { records, effects, .. } = self.cell.step(external, at, 0).unwrap();
        for effect in effects {
            match effect {
                WorldEffect::Timer { call, .. } => self.timer = Some(call),
                WorldEffect::Stop { call } if self.timer == Some(call) => self.timer = None,
                _ => {}
            }
        }
        let kinds: Vec<String> = records.iter().map(|record| record.kind.to_string()).collect();
        self.records.extend(records);
        kinds.join(" ")
    }
}

fn empty() -> Cell {
    Cell::new(TaskId::mint("cell", 1), Arc::new(Roles))
}

struct Roles;

impl Factory for Roles {
    fn machine(&self, address: Address) -> Option<Box<dyn AnyMachine>> {
        Some(match address.role {
            RoleId::GoalGradientSolver => Box::new(GoalGradientSolver::default()),
            role => Box::new(Silent(role)),
        })
    }

    fn slug(&self, _: &str) -> String {
        "the_slug".to_owned()
    }

    fn reader(&self) -> &dyn CallReader {
        &Reader
    }
}

/// A role that receives everything and sends nothing.
struct Silent(RoleId);

impl AnyMachine for Silent {
    fn role(&self) -> RoleId {
        self.0
    }

    fn handle_any(&mut self, _: AnyInput, _: &Ctx<'_>, _: &mut EffectBuffer) -> Result<(), Misrouted> {
        Ok(())
    }
}
