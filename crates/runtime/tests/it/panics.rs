//! A panic in a model's adapter costs its answer, and nothing else.

use async_trait::async_trait;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::message::EndState;
use setpoint_protocol::record::Reply;

use crate::support::{new_task, organisation};

/// Panics at every question, after yielding this many times.
struct Panicking {
    turns: usize,
}

#[async_trait]
impl Model for Panicking {
    async fn answer(&self, _: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        for _ in 0..self.turns {
            tokio::task::yield_now().await;
        }
        panic!("this adapter has a defect");
    }

    fn name(&self) -> &str {
        "panicking"
    }
}

async fn ends_by_fault(turns: usize) {
    let organisation = organisation(&Journal::in_memory(), Panicking { turns });
    let task = organisation.start(new_task()).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.directive, EndState::Abandon, "{result:?}");
    assert!(result.summary.contains("the model's adapter panicked"), "{result:?}");
    organisation.shutdown().await;
}

/// Such an answer is computed in the driver's own turn.
#[tokio::test]
async fn a_panic_before_the_first_wait_ends_the_task_by_fault() {
    ends_by_fault(0).await;
}

/// Such an answer comes from another tokio task.
#[tokio::test]
async fn a_panic_after_a_wait_ends_the_task_by_fault() {
    ends_by_fault(3).await;
}
