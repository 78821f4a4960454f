//! Resuming a task: messages that arrived in the meantime come first, and what they start continues.

use std::sync::Arc;

use async_trait::async_trait;
use setpoint_journal::{Journal, JournalOptions};
use setpoint_machine::ModelCall;
use setpoint_model::playbook::{Library, Playbook};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::message::{EndState, PlanDecision, PlanProposal};
use setpoint_protocol::record::{Answer, Answered, Record, RecordKind, Reply};
use setpoint_protocol::topology::Payload;
use setpoint_runtime::NewTask;
use setpoint_runtime::tap::{Event, Tap, TapItem};

use crate::support::{new_task, organisation};

/// The embedded brain as a remote model: every answer takes time.
struct Distant(Playbook);

#[async_trait]
impl Model for Distant {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        tokio::task::yield_now().await;
        self.0.answer(call, progress).await
    }

    fn name(&self) -> &str {
        "distant"
    }
}

fn distant() -> Distant {
    Distant(Playbook::new(Arc::new(Library::load(None))))
}

#[tokio::test]
async fn asks_started_by_a_waiting_message_are_not_interrupted() {
    let files = tempfile::tempdir().unwrap();
    for (name, size) in [("a", 10), ("b", 2_000), ("c", 300), ("d", 40)] {
        std::fs::write(files.path().join(name), vec![b'x'; size]).unwrap();
    }
    let data = tempfile::tempdir().unwrap();
    let journal = || Journal::open(data.path(), &JournalOptions::default()).unwrap();

    let first = organisation(&journal(), distant());
    let mut tap = first.tap();
    let mut new = NewTask {
        raw_input: format!("find the three largest files under {}", files.path().display()),
        ..new_task()
    };
    new.opened.preview_plan = true;
    new.opened.interactive = true;
    let task = first.start(new).await.unwrap();
    let shown = first_record(&mut tap, "PlanProposal").await;
    first.shutdown().await;

    // Sent while no process drives the task.
    let second = organisation(&journal(), distant());
    let proposal: PlanProposal = serde_json::from_slice(&shown.body).unwrap();
    let decision = PlanDecision { call_id: proposal.call_id, approved: true, note: None, allows: Vec::new() };
    second.say(&task, Payload::PlanDecision(decision)).await.unwrap();
    second.resume(&task).await.unwrap();
    second.ended(&task).await;

    let records = second.records(&task).unwrap();
    let interrupted = records.iter().filter(|record| record.kind == RecordKind::Answered).filter(|record| {
        let answered: Answered = serde_json::from_slice(&record.body).unwrap();
        answered.answer == Answer::Interrupted
    });
    assert_eq!(interrupted.count(), 0, "what the decision began was told that it was cut short");
    let result = second.result(&task).unwrap().unwrap();
    assert_eq!((result.directive, result.replans), (EndState::Accept, 0), "{result:?}");
    second.shutdown().await;
}

async fn first_record(tap: &mut Tap, kind: &str) -> Record {
    loop {
        let TapItem::Event(event) = tap.next().await else { panic!("the tap ended before {kind}") };
        if let Event::Records { records, .. } = event
            && let Some(found) = records.iter().find(|record| record.kind.to_string() == kind)
        {
            return found.clone();
        }
    }
}
