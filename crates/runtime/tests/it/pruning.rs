//! What a process relies on after another one has pruned tasks.

use async_trait::async_trait;
use serde_json::json;
use setpoint_history::HistoryError;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::record::{Part, Purpose, Record, Reply, Usage};
use setpoint_runtime::{NewTask, RuntimeError};

use crate::support::{new_task, organisation};

/// Plans work that is never done.
struct Idle;

#[async_trait]
impl Model for Idle {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        let text = match call.purpose() {
            Purpose::Perceive => json!({ "title": "count the files" }),
            Purpose::Plan => json!({ "subtasks": [{ "intent": "look at the shelf",
                "success_criteria": ["the record of the shelf lists a jar"] }], "task_criteria": ["there is a jar"] }),
            _ => json!({ "status": "completed", "output": "three jars" }),
        };
        let parts = vec![Part::Text(text.to_string())];
        Ok(Reply { parts, usage: Usage::default(), is_cut: false, by: None })
    }

    fn name(&self) -> &str {
        "idle"
    }
}

/// The prompts of the second task have the same fragments, which were deleted with the first one.
#[tokio::test]
async fn prompts_of_a_task_after_a_pruning_are_stored_again() {
    let organisation = organisation(&Journal::in_memory(), Idle);
    let mut tasks = Vec::new();
    for suffix in [1, 2] {
        let mut new = NewTask { suffix, ..new_task() };
        new.opened.budgets.calls = Some(4);
        let task = organisation.start(new).await.unwrap();
        organisation.ended(&task).await;
        let records = organisation.records(&task).unwrap();
        let hashes: Vec<_> = records.iter().flat_map(Record::asked_fragments).collect();
        assert!(hashes.len() > 6, "{hashes:?}");
        let missing =
            hashes.iter().filter(|hash| organisation.history().fragment(hash).unwrap().is_none()).count();
        assert_eq!(missing, 0, "of {}", hashes.len());
        tasks.push((task, hashes));
        if suffix == 1 {
            let later = setpoint_runtime::clock::now().plus_millis(1_000);
            let prunable = organisation.prunable(later).unwrap();
            assert_eq!(prunable.tasks.len(), 1);
            assert_eq!(organisation.prune(&prunable).unwrap().records, prunable.records);
        }
    }
    let [(pruned, hashes), (_, others)] = tasks.as_slice() else { panic!("{tasks:?}") };
    assert!(hashes.iter().any(|hash| others.contains(hash)));
    assert!(matches!(organisation.records(pruned), Err(RuntimeError::History(HistoryError::Pruned { .. }))));
    let left = organisation.left(pruned).unwrap().unwrap();
    assert!(left.records.len() >= 3 && left.records.iter().all(|record| !record.body.is_empty()));
}
