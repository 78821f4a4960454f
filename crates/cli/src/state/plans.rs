//! Plans, one per round: their sub-tasks, and what memory had given to them.

use std::collections::BTreeMap;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{Approach, DispatchManifest, SubTask};

use super::recall::Recall;

/// The plan of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The round, from 1.
    pub round: u32,
    /// Its sub-tasks, in the order of the plan.
    pub parts: Vec<Part>,
    /// What memory gave to it; `None` if it was not asked.
    pub recall: Option<Recall>,
}

/// A sub-task of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its intent.
    pub intent: String,
    /// Its group, from 1; those of one group run side by side.
    pub sequence: u32,
    /// The tools that it may use; empty for all.
    pub tools: Vec<String>,
    /// The approach of a playbook that it comes from, in words.
    pub approach: Option<String>,
    /// Whether it matched in an earlier round and its outcome is kept.
    pub is_kept: bool,
}

/// All plans.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    plans: Vec<Plan>,
    /// The place of each sub-task in the last plan.
    places: BTreeMap<SubTaskId, usize>,
    /// Whether memory has answered since the last plan.
    is_recalled: bool,
}

impl Plans {
    /// Returns the plans, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Plan> {
        self.plans.iter()
    }

    /// Records that memory has answered.
    pub(super) fn recalled(&mut self) {
        self.is_recalled = true;
    }

    pub(super) fn dispatched(&mut self, manifest: &DispatchManifest, recall: Option<&Recall>) {
        let parts = manifest.subtasks.iter().map(|entry| Part {
            intent: entry.intent.clone(),
            sequence: entry.sequence,
            tools: Vec::new(),
            approach: entry.approach.as_ref().map(approach),
            is_kept: entry.carried.is_some(),
        });
        let recall = recall.filter(|_| std::mem::take(&mut self.is_recalled)).cloned();
        let ids = manifest.subtasks.iter().map(|entry| entry.subtask_id.clone());
        self.places = ids.enumerate().map(|(place, id)| (id, place)).collect();
        self.plans.push(Plan { round: manifest.round, parts: parts.collect(), recall });
    }

    /// Records the tools of a sub-task, because a manifest does not say which it may use.
    pub(super) fn record_tools(&mut self, subtask: &SubTask) {
        let (Some(plan), Some(place)) = (self.plans.last_mut(), self.places.get(&subtask.subtask_id)) else {
            return;
        };
        if let Some(part) = plan.parts.get_mut(*place) {
            part.tools = subtask.tools.iter().map(ToString::to_string).collect();
        }
    }
}

fn approach(approach: &Approach) -> String {
    match approach.variant() {
        Some(variant) => format!("{}: {} ({variant})", approach.playbook, approach.approach),
        None => format!("{}: {}", approach.playbook, approach.approach),
    }
}
