//! An ask that is stopped in its own batch is never sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::json;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::message::EndedBy;
use setpoint_protocol::record::{Answer, Answered, Part, Purpose, RecordKind, Reply, Usage};

use crate::support::{new_task, organisation};

/// Plans five sub-tasks at once, and counts questions.
struct Planning(Arc<AtomicU64>);

#[async_trait]
impl Model for Planning {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = match call.purpose() {
            Purpose::Perceive => json!({ "title": "count the files" }),
            Purpose::Plan => {
                let subtask = |place: &str| {
                    json!({ "intent": format!("look at the {place} shelf"),
                            "success_criteria": [format!("the record of the {place} shelf lists a jar")] })
                };
                let subtasks: Vec<_> = ["north", "east", "south", "west", "low"].map(subtask).into();
                json!({ "subtasks": subtasks, "task_criteria": ["every shelf has an entry with a jar count"] })
            }
            _ => json!({ "status": "completed", "output": "three jars" }),
        };
        Ok(Reply {
            parts: vec![Part::Text(text.to_string())],
            usage: Usage::default(),
            is_cut: false,
            by: None,
        })
    }

    fn name(&self) -> &str {
        "planning"
    }
}

#[tokio::test]
async fn a_call_that_its_own_batch_stops_is_not_made() {
    let made = Arc::new(AtomicU64::new(0));
    let organisation = organisation(&Journal::in_memory(), Planning(Arc::clone(&made)));
    let mut new = new_task();
    // R1, R2 and three executors; the fourth exceeds the budget in the step that asked for the other three.
    new.opened.budgets.calls = Some(6);
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;

    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.ended_by, EndedBy::Budget, "{result:?}");
    let answers: Vec<Answer> = organisation
        .records(&task)
        .unwrap()
        .iter()
        .filter(|record| record.kind == RecordKind::Answered)
        .map(|record| serde_json::from_slice::<Answered>(&record.body).unwrap().answer)
        .collect();
    let interrupted = answers.iter().filter(|answer| **answer == Answer::Interrupted).count();
    assert_eq!((made.load(Ordering::SeqCst), interrupted), (2, 3), "{answers:?}");
    assert_eq!(result.usage.calls, 2, "what was not made is not counted");
    organisation.shutdown().await;
}
