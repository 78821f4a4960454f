//! The cell, driven by hand: externals in, a text of records and effects out.

mod budgets;
mod proptests;
mod refusals;
mod replay;
mod stops;
mod toys;
mod whole_task;

use std::fmt::Write;
use std::sync::Arc;

use setpoint_protocol::message::{self, FaultKind, TaskFault};
use setpoint_protocol::record::{
    Answer, Answered, Ask, Asked, Opened, Part, Reasked, RecordKind, Reply, Usage,
};
use setpoint_protocol::tool::ToolAnswer;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, RoleId, TaskId, Timestamp};

use crate::model_call::ModelCall;

use super::{Cell, External, Record, Step, StepError, WorldEffect};

/// Time of the first input.
const START: Timestamp = Timestamp::from_micros(1_767_323_045_000_000);

/// A cell with the toy roles, its records, and a clock that the test moves.
struct Bench {
    cell: Cell,
    records: Vec<Record>,
    /// Questions to models, in order.
    asked: Vec<Arc<ModelCall>>,
    clock_ms: u64,
}

impl Bench {
    /// Returns a bench whose cell has not been opened.
    fn new() -> Self {
        Bench { cell: empty_cell(), records: Vec::new(), asked: Vec::new(), clock_ms: 0 }
    }

    /// Returns a bench whose task was opened and given its goal.
    fn with_goal(opened: Opened, goal: &str) -> Self {
        let mut bench = Bench::new();
        bench.step(External::Opened(Box::new(opened)));
        bench.user(user_input(goal));
        bench
    }

    /// Runs a step that must be accepted; returns its records and effects as text.
    fn step(&mut self, external: External) -> String {
        let step = self.try_step(external).unwrap();
        render(&step)
    }

    fn try_step(&mut self, external: External) -> Result<Step, StepError> {
        let step = self.cell.step(external, START.plus_millis(self.clock_ms), self.clock_ms)?;
        self.records.extend(step.records.iter().cloned());
        self.asked.extend(step.effects.iter().filter_map(|effect| match effect {
            WorldEffect::Model { ask, .. } => Some(Arc::clone(ask)),
            _ => None,
        }));
        Ok(step)
    }

    fn user(&mut self, payload: Payload) -> String {
        self.step(External::Message { from: RoleId::User, payload })
    }

    fn memory_replies(&mut self) -> String {
        self.step(External::Message { from: RoleId::Memory, payload: memory_reply("r2/1") })
    }

    fn replies(&mut self, call: &str, text: &str) -> String {
        self.step(answered(call, reply(text)))
    }

    fn tool_answers(&mut self, call: &str) -> String {
        self.step(answered(call, tool_answer()))
    }

    /// Returns a bench up to the sub-tasks `intents`, dispatched and running.
    fn dispatched(opened: Opened, intents: &str) -> Self {
        let mut bench = Bench::with_goal(opened, "count the files");
        bench.replies("r1/1", "count the files");
        bench.memory_replies();
        bench.replies("r2/2", intents);
        bench
    }

    /// Returns all of the cell's state that a test can see.
    fn seen(&self) -> String {
        let cell = &self.cell;
        format!(
            "{cell:?} {} {:?} {:?} {} {:?}",
            cell.clock_ms(),
            cell.pending(),
            cell.ledger(),
            cell.time_budget_ms(),
            cell.opened()
        )
    }
}

fn empty_cell() -> Cell {
    Cell::new(TaskId::mint("count", 1), Arc::new(toys::Toys))
}

fn opened() -> Opened {
    Opened {
        logic_version: 1,
        controller: setpoint_protocol::settings::ControllerSettings::default(),
        budgets: setpoint_protocol::settings::Budgets::default(),
        interactive: true,
        preview_plan: false,
        direct_answers: true,
        surroundings: Arc::default(),
        tools: vec![],
        models: setpoint_protocol::models::Models::default(),
        thinking: vec![],
        history: vec![],
        forked_from: None,
    }
}

