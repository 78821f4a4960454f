//! Dispatches a plan group by group: the manifest first, the first group once the baseline is measured, then each
//! group after the one before it matched.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{BASELINE_GROUP, DispatchManifest, GroupMatched, ManifestEntry};
use setpoint_protocol::tool::ToolRecord;

use super::assemble::{PlannedSubTask, ReadyPlan};
use super::history::{DispatchedPlan, KnownSubTask};
use super::machine::{Fx, Phase, Planner};
use super::outputs::{Output, joined};
use crate::evidence::{baseline_of, unmeasured};

/// A plan being executed.
#[derive(Debug)]
pub(super) struct Running {
    round: u32,
    /// Group dispatched last; 0 before the first.
    current: u32,
    /// Groups not yet dispatched.
    waiting: BTreeMap<u32, Vec<PlannedSubTask>>,
    /// Intents of the dispatched groups, which head their outputs.
    intents: BTreeMap<SubTaskId, String>,
    /// Outputs of carried sub-tasks; every new one receives them.
    carried: Vec<Output>,
    /// Outputs of this round's groups so far.
    outputs: Vec<Output>,
}

impl Planner {
    /// Publishes the manifest, and the first group unless something must be measured before it; freezes the task's
    /// criteria.
    pub(super) fn dispatch(&mut self, plan: ReadyPlan, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(task) = &mut self.task else { return };
        let mut entries: Vec<ManifestEntry> = Vec::new();
        let mut known: Vec<KnownSubTask> = Vec::new();
        // Groups run in order, so the matched ones take the lower sequence numbers and the new ones follow.
        let mut sequence = 0;
        let mut group_before = None;
        for kept in &task.kept {
            if group_before.replace(kept.subtask.sequence) != Some(kept.subtask.sequence) {
                sequence += 1;
            }
            entries.push(kept.entry(sequence));
            known.push(KnownSubTask { sequence, ..kept.subtask.clone() });
        }
        let mut waiting: BTreeMap<u32, Vec<PlannedSubTask>> = BTreeMap::new();
        for mut planned in plan.subtasks {
            planned.subtask.sequence += sequence;
            let subtask = &planned.subtask;
            entries.push(ManifestEntry {
                subtask_id: subtask.subtask_id.clone(),
                sequence: subtask.sequence,
                intent: subtask.intent.clone(),
                success_criteria: subtask.success_criteria.clone(),
                fingerprint: subtask.fingerprint.clone(),
                approach: subtask.approach.clone(),
                carried: None,
            });
            known.push(KnownSubTask {
                id: subtask.subtask_id.clone(),
                sequence: subtask.sequence,
                intent: subtask.intent.clone(),
                criteria: subtask.success_criteria.clone(),
                tools: subtask.tools.clone(),
                approach: subtask.approach.clone(),
                fingerprint: subtask.fingerprint.clone(),
            });
            waiting.entry(subtask.sequence).or_default().push(planned);
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
            dispatched_at: ctx.now,
        };
        // The work starts after every probe has been measured without the work's effects.
        let is_measured = unmeasured(manifest.criteria(), &task.baseline).is_empty();
        fx.publish(manifest);
        let carried = task.kept.iter().map(|kept| Output {
            id: kept.subtask.id.clone(),
            intent: kept.subtask.intent.clone(),
            output: kept.outcome.output.clone(),
        });
        let mut running = Running {
            round: task.round,
            current: BASELINE_GROUP,
            waiting,
            intents: BTreeMap::new(),
            carried: carried.collect(),
            outputs: Vec::new(),
        };
        if is_measured {
            running.start_next_group(&task.baseline, fx);
        }
        self.phase = Phase::Running(running);
    }

    /// Starts the next group. A report from another round, or of a group that is not running, is stale.
    pub(super) fn on_group_matched(&mut self, group: GroupMatched, fx: &mut Fx<'_>) {
        let (Phase::Running(running), Some(task)) = (&mut self.phase, &mut self.task) else { return };
        if group.round != running.round || group.sequence != running.current {
            return;
        }
        for output in group.outputs {
            if let Some(intent) = running.intents.remove(&output.subtask_id) {
                running.outputs.push(Output { id: output.subtask_id, intent, output: output.output });
            }
        }
        task.baseline.extend(group.baseline);
        running.start_next_group(&task.baseline, fx);
    }
}

impl Running {
    fn start_next_group(&mut self, baseline: &[Arc<ToolRecord>], fx: &mut Fx<'_>) {
        let Some((sequence, group)) = self.waiting.pop_first() else { return };
        self.current = sequence;
        for PlannedSubTask { instance, mut subtask } in group {
            self.intents.insert(subtask.subtask_id.clone(), subtask.intent.clone());
            let named = std::mem::take(&mut subtask.inputs);
            let earlier = self.outputs.iter().filter(|output| named.is_empty() || named.contains(&output.id));
            let inputs: Vec<&Output> = self.carried.iter().chain(earlier).collect();
            subtask.outputs = joined(&inputs);
            subtask.inputs = inputs.into_iter().map(|output| output.id.clone()).collect();
            subtask.baseline = baseline_of(&subtask.success_criteria, baseline);
            fx.publish_to(instance, subtask);
        }
    }
}
