//! The rounds as the controller measured them, including the last one.

use setpoint_protocol::message::{Loss, MacroState};
use setpoint_protocol::settings::ControllerSettings;

use crate::state::ViewState;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// The round, from 1.
    pub(super) round: u32,
    pub(super) loss: Loss,
    /// ∇L; `None` in the first round.
    pub(super) grad_l: Option<f64>,
    /// The decision that followed.
    pub(super) decision: MacroState,
}

impl Measured {
    /// Returns α·D, β·(1 − Ω)·P and λ·Ω, whose sum is L.
    pub(super) fn parts(&self, settings: &ControllerSettings) -> [f64; 3] {
        let Loss { d, p, omega, .. } = self.loss;
        [settings.alpha * d, settings.beta * (1.0 - omega) * p, settings.lambda * omega]
    }
}

/// Returns all measured rounds, in order.
pub(super) fn rounds(state: &ViewState) -> Vec<Measured> {
    let mut rounds: Vec<Measured> = Vec::new();
    for round in state.rounds.iter() {
        let grad_l = (!rounds.is_empty()).then_some(round.grad_l);
        let decision = MacroState::from(round.directive);
        rounds.push(Measured { round: round.round, loss: round.loss, grad_l, decision });
    }
    // Nothing was measured if the task ended before its first plan, or in a round that was broken off.
    let has_measured = !state.is_broken_off() && (state.board.round() > 0 || !rounds.is_empty());
    let result = state.result.as_ref().filter(|_| has_measured);
    if let Some(result) = result {
        let round = state.round();
        let grad_l = (!rounds.is_empty()).then_some(result.grad_l);
        rounds.push(Measured { round, loss: result.loss, grad_l, decision: result.directive.into() });
    }
    rounds
}
