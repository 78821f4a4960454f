//! The state of a task: a fold over its records.
//!
//! The live view, the plain progress lines, the result and `tasks show` all read the same fold, so they
//! cannot disagree. It reads no clock, does no I/O, and accepts any record: one that it cannot read changes
//! nothing.

pub mod asks;
pub mod board;
pub mod calls;
pub mod changed;
pub mod consents;
pub mod plans;
pub mod recall;
pub mod roles;
pub mod rounds;

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_protocol::message::{
    Clarification, DirectAnswer, EndedBy, FaultKind, FinalResult, TaskFault, TaskSpec,
};
use setpoint_protocol::record::{Answer, ForkedFrom, Guide, Opened, Record, RecordKind, Skill, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use self::asks::{Asks, Question};
use self::board::Board;
use self::calls::Calls;
use self::changed::Changed;
use self::consents::Consents;
use self::plans::Plans;
use self::recall::Recall;
use self::roles::Roles;
use self::rounds::Rounds;

/// What [`ViewState::apply`] did with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a gap means that records must be read again"]
pub enum ApplyOutcome {
    /// It is applied.
    New,
    /// It was applied before.
    Known,
    /// Records before it are missing, so it was not applied.
    Gap,
}

/// The state of a task.
#[derive(Clone, Debug)]
pub struct ViewState {
    pub task: TaskId,
    /// The number of the last record.
    pub seq: u64,
    /// The time of the last record.
    pub at: Timestamp,
    /// The task's clock at the last record, in milliseconds.
    pub clock_ms: u64,
    /// When the task was opened.
    pub opened_at: Option<Timestamp>,
    /// The task that it is a fork of, if any.
    pub forked_from: Option<ForkedFrom>,
    /// What the person typed.
    pub goal: String,
    /// The intent, once the Perceiver has read it.
    pub intent: Option<String>,
    /// Where the task may act or look, in the person's words.
    pub scope: Option<String>,
    /// Questions and answers about the goal.
    pub clarifications: Vec<Clarification>,
    /// The controller's settings.
    pub controller: ControllerSettings,
    /// The hard limits.
    pub budgets: Budgets,
    /// Milliseconds that the task may take; a deadline may lower it.
    pub time_budget_ms: u64,
    /// The task's clock at the `TaskSpec`.
    pub spec_clock_ms: Option<u64>,
    /// The models that may be asked, without duplicates.
    pub models: Vec<String>,
    /// Whether one of them is a language model and not the embedded brain, whose steps do not count as model
    /// calls.
    pub has_language_model: bool,
    /// The state of each role.
    pub roles: Roles,
    /// Criteria and how they were judged.
    pub board: Board,
    /// Finished rounds.
    pub rounds: Rounds,
    /// The plan of each round, with what memory gave to it.
    pub plans: Plans,
    /// Open calls and questions.
    pub asks: Asks,
    /// Requests for consent.
    pub consents: Consents,
    /// Environment in which the task works.
    pub surroundings: Arc<Surroundings>,
    /// The texts for those who work in the project that were shown to the planner.
    pub guides: Vec<Guide>,
    /// The skills that were named to it.
    pub skills: Vec<Skill>,
    /// Tool calls, by id.
    pub calls: Calls,
    /// Files that calls say they created.
    pub made: BTreeSet<String>,
    /// What the task changed in files, if it measured that.
    pub changed: Option<Changed>,
    /// Model calls, tokens and tool calls.
    pub used: Totals,
    /// What memory gave to the last plan; `None` if it was not asked.
    pub recall: Option<Recall>,
    /// The faults of the task.
    pub faults: Vec<TaskFault>,
    /// Whether the person cancelled.
    pub is_cancelled: bool,
    /// The result, at the end of the task.
    pub result: Option<FinalResult>,
    /// The answer to small talk, which ends the task at once.
    pub answer: Option<String>,
}

/// Sums over the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Model calls, counted when they are asked.
    pub model_calls: u64,
    /// Tool calls, probes included.
    pub tool_calls: u64,
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
}

impl ViewState {
    /// Returns the state before the first record.
    #[must_use]
    pub fn new(task: TaskId) -> Self {
        ViewState {
            task,
            seq: 0,
            at: Timestamp::default(),
            clock_ms: 0,
            opened_at: None,
            forked_from: None,
            goal: String::new(),
            intent: None,
            scope: None,
            clarifications: Vec::new(),
            controller: ControllerSettings::default(),
            budgets: Budgets::default(),
            time_budget_ms: ControllerSettings::default().time_budget_ms,
            spec_clock_ms: None,
            models: Vec::new(),
            has_language_model: false,
            roles: Roles::default(),
            board: Board::default(),
            rounds: Rounds::default(),
            plans: Plans::default(),
            asks: Asks::default(),
            consents: Consents::default(),
            surroundings: Arc::default(),
            guides: Vec::new(),
            skills: Vec::new(),
            calls: Calls::default(),
            made: BTreeSet::new(),
            changed: None,
            used: Totals::default(),
            recall: None,
            faults: Vec::new(),
            is_cancelled: false,
            result: None,
            answer: None,
        }
    }