fn user_input(goal: &str) -> Payload {
    message::UserInput { raw_input: goal.to_owned() }.into()
}

fn cancel() -> External {
    let payload = message::CancelRequest { reason: None }.into();
    External::Message { from: RoleId::User, payload }
}

fn fault() -> External {
    External::Fault(TaskFault {
        role: RoleId::Runtime,
        kind: FaultKind::Deadline,
        reason: "no time is left".to_owned(),
        failure_class: None,
        hints: vec![],
        retryable: false,
        elapsed_ms: 0,
    })
}

fn memory_reply(call: &str) -> Payload {
    let availability = message::Availability::Unavailable;
    message::MemoryReply {
        reason: None,
        related: vec![],
        hypotheses: vec![],
        call_id: id(call),
        availability,
        rules: vec![],
        potentials: message::Potentials::default(),
        records: vec![],
        facts: vec![],
        tools: vec![],
        avoided: vec![],
        withheld: 0,
        after: Vec::new(),
    }
    .into()
}

fn approval(call: &str, digest: &str) -> Payload {
    let decision = message::ApprovalWord::ForTask;
    message::ApprovalDecision {
        call_id: id(call),
        decision,
        digest: digest.to_owned(),
        by: "terminal".to_owned(),
        allows: Vec::new(),
    }
    .into()
}

fn answered(call: &str, answer: Answer) -> External {
    External::Answered(Answered::new(id(call), 1, answer))
}

fn reply(text: &str) -> Answer {
    let usage = Usage { tokens_in: 10, tokens_out: 1, tokens_cached: 0 };
    Answer::Model(Reply { parts: vec![Part::Text(text.to_owned())], usage, is_cut: false, by: None })
}

fn tool_answer() -> Answer {
    Answer::Tool(Box::new(ToolAnswer { ok: true, text: "3".to_owned(), ..ToolAnswer::default() }))
}

fn id(call: &str) -> CallId {
    call.parse().unwrap()
}

/// Renders `seq kind from→to cause`, one line per record, then `! effect`, one line per effect.
fn render(step: &Step) -> String {
    let mut out = String::new();
    for record in &step.records {
        let cause = record.cause.map_or("-".to_owned(), |cause| cause.to_string());
        let (seq, from, to) = (record.seq, record.from, record.to_column());
        writeln!(out, "{seq} {} {from}→{to} {cause}", what(record)).unwrap();
    }
    for effect in &step.effects {
        writeln!(out, "! {}", outside(effect)).unwrap();
    }
    if step.closed {
        out.push_str("closed\n");
    }
    out
}

fn what(record: &Record) -> String {
    match record.kind {
        RecordKind::Asked => {
            let asked: Asked = serde_json::from_slice(&record.body).unwrap();
            let word = match asked.ask {
                Ask::Model { .. } => "model",
                Ask::Tool { .. } => "tool",
                Ask::Timer { .. } => "timer",
                Ask::Survey { .. } => "survey",
            };
            format!("Asked({word} {})", asked.call)
        }
        RecordKind::Answered => {
            let answered: Answered = serde_json::from_slice(&record.body).unwrap();
            format!("Answered({})", answered.call)
        }
        RecordKind::Quiesced => format!("Quiesced{}", String::from_utf8_lossy(&record.body)),
        kind => kind.to_string(),
    }
}

fn outside(effect: &WorldEffect) -> String {
    let call = effect.call();
    match effect {
        WorldEffect::Model { .. } => format!("model {call}"),
        WorldEffect::Tool { effect, .. } => format!("tool {call} {effect:?}"),
        WorldEffect::Timer { due_clock_ms, .. } => format!("timer {call} due {due_clock_ms}"),
        WorldEffect::Survey { .. } => format!("survey {call}"),
        WorldEffect::Party { party, payload, .. } => format!("{party} {call} {}", payload.kind()),
        WorldEffect::Stop { .. } => format!("stop {call}"),
    }
}
