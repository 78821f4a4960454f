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
    /// What does the goal mean?
    Clarification(ClarificationRequest),
    /// May something be done?
    Approval(ApprovalRequest),
    /// Is the plan right?
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

    /// Returns what the person is asked for, to follow "it waits for you".
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Question::Clarification(request) => format!("to answer: {}", request.questions.join(" / ")),
            Question::Approval(request) => format!("to allow: {}", sanitise::exact(&request.need.command)),
            Question::Plan(proposal) if !proposal.is_preview => {
                format!("to allow: {}", sanitise::exact(&proposal.needs.join(", ")))
            }
            Question::Plan(proposal) => format!("to look at the plan for round {}", proposal.round),
        }
    }

    /// Returns the ask that an answer names.
    #[must_use]
    pub const fn call(&self) -> CallId {
        match self {
            Question::Clarification(request) => request.call_id,
            Question::Approval(request) => request.call_id,
            Question::Plan(proposal) => proposal.call_id,
        }
    }
}

/// A call that has not been answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// What is waited for.
    pub what: PendingKind,
    /// The task's clock when it was asked, in milliseconds.
    pub since_ms: u64,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The reason for another attempt.
    pub reason: Option<String>,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingKind {
    /// A model.
    Model(Purpose),
    /// A tool.
    Tool,
    /// A timer.
    Timer,
    /// A survey of the workspace.
    Survey,
}

/// All open calls and questions.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    open: BTreeMap<CallId, PendingCall>,
    /// In the order in which they were asked.
    questions: Vec<Question>,
}

impl Asks {
    /// Returns the calls to models and tools and the timers that have not been answered.
    pub fn open(&self) -> impl Iterator<Item = (&CallId, &PendingCall)> {
        self.open.iter()
    }

    /// Returns the oldest running tool call of the effector with this instance.
    #[must_use]
    pub fn tool_of(&self, instance: Instance) -> Option<(CallId, &PendingCall)> {
        let runs = |(call, open): &(&CallId, &PendingCall)| {
            call.instance == instance && open.what == PendingKind::Tool
        };
        let mine = self.open.iter().filter(runs).filter(|(call, _)| call.role.is_effector());
        mine.min_by_key(|(_, open)| open.since_ms).map(|(call, open)| (*call, open))
    }

    /// Returns the open questions, oldest first.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter()
    }

    /// Returns whether the task waits only for people, during which its clock stops.
    #[must_use]
    pub fn is_only_people(&self) -> bool {
        !self.questions.is_empty() && self.open.values().all(|open| open.what == PendingKind::Timer)
    }

    /// Returns what the plan of this open question says that a person must allow.
    pub(super) fn needs(&self, call: CallId) -> Vec<String> {
        let is_it = |question: &&Question| question.call() == call;
        match self.questions.iter().find(is_it) {
            Some(Question::Plan(proposal)) => proposal.needs.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn asked(&mut self, asked: &Asked, clock_ms: u64) {
        let what = match &asked.ask {
            Ask::Model { purpose, .. } => PendingKind::Model(*purpose),
            Ask::Tool { .. } => PendingKind::Tool,
            Ask::Timer { .. } => PendingKind::Timer,
            Ask::Survey { .. } => PendingKind::Survey,
        };
        self.open.insert(
            asked.call,
            PendingCall { what, since_ms: clock_ms, attempt: asked.attempt, reason: None },
        );
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

    /// Applies a fault or a cancel: timers and questions end at once, models and tools when they answer.
    pub(super) fn stop_all(&mut self) {
        self.open.retain(|_, open| open.what != PendingKind::Timer);
        self.questions.clear();
    }

    /// Does the same for one effector, whose fast loop is over.
    pub(super) fn stop_instance(&mut self, instance: Instance) {
        let mine = |call: CallId| call.role.is_effector() && call.instance == instance;
        self.open.retain(|call, open| !mine(*call) || open.what != PendingKind::Timer);
        self.questions.retain(|question| !mine(question.call()));
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.questions.clear();
    }
}
