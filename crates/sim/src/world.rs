//! The driver of a simulated organisation: one thread, a virtual clock, answers in random order, crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use setpoint_machine::cell::{AskClass, Strictness, needs_rebuild};
use setpoint_machine::{Cell, External, Factory, Record, WorldEffect};
use setpoint_protocol::message::{
    ApprovalDecision, ApprovalWord, Availability, CancelRequest, ClarificationAnswer, FaultKind, MemoryReply,
    PlanDecision, Potentials, TaskFault, UserInput,
};
use setpoint_protocol::record::{Answer, Answered, Opened, Reasked, Surroundings, Usage};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, RoleId, TaskId, Timestamp};

use crate::brain::{self, Skill};
use crate::chance::Chance;
use crate::plant::Plant;

/// Steps after which a run counts as endless.
const STEPS_MAX: u64 = 20_000;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crashes {
    /// Never.
    Never,
    /// After every commit, in this percentage of cases.
    Percent(u64),
    /// Once, after the step that wrote this record.
    AfterRecord(u64),
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The seed of everything that is generated.
    pub seed: u64,
    /// The quality of the model.
    pub skill: Skill,
    /// Percentage of tool calls that fail.
    pub broken_percent: u64,
    /// Percentage of steps at which the person cancels.
    pub cancel_percent: u64,
    /// Percentage of approvals that the person refuses.
    pub refuse_percent: u64,
    /// When the process dies.
    pub crashes: Crashes,
    /// The settings of the controller.
    pub controller: ControllerSettings,
    /// The task's hard budgets.
    pub budgets: Budgets,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// The records of the task.
    pub records: Vec<Record>,
    /// The world after the run.
    pub plant: Plant,
    /// Whether the task closed.
    pub closed: bool,
    /// Model calls that were sent, by ask and attempt.
    pub sent: Vec<(CallId, u32)>,
    /// Tool calls with side effects that were started, by ask.
    pub unsafe_started: Vec<CallId>,
    /// The number of crashes.
    pub crashes: u64,
    /// Why the run could not continue, if it could not.
    pub broken: Option<String>,
}

struct World<'a> {
    scenario: &'a Scenario,
    factory: Arc<dyn Factory>,
    cell: Cell,
    records: Vec<Record>,
    plant: Plant,
    chance: Chance,
    /// Started effects without an answer yet; they are lost with the process.
    flying: BTreeMap<CallId, (u32, WorldEffect)>,
    /// Questions to the person. They are in the journal, so they survive every crash.
    inbox: Vec<External>,
    clock_ms: u64,
    sent: Vec<(CallId, u32)>,
    unsafe_started: Vec<CallId>,
    crashes: u64,
    stopped: BTreeSet<CallId>,
    cancelled: bool,
    watchdog: bool,
}

/// Runs a scenario to its end.
#[must_use]
pub fn run(scenario: &Scenario, factory: &Arc<dyn Factory>) -> Run {
    let task = TaskId::mint("simulated", scenario.seed);
    let mut world = World {
        scenario,
        factory: Arc::clone(factory),
        cell: Cell::new(task, Arc::clone(factory)),
        records: Vec::new(),
        plant: Plant { broken_percent: scenario.broken_percent, ..Plant::default() },
        chance: Chance::new(scenario.seed),
        flying: BTreeMap::new(),
        inbox: vec![
            External::Message {
                from: RoleId::User,
                payload: Payload::UserInput(UserInput {
                    raw_input: "count every thing\nthere is".to_owned(),
                }),
            },
            External::Opened(Box::new(opened(scenario))),
        ],
        clock_ms: 0,
        sent: Vec::new(),
        unsafe_started: Vec::new(),
        crashes: 0,
        stopped: BTreeSet::new(),
        cancelled: false,
        watchdog: false,
    };
    world.plant.things.insert("a".to_owned(), "fresh".to_owned());
    let broken = world.live().err();
    Run {
        closed: world.cell.is_closed(),
        records: world.records,
        plant: world.plant,
        sent: world.sent,
        unsafe_started: world.unsafe_started,
        crashes: world.crashes,
        broken,
    }
}

fn opened(scenario: &Scenario) -> Opened {
    Opened {
        // The newest: what is simulated follows the rules of today.
        logic_version: u32::MAX,
        controller: scenario.controller.clone(),
        budgets: scenario.budgets.clone(),
        interactive: scenario.seed.is_multiple_of(3),
        preview_plan: scenario.seed.is_multiple_of(5),
        direct_answers: false,
        surroundings: Surroundings { cwd: "/".to_owned(), home: "/".to_owned(), ..Surroundings::default() }
            .into(),
        tools: Plant::specs().into_iter().map(Arc::new).collect(),
        models: setpoint_protocol::models::Models::default(),
        thinking: vec![],
        history: vec![],
        forked_from: None,
    }
}

