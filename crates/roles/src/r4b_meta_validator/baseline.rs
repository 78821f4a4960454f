//! Probes of the plan's checks before any work; they hold for the whole task.
//!
//! R2 starts no sub-task before R4b reports, so that no probe can observe the work. A probe added by a later plan is
//! measured before that plan's work: effects of earlier rounds cannot be distinguished from the initial state, and
//! count as such.

use setpoint_protocol::CallId;
use setpoint_protocol::message::{BASELINE_GROUP, DispatchManifest, GroupMatched};
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::Phase as Measured;

use super::phase::{Fx, Next, Phase};
use super::round::{Baseline, Round};
use crate::evidence::{Probes, ROUND_RECORDS_BYTES_MAX, fit, unmeasured};

/// Attempt number of these probes; attempts are only counted in sub-tasks.
const ATTEMPT: u32 = 1;

/// Opens a round, after the probes that were not measured yet. Carried outcomes count as reported.
pub(super) fn on_manifest(manifest: DispatchManifest, baseline: Baseline, fx: &mut Fx<'_>) -> Next {
    let carried = manifest
        .subtasks
        .iter()
        .filter_map(|entry| Some((entry.subtask_id.clone(), entry.carried.clone()?)))
        .collect();
    let missing = unmeasured(manifest.criteria(), &baseline);
    let probes = Probes::ask_calls(&missing, Measured::Before, ATTEMPT, fx);
    let is_measured = missing.is_empty();
    let round = Round { manifest, outcomes: carried, groups_done: 0, baseline };
    if is_measured { Next::Advance(round) } else { Next::Wait(round, Phase::Baseline(probes)) }
}

/// Handles a probe's answer; reports to R2 after the last.
pub(super) fn on_probe(
    mut round: Round,
    mut probes: Probes,
    call: CallId,
    answer: &Answer,
    fx: &mut Fx<'_>,
) -> Next {
    probes.take(call, answer);
    if !probes.is_complete() {
        return Next::Wait(round, Phase::Baseline(probes));
    }
    let mut found: Vec<_> = probes.records().cloned().collect();
    round.baseline.extend(found.iter().cloned());
    fit(found.iter_mut().collect(), ROUND_RECORDS_BYTES_MAX);
    fx.publish(GroupMatched {
        round: round.manifest.round,
        sequence: BASELINE_GROUP,
        outputs: Vec::new(),
        baseline: found,
    });
    Next::Advance(round)
}
