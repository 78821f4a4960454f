//! Dispatches R4b's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::inbox::MetaValidator as Inbox;
use setpoint_protocol::topology::party;

use super::end::End;
use super::phase::{Fx, Next, Phase};
use super::round::{Baseline, Round};
use super::{baseline, gathering, verification};

/// The machine of R4b, one per task.
#[derive(Debug, Default)]
pub struct MetaValidator {
    /// The open round; `None` between two.
    round: Option<(Round, Phase)>,
    /// Probes that earlier rounds measured before their work.
    baseline: Baseline,
}

impl Machine for MetaValidator {
    type Role = party::MetaValidator;

    fn handle(&mut self, input: Input<party::MetaValidator>, fx: &mut Fx<'_>) {
        let round = self.round.take();
        if let Some((round, _)) = &round {
            self.baseline.clone_from(&round.baseline);
        }
        let next = match (input, round) {
            (Input::Message(Inbox::DispatchManifest(manifest)), _) => {
                baseline::on_manifest(manifest, self.baseline.clone(), fx)
            }
            // Between two rounds nothing is awaited.
            (Input::Message(_) | Input::Answer { .. } | Input::Quiesced, None) => return,
            (Input::Message(Inbox::SubTaskOutcome(outcome)), Some((round, Phase::Gathering))) => {
                gathering::on_outcome(round, outcome)
            }
            (Input::Answer { call, answer }, Some((round, phase))) => {
                on_answer(round, phase, call, &answer, fx)
            }
            (Input::Message(_) | Input::Quiesced, Some((round, phase))) => Next::Wait(round, phase),
        };
        self.round = apply(next, fx);
    }
}

/// Passes an answer to its handler; ignores a stale one, for which nothing waits.
fn on_answer(round: Round, phase: Phase, call: CallId, answer: &Answer, fx: &mut Fx<'_>) -> Next {
    match phase {
        Phase::Baseline(probes) => baseline::on_probe(round, probes, call, answer, fx),
        Phase::Probing(verification) => verification::on_probe(round, verification, call, answer, fx),
        Phase::Merging(asked, verification) if asked == call => {
            verification::on_reply(round, verification, answer, fx)
        }
        phase @ (Phase::Gathering | Phase::Merging(..)) => Next::Wait(round, phase),
    }
}

/// Takes the steps that follow one another without another input; returns the round if it goes on.
fn apply(mut next: Next, fx: &mut Fx<'_>) -> Option<(Round, Phase)> {
    loop {
        next = match next {
            Next::Wait(round, phase) => return Some((round, phase)),
            Next::Advance(round) => gathering::advance(round, fx),
            Next::Verify(round) => verification::begin(round, fx),
            Next::End(End::Holds(summary)) => {
                fx.publish(*summary);
                return None;
            }
            Next::End(End::FellShort(request)) => {
                fx.publish(*request);
                return None;
            }
        }
    }
}