impl World<'_> {
    fn live(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            if self.cell.is_closed() {
                return Ok(());
            }
            let Some(external) = self.next_input() else {
                return Err("nothing is asked and nothing comes: the task hangs".to_owned());
            };
            if !self.step(external)? {
                continue;
            }
            let last = self.records.last().map_or(0, |record| record.seq);
            let dies = match self.scenario.crashes {
                Crashes::Never => false,
                Crashes::Percent(percent) => self.chance.percent(percent),
                Crashes::AfterRecord(seq) => self.crashes == 0 && last >= seq,
            };
            // The opening and its input are one transaction.
            let opened = self.records.len() > 1;
            if dies && opened && !self.cell.is_closed() {
                self.crash()?;
            }
        }
        Err(format!("still running after {STEPS_MAX} steps"))
    }

    /// Handles one input; its effects start only after its records are stored.
    fn step(&mut self, external: External) -> Result<bool, String> {
        let reasked = match &external {
            External::Reasked(reasked) => Some(reasked.clone()),
            _ => None,
        };
        let at =
            Timestamp::from_micros(1_767_000_000_000_000 + i64::try_from(self.clock_ms).unwrap_or(0) * 1_000);
        let step = match self.cell.step(external, at, self.clock_ms) {
            Ok(step) => step,
            Err(error) if needs_rebuild(&error) => return Err(error.to_string()),
            Err(_) => return Ok(false),
        };
        self.records.extend(step.records);
        if let Some(reasked) = reasked
            && let Some((attempt, _)) = self.flying.get_mut(&reasked.call)
        {
            *attempt = reasked.attempt;
            self.sent.push((reasked.call, reasked.attempt));
        }
        for effect in step.effects {
            self.start(effect);
        }
        Ok(true)
    }

    fn start(&mut self, effect: WorldEffect) {
        match effect {
            WorldEffect::Stop { call } => {
                if matches!(
                    self.flying.get(&call),
                    Some((_, WorldEffect::Timer { .. } | WorldEffect::Party { .. }))
                ) {
                    self.flying.remove(&call);
                } else {
                    self.stopped.insert(call);
                }
            }
            effect => {
                let call = effect.call();
                if let WorldEffect::Model { .. } = &effect {
                    self.sent.push((call, 1));
                }
                self.flying.insert(call, (1, effect));
            }
        }
    }

    /// Returns the next input: the answer of an effect in flight, or the person's.
    fn next_input(&mut self) -> Option<External> {
        if let Some(external) = self.inbox.pop() {
            return Some(external);
        }
        if !self.cancelled && self.records.len() > 3 && self.chance.percent(self.scenario.cancel_percent) {
            self.cancelled = true;
            let payload = Payload::CancelRequest(CancelRequest { reason: None });
            return Some(External::Message { from: RoleId::User, payload });
        }
        let start = self.cell.spec_clock_ms().unwrap_or(0);
        if !self.watchdog && self.clock_ms > start + 2 * self.cell.time_budget_ms() {
            self.watchdog = true;
            return Some(External::Fault(TaskFault {
                role: RoleId::Runtime,
                kind: FaultKind::Deadline,
                reason: "watchdog".to_owned(),
                failure_class: None,
                hints: vec![],
                retryable: false,
                elapsed_ms: 0,
            }));
        }
        // Timers fire only when nothing else can happen before them; then the clock jumps.
        let (timers, others): (Vec<CallId>, Vec<CallId>) = self
            .flying
            .keys()
            .partition(|call| matches!(self.flying.get(call), Some((_, WorldEffect::Timer { .. }))));
        let call = match self.chance.pick(&others) {
            Some(call) => *call,
            None => *timers.iter().min_by_key(|call| match self.flying.get(call) {
                Some((_, WorldEffect::Timer { due_clock_ms, .. })) => *due_clock_ms,
                _ => u64::MAX,
            })?,
        };
        let (attempt, effect) = self.flying.remove(&call)?;
        Some(self.come_back(call, attempt, effect))
    }

    fn come_back(&mut self, call: CallId, attempt: u32, effect: WorldEffect) -> External {
        let person = |payload| External::Message { from: RoleId::User, payload };
        let answered = |answer| External::Answered(Answered::new(call, attempt, answer));
        if self.stopped.remove(&call) {
            return answered(Answer::Interrupted);
        }
        match effect {
            WorldEffect::Model { ask, .. } => {
                self.clock_ms += 50 + self.chance.below(4_000);
                answered(match brain::answer(call, &ask, self.scenario.skill, &mut self.chance) {
                    Ok(reply) => Answer::Model(reply),
                    Err(failure) => Answer::ModelFailed(failure),
                })
            }
            WorldEffect::Tool { ask, effect, .. } => {
                self.clock_ms += 1 + self.chance.below(1_000);
                if effect == setpoint_protocol::tool::Effect::Unsafe {
                    self.unsafe_started.push(call);
                }
                answered(Answer::Tool(Box::new(self.plant.run(call, &ask, &mut self.chance))))
            }
            WorldEffect::Survey { .. } => {
                self.clock_ms += 1 + self.chance.below(1_000);
                answered(Answer::Survey(Box::default()))
            }
            WorldEffect::Timer { due_clock_ms, .. } => {
                self.clock_ms = self.clock_ms.max(due_clock_ms);
                answered(Answer::Timer)
            }
            WorldEffect::Party { payload, .. } => match *payload {
                Payload::MemoryQuery(_) => External::Message {
                    from: RoleId::Memory,
                    payload: Payload::MemoryReply(MemoryReply {
                        call_id: call,
                        availability: Availability::Unavailable,
                        reason: None,
                        related: vec![],
                        hypotheses: vec![],
                        rules: vec![],
                        potentials: Potentials::default(),
                        records: vec![],
                        facts: vec![],
                        tools: vec![],
                        avoided: vec![],
                        withheld: 0,
                        after: Vec::new(),
                    }),
                },
                Payload::ApprovalRequest(request) => {
                    let refused = self.chance.percent(self.scenario.refuse_percent);
                    let words = [ApprovalWord::Once, ApprovalWord::ForTask];
                    let allowed = *self.chance.pick(&words).unwrap_or(&ApprovalWord::Once);
                    person(Payload::ApprovalDecision(ApprovalDecision {
                        call_id: call,
                        decision: if refused { ApprovalWord::Never } else { allowed },
                        digest: request.need.digest,
                        by: "simulated".to_owned(),
                        allows: Vec::new(),
                    }))
                }
                Payload::PlanProposal(_) => person(Payload::PlanDecision(PlanDecision {
                    call_id: call,
                    approved: !self.chance.percent(self.scenario.refuse_percent),
                    note: self.chance.percent(50).then(|| "do it otherwise".to_owned()),
                    allows: Vec::new(),
                })),
                _ => person(Payload::ClarificationAnswer(ClarificationAnswer {
                    call_id: call,
                    answers: vec![],
                })),
            },
            WorldEffect::Stop { .. } => answered(Answer::Interrupted),
        }
    }

    /// Kills the process; another resumes the task from its records (ARCHITECTURE, rule 8).
    fn crash(&mut self) -> Result<(), String> {
        self.crashes += 1;
        let running = std::mem::take(&mut self.flying);
        self.stopped.clear();
        self.inbox.clear();
        // A started call may have taken effect although its answer was lost.
        for (call, (_, effect)) in running {
            if let WorldEffect::Tool { ask, effect: setpoint_protocol::tool::Effect::Unsafe, .. } = effect
                && self.chance.percent(50)
            {
                self.unsafe_started.push(call);
                drop(self.plant.run(call, &ask, &mut self.chance));
            }
        }
        let mut cell = Cell::new(self.cell.task().clone(), Arc::clone(&self.factory));
        let mut replayed =
            cell.replay(&self.records, Strictness::Exact).map_err(|divergence| divergence.to_string())?;
        self.cell = cell;
        for pending in self.cell.pending() {
            let effect = replayed.open.remove(&pending.call);
            let again = match (pending.class, effect) {
                (AskClass::Person | AskClass::Memory | AskClass::Timer, Some(effect)) => {
                    self.flying.insert(pending.call, (pending.attempt, effect));
                    continue;
                }
                // Like the driver: if the budgets leave no room for another attempt, the interrupted one is final.
                (AskClass::Model, Some(WorldEffect::Model { ask, .. }))
                    if !pending.stopped
                        && !self.cell.may_ask_again(pending.call, ask.purpose(), Usage::default()) =>
                {
                    External::Answered(Answered::new(pending.call, pending.attempt, Answer::Interrupted))
                }
                (AskClass::Model | AskClass::Pure | AskClass::Survey, Some(effect)) if !pending.stopped => {
                    self.flying.insert(pending.call, (pending.attempt, effect));
                    External::Reasked(Reasked {
                        call: pending.call,
                        attempt: pending.attempt + 1,
                        reason: "the process died".to_owned(),
                        spent: Usage::default(),
                        by_runtime: true,
                    })
                }
                _ => External::Answered(Answered::new(pending.call, pending.attempt, Answer::Interrupted)),
            };
            // The input of resuming is handled before anything else.
            self.step(again)?;
        }
        Ok(())
    }
}
