//! No effect starts before its cause is durable: no model is asked while the journal's writer is held.

use std::sync::mpsc::{Sender, channel};

use async_trait::async_trait;
use setpoint_journal::{Journal, JournalOptions, NewRow, Submission, TaskHead, TaskOpening};
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Reply};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{new_task, organisation};

/// Far more turns than a task needs to reach its first question.
const TURNS: usize = 1_000;

/// Reports when it is asked, and fails.
struct Asked(UnboundedSender<()>);

#[async_trait]
impl Model for Asked {
    async fn answer(&self, _: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        let _ = self.0.send(());
        let reason = "it knows nothing".to_owned();
        Err(ModelFailure { kind: ModelFailureKind::Unable, reason, hints: Vec::new() }.into())
    }

    fn name(&self) -> &str {
        "asked"
    }
}

/// One thread, so that everything that was started has had its turns.
#[tokio::test]
async fn no_model_is_asked_before_the_question_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), &JournalOptions::default()).unwrap();
    let (sender, mut asked) = unbounded_channel();
    let organisation = organisation(&journal, Asked(sender));
    let release = hold_the_writer(&journal);
    let started = tokio::spawn({
        let organisation = organisation.clone();
        async move { organisation.start(new_task()).await.unwrap() }
    });
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
    assert!(asked.try_recv().is_err(), "a model was asked, and the journal does not know of it");
    assert!(!started.is_finished(), "a task was said to be open that is not durable");

    release.send(()).unwrap();
    let task = started.await.unwrap();
    asked.recv().await.unwrap();
    let records = organisation.records(&task).unwrap();
    assert!(records.iter().any(|record| record.kind.to_string() == "Asked"), "{records:?}");
    organisation.shutdown().await;
}

/// Blocks the writer inside an acknowledgement until the returned sender is used or dropped.
fn hold_the_writer(journal: &Journal) -> Sender<()> {
    let (release, held) = channel();
    let (begun, at_work) = channel();
    let mut submission = Submission::new(&TaskHead::start("holding").unwrap());
    let row = NewRow {
        seq: 1,
        at_us: 0,
        clock_ms: 0,
        from: "user".into(),
        to: "perceiver".into(),
        kind: "k".into(),
        cause: None,
        format: 1,
        body: Vec::new(),
    };
    submission.push(row).unwrap();
    let opening = TaskOpening { opened_at_us: 0, logic_version: 1, title: "holding".to_owned(), lease: None };
    submission.open(opening).unwrap();
    journal.submit(submission, move |result| {
        result.unwrap();
        begun.send(()).unwrap();
        let _released = held.recv();
    });
    at_work.recv().unwrap();
    release
}
