//! What a task waits for: models, tools, timers, and people.

use std::collections::BTreeMap;

use setpoint_protocol::message::{ApprovalRequest, ClarificationRequest, PlanProposal};
use setpoint_protocol::record::{Ask, Asked, Purpose, Reasked};
use setpoint_protocol::topology::{Payload, inbox};
use setpoint_protocol::{CallId, Instance};

use crate::text::sanitise;

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// What a reference means.
    Clarification(ClarificationRequest),
    /// Whether something may be done.
    Approval(ApprovalRequest),
    /// Whether the plan is right.
    Plan(PlanProposal),
}

impl Question {
    /// Returns the question in a message; `None` if the message asks no person.
    #[must_use]
    pub fn of(message: &Payload) -> Option<Self> {
        message.opens()?;
        match inbox::User::try_from(message.clone()).ok()? {
            inbox::User::ClarificationRequest(request) => Some(Question::Clarification(request)),
            inbox::User::ApprovalRequest(request) => Some(Question::Approval(request)),
            inbox::User::PlanProposal(proposal) => Some(Question::Plan(proposal)),
            inbox::User::DirectAnswer(_) | inbox::User::FinalResult(_) => None,
        }
    }

    /// Returns what the person is wanted for, after "it waits for you".
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Question::Clarification(request) => format!("to answer: {}", request.questions.join(" / ")),
            Question::Approval(request) => format!("to allow: {}", sanitise::exact(&request.need.command)),
            Question::Plan(proposal) => format!("to look at the plan for round {}", proposal.round),
        }
    }

    /// The ask that an answer names.
    #[must_use]
    pub const fn call(&self) -> CallId {
        match self {
            Question::Clarification(request) => request.call_id,
            Question::Approval(request) => request.call_id,
            Question::Plan(proposal) => proposal.call_id,
        }
    }
}

/// Something that was asked of the world and has not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What it is.
    pub what: What,
    /// The task's clock when it was asked, in milliseconds.
    pub since_ms: u64,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Why there was another attempt.
    pub reason: Option<String>,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A model.
    Model(Purpose),
    /// A tool.
    Tool,
    /// A timer.
    Timer,
    /// A look around.
    Survey,
}

/// All open asks.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    open: BTreeMap<CallId, Open>,
    /// In the order in which they were asked.
    questions: Vec<Question>,
}

impl Asks {
    /// Models, tools and timers that have not come back.
    pub fn open(&self) -> impl Iterator<Item = (&CallId, &Open)> {
        self.open.iter()
    }

    /// The oldest tool call of the effector with this instance that runs now.
    #[must_use]
    pub fn tool_of(&self, instance: Instance) -> Option<(CallId, &Open)> {
        let runs = |(call, open): &(&CallId, &Open)| call.instance == instance && open.what == What::Tool;
        let mine = self.open.iter().filter(runs).filter(|(call, _)| call.role.is_effector());
        mine.min_by_key(|(_, open)| open.since_ms).map(|(call, open)| (*call, open))
    }

    /// The open questions, oldest first.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter()
    }

    /// Whether nothing but people is waited for: then the task's clock stands still.
    #[must_use]
    pub fn is_only_people(&self) -> bool {
        !self.questions.is_empty() && self.open.values().all(|open| open.what == What::Timer)
    }

    pub(super) fn asked(&mut self, asked: &Asked, clock_ms: u64) {
        let what = match &asked.ask {
            Ask::Model { purpose, .. } => What::Model(*purpose),
            Ask::Tool { .. } => What::Tool,
            Ask::Timer { .. } => What::Timer,
            Ask::Survey { .. } => What::Survey,
        };
        self.open.insert(asked.call, Open { what, since_ms: clock_ms, attempt: asked.attempt, reason: None });
    }

    pub(super) fn reasked(&mut self, reasked: &Reasked) {
        if let Some(open) = self.open.get_mut(&reasked.call) {
            open.attempt = reasked.attempt;
            open.reason = Some(reasked.reason.clone());
        }
    }

    pub(super) fn question(&mut self, question: Question) {
        self.questions.retain(|open| open.call() != question.call());
        self.questions.push(question);
    }

    pub(super) fn answered(&mut self, call: CallId) {
        self.open.remove(&call);
        self.questions.retain(|question| question.call() != call);
    }

    /// A fault or a cancel: timers and questions end at once, models and tools when they come back.
    pub(super) fn stop_all(&mut self) {
        self.open.retain(|_, open| open.what != What::Timer);
        self.questions.clear();
    }

    /// The same for one effector, whose fast loop is over.
    pub(super) fn stop_instance(&mut self, instance: Instance) {
        let mine = |call: CallId| call.role.is_effector() && call.instance == instance;
        self.open.retain(|call, open| !mine(*call) || open.what != What::Timer);
        self.questions.retain(|question| !mine(question.call()));
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.questions.clear();
    }
}
