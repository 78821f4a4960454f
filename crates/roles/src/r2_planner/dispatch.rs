//! Dispatches a plan group by group: the manifest first, the first group once the baseline is measured, then each
//! group after the one before it matched.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::message::{BASELINE_GROUP, DispatchManifest, GroupMatched, ManifestEntry};
use setpoint_protocol::tool::ToolRecord;

use super::history::{DispatchedPlan, KeptSubTask, KnownSubTask, Task};
use super::outputs::{Output, joined};
use super::phase::{Fx, Next, Phase, PlannedSubTask, ReadyPlan, RunningPlan};
use crate::evidence::{baseline_of, unmeasured};

/// Publishes the manifest, and the first group unless something must be measured before it; freezes the task's
/// criteria.
pub(super) fn begin(task: &mut Task, plan: ReadyPlan, fx: &mut Fx<'_>) -> Next {
    let (mut entries, mut known, sequence) = kept(&task.kept);
    let mut waiting: BTreeMap<u32, Vec<PlannedSubTask>> = BTreeMap::new();
    for mut planned in plan.subtasks {
        planned.subtask.sequence += sequence;
        let subtask = KnownSubTask::of(&planned.subtask);
        entries.push(subtask.entry(None));
        known.push(subtask);
        waiting.entry(planned.subtask.sequence).or_default().push(planned);
    }
    task.criteria.clone_from(&plan.criteria);
    task.withdrawn.clone_from(&plan.withdrawn);
    task.plans.push(DispatchedPlan {
        round: task.round,
        fingerprint: plan.fingerprint.clone(),
        subtasks: known,
        judged_failed: false,
        tool_calls: 0,
    });
    let manifest = DispatchManifest {
        round: task.round,
        plan_fingerprint: plan.fingerprint,
        subtasks: entries,
        task_criteria: plan.criteria,
        withdrawn: plan.withdrawn,
        applied_rules: task.calibration.applied.clone(),
        overridden_rules: std::mem::take(&mut task.overridden),
        dispatched_at: fx.ctx.now,
    };
    // The work starts after every probe has been measured without the work's effects.
    let is_measured = unmeasured(manifest.criteria(), &task.baseline).is_empty();
    fx.publish(manifest);
    let mut running = RunningPlan {
        round: task.round,
        current: BASELINE_GROUP,
        waiting,
        intents: BTreeMap::new(),
        carried: task.kept.iter().map(output).collect(),
        outputs: Vec::new(),
    };
    if is_measured {
        start_next_group(&mut running, &task.baseline, fx);
    }
    Next::Wait(Phase::Running(running))
}

/// Returns the matched sub-tasks, and the last of their sequence numbers. Groups run in order, so these take the
/// lower numbers and the new ones follow.
fn kept(kept: &[KeptSubTask]) -> (Vec<ManifestEntry>, Vec<KnownSubTask>, u32) {
    let (mut entries, mut known, mut sequence) = (Vec::new(), Vec::new(), 0);
    let mut group_before = None;
    for kept in kept {
        if group_before.replace(kept.subtask.sequence) != Some(kept.subtask.sequence) {
            sequence += 1;
        }
        let subtask = KnownSubTask { sequence, ..kept.subtask.clone() };
        entries.push(subtask.entry(Some(kept.outcome.clone())));
        known.push(subtask);
    }
    (entries, known, sequence)
}

fn output(kept: &KeptSubTask) -> Output {
    let KnownSubTask { id, intent, .. } = &kept.subtask;
    Output { id: id.clone(), intent: intent.clone(), output: kept.outcome.output.clone() }
}

/// Starts the next group. A report from another round, or of a group that is not running, is stale.
pub(super) fn on_group_matched(
    task: &mut Task,
    mut running: RunningPlan,
    group: GroupMatched,
    fx: &mut Fx<'_>,
) -> Next {
    if group.round == running.round && group.sequence == running.current {
        for output in group.outputs {
            if let Some(intent) = running.intents.remove(&output.subtask_id) {
                running.outputs.push(Output { id: output.subtask_id, intent, output: output.output });
            }
        }
        task.baseline.extend(group.baseline);
        start_next_group(&mut running, &task.baseline, fx);
    }
    Next::Wait(Phase::Running(running))
}

fn start_next_group(running: &mut RunningPlan, baseline: &[Arc<ToolRecord>], fx: &mut Fx<'_>) {
    let Some((sequence, group)) = running.waiting.pop_first() else { return };
    running.current = sequence;
    let is_first = running.carried.is_empty() && running.outputs.is_empty();
    let is_only = is_first && running.waiting.is_empty() && group.len() == 1;
    for PlannedSubTask { instance, mut subtask } in group {
        running.intents.insert(subtask.subtask_id.clone(), subtask.intent.clone());
        let named = std::mem::take(&mut subtask.inputs);
        let is_input = |output: &&Output| named.is_empty() || named.contains(&output.id);
        let inputs: Vec<&Output> =
            running.carried.iter().chain(running.outputs.iter().filter(is_input)).collect();
        subtask.is_only = is_only;
        subtask.outputs = joined(&inputs);
        subtask.inputs = inputs.into_iter().map(|output| output.id.clone()).collect();
        subtask.baseline = baseline_of(&subtask.success_criteria, baseline);
        fx.publish_to(instance, subtask);
    }
}
