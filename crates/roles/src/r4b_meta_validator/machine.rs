//! Dispatches R4b's inputs to their handlers. Nothing is decided here.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

use super::round::{Baseline, Next, Round, Stage};
use super::{baseline, gathering, verification};

/// The machine of R4b, one per task.
#[derive(Debug, Default)]
pub struct MetaValidator {
    round: Option<Round>,
    /// Probes that earlier rounds measured before their work.
    baseline: Baseline,
}

/// The context of an input of this role, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::MetaValidator>;

impl Machine for MetaValidator {
    type Role = party::MetaValidator;

    fn handle(&mut self, input: Input<party::MetaValidator>, fx: &mut Fx<'_>) {
        let round = self.round.take();
        if let Some(round) = &round {
            self.baseline.clone_from(&round.baseline);
        }
        let next = match (input, round) {
            (Input::Message(inbox::MetaValidator::DispatchManifest(manifest)), _) => {
                baseline::open(manifest, self.baseline.clone(), fx)
            }
            (Input::Message(inbox::MetaValidator::SubTaskOutcome(outcome)), Some(round)) => {
                gathering::take(round, outcome, fx)
            }
            (Input::Answer { call, answer }, Some(round)) => answered(round, call, &answer, fx),
            (Input::Quiesced, Some(round)) => Next::Wait(round),
            // Between two rounds nothing is awaited.
            (Input::Message(inbox::MetaValidator::SubTaskOutcome(_)) | Input::Answer { .. }, None)
            | (Input::Quiesced, None) => return,
        };
        match next {
            Next::Wait(round) => self.round = Some(round),
            Next::End(end) => end.publish(fx),
        }
    }
}

/// Passes an answer to its handler; ignores a stale one, for which nothing waits.
fn answered(round: Round, call: CallId, answer: &Answer, fx: &mut Fx<'_>) -> Next {
    let Round { manifest, outcomes, groups_done, baseline, stage } = round;
    let back = |stage| Round { manifest, outcomes, groups_done, baseline, stage };
    match stage {
        Stage::Baseline(probes) => baseline::measured(back(Stage::Gathering), probes, call, answer, fx),
        Stage::Probing(verification) => {
            let (round, verification) = (back(Stage::Gathering), *verification);
            verification::measured(round, verification, call, answer, fx)
        }
        Stage::Merging(asked, verification) if asked == call => {
            verification::heard(back(Stage::Gathering), *verification, answer, fx)
        }
        stage @ (Stage::Gathering | Stage::Merging(..)) => Next::Wait(back(stage)),
    }
}
