//! Whether a plan repeats one that was judged and failed.

use std::collections::BTreeSet;

use setpoint_protocol::message::{ActionState, Approach};
use setpoint_protocol::{SubTaskId, ToolId};

use super::ValidSubTask;
use crate::fingerprint::{Words, of_plan};
use crate::r2_planner::history::{DispatchedPlan, Task};

/// Number of words per gram.
const GRAM_WORDS: usize = 3;

/// Returns the fingerprint of the whole plan, kept sub-tasks included.
pub(super) fn fingerprint(subtasks: &[ValidSubTask], task: &Task) -> String {
    let kept = task.kept.iter().map(|kept| kept.subtask.fingerprint.as_str());
    of_plan(kept.chain(subtasks.iter().map(|subtask| subtask.fingerprint.as_str())))
}

/// Returns why the plan is a repetition; `None` if it is not. A plan that ended with a fault may be tried again.
pub(super) fn refusal(subtasks: &[ValidSubTask], fingerprint: &str, task: &Task) -> Option<String> {
    let failed = || task.plans.iter().filter(|plan| plan.judged_failed);
    if let Some(plan) = failed().find(|plan| plan.fingerprint == fingerprint) {
        return Some(format!("is the plan of round {}, which was carried out and failed", plan.round));
    }
    if task.direction() != Some(ActionState::BreakSymmetry) {
        return None;
    }
    let new =
        features(subtasks.iter().map(|s| (s.intent.as_str(), s.tools.as_slice(), s.approach.as_ref())), task);
    let similar =
        failed().find(|plan| features_of_rest(plan, task).is_some_and(|old| is_similar(&old, &new)))?;
    Some(format!(
        "is nearly the plan of round {}, which failed; take another kind of tool and another way",
        similar.round
    ))
}

/// Returns whether the Jaccard index of the features (shared over all) is above 0.8. Two plans that consist only of
/// the task's own words are equal.
fn is_similar(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let (shared, either) = (a.intersection(b).count(), a.union(b).count());
    either == 0 || shared * 5 > either * 4
}

/// Returns the features of what failed in a plan: of all its sub-tasks but the kept ones, which every later plan
/// shares. `None` if all of it is kept.
fn features_of_rest(plan: &DispatchedPlan, task: &Task) -> Option<BTreeSet<String>> {
    let is_kept = |id: &SubTaskId| task.kept.iter().any(|kept| kept.subtask.id == *id);
    let rest: Vec<_> = plan.subtasks.iter().filter(|subtask| !is_kept(&subtask.id)).collect();
    let parts = rest.iter().map(|s| (s.intent.as_str(), s.tools.as_slice(), s.approach.as_ref()));
    (!rest.is_empty()).then(|| features(parts, task))
}

/// Returns the runs of three words of each intent without the task's own words (all of them, if fewer are left), the
/// named tools, and the playbook approaches.
fn features<'a>(
    subtasks: impl Iterator<Item = (&'a str, &'a [ToolId], Option<&'a Approach>)>,
    task: &Task,
) -> BTreeSet<String> {
    let intent = Words::of(&task.spec.intent);
    let own: BTreeSet<&str> = intent.iter().collect();
    let mut features = BTreeSet::new();
    for (intent, tools, approach) in subtasks {
        let words = Words::of(intent);
        let words: Vec<&str> = words.iter().filter(|word| !own.contains(word)).collect();
        if words.len() < GRAM_WORDS && !words.is_empty() {
            features.insert(format!("words {}", words.join(" ")));
        }
        features.extend(words.windows(GRAM_WORDS).map(|gram| format!("words {}", gram.join(" "))));
        features.extend(tools.iter().map(|tool| format!("tool {tool}")));
        features
            .extend(approach.map(|approach| format!("approach {}/{}", approach.playbook, approach.approach)));
    }
    features
}
