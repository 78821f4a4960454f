//! Rounds that are over: their loss, and the direction that followed.

use setpoint_protocol::message::{ActionState, DirectiveClass, Loss, MacroState, PlanDirective, Urgency};

/// A round that ended in a directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The round, from 1.
    pub round: u32,
    /// Its loss.
    pub loss: Loss,
    /// ∇L; 0 in the first round.
    pub grad_l: f64,
    /// The part of ∇L that is budget alone.
    pub grad_l_budget: f64,
    /// Which way its failures lean.
    pub failure_class: DirectiveClass,
    /// How firmly the direction is worded.
    pub urgency: Urgency,
    /// The direction.
    pub directive: ActionState,
    /// Why, without the numbers that are shown anyway.
    pub reason: String,
    /// Tools and targets that the next plan may not use.
    pub blocked: Vec<String>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    rounds: Vec<Round>,
    requested: Option<u32>,
}

impl Rounds {
    /// In order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Round> {
        self.rounds.iter()
    }

    /// How many are over.
    #[must_use]
    pub fn over(&self) -> u32 {
        u32::try_from(self.rounds.len()).unwrap_or(u32::MAX)
    }

    /// Whether R4b measured the round that is not over yet.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.requested.is_some()
    }

    /// The round after those that are over, which its manifest may yet give another number.
    pub(super) fn next(&self) -> u32 {
        self.rounds.last().map_or(1, |last| last.round.saturating_add(1))
    }

    /// R4b measured this round.
    pub(super) fn requested(&mut self, round: u32) {
        self.requested = Some(round);
    }

    /// R7 gave a direction. A round that broke before it was measured counts from what was dispatched last.
    pub(super) fn directed(&mut self, directive: &PlanDirective, dispatched: u32) {
        let round = self.requested.take().unwrap_or(dispatched).max(self.next());
        let tools = directive.blocked_tools.iter().map(ToString::to_string);
        self.rounds.push(Round {
            round,
            loss: directive.loss,
            grad_l: directive.grad_l,
            grad_l_budget: directive.grad_l_budget,
            failure_class: directive.failure_class,
            urgency: directive.urgency,
            directive: directive.directive,
            reason: reason(&directive.rationale, MacroState::from(directive.directive)),
            blocked: tools.chain(directive.blocked_targets.iter().cloned()).collect(),
        });
    }
}

/// The rationale without the directive's name before it and the numbers behind it.
fn reason(rationale: &str, directive: MacroState) -> String {
    let text = rationale
        .strip_prefix(directive.name())
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(rationale);
    text.split_once(" (L = ").map_or(text, |(reason, _)| reason).trim().to_owned()
}