    /// Returns the state after these records.
    #[must_use]
    pub fn of(task: TaskId, records: &[Record]) -> Self {
        let mut state = ViewState::new(task);
        for record in records {
            // The journal returns records in order; a gap in them cannot be filled here.
            let _: ApplyOutcome = state.apply(record);
        }
        state
    }

    /// Returns the state after the records that a pruned task has left, with gaps between them.
    #[must_use]
    pub fn of_left(task: TaskId, records: &[Record]) -> Self {
        let mut state = ViewState::new(task);
        for record in records {
            state.seq = record.seq.saturating_sub(1);
            let _: ApplyOutcome = state.apply(record);
        }
        state
    }

    /// Applies the next record.
    pub fn apply(&mut self, record: &Record) -> ApplyOutcome {
        if record.seq <= self.seq {
            return ApplyOutcome::Known;
        }
        if record.seq > self.seq + 1 {
            return ApplyOutcome::Gap;
        }
        self.seq = record.seq;
        self.at = record.at;
        self.clock_ms = self.clock_ms.max(record.clock_ms);
        self.opened_at.get_or_insert(record.at);
        // Inherited records keep their times; a fork itself opens with its first own record.
        if self.forked_from.as_ref().is_some_and(|from| record.seq == from.seq.saturating_add(1)) {
            self.opened_at = Some(record.at);
        }
        match record.kind {
            RecordKind::Message(_) => {
                if let Some(message) = record.message() {
                    self.apply_message(record, message);
                }
            }
            RecordKind::Opened => self.apply_opened(record),
            RecordKind::Asked => {
                if let Some(asked) = read(record) {
                    self.used.asked(&asked, self.has_language_model);
                    self.calls.asked(&asked, record.at);
                    self.asks.asked(&asked, self.clock_ms);
                }
            }
            RecordKind::Reasked => {
                if let Some(reasked) = read(record) {
                    self.asks.reasked(&reasked);
                }
            }
            RecordKind::Answered => {
                if let Some(answered) = read::<setpoint_protocol::record::Answered>(record) {
                    self.used.answered(&answered.answer);
                    match &answered.answer {
                        Answer::Tool(tool) => self.made.extend(tool.created.iter().cloned()),
                        Answer::Survey(survey) if self.has_language_model => {
                            self.guides.clone_from(&survey.guides);
                            self.skills.clone_from(&survey.skills);
                        }
                        _ => {}
                    }
                    self.calls.answered(&answered, record.at);
                    let measured = Changed::measured(self.calls.get(answered.call), &answered.answer);
                    self.changed = measured.or(self.changed.take());
                    self.asks.answered(answered.call);
                }
            }
            RecordKind::Quiesced => self.asks.clear(),
            RecordKind::Poisoned => {}
        }
        ApplyOutcome::New
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.result.is_some() || self.answer.is_some()
    }

