//! Finished rounds: their loss, and the direction that followed.

use setpoint_protocol::message::{ActionState, DirectiveClass, Loss, MacroState, PlanDirective, Urgency};

/// A round that ended in a directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The round, from 1.
    pub round: u32,
    pub loss: Loss,
    /// ∇L; 0 in the first round.
    pub grad_l: f64,
    /// The part of ∇L that comes from the budget alone.
    pub grad_l_budget: f64,
    /// The class of its failures.
    pub failure_class: DirectiveClass,
    /// How urgently the direction is worded.
    pub urgency: Urgency,
    /// The direction.
    pub directive: ActionState,
    /// Why, without the numbers, which are shown beside it.
    pub reason: String,
    /// Tools and targets that the next plan must not use.
    pub blocked: Vec<String>,
}

/// All finished rounds.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    rounds: Vec<Round>,
    requested: Option<u32>,
}

impl Rounds {
    /// Returns the rounds, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Round> {
        self.rounds.iter()
    }

    /// Returns the number of finished rounds.
    #[must_use]
    pub fn over(&self) -> u32 {
        u32::try_from(self.rounds.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether R4b measured the round that is not finished yet.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.requested.is_some()
    }

    /// Returns the number after the last finished round; the manifest may give the next round another one.
    pub(super) fn next(&self) -> u32 {
        self.rounds.last().map_or(1, |last| last.round.saturating_add(1))
    }

    /// Records that R4b measured this round.
    pub(super) fn requested(&mut self, round: u32) {
        self.requested = Some(round);
    }

    /// Records a direction of R7. A round that broke before it was measured gets the number of the last
    /// dispatched one.
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

/// Returns the rationale without the directive's name before it and the numbers after it.
fn reason(rationale: &str, directive: MacroState) -> String {
    let text = rationale
        .strip_prefix(directive.name())
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(rationale);
    text.split_once(" (L = ").map_or(text, |(reason, _)| reason).trim().to_owned()
}
