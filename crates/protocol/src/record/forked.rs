//! The origin of a fork: from which tasks its first records come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Opened;
use crate::id::TaskId;
use crate::models::Models;

/// Where a task was forked from: its first records are what another task's machines said to the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedFrom {
    /// The other task.
    pub task: TaskId,
    /// The last of its records that this one has taken over.
    pub seq: u64,
    /// The models that the other task opened with; older journals do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Models>,
    /// Older tasks whose records are among these, where the other one was a fork itself: the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierFork>,
}

/// A fork before the last one: the first records are an older task's still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierFork {
    /// The older task.
    pub task: TaskId,
    /// The last record of these that is its own, or an older one's.
    pub seq: u64,
    /// The models that it opened with; older journals do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Models>,
}

impl ForkedFrom {
    /// Creates the origin of a fork made at the record `seq` of a task that opened with `opened`.
    #[must_use]
    pub fn of(task: TaskId, opened: &Opened, seq: u64) -> Self {
        let mut earlier = Vec::new();
        if let Some(from) = opened.forked_from.clone() {
            let last = EarlierFork { task: from.task, seq: from.seq, models: from.models };
            for mut one in from.earlier.into_iter().chain([last]) {
                // A later fork may have been made before the fork point of an earlier one.
                one.seq = one.seq.min(from.seq).min(seq);
                if earlier.last().is_none_or(|before: &EarlierFork| before.seq < one.seq) {
                    earlier.push(one);
                }
            }
        }
        ForkedFrom { task, seq, models: Some(opened.models.clone()), earlier }
    }

    /// Returns the models that answered the record at `seq`; `None` if the record is the fork's own, or the journal
    /// does not say. If only an older fork does not say, the models of the next one are returned, as that fork recorded
    /// them.
    #[must_use]
    pub fn models_of(&self, seq: u64) -> Option<&Models> {
        if seq > self.seq {
            return None;
        }
        let older = self.earlier.iter().filter(|earlier| seq <= earlier.seq);
        older.filter_map(|earlier| earlier.models.as_ref()).next().or(self.models.as_ref())
    }

    /// Returns all tasks that records come from, the directly forked one first.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskId> {
        std::iter::once(&self.task).chain(self.earlier.iter().rev().map(|earlier| &earlier.task))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::models::ModelCard;
    use crate::role::RoleId;

    fn opened(model: &str) -> Opened {
        serde_json::from_value(json!({
            "logic_version": 1, "controller": {}, "interactive": false, "tools": [],
            "surroundings": { "cwd": "/", "home": "/", "workspace": "/w", "os": "linux", "local_time": "" },
            "models": { "brain": model, "tool": ModelCard::named(model) }
        }))
        .unwrap()
    }

    fn forked(from: (&str, &Opened), seq: u64, model: &str) -> Opened {
        let from = ForkedFrom::of(from.0.parse().unwrap(), from.1, seq);
        Opened { forked_from: Some(from), ..opened(model) }
    }

    fn cards(opened: &Opened, seqs: &[u64]) -> String {
        let of = |seq: &u64| opened.card(RoleId::Planner, *seq).name.clone();
        seqs.iter().map(of).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn inherited_records_keep_the_models_that_answered_them() {
        let first = opened("a");
        assert_eq!(cards(&first, &[1, 9]), "a a");
        let second = forked(("a-0000000000000001", &first), 10, "b");
        assert_eq!(cards(&second, &[1, 10, 11]), "a a b");
        // A fork of the fork, once after the point that the first fork was made at, and once before it.
        let behind = forked(("a-0000000000000002", &second), 20, "c");
        assert_eq!(cards(&behind, &[10, 11, 20, 21]), "a b b c");
        let before = forked(("a-0000000000000002", &second), 5, "c");
        assert_eq!(cards(&before, &[5, 6, 10, 11]), "a c c c");
        let again = forked(("a-0000000000000003", &before), 8, "d");
        assert_eq!(cards(&again, &[5, 6, 8, 9]), "a c c d");
        let tasks: Vec<String> =
            again.forked_from.unwrap().tasks().map(|task| task.as_str().chars().skip(17).collect()).collect();
        assert_eq!(tasks, ["3", "1"], "nothing of the second is left in it");
    }

    #[test]
    fn old_rows_without_models_read_as_before() {
        let old: ForkedFrom =
            serde_json::from_value(json!({"task": "a-0000000000000001", "seq": 10})).unwrap();
        assert_eq!((&old.models, old.models_of(3)), (&None, None));
        let body = serde_json::to_string(&old).unwrap();
        assert_eq!(body, r#"{"task":"a-0000000000000001","seq":10}"#);
        let old = Opened { forked_from: Some(old), ..opened("b") };
        assert_eq!(cards(&old, &[1, 11]), "b b");
        let new = forked(("a-0000000000000002", &old), 20, "c");
        assert_eq!(cards(&new, &[1, 11, 21]), "b b c");
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Opened>(&text).unwrap(), new);
    }
}