    /// Returns the number of the running round, or of the last one if the task has ended, from 1.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.rounds.next().max(self.board.round())
    }

    /// Returns whether the task ended before its last round was measured, such as by a cancel, a fault or a spent
    /// budget.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        // The controller decides any other end after a measurement.
        let is_cut_short = |result: &FinalResult| match result.ended_by {
            EndedBy::Cancelled
            | EndedBy::Budget
            | EndedBy::Deadline
            | EndedBy::Consent
            | EndedBy::Infeasible
            | EndedBy::Fault => true,
            EndedBy::CriteriaMet
            | EndedBy::Unproven
            | EndedBy::Distance
            | EndedBy::Omega
            | EndedBy::Law2
            | EndedBy::Rounds => false,
        };
        self.result.as_ref().is_some_and(is_cut_short) && !self.rounds.is_measured()
    }

    /// Returns Ω when the task's clock is at `clock_ms`, as the controller computes it from the finished
    /// rounds.
    #[must_use]
    pub fn omega_at(&self, clock_ms: u64) -> f64 {
        if let Some(result) = &self.result {
            return result.loss.omega;
        }
        let elapsed = self.spec_clock_ms.map_or(0, |start| clock_ms.saturating_sub(start));
        let rounds = f64::from(self.rounds.over()) / f64::from(self.controller.max_replans.max(1));
        let time = elapsed as f64 / self.time_budget_ms.max(1) as f64;
        let omega = self.controller.w1.mul_add(rounds, self.controller.w2 * time);
        if omega.is_finite() { omega.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Returns the open questions to a person, oldest first.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.asks.questions()
    }

    fn apply_opened(&mut self, record: &Record) {
        let Some(opened) = read::<Opened>(record) else { return };
        self.time_budget_ms = opened.controller.time_budget_ms;
        self.has_language_model = opened.models.all().any(|card| !card.is_free);
        for card in opened.models.all().filter(|card| !card.name.is_empty()) {
            if !self.models.contains(&card.name) {
                self.models.push(card.name.clone());
            }
        }
        self.controller = opened.controller;
        self.budgets = opened.budgets;
        self.forked_from = opened.forked_from;
        self.surroundings = opened.surroundings;
    }

    fn apply_message(&mut self, record: &Record, message: Payload) {
        self.roles.say(record, &message);
        if let Some(question) = Question::of(&message) {
            self.asks.question(question);
        }
        if let Payload::PlanDecision(decision) = &message {
            let needs = self.asks.needs(decision.call_id);
            self.consents.plan_decided(decision.clone(), needs);
        }
        if let Some(call) = message.answers() {
            self.asks.answered(call);
        }
        // Messages that are not listed change nothing that is shown, except as a question or an answer.
        match message {
            Payload::UserInput(input) => self.goal = input.raw_input,
            Payload::TaskSpec(spec) => self.apply_spec(record, spec),
            Payload::MemoryReply(reply) => {
                self.recall = Some(Recall::of(reply));
                self.plans.recalled();
            }
            Payload::DispatchManifest(manifest) => {
                if let Some(recall) = &mut self.recall {
                    recall.planned(&manifest);
                }
                self.board.open_round(&manifest);
                self.plans.dispatched(&manifest, self.recall.as_ref());
            }
            Payload::SubTask(subtask) => {
                self.plans.record_tools(&subtask);
                let instance = record.to.iter().find(|to| to.role == RoleId::Executor).map(|to| to.instance);
                self.board.start(&subtask.subtask_id, instance);
            }
            Payload::ExecutionResult(result) => self.calls.learn(&result.tool_calls),
            Payload::CorrectionSignal(signal) => self.board.correct(&signal, record.at),
            Payload::SubTaskOutcome(outcome) => {
                self.calls.learn(&outcome.tool_calls);
                self.asks.stop_instance(record.from.instance);
                self.board.judge(&outcome, record.at);
            }
            Payload::OutcomeSummary(summary) => {
                self.board.judge_task(&summary.task_criteria_verdicts, record.at);
                self.rounds.requested(self.board.round());
            }
            Payload::ReplanRequest(request) => {
                self.board.fall_short(&request, record.at);
                self.rounds.requested(request.round);
            }
            Payload::TaskFault(fault) => self.apply_fault(record, fault),
            Payload::PlanDirective(directive) => self.rounds.directed(&directive, self.board.round()),
            Payload::FinalResult(result) => {
                self.board.stop(record.at, "");
                self.asks.clear();
                self.result = Some(result);
            }
            Payload::DirectAnswer(DirectAnswer { text }) => self.answer = Some(text),
            Payload::CancelRequest(_) => {
                self.is_cancelled = true;
                self.asks.stop_all();
                self.board.stop(record.at, "cancelled");
            }
            Payload::ApprovalRequest(request) => self.consents.asked(request),
            Payload::ApprovalDecision(decision) => self.consents.decided(decision),
            _ => {}
        }
    }

    fn apply_spec(&mut self, record: &Record, spec: TaskSpec) {
        self.intent = Some(spec.intent);
        self.scope = spec.constraints.scope;
        self.clarifications = spec.clarifications;
        if self.spec_clock_ms.is_none() {
            self.spec_clock_ms = Some(self.clock_ms);
            if let Some(deadline) = spec.constraints.deadline {
                self.time_budget_ms = self.time_budget_ms.min(deadline.millis_since(record.at).max(1));
            }
        }
    }

    fn apply_fault(&mut self, record: &Record, fault: TaskFault) {
        self.asks.stop_all();
        let why = match fault.kind {
            FaultKind::Fault => format!("not judged: {}", fault.reason),
            FaultKind::Budget => "not judged: a budget is used up".to_owned(),
            FaultKind::Deadline => "not judged: out of time".to_owned(),
            FaultKind::Consent => "not judged: consent was refused".to_owned(),
            FaultKind::Infeasible => format!("not judged: the goal cannot be reached here: {}", fault.reason),
        };
        self.board.stop(record.at, &why);
        self.faults.push(fault);
    }
}

impl Totals {
    fn asked(&mut self, asked: &setpoint_protocol::record::Asked, has_language_model: bool) {
        match asked.ask {
            setpoint_protocol::record::Ask::Model { .. } => self.model_calls += u64::from(has_language_model),
            setpoint_protocol::record::Ask::Tool { .. } => self.tool_calls += 1,
            setpoint_protocol::record::Ask::Timer { .. } | setpoint_protocol::record::Ask::Survey { .. } => {}
        }
    }

    fn answered(&mut self, answer: &Answer) {
        if calls::asks_for_consent(answer) {
            self.tool_calls = self.tool_calls.saturating_sub(1);
        }
        if let Answer::Model(reply) = answer {
            self.tokens_in = self.tokens_in.saturating_add(reply.usage.tokens_in);
            self.tokens_out = self.tokens_out.saturating_add(reply.usage.tokens_out);
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(record: &Record) -> Option<T> {
    serde_json::from_slice(&record.body).ok()
}
